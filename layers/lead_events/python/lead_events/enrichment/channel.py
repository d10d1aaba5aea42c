"""The channel of what a lead did directly."""

from __future__ import annotations

from lead_events.enrichment._payload import fields, with_fields
from lead_events.event import EventDraft, SourceType


def name_channel(draft: EventDraft) -> EventDraft:
    """``channel`` is the source of a ``DIRECT`` event (whatsapp, instagram, web), unless the payload says otherwise."""
    if draft.source_type is not SourceType.DIRECT or fields(draft).get("channel") is not None:
        return draft
    return with_fields(draft, {"channel": draft.source})
