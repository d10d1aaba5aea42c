"""Events of the future: a sender's clock may be a little ahead, not a day."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from lead_events.enrichment._payload import with_fields
from lead_events.errors import InvalidError
from lead_events.event import EventDraft

MAX_AHEAD: Final = timedelta(hours=24)
TOLERATED: Final = timedelta(minutes=5)
"""Clocks differ by this much without anybody being wrong."""


def check_clock(draft: EventDraft) -> EventDraft:
    """Refuse ``occurredAt`` more than 24 hours ahead of receipt; flag it (``clockSkew: true``) beyond five minutes."""
    ahead = draft.occurred_at - draft.received_at
    if ahead > MAX_AHEAD:
        raise InvalidError.of("occurredAt", "must not be more than 24 hours ahead", code="invalid_time")
    return with_fields(draft, {"clockSkew": True}) if ahead > TOLERATED else draft
