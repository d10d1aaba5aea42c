"""What the tests of Typeform share: a response to one of its forms, and what becomes of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from lead_events.event import Delivery, EventDraft
from lead_events.providers.typeform import translate
from tests.samples import names

NOW = datetime(2026, 1, 8, 13, 0, 5, tzinfo=UTC)
SAMPLES = names("typeform")


def only(event: Any, lead_id: str | None = None) -> EventDraft:
    body = event if isinstance(event, str) else json.dumps(event)
    delivery = Delivery(provider="typeform", organization_id="org_1", body=body, received_at=NOW, lead_id=lead_id)
    [draft] = translate(delivery)
    return draft
