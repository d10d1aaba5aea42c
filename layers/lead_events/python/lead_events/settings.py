"""Typed settings, the only reader of the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta

from lead_events.names import Env


class SettingsError(RuntimeError):
    """An environment variable is missing or wrong; the text names it."""


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where events and claims are."""

    events_table: str
    claims_table: str
    identities_table: str
    rejected_events_table: str
    retention: timedelta | None

    @classmethod
    def read(cls) -> StoreSettings:
        days = os.environ.get(Env.RETENTION_DAYS, "")
        if days and not (days.isascii() and days.isdigit() and len(days) <= 6 and int(days) > 0):
            raise SettingsError(f"{Env.RETENTION_DAYS} must be a whole number of days.")
        return cls(
            events_table=_required(Env.EVENTS_TABLE),
            claims_table=_required(Env.CLAIMS_TABLE),
            identities_table=_required(Env.IDENTITIES_TABLE),
            rejected_events_table=_required(Env.REJECTED_EVENTS_TABLE),
            retention=timedelta(days=int(days)) if days else None,
        )


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Where verified webhooks go, and where their secrets are."""

    ingest_queue_url: str
    secret_prefix: str

    @classmethod
    def read(cls) -> WebhookSettings:
        return cls(_required(Env.INGEST_QUEUE_URL), _required(Env.WEBHOOK_SECRET_PREFIX))


def events_table() -> str:
    """Name of the events table, for those who only read it."""
    return _required(Env.EVENTS_TABLE)


def memories_table() -> str:
    """Name of the memories table."""
    return _required(Env.MEMORIES_TABLE)


def stream_dead_letters_url() -> str:
    """URL of the queue of stream records that this function gives up."""
    return _required(Env.STREAM_DEAD_LETTERS_URL)


def reprocessings_table() -> str:
    """Name of the reprocessings table."""
    return _required(Env.REPROCESSINGS_TABLE)


def reprocessing_queue_url() -> str:
    """URL of the queue of what reprocessings have to do."""
    return _required(Env.REPROCESSING_QUEUE_URL)


def organizations_table() -> str:
    """Name of the organizations table."""
    return _required(Env.ORGANIZATIONS_TABLE)


def erasures_table() -> str:
    """Name of the erasures table."""
    return _required(Env.ERASURES_TABLE)


def erasure_queue_url() -> str:
    """URL of the queue of what erasures have to do."""
    return _required(Env.ERASURE_QUEUE_URL)


def erasure_quiet_period() -> timedelta:
    """How long after its beginning an erasure looks for what was still under way."""
    return timedelta(seconds=int(_required(Env.ERASURE_QUIET_SECONDS)))


def dead_letter_urls() -> list[str]:
    """URLs of every dead-letter queue."""
    return _required(Env.DEAD_LETTER_URLS).split()


def is_local() -> bool:
    """Whether this runs on the local twin."""
    return os.environ.get(Env.STAGE) == "local"


def identity_secret_name() -> str:
    """Name of the secret under which identities are hashed."""
    return _required(Env.IDENTITY_SECRET)


def event_bus() -> str:
    """Name of the event bus."""
    return _required(Env.EVENT_BUS)


def raw_bucket() -> str:
    """Name of the bucket of what is too large for an item or a message."""
    return _required(Env.RAW_BUCKET)


def cursor_secret_name() -> str:
    """Name of the secret that signs cursors."""
    return _required(Env.CURSOR_SECRET)


def token_organizations_prefix() -> str:
    """Parameter Store prefix under which the organisation of a client id is kept."""
    return _required(Env.TOKEN_ORGANIZATIONS_PREFIX)


def tracing_enabled() -> bool:
    """Whether this runs in Lambda with X-Ray's SDK wanted."""
    disabled = os.environ.get("POWERTOOLS_TRACE_DISABLED", "").lower() in ("1", "true", "yes")
    return "LAMBDA_TASK_ROOT" in os.environ and not disabled


def _required(name: Env) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise SettingsError(f"The environment variable {name} is not set.")
    return value
