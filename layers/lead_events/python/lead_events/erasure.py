"""An erasure: whose data goes, how far that has come, and the receipt that stays.

An erasure is of one lead, or of a whole organisation. While it runs, nothing of whom it is about is taken any more. It ends at
an instant, ``until``: what happened until then stays out for ever, wherever it comes back from; what happens later is news of
somebody who has returned. (An organisation does not return.)
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from lead_events.errors import InvalidError
from lead_events.event import check_id
from lead_events.names import INBOX_PREFIX, lead_key
from lead_events.strict_json import dumps, loads


class Status(StrEnum):
    RUNNING = "running"
    DONE = "done"


class Store(StrEnum):
    """What a receipt counts by: where data was."""

    EVENTS = "events"
    CLAIMS = "claims"
    MEMORIES = "memories"
    IDENTITIES = "identities"
    REJECTED_EVENTS = "rejectedEvents"
    OBJECTS = "objects"
    """Raw payloads outside the tables."""
    REPROCESSINGS = "reprocessings"
    """Entries in what reprocessings found: samples, failures, jobs of the lead alone."""
    ORGANIZATION = "organization"
    """Entries in the organisation's state: its leads' subscriptions and invoices, or everything but its life cycle."""
    DEAD_LETTERS = "deadLetters"


NOTHING: Final[Mapping[Store, int]] = dict.fromkeys(Store, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure as it is stored. Once it is done it names no lead any more."""

    organization_id: str
    erasure_id: str
    lead_id: str | None = None
    """While it runs, of an erasure of one lead."""
    lead_hash: str | None = None
    """Of an erasure of one lead, for ever: whoever knows the lead's id finds the receipt."""
    requested_at: datetime
    requested_by: str
    """Id of the client that asked for it, or of the event that demands it."""
    status: Status = Status.RUNNING
    until: datetime | None = None
    """Set when everything is found to be gone; from then on what happens later is taken again."""
    completed_at: datetime | None = None
    slices: int = 0
    """How often it went on: the condition of every write of its progress."""
    walk_started_at: datetime | None = None
    """When the current walk through all stores began; ``None`` between two."""
    found_until: datetime | None = None
    """When the last walk that found anything came to its end."""
    found: bool = False
    """Whether the current walk has found anything yet."""
    stage: int = 0
    """Which of the stores the walk has come to."""
    position: str | None = None
    """How far it has come in that store; the store's own business."""
    counts: Mapping[Store, int] = field(default_factory=lambda: dict(NOTHING))

    @property
    def of_lead(self) -> bool:
        """Whether it is of one lead, not of an organisation."""
        return self.lead_hash is not None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What stays of an erased lead. No ``until``: its erasure is under way."""

    erasure_id: str
    until: datetime | None = None

    def covers(self, occurred_at: datetime) -> bool:
        """Whether what happened at ``occurred_at`` stays out."""
        return self.until is None or occurred_at <= self.until


@dataclass(frozen=True, slots=True)
class Fence:
    """What an organisation's erasures keep out, as far as can be told without knowing of whom it is."""

    closed: bool = False
    """Nothing of the organisation is taken any more."""
    erasing: bool = False
    """Erasures of leads are under way: every event has to be looked at."""
    until: datetime | None = None
    """Events up to then have to be looked at."""

    def passes(self, instant: datetime) -> bool:
        """Whether what happened at ``instant`` can be of nobody who was erased."""
        return not self.closed and not self.erasing and (self.until is None or instant > self.until)


def lead_hash_of(organization_id: str, lead_id: str) -> str:
    """Stands for a lead's id where the id itself shall not outlive the lead."""
    digest = hashlib.sha256(lead_key(organization_id, lead_id).encode()).digest()
    return urlsafe_b64encode(digest[:24]).decode()


@dataclass(frozen=True, slots=True)
class Slice:
    """A message for the eraser: a piece of an erasure, to be worked on."""

    organization_id: str
    erasure_id: str
    number: int
    attempt: int = 0

    @classmethod
    def next_of(cls, erasure: Erasure) -> Slice:
        """The piece that comes next."""
        return cls(erasure.organization_id, erasure.erasure_id, erasure.slices)

    def write(self) -> str:
        return dumps({"organizationId": self.organization_id, "erasureId": self.erasure_id, "slice": self.number,
                      "attempt": self.attempt})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Leftover:
    """A message for the eraser: a body in the inbox whose delivery has been processed."""

    organization_id: str
    key: str

    def write(self) -> str:
        return dumps({"organizationId": self.organization_id, "inboxKey": self.key})


def read_message(text: str) -> Slice | Leftover:
    """Inverse of both ``write``. Raises ``RejectedError`` for anything else: the queue keeps it."""
    value = loads(text)
    fields = value if isinstance(value, dict) else {}
    organization_id = check_id(fields.get("organizationId"), "organizationId")
    key, erasure_id = fields.get("inboxKey"), fields.get("erasureId")
    number, attempt = fields.get("slice"), fields.get("attempt")
    if isinstance(key, str) and key.startswith(f"{INBOX_PREFIX}{organization_id}/"):
        return Leftover(organization_id, key)
    if not isinstance(erasure_id, str) or not isinstance(number, int) or not isinstance(attempt, int):
        raise InvalidError("The message is no piece of an erasure.")
    return Slice(organization_id, erasure_id, number, attempt)
