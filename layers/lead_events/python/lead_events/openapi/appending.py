"""Events come in."""

from __future__ import annotations

from typing import Final

from lead_events import openapi_schemas as shapes
from lead_events.appending import MAX_BATCH
from lead_events.envelope import BATCH_TYPE, JSON_TYPE, STRUCTURED_TYPE
from lead_events.errors import InvalidError, problem
from lead_events.openapi._parts import (
    LEAD_EVENTS,
    LEAD_PATH,
    NOT_FOUND,
    WRITE_REFUSALS,
    Operations,
    answer,
    json_content,
    parameter,
    refused,
)
from lead_events.openapi_schemas import Schema, ref


def _append_direct() -> Schema:
    duplicate = "The same event again (same external id, same content): the first one."
    return {
        "tags": ["Append"],
        "operationId": "appendEvent",
        "summary": "Append one event",
        "description": "An event with neither `externalEventId` nor `Idempotency-Key` is new each time it is sent. One of a "
        "lead that was erased is 410 where it happened before the end of the erasure.",
        "parameters": [
            *LEAD_PATH,
            parameter("Idempotency-Key", "header", "External id where the body has none", {"maxLength": 255}),
        ],
        "requestBody": {"required": True, "content": json_content(ref("DirectEvent"), shapes.direct_sample())},
        "responses": {
            "201": answer("Stored.", ref("Event"), shapes.event_sample()),
            "200": answer(duplicate, ref("Event"), shapes.event_sample()),
            **refused(*WRITE_REFUSALS, NOT_FOUND),
        },
    }


def _append_cloud_events() -> Schema:
    envelope = shapes.cloud_event_sample(shapes.SAMPLE_TYPE)
    bad = {"status": 422, "outcome": "rejected", "problem": problem(InvalidError.of("specversion", 'must be "1.0"'))}
    results = {"results": [{"status": 201, "outcome": "stored", "event": shapes.event_sample()}, bad]}
    either = {"anyOf": [ref("Event"), ref("BatchResults")]}
    return {
        "tags": ["Append"],
        "operationId": "appendCloudEvents",
        "summary": "Append CloudEvents: structured, batch or binary",
        "description": "Binary mode: the attributes are `ce-` headers (`ce-specversion`, `ce-type`, `ce-id`, `ce-source`, "
        f"`ce-time`, `ce-subject`, `ce-sourcetype`) and the body is the data. A batch of at most {MAX_BATCH} events is "
        "answered 200 with a result for each, in order: one bad event keeps none of the others out. An event of a lead that "
        "was erased is 410 where it happened before the end of the erasure.",
        "parameters": [
            parameter("ce-specversion", "header", "Binary mode: `1.0`"),
            parameter("ce-type", "header", "Binary mode: `domain.event-name`"),
            parameter("ce-id", "header", "Binary mode: the sender's id of the event, at most 255 characters"),
            parameter("ce-source", "header", "Binary mode: whose event it is"),
            parameter("ce-time", "header", "Binary mode: when it happened, in RFC 3339"),
            parameter("ce-subject", "header", "Binary mode: the lead, where the data does not name it"),
            parameter("ce-sourcetype", "header", "Binary mode: required of a source outside the catalogue"),
        ],
        "requestBody": {
            "required": True,
            "content": {
                STRUCTURED_TYPE: {"schema": ref("CloudEvent"), "example": envelope},
                BATCH_TYPE: {"schema": ref("CloudEventBatch"), "example": [envelope]},
                JSON_TYPE: {
                    "schema": {"description": "Without `ce-` headers a CloudEvent; with them (binary mode) its data."},
                    "examples": {"structured": {"value": envelope}, "binary": {"value": envelope["data"]}},
                },
                "*/*": {
                    "schema": {"description": "Binary mode: data of any other media type; `ce-subject` names the lead."}
                },
            },
        },
        "responses": {
            "201": answer("Stored.", ref("Event"), shapes.event_sample()),
            "200": {
                "description": "The same event again: the first one. Or the results of a batch.",
                "content": {
                    JSON_TYPE: {
                        "schema": either,
                        "examples": {
                            "duplicate": {"value": shapes.event_sample()},
                            "batch": {"value": results},
                        },
                    }
                },
            },
            **refused(*WRITE_REFUSALS),
        },
    }


OPERATIONS: Final[Operations] = {
    ("POST", LEAD_EVENTS): _append_direct,
    ("POST", "/v1/events"): _append_cloud_events,
}
