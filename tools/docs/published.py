"""What the service tells on the event bus, for the AsyncAPI document: stored events, changed memories, what was erased."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from lead_events import event_types, memories, openapi_schemas
from lead_events.categories import Category
from lead_events.envelope import JSON_TYPE
from lead_events.erasing import LEAD_ERASED, ORGANIZATION_ERASED, erased
from lead_events.memory import Memory
from lead_events.names import OWN_EVENT_SOURCE
from lead_events.openapi_schemas import Schema
from lead_events.openapi_schemas import erasures as erasure_schemas
from lead_events.openapi_schemas import memories as memory_schemas
from lead_events.publishing import EVENT_RECORDED, MEMORY_UPDATED, event_recorded, memory_updated

RECORDED: Final = "EventRecorded"
UPDATED: Final = "MemoryUpdated"
OF_LEAD_ERASED: Final = "LeadErased"
OF_ORGANIZATION_ERASED: Final = "OrganizationErased"

DESCRIPTION: Final = f"""\
What was stored and who was erased, under the EventBridge `source` `{OWN_EVENT_SOURCE}`; the `detail-type` is the `type` of the
envelope in the detail. Delivery is at least once and in no order; whatever is sent again has the same envelope `id`. An
envelope that EventBridge would not take (256 KB) carries `data.reference`, the path of the API under which the rest is read. A
reprocessing publishes nothing. Whoever keeps copies of what was told has to erase them when it hears that their lead, or
their organization, was erased.
"""
_STORED_AT: Final = datetime(2026, 3, 25, 14, 0, 2, tzinfo=UTC)
_REFERENCE: Final = {
    "type": "string",
    "pattern": "^/v1/",
    "description": "Path of the API, where the rest is too large.",
}


def messages() -> dict[str, Schema]:
    """The messages."""
    return {
        RECORDED: _message(
            RECORDED,
            EVENT_RECORDED,
            "An event was stored. The envelope's `id` is the event's own, its `time` when it was stored.",
            _recorded(),
            recorded_sample(),
        ),
        UPDATED: _message(
            UPDATED,
            MEMORY_UPDATED,
            "What is known about a lead has changed, as an event was stored. Each change has an `id` of its own.",
            _updated(),
            updated_sample(),
        ),
        OF_LEAD_ERASED: _message(
            OF_LEAD_ERASED,
            LEAD_ERASED,
            "All that happened to the lead until `erasedUntil` was erased: erase your copies of it. What happened later is of "
            "a lead who has returned. The `id` is the same however often it is sent.",
            _erased(of_lead=True),
            erased_sample(of_lead=True),
        ),
        OF_ORGANIZATION_ERASED: _message(
            OF_ORGANIZATION_ERASED,
            ORGANIZATION_ERASED,
            "All that there was of the organization was erased, for good: erase your copies of it. The `id` is the same "
            "however often it is sent.",
            _erased(of_lead=False),
            erased_sample(of_lead=False),
        ),
    }


def schemas() -> dict[str, Schema]:
    """What they refer to."""
    known = openapi_schemas.schemas()
    names = ["Event", *map(memory_schemas.memory_schema_name, Category)]
    return {name: known[name] for name in names}


def recorded_sample() -> dict[str, Any]:
    """A stored event as it is told."""
    event, *_ = memory_schemas.sample_events()
    plain: dict[str, Any] = event_types.plain(event_recorded(event))
    return plain


def updated_sample() -> dict[str, Any]:
    """What it and another one changed."""
    category = memory_schemas.SAMPLE_CATEGORY
    state = memories.fold(memory_schemas.sample_events())[category]
    memory = Memory(
        organization_id=openapi_schemas.ORGANIZATION,
        lead_id=openapi_schemas.LEAD,
        category=category,
        state=state,
        version=2,
    )
    plain: dict[str, Any] = event_types.plain(memory_updated(memory, _STORED_AT))
    return plain


def erased_sample(*, of_lead: bool) -> dict[str, Any]:
    """That the lead of the samples, or its organisation, was erased."""
    plain: dict[str, Any] = event_types.plain(
        erased(erasure_schemas.ended(erasure_schemas.sample_erasure(of_lead=of_lead)))
    )
    return plain


def _message(title: str, name: str, summary: str, data: Schema, sample: dict[str, Any]) -> Schema:
    envelope = {
        "type": "object",
        "required": ["specversion", "type", "id", "source", "time", "datacontenttype", "data"],
        "properties": {
            "specversion": {"const": "1.0"},
            "type": {"const": name},
            "id": {"type": "string", "pattern": "^evt_"},
            "source": {"const": OWN_EVENT_SOURCE},
            "time": {"type": "string", "format": "date-time"},
            "datacontenttype": {"const": JSON_TYPE},
            "data": data,
        },
        "additionalProperties": False,
    }
    return {
        "name": name,
        "title": title,
        "summary": summary,
        "contentType": JSON_TYPE,
        "payload": envelope,
        "examples": [{"name": "sample", "payload": sample}],
    }


def _recorded() -> Schema:
    event = openapi_schemas.schemas()["Event"]
    left = [name for name in event["required"] if name != "payload"]
    too_large = {
        "type": "object",
        "required": [*left, "reference"],
        "properties": {name: event["properties"][name] for name in left} | {"reference": _REFERENCE},
        "not": {"required": ["payload"]},
    }
    return {"anyOf": [openapi_schemas.ref("Event"), too_large]}


def _updated() -> Schema:
    return {
        "type": "object",
        "required": ["organizationId", "leadId", "category"],
        "properties": {
            "organizationId": {"type": "string"},
            "leadId": {"type": "string"},
            "category": {"enum": [each.value for each in Category]},
            "memory": {"description": "As the API shows it."},
            "reference": _REFERENCE,
        },
        "oneOf": [{"required": ["memory"]}, {"required": ["reference"]}],
        "allOf": [
            {
                "if": {"properties": {"category": {"const": each.value}}},
                "then": {"properties": {"memory": openapi_schemas.ref(memory_schemas.memory_schema_name(each))}},
            }
            for each in Category
        ],
    }


def _erased(*, of_lead: bool) -> Schema:
    properties = {
        "organizationId": {"type": "string"},
        "erasureId": {
            "type": "string",
            "pattern": openapi_schemas.ERASURE_ID_PATTERN,
            "description": "Of its receipt.",
        },
        "erasedUntil": {"type": "string", "format": "date-time", "description": "What happened until then is erased."},
        **({"leadId": {"type": "string"}} if of_lead else {}),
    }
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}
