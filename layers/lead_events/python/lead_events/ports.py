"""What the pipeline and the queries need from outside; the store has two adapters of each, one in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lead_events.event import EventKey, StoredEvent
from lead_events.idempotency import Claim


@dataclass(frozen=True, slots=True)
class Position:
    """Where a reader stands in a timeline: the event it has read last."""

    occurred_at: datetime
    event_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineQuery:
    """A lead's events in ``[start, end)``, of one type or of all, in one direction."""

    organization_id: str
    lead_id: str
    event_type: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """Some events in order; ``more`` says that there may be others behind the last position read."""

    events: Sequence[StoredEvent]
    more: bool


class EventStore(Protocol):
    """The append-only events. Every method raises ``UnavailableError`` where the store does not answer."""

    def append(self, event: StoredEvent) -> StoredEvent | None:
        """Store ``event`` unless its key is taken; give back the event that holds the key, or ``None`` if stored.

        Raises ``TooLargeError``, before anything is written, where the event does not fit an item.
        """
        ...

    def get(self, key: EventKey, *, raw: bool = False) -> StoredEvent | None:
        """Read one event, strongly consistent; its raw payload only where asked for."""
        ...

    def find(self, organization_id: str, source: str, external_event_id: str) -> EventKey | None:
        """The key of an event by its external id, through ``idempotency-index``: eventually consistent."""
        ...

    def page(self, query: TimelineQuery, after: Position | None, limit: int, *, raw: bool = False) -> Page:
        """Read at most ``limit`` (at least 1) events behind ``after``; fewer where the store's own page ends."""
        ...


class ClaimStore(Protocol):
    """Who owns an external event id, for ever."""

    def claim(self, claim: Claim) -> Claim | None:
        """Take ``claim.claim_id``, or give back the earlier claim that has it. One conditional write."""
        ...

    def get(self, claim_id: str) -> Claim | None:
        """Read a claim, strongly consistent."""
        ...


class ObjectStore(Protocol):
    """Text too large for an item or a message."""

    def put(self, key: str, text: str) -> None: ...

    def get(self, key: str) -> str: ...


class WebhookQueue(Protocol):
    """The way of a verified webhook delivery into the pipeline."""

    def send(self, message: str) -> None:
        """Hand over a message; returning means that it is durable."""
        ...
