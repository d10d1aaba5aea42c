"""What is known about a lead: a fold of its events, a moment after they are stored."""

from __future__ import annotations

from typing import Final

from lead_events import openapi_schemas as shapes
from lead_events.categories import Category
from lead_events.memory_queries import MAX_EVENTS
from lead_events.openapi._parts import (
    INVALID_PARAMETER,
    LEAD,
    LEAD_PATH,
    READ_REFUSALS,
    TOO_MANY_EVENTS,
    Operations,
    answer,
    parameter,
    refused,
)
from lead_events.openapi_schemas import Schema, ref

_DESCRIPTION: Final = (
    "Depends on the lead's events alone, not on the order in which they came: asked again later without new events in "
    "between, or after a rebuild, the answer is the same. An event shows up about a second after it was stored."
)
_AS_OF: Final = parameter(
    "asOf",
    "query",
    "Tells what had occurred by then: an RFC 3339 instant, or a date for its whole day in UTC. The lead's events are "
    f"folded for it, at most {MAX_EVENTS} of them",
)


def _read_all() -> Schema:
    as_text = {"schema": {"type": "string"}, "example": shapes.memory_text_sample()}
    found = answer("What is known.", ref("LeadMemories"), shapes.memories_sample())
    return {
        "tags": ["Memories"],
        "operationId": "readMemories",
        "summary": "Everything that is known about a lead",
        "description": f"{_DESCRIPTION} As text it is short enough for an agent's prompt, and cites event ids.",
        "parameters": [
            *LEAD_PATH,
            parameter("format", "query", "JSON, or a text for a prompt", {"enum": ["json", "text"], "default": "json"}),
            _AS_OF,
        ],
        "responses": {
            "200": found | {"content": {**found["content"], "text/plain": as_text}},
            **refused(INVALID_PARAMETER, TOO_MANY_EVENTS, *READ_REFUSALS),
        },
    }


def _read_one() -> Schema:
    category = parameter("category", "path", "What to tell about", {"enum": [each.value for each in Category]})
    return {
        "tags": ["Memories"],
        "operationId": "readMemory",
        "summary": "What is known about a lead of one category",
        "description": f"{_DESCRIPTION} 404 where nothing is known.",
        "parameters": [*LEAD_PATH, category, _AS_OF],
        "responses": {
            "200": answer("What is known.", ref("LeadMemory"), shapes.memory_sample()),
            **refused(INVALID_PARAMETER, TOO_MANY_EVENTS, *READ_REFUSALS),
        },
    }


OPERATIONS: Final[Operations] = {
    ("GET", f"{LEAD}/memories"): _read_all,
    ("GET", f"{LEAD}/memories/{{category}}"): _read_one,
}
