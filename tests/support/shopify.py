"""What the tests of Shopify share: its deliveries, and what becomes of them."""

from __future__ import annotations

import json
from typing import Any

from lead_events.event import Delivery, EventDraft, OrganizationEvent
from lead_events.providers.shopify import translate
from tests.samples import load, names
from tests.support.providers import NOW

SAMPLES = names("shopify")
SHOP = "escola-lima.myshopify.example"
ORDER = "gid://shopify/Order/5500000000000000001"


def topic_of(name: str) -> str:
    return "/".join(name.split(".")[:2])


def headers_of(topic: str | None, **changes: str | None) -> dict[str, str]:
    """The headers of a delivery; ``event_id=None`` leaves one out."""
    given = {
        "topic": topic,
        "shop_domain": SHOP,
        "event_id": f"event-{topic}",
        "webhook_id": f"webhook-{topic}",
        "triggered_at": "2026-01-08T12:58:30.877041743Z",
        "api_version": "2026-07",
    } | changes
    return {f"x-shopify-{name.replace('_', '-')}": value for name, value in given.items() if value is not None}


def told_by(body: Any, headers: dict[str, str], lead_id: str | None = None) -> list[EventDraft | OrganizationEvent]:
    text = body if isinstance(body, str) else json.dumps(body)
    return translate(
        Delivery(
            provider="shopify", organization_id="org_1", body=text, received_at=NOW, headers=headers, lead_id=lead_id
        )
    )


def sample(name: str, /, **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(load("shopify", name))
    return body | changes


def drafts_of(
    name: str, changes: dict[str, Any] | None = None, lead_id: str | None = None, **headers: str | None
) -> list[EventDraft]:
    found = told_by(sample(name, **(changes or {})), headers_of(topic_of(name), **headers), lead_id)
    assert all(isinstance(each, EventDraft) for each in found)
    return [each for each in found if isinstance(each, EventDraft)]


def only(
    name: str, changes: dict[str, Any] | None = None, lead_id: str | None = None, **headers: str | None
) -> EventDraft:
    [draft] = drafts_of(name, changes, lead_id, **headers)
    return draft
