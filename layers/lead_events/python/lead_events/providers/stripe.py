"""Stripe.

Signature: docs.stripe.com/webhooks. Both shapes are read: API versions before and since 2025-03-31 ("basil").

What becomes which event is the table ``_stripe_facts.TRANSLATIONS``; everything else, and whatever lacks what its type
needs, is ``stripe.{their name}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from lead_events.errors import InvalidError
from lead_events.event import Delivery, EventDraft, SharedFact, check_event_type, check_reference
from lead_events.instants import from_unix_seconds, parse_instant, to_microseconds
from lead_events.names import Source
from lead_events.providers._contract import keeps_contract
from lead_events.providers._reading import at, planted_lead, reference
from lead_events.providers._signatures import equal_to_any, sha256, unauthenticated, usable
from lead_events.providers._stripe_facts import TRANSLATIONS, Fact, Notice, as_told
from lead_events.providers._stripe_people import identities, tracking
from lead_events.sources import SOURCE_TYPES
from lead_events.strict_json import Json, loads

TOLERANCE: Final = timedelta(seconds=300)
"""How far a signature's time may be from ours, either way. Judged on receipt only: a queue may take longer."""

_SECONDS: Final = re.compile(r"\d{1,12}", re.ASCII)
_THIN_EVENT: Final = "v2.core.event"


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:
    """HMAC-SHA256 of ``{t}.{body}`` in lower-case hex, under the whole secret ``whsec_…`` as text.

    ``Stripe-Signature: t=<unix seconds>,v1=<hex>[,v1=…][,v0=…]``: one ``v1`` per active secret while it is rolled; ``v0``
    is a test scheme and never counts.
    """
    keys = usable(secrets)
    pairs = [part.strip().partition("=") for part in headers.get("stripe-signature", "").split(",")]
    times = [value for name, _, value in pairs if name == "t"]
    signatures = [value for name, _, value in pairs if name == "v1"]
    if len(times) != 1 or not _SECONDS.fullmatch(times[0]):
        raise unauthenticated()
    signed = times[0].encode() + b"." + body
    genuine = equal_to_any(signatures, [sha256(key, signed).hex() for key in keys])
    age = timedelta(microseconds=to_microseconds(now)) - timedelta(seconds=int(times[0]))
    if not genuine or abs(age) > TOLERANCE:
        raise unauthenticated()


def translate(delivery: Delivery) -> list[EventDraft]:
    """The events that a Stripe event tells of; never none.

    Raises ``RejectedError`` where it is not JSON, or has no ``id``, ``type`` or ``created``.
    """
    event = loads(delivery.body)
    if not isinstance(event, dict):
        raise InvalidError.of("body", "must be a JSON object")
    event_id = check_reference(event.get("id"), "id")
    if event_id is None:
        raise InvalidError.of("id", "must be the event's id")
    notice = Notice(
        type=check_event_type(event.get("type"), "type"),
        time=_created(event),
        object=at(event, "related_object") if event.get("object") == _THIN_EVENT else at(event, "data", "object"),
        previous=at(event, "data", "previous_attributes"),
        api_version=event.get("api_version"),
    )
    unknown = as_told(notice)
    check_event_type(unknown.event_type, "type")  # Stripe's longest name has 59 characters; ours takes 93
    facts = TRANSLATIONS.get(notice.type, _untranslated)(notice)
    if not facts or not all(keeps_contract(fact.event_type, fact.payload) for fact in facts):
        facts = [unknown]
    return [_draft(delivery, event_id, notice, fact, unknown) for fact in facts]


def _draft(delivery: Delivery, event_id: str, notice: Notice, fact: Fact, unknown: Fact) -> EventDraft:
    return EventDraft(
        organization_id=delivery.organization_id,
        source_type=SOURCE_TYPES[Source.STRIPE],
        source=Source.STRIPE.value,
        event_type=fact.event_type,
        payload=fact.payload,
        occurred_at=fact.time or notice.time,
        received_at=delivery.received_at,
        lead_id=_lead(notice.object, delivery.lead_id),
        # A second event of one notice needs its own id; one that would be too long is claimed by its fact alone.
        external_event_id=_joined(event_id, fact.part) if fact.part else event_id,
        shared_fact=_shared(fact, unknown),
        identities=identities(notice.object),
        tracking=tracking(notice.object),
        object_id=reference(notice.object, "metadata", "orderId") or reference(notice.object, "metadata", "order_id"),
        object_id_ref=reference(notice.object, "id"),
        raw_payload=delivery.body,
    )


def _lead(object_: Json, of_url: str | None) -> str | None:
    """The lead that was planted in the object, in what it belongs to, or else in the webhook's URL."""
    own = at(object_, "metadata")
    inherited = (
        at(object_, "subscription_details", "metadata"),  # invoices before basil
        at(object_, "parent", "subscription_details", "metadata"),  # invoices since basil
        at(object_, "lines", "data", 0, "metadata"),  # invoices before 2023 repeat the subscription's here only
    )
    return planted_lead(
        *_lead_ids(own),
        at(object_, "client_reference_id"),
        *(each for place in inherited for each in _lead_ids(place)),
        of_url,
    )


def _lead_ids(metadata: Json) -> tuple[Json, Json]:
    return at(metadata, "leadId"), at(metadata, "lead_id")


def _created(event: Mapping[str, Json]) -> datetime:
    created = event.get("created")
    if event.get("object") == _THIN_EVENT:
        return parse_instant(created, "created")
    if not isinstance(created, int):
        raise InvalidError.of("created", "must be whole seconds since 1970", code="invalid_time")
    return from_unix_seconds(created, "created")


def _shared(fact: Fact, unknown: Fact) -> SharedFact | None:
    name = reference(fact.fact_id)
    return SharedFact(name, unknown.event_type, unknown.payload) if name else None


def _joined(*parts: str) -> str | None:
    return reference(":".join(parts))


def _untranslated(_: Notice) -> list[Fact]:
    return []
