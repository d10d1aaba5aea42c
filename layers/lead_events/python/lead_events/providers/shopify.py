"""Shopify.

Signature and headers: shopify.dev/docs/apps/build/webhooks. The headers of the "Events" successor, without ``x-``, are
read too. What happened stands in a header only, ``x-shopify-topic``; the signature covers the body alone and no time, so
against replays there is only the external id:

* ``{shop}:{topic}:{event id}``, the topic's slash written as a dot. Several subscriptions to one topic deliver one event
  under several webhook ids; whether two topics may share an event id is not documented, so the topic is part of it.
* Without an event id the webhook id, which stays the same over retries of a delivery; without that the hash of the body.

What becomes which event is the table ``_shopify_facts.TRANSLATIONS``; everything else, and whatever lacks what its type
needs, is ``shopify.{topic}``, or ``shopify.unknown`` where no topic is given. Privacy topics are the organisation's.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from lead_events.errors import InvalidError
from lead_events.event import Delivery, EventDraft, OrganizationEvent, SharedFact, check_event_type
from lead_events.instants import parse_instant
from lead_events.names import Source
from lead_events.providers._contract import keeps_contract
from lead_events.providers._reading import at, external_id, items, known, reference, text
from lead_events.providers._shopify_facts import TRANSLATIONS, Fact, Notice, as_told, number, object_id
from lead_events.providers._shopify_people import identities, lead, planted_order, tracking
from lead_events.providers._signatures import equal_to_any, sha256, unauthenticated, usable
from lead_events.sources import SOURCE_TYPES
from lead_events.strict_json import Json, loads

_NAMES: Final = ("topic", "shop-domain", "event-id", "webhook-id", "triggered-at", "api-version", "test")
HEADERS: Final = (*(f"x-shopify-{name}" for name in _NAMES), *(f"shopify-{name}" for name in _NAMES))
"""Lower-case request headers that a translation needs."""

UNKNOWN: Final = "unknown"
"""Stands for a topic that is missing or no name."""

_PRIVACY: Final = {
    "customers/data_request": "privacy.customer-data-requested",
    "customers/redact": "privacy.customer-redaction-requested",
    "shop/redact": "privacy.shop-redaction-requested",
}


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:  # noqa: ARG001  # no time is signed
    """HMAC-SHA256 of the body in Base64, under the app's client secret as text. There is no time to judge."""
    keys = usable(secrets)
    given = [headers.get(f"{prefix}shopify-hmac-sha256", "").strip() for prefix in ("x-", "")]
    if not equal_to_any(given, [base64.b64encode(sha256(key, body)).decode() for key in keys]):
        raise unauthenticated()


def translate(delivery: Delivery) -> list[EventDraft | OrganizationEvent]:
    """The events that a delivery tells of; never none. Raises ``RejectedError`` where it is no JSON object."""
    body = loads(delivery.body)
    if not isinstance(body, dict):
        raise InvalidError.of("body", "must be a JSON object")
    notice = Notice(_topic(delivery), body, test=_header(delivery, "test") == "true")
    if notice.topic in _PRIVACY:
        return [_privacy_request(delivery, notice)]
    unknown = as_told(notice)
    facts = TRANSLATIONS.get(notice.topic, _untranslated)(notice)
    if not facts or not all(keeps_contract(fact.event_type, fact.payload) for fact in facts):
        facts = [unknown]
    return [_draft(delivery, notice, fact, unknown) for fact in facts]


def stored_headers(external_event_id: str) -> dict[str, str]:
    """What an external id of ours tells of the headers of its delivery."""
    shop, _, rest = external_event_id.partition(":")
    topic, _, event_id = rest.partition(":")
    named = {"shop-domain": shop, "topic": topic.replace(".", "/"), "event-id": event_id.partition(":")[0]}
    return {f"x-shopify-{name}": value for name, value in named.items()} if event_id else {}


def _draft(delivery: Delivery, notice: Notice, fact: Fact, unknown: Fact) -> EventDraft:
    fact_id = reference(fact.fact_id)
    return EventDraft(
        organization_id=delivery.organization_id,
        source_type=SOURCE_TYPES[Source.SHOPIFY],
        source=Source.SHOPIFY.value,
        event_type=fact.event_type,
        payload=fact.payload,
        occurred_at=_occurred_at(delivery, notice.body),
        received_at=delivery.received_at,
        lead_id=lead(notice, delivery.lead_id),
        external_event_id=_external_id(delivery, *filter(None, [fact.part])),
        shared_fact=SharedFact(fact_id, unknown.event_type, unknown.payload) if fact_id else None,
        identities=identities(notice),
        tracking=tracking(notice),
        object_id=reference(planted_order(notice)),
        object_id_ref=object_id(notice),
        raw_payload=delivery.body,
    )


def _privacy_request(delivery: Delivery, notice: Notice) -> OrganizationEvent:
    """Whom a request is about is what it needs: its e-mail and phone are kept, for a lead may be known by them alone."""
    customer = at(notice.body, "customer")
    orders = items(notice.body, "orders_to_redact") or items(notice.body, "orders_requested")
    payload = known(
        shopId=number(notice.body, "shop_id"),
        shopDomain=text(notice.body, "shop_domain") or _header(delivery, "shop-domain"),
        customerId=number(customer, "id"),
        email=text(customer, "email"),
        phone=text(customer, "phone"),
        orderIds=[found for each in orders if (found := number({"id": each}, "id"))],
        dataRequestId=number(at(notice.body, "data_request"), "id"),
    )
    return OrganizationEvent(
        organization_id=delivery.organization_id,
        source=Source.SHOPIFY.value,
        type=_PRIVACY[notice.topic],
        external_event_id=_external_id(delivery),
        occurred_at=_occurred_at(delivery, notice.body),
        payload=payload,
    )


def _topic(delivery: Delivery) -> str:
    topic = _header(delivery, "topic") or UNKNOWN
    try:
        check_event_type(f"{Source.SHOPIFY}.{topic}", "topic")
    except InvalidError:
        return UNKNOWN
    return topic


def _external_id(delivery: Delivery, *parts: str) -> str:
    named: tuple[str, ...]
    event_id, topic = _header(delivery, "event-id"), (_header(delivery, "topic") or UNKNOWN).replace("/", ".")
    if event_id:
        named = (_header(delivery, "shop-domain") or "", topic, event_id)
    elif webhook_id := _header(delivery, "webhook-id"):
        named = (webhook_id,)
    else:
        named = ("body", hashlib.sha256(delivery.body.encode()).hexdigest())
    return external_id(*named, *parts)


def _occurred_at(delivery: Delivery, body: Json) -> datetime:
    """When Shopify was triggered; else the latest time that the object itself has; else when it came."""
    times = (
        _header(delivery, "triggered-at"),
        *(at(body, name) for name in ("updated_at", "processed_at", "created_at")),
    )
    for each in times:
        try:
            return parse_instant(each, "triggered_at")
        except InvalidError:
            continue
    return delivery.received_at


def _header(delivery: Delivery, name: str) -> str | None:
    given = (delivery.headers.get(f"{prefix}shopify-{name}", "").strip() for prefix in ("x-", ""))
    return next((each for each in given if each), None)


def _untranslated(_: Notice) -> list[Fact]:
    return []
