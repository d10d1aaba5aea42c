"""What the tests of Stripe share: its events, and what becomes of them."""

from __future__ import annotations

import json
from typing import Any

from lead_events.event import Delivery, EventDraft
from lead_events.providers.stripe import translate
from tests.samples import load, names
from tests.support import providers
from tests.support.providers import NOW

SAMPLES = names("stripe")


def drafts_of(event: Any, lead_id: str | None = None) -> list[EventDraft]:
    body = event if isinstance(event, str) else json.dumps(event)
    return translate(Delivery(provider="stripe", organization_id="org_1", body=body, received_at=NOW, lead_id=lead_id))


def sample(name: str, **changes: Any) -> dict[str, Any]:
    """A sample as JSON; ``changes`` replace fields of its ``data.object``."""
    event: dict[str, Any] = json.loads(load("stripe", name))
    event["data"]["object"] |= changes
    return event


def only(event: Any, lead_id: str | None = None) -> EventDraft:
    [draft] = drafts_of(event, lead_id)
    return draft


def payload_of(event: Any) -> dict[str, Any]:
    return providers.payload_of(only(event))
