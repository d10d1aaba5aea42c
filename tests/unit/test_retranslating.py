"""What stored raw payloads would become today."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from lead_events import providers
from lead_events.event import Delivery, StoredEvent
from lead_events.in_memory import pipeline_in_memory
from lead_events.instants import now
from lead_events.retranslating import Retranslation, differing_fields
from lead_events.store.memory import InMemoryEvents
from tests.samples import load, names
from tests.support.builders import LEAD, ORGANIZATION, stored_event
from tests.support.deliveries import SIGNED, headers_of

AT = datetime(2026, 3, 25, 14, tzinfo=UTC)


def stored(provider: str, sample: str) -> list[StoredEvent]:
    """What is stored of a sample that a provider delivers."""
    body = load(provider, sample)
    kept = getattr(providers.find(provider), "HEADERS", None)
    sent = headers_of(provider, sample, body, SIGNED[provider].new_secret(), AT)
    headers = {name.lower(): value for name, value in sent.items() if kept is None or name.lower() in kept}
    events = InMemoryEvents()
    delivery = Delivery(
        provider=provider,
        organization_id=ORGANIZATION,
        body=body.decode(),
        received_at=now(),
        headers=headers,
        lead_id=LEAD,
    )
    pipeline_in_memory(events=events).process_delivery(delivery)
    return events.all()


@pytest.mark.parametrize(
    ("provider", "sample"), [(each, sample) for each in sorted(providers.names()) for sample in names(each)]
)
def test_what_is_stored_of_every_sample_is_what_its_raw_payload_would_become(provider: str, sample: str) -> None:
    for event in stored(provider, sample):
        assert differing_fields(event) == {}


def purchase() -> StoredEvent:
    found = next(each for each in stored("stripe", "checkout.session.completed.paid") if each.raw_payload)
    assert isinstance(found.payload, dict)
    return replace(found, lead_id=LEAD)


def test_a_field_that_would_be_different_is_named_with_both_values() -> None:
    event = purchase()
    assert isinstance(event.payload, dict)
    older = replace(event, payload={**event.payload, "currency": "XXX", "gone": 1})
    assert differing_fields(older) == {
        "payload.currency": {"is": "XXX", "wouldBe": event.payload["currency"]},
        "payload.gone": {"is": 1, "wouldBe": None},
    }


def test_another_type_is_a_difference_and_a_payload_that_is_no_object_is_compared_whole() -> None:
    event = purchase()
    assert differing_fields(replace(event, event_type="stripe.older"))["eventType"] == {
        "is": "stripe.older",
        "wouldBe": event.event_type,
    }
    assert differing_fields(replace(event, payload=[1]))["payload"] == {"is": [1], "wouldBe": None}


@pytest.mark.parametrize(("raw", "code"), [("not json", "malformed_body"), ("[]", "invalid")])
def test_what_cannot_be_translated_any_more_says_why(raw: str, code: str) -> None:
    event = purchase()
    found = differing_fields(replace(event, raw_payload=raw))
    assert found == {"translation": {"is": event.event_type, "wouldBe": None, "code": code}}


def test_an_event_that_no_translation_gives_any_more_is_a_difference() -> None:
    event = stored("hotmart", "PURCHASE_APPROVED.coupon_usd")[0]
    odd = replace(event, external_event_id="gone")
    assert differing_fields(odd) == {"translation": {"is": event.event_type, "wouldBe": None}}


def test_an_error_inside_a_delivery_is_told_where_nothing_else_stands_for_the_event() -> None:
    event = stored("web", "backend.purchase_completed")[0]
    found = differing_fields(replace(event, raw_payload='{"type": 7}'))
    assert found["translation"]["code"] == "invalid"


def test_of_a_lead_those_events_are_compared_that_a_providers_text_is_stored_of() -> None:
    events = InMemoryEvents()
    event = purchase()
    assert isinstance(event.payload, dict)
    for number in range(30):
        changed: dict[str, Any] = {"payload": {**event.payload, "currency": "XXX"}} if number % 2 else {}
        events.append(replace(event, event_id=stored_event(occurred_at=event.occurred_at).event_id, **changed))
    events.append(stored_event(raw_payload="text of ours", source="billing_service", external_event_id=None))
    events.append(stored_event(source="stripe", raw_payload=None, external_event_id="e-2"))
    result = Retranslation(events)(ORGANIZATION, LEAD)
    assert (result.events, result.changed, len(result.differences)) == (30, 15, 10)
    assert {each.subject[:4] for each in result.differences} == {"evt_"}
