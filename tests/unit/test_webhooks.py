"""The webhook entrance takes what is signed, keeps it durably before it says so, and looks the same to every forger."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from lead_events.envelope import read_message
from lead_events.errors import (
    LeadEventsError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
    UnreadableError,
    problem,
)
from lead_events.store.memory import InMemoryObjects
from lead_events.webhook_message import read as read_delivery
from lead_events.webhooks import Webhooks
from tests.samples import load
from tests.support.clock import START, FakeClock
from tests.support.fakes import FakeQueue, FakeWebhookSecrets
from tests.support.signing import stripe_headers

OLD, NEW = "whsec_old", "whsec_new"
BODY = load("stripe", "customer.created")


class Entrance:
    """The entrance over fakes."""

    def __init__(self, secrets: FakeWebhookSecrets) -> None:
        self.secrets = secrets
        self.queue = FakeQueue()
        self.objects = InMemoryObjects()
        self.webhooks = Webhooks(secrets, self.queue, self.objects, FakeClock(step=timedelta()))

    def deliver(
        self,
        body: bytes = BODY,
        secret: str = NEW,
        provider: str = "stripe",
        organization_id: str = "org_A",
        **query: str,
    ) -> None:
        headers = stripe_headers(body, secret, START) | {"content-type": "application/json", "cookie": "secret"}
        self.webhooks.receive(provider, organization_id, headers, query, body)

    def refused(self, *args: Any, **kwargs: Any) -> LeadEventsError:
        with pytest.raises(LeadEventsError) as caught:
            self.deliver(*args, **kwargs)
        assert self.queue.sent == []
        return caught.value


def test_a_signed_delivery_is_on_the_queue_byte_for_byte_when_receive_returns() -> None:
    entrance = Entrance(FakeWebhookSecrets([NEW]))
    entrance.deliver(leadId="lead_7")
    [message] = entrance.queue.sent
    delivery = read_delivery(read_message(message), entrance.objects)
    assert (delivery.provider, delivery.organization_id, delivery.lead_id) == ("stripe", "org_A", "lead_7")
    assert (delivery.body.encode(), delivery.received_at) == (BODY, START)
    assert "cookie" not in delivery.headers
    assert "stripe-signature" not in message


def test_both_secrets_are_good_while_they_rotate() -> None:
    for secret in (OLD, NEW):
        entrance = Entrance(FakeWebhookSecrets([OLD, NEW]))
        entrance.deliver(secret=secret)
        assert len(entrance.queue.sent) == 1


def test_a_secret_added_since_ours_were_read_is_found_by_reading_them_anew() -> None:
    entrance = Entrance(FakeWebhookSecrets([OLD, NEW], known=[OLD]))
    entrance.deliver()
    assert entrance.secrets.asked == [("stripe", "org_A", False), ("stripe", "org_A", True)]
    assert len(entrance.queue.sent) == 1


def test_a_good_signature_costs_one_look_at_the_secrets() -> None:
    entrance = Entrance(FakeWebhookSecrets([NEW]))
    entrance.deliver()
    assert [fresh for *_, fresh in entrance.secrets.asked] == [False]


@pytest.mark.parametrize("secrets", [[], [""], ["  "], ["", " "], ["whsec_another"]])
@pytest.mark.parametrize("signed_with", ["", " ", "whsec_forged"])
def test_missing_blank_and_other_secrets_refuse_everything(secrets: list[str], signed_with: str) -> None:
    error = Entrance(FakeWebhookSecrets(secrets)).refused(secret=signed_with)
    assert isinstance(error, UnauthenticatedError)


def test_every_refusal_is_one_and_the_same_answer() -> None:
    answers = [
        problem(Entrance(FakeWebhookSecrets([OLD])).refused()),  # a wrong signature
        problem(Entrance(FakeWebhookSecrets([])).refused()),  # no such organisation
        problem(Entrance(FakeWebhookSecrets([NEW])).refused(organization_id="a#b")),  # none that could be
        problem(Entrance(FakeWebhookSecrets([NEW])).refused(body=BODY + b" ", secret=OLD)),
    ]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["status"] == 401


def test_an_impossible_organisation_is_never_asked_for() -> None:
    entrance = Entrance(FakeWebhookSecrets([NEW]))
    entrance.refused(organization_id="../x")
    assert entrance.secrets.asked == []


@pytest.mark.parametrize(
    "provider", ["acme", "", "Stripe", "_signatures", "__init__", "stripe.verify", "../stripe", "stripe#"]
)
def test_a_provider_that_does_not_exist_is_not_found(provider: str) -> None:
    assert isinstance(Entrance(FakeWebhookSecrets([NEW])).refused(provider=provider), NotFoundError)


@pytest.mark.parametrize("body", [b'{"id":"\xe9"}', b"{", b'{"a":1,"a":2}', b'{"a":NaN}', b'"\\ud83d"'])
def test_what_is_signed_but_unreadable_is_refused_while_the_sender_listens(body: bytes) -> None:
    assert isinstance(Entrance(FakeWebhookSecrets([NEW])).refused(body), UnreadableError)


def test_a_large_body_goes_by_reference() -> None:
    entrance = Entrance(FakeWebhookSecrets([NEW]))
    body = json.dumps({"id": "evt_1", "note": "é" * 450_000}, ensure_ascii=False).encode()
    entrance.deliver(body)
    [message] = entrance.queue.sent
    assert len(message) < 1_000
    assert read_delivery(read_message(message), entrance.objects).body.encode() == body


def test_where_the_queue_is_lost_nothing_is_acknowledged() -> None:
    entrance = Entrance(FakeWebhookSecrets([NEW]))
    entrance.queue.fail = True
    assert isinstance(entrance.refused(), UnavailableError)
    entrance.queue.fail = False
    entrance.deliver()
    assert len(entrance.queue.sent) == 1


@pytest.mark.parametrize("lead_id", ["", "a#b", "x" * 65, "João"])
def test_an_impossible_lead_in_the_url_is_left_out(lead_id: str) -> None:
    entrance = Entrance(FakeWebhookSecrets([NEW]))
    entrance.deliver(leadId=lead_id)
    assert "leadId" not in json.loads(entrance.queue.sent[0])["data"]


def test_a_provider_without_handshake_has_no_such_page() -> None:
    entrance = Entrance(FakeWebhookSecrets([NEW]))
    for provider in ("stripe", "acme"):
        with pytest.raises(NotFoundError):
            entrance.webhooks.handshake(provider, "org_A", {})
