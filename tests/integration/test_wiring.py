"""The composition root builds each part once, late, and forgets all when told to; secrets are read seldom."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from lead_events import wiring
from lead_events.errors import UnavailableError
from lead_events.names import Env
from lead_events.settings import SettingsError
from lead_events.store import secrets as secrets_module
from lead_events.store.secrets import MAX_AGE_SECONDS, MAX_KNOWN, MIN_AGE_SECONDS, SecretsManagerWebhookSecrets
from tests.support.aws import SECRET_PREFIX, webhook_secret

PARTS = (
    "executor",
    "objects",
    "events",
    "claims",
    "pipeline",
    "queries",
    "webhooks",
    "resolver",
    "rejections",
    "bus",
    "cursors",
)


@pytest.fixture(autouse=True)
def _fresh(environment: dict[str, str]) -> Iterator[None]:
    wiring.reset()
    yield
    wiring.reset()


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_built_once_and_anew_after_a_reset(part: str) -> None:
    build = getattr(wiring, part)
    first = build()
    assert build() is first
    wiring.reset()
    assert build() is not first


def test_clients_are_shared_between_parts_until_a_reset() -> None:
    client = wiring.client("dynamodb")
    assert wiring.client("dynamodb") is client
    assert client.meta.config.retries["total_max_attempts"] == 4
    wiring.reset()
    assert wiring.client("dynamodb") is not client


def test_a_reset_reads_the_settings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wiring.events()
    monkeypatch.delenv(Env.EVENTS_TABLE)
    wiring.events()
    wiring.reset()
    with pytest.raises(SettingsError, match=Env.EVENTS_TABLE):
        wiring.events()


def test_building_asks_aws_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.client import BaseClient

    def refuse(*_: Any) -> None:
        raise AssertionError("AWS was asked")

    monkeypatch.setattr(BaseClient, "_make_api_call", refuse)
    for part in PARTS:
        getattr(wiring, part)()


def test_a_missing_cursor_secret_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(Env.CURSOR_SECRET, "nothing-here")
    with pytest.raises(UnavailableError):
        wiring.queries().timeline("org_A", "lead_1", {"cursor": "A" * 54})


class Time:
    """A monotonic clock that tests turn."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


class Counted:
    """A provider of Powertools that counts what it is asked for."""

    def __init__(self) -> None:
        self.inner = wiring._secrets_provider()
        self.asked: list[str] = []

    def get(self, name: str, **options: Any) -> Any:
        self.asked.append(name)
        return self.inner.get(name, **options)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    clock = Time()
    monkeypatch.setattr(secrets_module, "time", clock)
    return clock


@pytest.fixture
def provider() -> Counted:
    return Counted()


@pytest.fixture
def secrets(provider: Counted, clock: Time) -> SecretsManagerWebhookSecrets:
    return SecretsManagerWebhookSecrets(provider, SECRET_PREFIX)  # type: ignore[arg-type]


def change(organization_id: str, value: str) -> None:
    boto3.client("secretsmanager").put_secret_value(
        SecretId=f"{SECRET_PREFIX}/stripe/{organization_id}", SecretString=value
    )


def test_secrets_are_read_once_in_five_minutes_and_a_fresh_look_at_most_every_ten_seconds(
    secrets: SecretsManagerWebhookSecrets, provider: Counted, clock: Time
) -> None:
    webhook_secret("stripe", "org_fresh", "old")
    assert [secrets.get("stripe", "org_fresh") for _ in range(5)] == [["old"]] * 5
    assert len(provider.asked) == 1
    change("org_fresh", json.dumps({"secrets": ["new"]}))
    for _ in range(5):  # a flood of wrong signatures
        assert secrets.get("stripe", "org_fresh", fresh=True) == ["old"]
    assert len(provider.asked) == 1
    clock.now += MIN_AGE_SECONDS
    assert secrets.get("stripe", "org_fresh") == ["old"]
    assert [secrets.get("stripe", "org_fresh", fresh=True) for _ in range(5)] == [["new"]] * 5
    assert len(provider.asked) == 2
    clock.now += MAX_AGE_SECONDS
    secrets.get("stripe", "org_fresh")
    assert len(provider.asked) == 3


def test_a_missing_secret_is_none_and_remembered_as_such(
    secrets: SecretsManagerWebhookSecrets, provider: Counted, clock: Time
) -> None:
    assert [secrets.get("stripe", "org_none") for _ in range(5)] == [[]] * 5
    assert provider.asked == [f"{SECRET_PREFIX}/stripe/org_none"]
    webhook_secret("stripe", "org_none", "made")
    clock.now += MIN_AGE_SECONDS
    assert secrets.get("stripe", "org_none", fresh=True) == ["made"]


@pytest.mark.parametrize(
    "value", ["", "text", "[]", '"a"', "{}", '{"secrets":"a"}', '{"secrets":[1]}', '{"secrets":null}']
)
def test_a_secret_of_another_shape_is_none(secrets: SecretsManagerWebhookSecrets, clock: Time, value: str) -> None:
    organization_id = f"org_{abs(hash(value))}"
    webhook_secret("stripe", organization_id, "good")
    change(organization_id, value or " ")
    assert secrets.get("stripe", organization_id) == []


def test_any_other_failure_is_unavailable_and_not_remembered(
    secrets: SecretsManagerWebhookSecrets, provider: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    from botocore.exceptions import ClientError

    webhook_secret("stripe", "org_denied", "good")
    client = wiring.client("secretsmanager")

    def deny(*_: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "whsec_secret"}}, "GetSecretValue")

    with monkeypatch.context() as denied:
        denied.setattr(client, "_make_api_call", deny)
        with pytest.raises(UnavailableError) as caught:
            secrets.get("stripe", "org_denied")
        assert "whsec" not in caught.value.detail
    assert secrets.get("stripe", "org_denied") == ["good"]


def test_invented_organisations_do_not_fill_the_memory(
    secrets: SecretsManagerWebhookSecrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "_fetch", lambda _: [])
    for number in range(MAX_KNOWN * 2):
        secrets.get("stripe", f"org_{number}")
    assert len(secrets._read) <= MAX_KNOWN
