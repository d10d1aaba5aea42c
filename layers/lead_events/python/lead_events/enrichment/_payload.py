"""What the steps share: reading and completing payloads that are objects."""

from __future__ import annotations

from dataclasses import replace

from lead_events.event import EventDraft
from lead_events.strict_json import Json


def fields(draft: EventDraft) -> dict[str, Json]:
    """The payload's fields; none where it is not an object."""
    return draft.payload if isinstance(draft.payload, dict) else {}


def with_fields(draft: EventDraft, changes: dict[str, Json]) -> EventDraft:
    """``draft`` with fields set in its payload; the same draft where nothing changes or the payload is no object."""
    if not isinstance(draft.payload, dict) or all(
        draft.payload.get(name, ...) == value for name, value in changes.items()
    ):
        return draft
    return replace(draft, payload=draft.payload | changes)
