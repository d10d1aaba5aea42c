"""Deliveries of webhooks, bus and queue that no event could be made of."""

from __future__ import annotations

from typing import Final

from lead_events import openapi_schemas as shapes
from lead_events.openapi._parts import (
    INCLUDE,
    INVALID_PAGE,
    INVALID_PARAMETER,
    ORGANIZATION,
    READ_REFUSALS,
    Operations,
    answer,
    page_parameters,
    parameter,
    refused,
)
from lead_events.openapi_schemas import Schema, ref

_REJECTED: Final = "/v1/organizations/{organizationId}/rejected-events"


def _page() -> Schema:
    return {
        "tags": ["Rejected events"],
        "operationId": "readRejectedEvents",
        "summary": "Rejected events, by pages, last seen first",
        "description": "What was refused to a caller of the API is not among them: it was told so. A delivery of this moment "
        "may be missing for another. Only a null `cursor` is the end.",
        "parameters": [ORGANIZATION, *page_parameters("rejected events")],
        "responses": {
            "200": answer(
                "A page.", ref("RejectedEventPage"), {"items": [shapes.rejected_event_sample()], "cursor": None}
            ),
            **refused(INVALID_PAGE, *READ_REFUSALS),
        },
    }


def _one() -> Schema:
    rejected_event_id = parameter("rejectedEventId", "path", "Id of the rejected event")
    return {
        "tags": ["Rejected events"],
        "operationId": "readRejectedEvent",
        "summary": "One rejected event",
        "parameters": [ORGANIZATION, rejected_event_id, INCLUDE],
        "responses": {
            "200": answer("The rejected event.", ref("RejectedEvent"), shapes.rejected_event_sample(raw=True)),
            **refused(INVALID_PARAMETER, *READ_REFUSALS),
        },
    }


OPERATIONS: Final[Operations] = {("GET", _REJECTED): _page, ("GET", f"{_REJECTED}/{{rejectedEventId}}"): _one}
