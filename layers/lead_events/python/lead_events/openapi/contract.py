"""What this API is, and whether it runs."""

from __future__ import annotations

from typing import Final

from lead_events import event_types
from lead_events.envelope import JSON_TYPE
from lead_events.openapi._parts import Operations, answer
from lead_events.openapi_schemas import Schema, ref


def _read_event_types() -> Schema:
    catalogue = event_types.document()
    sample = {"eventTypes": catalogue["eventTypes"][:1], "sources": catalogue["sources"][:1]}
    found = answer("The catalogue.", ref("EventTypes"), sample)
    return _contract("readEventTypes", "Event types, their schemas and samples; sources", found)


def _read_openapi() -> Schema:
    found = {"description": "OpenAPI 3.1.", "content": {JSON_TYPE: {"schema": {"type": "object"}}}}
    return _contract("readOpenapi", "This document", found)


def _read_docs() -> Schema:
    found = {"description": "A page.", "content": {"text/html": {"schema": {"type": "string"}}}}
    return _contract("readDocs", "This document for people", found)


def _read_health() -> Schema:
    return _contract("readHealth", "Whether the API runs", answer("It does.", ref("Health"), {"status": "ok"}))


def _contract(operation_id: str, summary: str, found: Schema) -> Schema:
    return {"tags": ["Contract"], "operationId": operation_id, "summary": summary, "responses": {"200": found}}


OPERATIONS: Final[Operations] = {
    ("GET", "/v1/event-types"): _read_event_types,
    ("GET", "/openapi.json"): _read_openapi,
    ("GET", "/docs"): _read_docs,
    ("GET", "/health"): _read_health,
}
