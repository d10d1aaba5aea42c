"""Settings are typed, read late, and say which variable is wrong without its value."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from lead_events import settings
from lead_events.names import Env
from lead_events.settings import SettingsError, StoreSettings, WebhookSettings

ENVIRONMENT = {name: f"the-{name.lower()}" for name in Env if name is not Env.RETENTION_DAYS}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Env:
        monkeypatch.delenv(name, raising=False)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def test_settings_are_what_the_stacks_set() -> None:
    read = StoreSettings.read()
    assert (read.events_table, read.claims_table, read.retention) == (
        "the-events_table_name",
        "the-claims_table_name",
        None,
    )
    assert WebhookSettings.read() == WebhookSettings("the-ingest_queue_url", "the-webhook_secret_prefix")
    assert settings.raw_bucket() == "the-raw_bucket_name"
    assert settings.cursor_secret_name() == "the-cursor_secret_name"
    assert settings.token_organizations_prefix() == "the-token_organizations_prefix"


@pytest.mark.parametrize(
    ("name", "read"),
    [
        (Env.EVENTS_TABLE, StoreSettings.read), (Env.CLAIMS_TABLE, StoreSettings.read),
        (Env.INGEST_QUEUE_URL, WebhookSettings.read),
        (Env.WEBHOOK_SECRET_PREFIX, WebhookSettings.read), (Env.RAW_BUCKET, settings.raw_bucket),
        (Env.CURSOR_SECRET, settings.cursor_secret_name), (Env.TOKEN_ORGANIZATIONS_PREFIX, settings.token_organizations_prefix),
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_or_empty_variable_is_named(
    name: Env, read: Callable[[], object], value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name) if value is None else monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name):
        read()


def test_retention_is_a_number_of_days_or_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(Env.RETENTION_DAYS, "365")
    assert StoreSettings.read().retention == timedelta(days=365)
    monkeypatch.setenv(Env.RETENTION_DAYS, "")
    assert StoreSettings.read().retention is None


@pytest.mark.parametrize("days", ["0", "-1", "1.5", "a year", "²", "1e3", "9999999"])
def test_retention_that_is_no_number_of_days_is_an_error(days: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(Env.RETENTION_DAYS, days)
    with pytest.raises(SettingsError, match=Env.RETENTION_DAYS) as caught:
        StoreSettings.read()
    assert days not in str(caught.value)


@pytest.mark.parametrize(
    ("environment", "enabled"),
    [
        ({}, False),
        ({"LAMBDA_TASK_ROOT": "/var/task"}, True),
        ({"LAMBDA_TASK_ROOT": "/var/task", "POWERTOOLS_TRACE_DISABLED": "true"}, False),
        ({"LAMBDA_TASK_ROOT": "/var/task", "POWERTOOLS_TRACE_DISABLED": "1"}, False),
        ({"LAMBDA_TASK_ROOT": "/var/task", "POWERTOOLS_TRACE_DISABLED": "0"}, True),
    ],
)
def test_traces_are_for_lambda_and_can_be_switched_off(
    environment: dict[str, str], enabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LAMBDA_TASK_ROOT", "POWERTOOLS_TRACE_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert settings.tracing_enabled() is enabled
