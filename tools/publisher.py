"""Publishes events about leads and organizations on the event bus. Copy this file into your service: it needs boto3 alone.

::

    publisher = Publisher(source="billing_service", domain="billing")
    event = publisher.event(
        "subscription-cancelled",
        organization_id="org_1",
        lead_id="lead_1",
        time=cancelled_at,                                  # when it happened, with a time zone
        data={"planId": "plan_pro", "reason": "too_expensive"},
    )
    publisher.publish([event])

Events about an organization itself name no lead: leave ``lead_id`` out. What there is to tell, and its fields:
``docs/internal-events.md`` and ``docs/organization-events.md``. ``PutEvents`` answers 200 though entries fail; here exactly
those are sent again, unchanged, and what could not be sent at all is raised. An event may be sent any number of times: its
``id`` makes it stored once. So give an ``id`` of your own (or keep the event) where you may have to begin anew after a crash.
"""

from __future__ import annotations

import json
import random
import re
import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import uuid4

Event = dict[str, Any]
"""A CloudEvents envelope."""

MAX_ENTRIES: Final = 10
"""Most entries of one PutEvents call."""
MAX_BYTES: Final = 256 * 1024
"""Most bytes of one PutEvents call, all its entries together, as EventBridge counts them."""

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_HOPELESS: Final = ("Malformed", "InvalidArgument", "NotAuthorized", "AccessDenied", "ValidationException")
"""Beginnings of error codes with which the same entry would only fail again."""


@dataclass(frozen=True)
class Failure:
    """An event that could not be sent, and EventBridge's reason."""

    event: Event
    code: str
    message: str


class NotPublishedError(Exception):
    """Some events could not be sent; all others were. The text holds ids and codes, no data."""

    def __init__(self, failures: list[Failure]) -> None:
        told = ", ".join(f"{each.event['id']} ({each.code})" for each in failures)
        super().__init__(f"{len(failures)} event(s) not published: {told}")
        self.failures = failures


class Publisher:
    """Sends the events of one domain."""

    def __init__(
        self,
        *,
        source: str,
        domain: str,
        bus: str = "lead-events",
        client: Any = None,
        attempts: int = 5,
        pause: float = 0.2,
        sleep: Callable[[float], None] = clock.sleep,
    ) -> None:
        """``client`` is a boto3 ``events`` client; ``pause`` is in seconds, doubled for each further attempt."""
        self._source = source
        self._domain = domain
        self._bus = bus
        self._client = client
        self._attempts = attempts
        self._pause = pause
        self._sleep = sleep

    def event(
        self,
        name: str,
        *,
        organization_id: str,
        lead_id: str | None = None,
        data: Mapping[str, Any],
        time: datetime | None = None,
        id: str | None = None,
    ) -> Event:
        """The envelope of one event; ``name`` is ``subscription-cancelled``. Without a ``time`` it happened just now.

        Raises ``ValueError`` for what would be rejected or misread.
        """
        if not _NAME.fullmatch(name):
            raise ValueError("name: lower-case words with hyphens, without the domain")
        ids = {"organizationId": organization_id} | ({} if lead_id is None else {"leadId": lead_id})
        if not all(map(_ID.fullmatch, ids.values())):
            raise ValueError("organization_id, lead_id: 1 to 64 letters, digits, _ or -")
        if {"organizationId", "leadId"} & set(data):
            raise ValueError("data: organizationId and leadId are arguments of their own")
        happened = time or datetime.now(UTC)
        if happened.tzinfo is None:
            raise ValueError("time: needs a time zone")
        return {
            "specversion": "1.0",
            "type": f"{self._domain}.{name}",
            "id": id or f"evt_{uuid4()}",
            "source": self._source,
            "time": happened.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "datacontenttype": "application/json",
            "data": {**ids, **data},
        }

    def publish(self, events: Iterable[Event]) -> None:
        """Send ``events``; returning means that the bus has every one. Raises ``NotPublishedError`` with those it has not."""
        pending = [(event, self._entry(event)) for event in events]
        failures = [Failure(event, "TooLarge", f"more than {MAX_BYTES} bytes") for event, entry in pending
                    if _size(entry) > MAX_BYTES]  # fmt: skip
        pending = [(event, entry) for event, entry in pending if _size(entry) <= MAX_BYTES]
        for attempt in range(1, self._attempts + 1):
            again = []
            for chunk in _chunks(pending):
                for (event, entry), (code, message) in zip(
                    chunk, self._put([entry for _, entry in chunk]), strict=True
                ):
                    if code.startswith(_HOPELESS) or (code and attempt == self._attempts):
                        failures.append(Failure(event, code, message))
                    elif code:
                        again.append((event, entry))
            pending = again
            if not pending:
                break
            # With jitter: senders that were throttled together do not come back together.
            self._sleep(self._pause * 2 ** (attempt - 1) * random.uniform(0.5, 1))
        if failures:
            raise NotPublishedError(failures)

    def _entry(self, event: Event) -> dict[str, str]:
        detail = json.dumps(event, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_number)
        return {"EventBusName": self._bus, "Source": self._source, "DetailType": event["type"], "Detail": detail}

    def _put(self, entries: list[dict[str, str]]) -> list[tuple[str, str]]:
        """Code and message of each entry; an empty code says that the bus has it."""
        import boto3
        from botocore.exceptions import BotoCoreError, ClientError

        self._client = self._client or boto3.client("events")
        try:
            answer = self._client.put_events(Entries=entries)
        except ClientError as error:
            failed = error.response.get("Error", {})
            return [(failed.get("Code", "Unknown"), failed.get("Message", ""))] * len(entries)
        except BotoCoreError as error:  # no answer: it may have them, or not. Sent twice, they are stored once.
            return [(type(error).__name__, str(error))] * len(entries)
        return [(each.get("ErrorCode", ""), each.get("ErrorMessage", "")) for each in answer["Entries"]]


def _chunks(pending: list[tuple[Event, dict[str, str]]]) -> Iterator[list[tuple[Event, dict[str, str]]]]:
    """As many in one call as it may hold, in the given order."""
    chunk: list[tuple[Event, dict[str, str]]] = []
    size = 0
    for each in pending:
        own = _size(each[1])
        if chunk and (len(chunk) == MAX_ENTRIES or size + own > MAX_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(each)
        size += own
    if chunk:
        yield chunk


def _size(entry: Mapping[str, str]) -> int:
    """Bytes that EventBridge counts for an entry (user guide, "Calculating PutEvents event entry size")."""
    return sum(len(entry[name].encode()) for name in ("Source", "DetailType", "Detail"))


def _number(value: object) -> float:
    """A decimal as the JSON number of the same value."""
    if isinstance(value, Decimal) and Decimal(repr(float(value))) == value:
        return float(value)
    raise ValueError(f"data: a {type(value).__name__} cannot be written exactly as JSON")
