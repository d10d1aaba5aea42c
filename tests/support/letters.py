"""Dead letters: what whoever gives up a message, a record or a slice leaves in a queue."""

from __future__ import annotations

import json
from typing import Any

from lead_events import webhook_message
from lead_events.event import Delivery
from lead_events.ports import Arrival
from lead_events.projecting import Poison, _letter
from tests.support.builders import envelope
from tests.support.clock import START
from tests.support.shelves import OWNER, House


def event(organization_id: str, lead_id: str | None, **data: Any) -> str:
    named = {} if lead_id is None else {"leadId": lead_id}
    return json.dumps(envelope(data={"organizationId": organization_id, **named, **data}))


def site_event(**who: Any) -> dict[str, Any]:
    return {"type": "page_seen", "eventId": "e", "payload": {}, **who}


def delivery(body: Any, organization_id: str = OWNER, **changes: Any) -> Delivery:
    values: dict[str, Any] = {
        "provider": "web",
        "organization_id": organization_id,
        "body": body if isinstance(body, str) else json.dumps(body),
        "received_at": START,
        "headers": {"webhook-id": "msg_1"},
    }
    return Delivery(**values | changes)


def webhook(house: House, body: Any, organization_id: str = OWNER, **changes: Any) -> str:
    return webhook_message.write(delivery(body, organization_id, **changes), house.objects)


def letter(organization_id: str, lead_id: str) -> str:
    """As the projector gives up a record."""
    key = f"ORG#{organization_id}#LEAD#{lead_id} 2026-03-25T14:00:00.000000Z#id"
    return _letter(Poison(Arrival(sequence_number="1", key=key, at=None, item=ValueError()), ValueError()))
