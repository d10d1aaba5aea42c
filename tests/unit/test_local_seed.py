"""Every provider of the twin has a secret that its own module takes, and a running twin's are completed, never replaced."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lead_events import providers
from lead_events.providers import find
from lead_events.providers._meta import handshake
from lead_events.providers.web import verify as verify_web
from tests.support.deliveries import SIGNED, delivery
from tools.local.seed import SITE, completed

PROVIDERS = sorted(providers.names())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_first_entry_signs_as_the_provider_does(provider: str) -> None:
    secrets, now = completed(provider, []), datetime.now(UTC)
    body, headers = delivery(provider, secrets[0], now)
    find(provider).verify(headers, body, secrets, now)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_stored_stays_and_what_is_complete_is_left_alone(provider: str) -> None:
    whole = completed(provider, [])
    assert completed(provider, whole) == whole
    assert completed(provider, whole[:1])[0] == whole[0]
    assert set(completed(provider, whole[1:])) > set(whole[1:]) or whole[1:] == []
    rotating = [whole[0], "another", *whole[1:]]
    assert completed(provider, rotating) == rotating


def test_handshakes_and_browsers_have_their_entries() -> None:
    for provider in ("whatsapp", "instagram"):
        token = completed(provider, [])[1].removeprefix("verify:")
        query = {"hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": "1158201444"}
        assert handshake(query, completed(provider, ["app secret", f"verify:{token}"])) == "1158201444"
    secrets = completed("web", [])
    key = secrets[1].partition('"key": "')[2].partition('"')[0]
    verify_web({"origin": SITE, "x-lead-events-key": key}, b'{"eventId": "1"}', secrets, datetime.now(UTC))


def test_every_provider_can_be_signed_by_the_tests() -> None:
    assert set(SIGNED) == set(PROVIDERS)
