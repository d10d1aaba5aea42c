"""Adding a provider touches its module, its samples and its test, nothing else.

A provider that nothing in the repository knows is put onto the package's path, as its one new file would be, and a
delivery of it goes the whole road: URL, signature, queue message, translation, lead, store.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lead_events import openapi, providers
from lead_events.envelope import read_message
from lead_events.errors import NotFoundError, UnauthenticatedError
from lead_events.event import OutcomeKind
from lead_events.webhooks import Webhooks
from tests.support.clock import START, FakeClock
from tests.support.fakes import FakeQueue, FakeWebhookSecrets, World
from tools.local.seed import completed

NAME = "acme"
MODULE = '''
"""Acme: hex HMAC of the body under the secret as text; one purchase a delivery."""

from lead_events.event import EventDraft, Identity, IdentityKind, SourceType
from lead_events.instants import from_unix_seconds
from lead_events.providers._signatures import equal_to_any, sha256, unauthenticated, usable
from lead_events.strict_json import loads

HEADERS = ("x-acme-event",)


def verify(headers, body, secrets, now):
    if not equal_to_any([headers.get("x-acme-signature", "")], [sha256(key, body).hex() for key in usable(secrets)]):
        raise unauthenticated()


def translate(delivery):
    sale = loads(delivery.body)
    return [
        EventDraft(
            organization_id=delivery.organization_id,
            source_type=SourceType.EXTERNAL,
            source="acme",
            event_type="purchase_completed",
            payload={"amount": sale["price"], "currency": "BRL", "kind": delivery.headers["x-acme-event"]},
            occurred_at=from_unix_seconds(sale["at"], "at"),
            received_at=delivery.received_at,
            external_event_id=sale["id"],
            identities=(Identity(IdentityKind.EMAIL, sale["email"]),),
            raw_payload=delivery.body,
        )
    ]


def handshake(query, secrets):
    return query["challenge"]
'''
BODY = b'{"id": "a-1", "at": 1767877200, "price": 10.00, "email": "Ana@Casa.example"}\n'


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The provider's one file."""
    (tmp_path / f"{NAME}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(providers, "__path__", [*providers.__path__, str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = (providers.names, openapi.document)  # kept for a process's life, in which no provider is added
    for each in known:
        each.cache_clear()
    yield
    for each in known:
        each.cache_clear()
    sys.modules.pop(f"{providers.__name__}.{NAME}", None)
    vars(providers).pop(NAME, None)


def signed(secret: str) -> dict[str, str]:
    signature = hmac.new(secret.encode(), BODY, hashlib.sha256).hexdigest()
    return {"x-acme-signature": signature, "x-acme-event": "sale", "x-other": "no", "content-type": "application/json"}


@pytest.mark.usefixtures("acme")
def test_a_new_providers_delivery_becomes_an_event_of_its_lead() -> None:
    world, queue = World(), FakeQueue()
    webhooks = Webhooks(FakeWebhookSecrets(["s3cret"]), queue, world.objects, FakeClock(step=timedelta()))
    for _ in range(2):
        webhooks.receive(NAME, "org_A", signed("s3cret"), {}, BODY)
    with pytest.raises(UnauthenticatedError):
        webhooks.receive(NAME, "org_A", signed("forged"), {}, BODY)
    outcomes = [outcome.kind for sent in queue.sent for outcome in world.pipeline.process_message(read_message(sent))]
    assert outcomes == [OutcomeKind.STORED, OutcomeKind.DUPLICATE]
    [event] = world.stored
    assert (event.source, event.event_type, event.external_event_id) == (NAME, "purchase_completed", "a-1")
    assert event.raw_payload == BODY.decode()
    assert isinstance(event.payload, dict)
    assert event.payload["kind"] == "sale"
    assert event.received_at == START
    assert event.lead_id.startswith("lead_")  # found by her e-mail


@pytest.mark.usefixtures("acme")
def test_its_handshake_its_place_in_the_contract_and_its_demo_secret_follow_from_its_module() -> None:
    webhooks = Webhooks(FakeWebhookSecrets(["s3cret"]), FakeQueue(), World().objects, FakeClock())
    assert webhooks.handshake(NAME, "org_A", {"challenge": "1158"}) == "1158"
    assert NAME in json.dumps(openapi.document())
    assert len(completed(NAME, [])) == 1


def test_without_its_module_there_is_no_such_provider() -> None:
    assert NAME not in providers.names()
    with pytest.raises(NotFoundError):
        providers.find(NAME)
