"""Events, drafts and envelopes with everything set, of which a test names only what it is about."""

from __future__ import annotations

import json
from typing import Any, Final

from lead_events.event import EventDraft, LeadEvent, SourceType, StoredEvent
from lead_events.instants import parse_instant
from lead_events.ports import TimelineQuery
from tests.support.clock import START

ORGANIZATION: Final = "org_A"
OTHER_ORGANIZATION: Final = "org_B"
LEAD: Final = "lead_1"
PLAN: Final = {"planId": "plan_pro", "planName": "Pro"}
ENVELOPE_ID: Final = "evt_0195f3a2-8c00-7d4e-b800-000000000000"


def draft(**changes: Any) -> EventDraft:
    """A subscription of ``lead_1``; ``occurred_at`` may be a string."""
    occurred_at = changes.pop("occurred_at", "2026-03-25T14:00:00Z")
    values: dict[str, Any] = {
        "organization_id": ORGANIZATION,
        "lead_id": LEAD,
        "source_type": SourceType.INTERNAL,
        "source": "billing_service",
        "event_type": "subscription_created",
        "payload": dict(PLAN),
        "occurred_at": parse_instant(occurred_at, "time") if isinstance(occurred_at, str) else occurred_at,
        "received_at": START,
        "external_event_id": "e-1",
    }
    return EventDraft(**values | changes)


def lead_event(**changes: Any) -> LeadEvent:
    """The draft above as an event of its lead."""
    made = draft(**changes)
    assert made.lead_id is not None
    return LeadEvent.of(made, made.lead_id)


def stored_event(**changes: Any) -> StoredEvent:
    """The event above with a new id."""
    return StoredEvent.first(lead_event(**changes))


def query(**changes: Any) -> TimelineQuery:
    """The whole timeline of ``lead_1``."""
    return TimelineQuery(**{"organization_id": ORGANIZATION, "lead_id": LEAD} | changes)


def envelope(**changes: Any) -> dict[str, Any]:
    """An envelope as the seeds write it, without ``source``; a change to ``None`` takes the attribute away."""
    made: dict[str, Any] = {
        "specversion": "1.0",
        "type": "billing.subscription-created",
        "id": ENVELOPE_ID,
        "time": "2026-03-25T14:00:00Z",
        "datacontenttype": "application/json",
        "data": {"organizationId": ORGANIZATION, "leadId": LEAD, **PLAN},
    }
    return {name: value for name, value in (made | changes).items() if value is not None}


def envelope_text(**changes: Any) -> str:
    """The envelope above as JSON."""
    return json.dumps(envelope(**changes))


def bus_event(detail: Any, **changes: Any) -> dict[str, Any]:
    """An EventBridge event as a rule puts it on a queue."""
    return {
        "version": "0",
        "id": "7bf73129-1428-4cd3-a780-95db273d1602",
        "detail-type": "billing.subscription-created",
        "source": "billing_service",
        "account": "123456789012",
        "time": "2026-03-25T14:00:05Z",
        "region": "us-east-1",
        "resources": [],
        "detail": detail,
    } | changes


def nested(levels: int, inside: Any = 1) -> Any:
    """``inside`` wrapped in ``levels`` maps and lists by turns, a map outermost."""
    value = inside
    for level in reversed(range(levels)):
        value = {"a": value} if level % 2 == 0 else [value]
    return value
