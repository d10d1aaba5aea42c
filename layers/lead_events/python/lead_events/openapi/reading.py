"""What happened to a lead."""

from __future__ import annotations

from typing import Final

from lead_events import openapi_schemas as shapes
from lead_events.openapi._parts import (
    INCLUDE,
    INVALID_PAGE,
    INVALID_PARAMETER,
    LEAD_EVENTS,
    LEAD_PATH,
    ORGANIZATION,
    READ_REFUSALS,
    Operations,
    answer,
    page_parameters,
    parameter,
    refused,
)
from lead_events.openapi_schemas import Schema, ref

_EXTERNAL_EVENT: Final = "/v1/organizations/{organizationId}/external-events/{source}/{externalEventId}"


def _timeline() -> Schema:
    instant = "an RFC 3339 instant, or a date for its whole day in UTC"
    return {
        "tags": ["Read"],
        "operationId": "readTimeline",
        "summary": "A lead's timeline, by pages",
        "description": "A page may be shorter than `limit`, as it is also cut by size; only a null `cursor` is the end.",
        "parameters": [
            *LEAD_PATH,
            parameter(
                "eventType", "query", "This type alone; every type if empty", _or_empty(shapes.EVENT_TYPE_PATTERN)
            ),
            parameter("from", "query", f"From then on: {instant}"),
            parameter("to", "query", f"Up to, not including, then: {instant}, which is included"),
            parameter("order", "query", "Oldest or newest first", {"enum": ["asc", "desc"], "default": "asc"}),
            *page_parameters("events"),
            INCLUDE,
        ],
        "responses": {
            "200": answer("A page.", ref("Page"), {"items": [shapes.event_sample()], "cursor": None}),
            **refused(INVALID_PAGE, *READ_REFUSALS),
        },
    }


def _or_empty(pattern: str) -> Schema:
    return {"pattern": f"^({pattern.removeprefix('^').removesuffix('$')})?$"}


def _read_event() -> Schema:
    return _single_event("readEvent", "One event", [*LEAD_PATH, parameter("eventId", "path", "Our id of the event")])


def _read_external_event() -> Schema:
    parameters = [
        ORGANIZATION,
        parameter("source", "path", "Source of the event", {"pattern": shapes.SOURCE_PATTERN}),
        parameter("externalEventId", "path", "The source's id of the event, percent-encoded", {"maxLength": 255}),
    ]
    return _single_event("readExternalEvent", "One event by its source's id", parameters)


def _single_event(operation_id: str, summary: str, parameters: list[Schema]) -> Schema:
    return {
        "tags": ["Read"],
        "operationId": operation_id,
        "summary": summary,
        "parameters": [*parameters, INCLUDE],
        "responses": {
            "200": answer("The event.", ref("Event"), shapes.event_sample(raw=True)),
            **refused(INVALID_PARAMETER, *READ_REFUSALS),
        },
    }


OPERATIONS: Final[Operations] = {
    ("GET", LEAD_EVENTS): _timeline,
    ("GET", f"{LEAD_EVENTS}/{{eventId}}"): _read_event,
    ("GET", _EXTERNAL_EVENT): _read_external_event,
}
