"""Memories: what is known about a lead."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from lead_events import catalogue, event_types, memories
from lead_events.categories import Category
from lead_events.event import LeadEvent, SourceType, StoredEvent
from lead_events.names import Source
from lead_events.openapi_schemas._parts import Schema, obj, own_id, ref, text
from lead_events.openapi_schemas.samples import LEAD, ORGANIZATION

SAMPLE_CATEGORY: Final = Category.DISCOUNT
_EVENT_IDS: Final = ("evt_019d254b-8700-7000-8000-0123456789ab", "evt_019d254f-1ae0-7000-8000-0123456789ac")
_SAMPLE_TYPES: Final = ("discount_requested", "discount_accepted")
_OCCURRED: Final = (datetime(2026, 3, 25, 14, tzinfo=UTC), datetime(2026, 3, 25, 14, 3, 54, 464000, tzinfo=UTC))


def schemas() -> dict[str, Schema]:
    """A memory of each category, one of them, all of a lead."""
    whose = {"organizationId": own_id("Organization"), "leadId": own_id("Lead")}
    as_of = {"asOf": text("The instant as of which it is told; null for now", null=True, format="date-time")}
    return {
        **{memory_schema_name(each): memory_schema(each) for each in Category},
        "LeadMemory": obj(
            "What is known about a lead of one category.",
            {**whose, "category": _category(), **as_of, "memory": {"anyOf": [_ref(each) for each in Category]}},
        ),
        "LeadMemories": obj(
            "What is known about a lead. A category about which nothing is known is left out.",
            {
                **whose,
                **as_of,
                "memories": {
                    "type": "object",
                    "properties": {each.value: _ref(each) for each in Category},
                    "additionalProperties": False,
                },
            },
        ),
    }


def memory_schema_name(category: Category) -> str:
    """``PurchaseMemory``."""
    return f"{category.value.capitalize()}Memory"


def memory_schema(category: Category) -> Schema:
    """What is shown of one category."""
    types = ", ".join(f"`{name}`" for name, each in catalogue.EVENT_TYPES.items() if each.category is category)
    return {"description": f"What the events {types} tell."} | memories.schema(category)


def memories_sample() -> dict[str, Any]:
    """All memories of a lead who asked for a discount and took it."""
    shown = {each.value: memories.view(each, state) for each, state in memories.fold(sample_events()).items()}
    return {"organizationId": ORGANIZATION, "leadId": LEAD, "asOf": None, "memories": event_types.plain(shown)}


def memory_sample() -> dict[str, Any]:
    """One of them."""
    found = memories_sample()
    memory = found.pop("memories")[SAMPLE_CATEGORY.value]
    return {**found, "category": SAMPLE_CATEGORY.value, "memory": memory}


def memory_text_sample() -> str:
    """The same as text."""
    return memories.text({each: memories.view(each, state) for each, state in memories.fold(sample_events()).items()})


def sample_events() -> list[StoredEvent]:
    """The events behind the samples."""
    return [
        StoredEvent.known(
            LeadEvent(
                organization_id=ORGANIZATION,
                lead_id=LEAD,
                source_type=SourceType.INTERNAL,
                source=Source.AI_AGENTS_SERVICE.value,
                event_type=event_type,
                payload=catalogue.EVENT_TYPES[event_type].sample,
                occurred_at=occurred_at,
                received_at=occurred_at,
            ),
            event_id,
        )
        for event_type, event_id, occurred_at in zip(_SAMPLE_TYPES, _EVENT_IDS, _OCCURRED, strict=True)
    ]


def _category() -> Schema:
    return {"type": "string", "enum": [each.value for each in Category]}


def _ref(category: Category) -> Schema:
    return ref(memory_schema_name(category))
