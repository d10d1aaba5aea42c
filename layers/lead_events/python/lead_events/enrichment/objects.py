"""The object an event is about, by our id and by its source's."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lead_events.enrichment._payload import fields
from lead_events.errors import InvalidError
from lead_events.event import EventDraft, SourceType, check_reference

_OWN: Final = ("ticketId", "campaignId", "conversationId")
"""Fields with ids that the platform's own services give."""
_EXTERNAL: Final = ("orderId", "transaction", "formResponseId", "messageId", "subscriptionId", "ticketId", "formId")
"""Fields with ids that providers give, the most particular first."""


def name_objects(draft: EventDraft) -> EventDraft:
    """Fill ``objectId`` of internal events and ``objectIdRef`` of all others from the payload, where they are not set."""
    if draft.source_type is SourceType.INTERNAL:
        return draft if draft.object_id else replace(draft, object_id=_first(draft, _OWN))
    return draft if draft.object_id_ref else replace(draft, object_id_ref=_first(draft, _EXTERNAL))


def _first(draft: EventDraft, names: tuple[str, ...]) -> str | None:
    found = (fields(draft).get(name) for name in names)
    for value in found:
        try:
            reference = check_reference(value, "objectId")
        except InvalidError:
            continue
        if reference is not None:
            return reference
    return None
