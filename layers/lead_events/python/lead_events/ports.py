"""What the pipeline and the queries need from outside; the store has two adapters of each, one in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from lead_events.errors import FieldError
from lead_events.event import EventKey, IdentityKind, StoredEvent

if TYPE_CHECKING:
    from lead_events.categories import Category
    from lead_events.erasure import Erasure, Store, Tombstone
    from lead_events.idempotency import Claim  # Powertools and boto3 with it: not for who only needs a queue
    from lead_events.jobs import Job, LeadKey, Segment, Status
    from lead_events.memory import Memory
    from lead_events.organizations.state import Organization


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
        """Take ``claim.claim_id``, or give back the earlier claim that has it; one conditional write.

        The earlier one may be of an event that was erased.
        """
        ...

    def get(self, claim_id: str) -> Claim | None:
        """Read a claim, strongly consistent."""
        ...


@dataclass(frozen=True, slots=True)
class KnownIdentity:
    """One identity of a lead, without its value: only its HMAC is stored."""

    kind: IdentityKind
    since: datetime


@dataclass(frozen=True, slots=True)
class IdentityRecord:
    """What the store knows of an identity."""

    lead_id: str | None
    """Whose it is; ``None`` where it is nobody's since it was erased."""
    erased_until: datetime | None = None
    """The person was erased: what happened until then stays out. It stays when the identity points at a lead again."""


class IdentityStore(Protocol):
    """Which lead an identity points at. Keys are HMACs that hold the organisation."""

    def records(self, keys: Sequence[str]) -> dict[str, IdentityRecord]:
        """Those keys that are known, or were before they were erased; strongly consistent."""
        ...

    def claim(self, organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> str | None:
        """Point ``key`` at a lead unless it points at one; give that one back, or ``None``.

        Until when its person was erased, if ever, stays known.
        """
        ...

    def claim_all(self, organization_id: str, lead_id: str, keys: Mapping[str, IdentityKind]) -> bool:
        """Point all ``keys`` at a lead, or none where any of them points at one already."""
        ...

    def of_lead(self, organization_id: str, lead_id: str) -> list[KnownIdentity]:
        """A lead's identities, oldest first; eventually consistent."""
        ...

    def keys_of_lead(self, organization_id: str, lead_id: str) -> frozenset[str]:
        """The keys that point at a lead; eventually consistent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A delivery that was accepted from its sender but could not become an event, kept until somebody mends it."""

    organization_id: str
    code: str
    detail: str
    errors: tuple[FieldError, ...] = ()
    source: str
    """The provider, or the CloudEvents source."""
    raw_payload: str
    """The original text, byte for byte."""
    seen_at: datetime
    event_type: str | None = None
    external_event_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRejection(Rejection):
    """A kept rejection. ``seen_at`` is when it was first seen."""

    rejected_event_id: str
    last_seen_at: datetime
    deliveries: int
    """How often it was delivered; one whose processing broke off comes again, and is counted again."""


@dataclass(frozen=True, slots=True)
class RejectionPage:
    """Some rejections, last seen first, and the position behind them if there are more."""

    rejections: Sequence[StoredRejection]
    after: tuple[str, str] | None


class RejectionStore(Protocol):
    """Deliveries that could not become events."""

    def keep(self, rejection: Rejection) -> str:
        """Keep a rejection and give back its id; the same delivery again only counts one more. Never loses the raw text.

        First and last seen are the earliest and the latest of all its deliveries, in whatever order they are kept.
        One that was erased stays so: nothing is kept of it again.
        """
        ...

    def get(self, organization_id: str, rejected_event_id: str, *, raw: bool = False) -> StoredRejection | None:
        """Read one rejection."""
        ...

    def page(self, organization_id: str, after: tuple[str, str] | None, limit: int) -> RejectionPage:
        """Rejections of an organisation, last seen first, without their raw text; eventually consistent."""
        ...


class Bus(Protocol):
    """The event bus, towards other domains."""

    def publish(self, entries: Sequence[dict[str, Any]]) -> None:
        """Publish CloudEvents envelopes; returning means that the bus has every one."""
        ...


class MemoryStore(Protocol):
    """Lead memories. Every method raises ``UnavailableError`` where the store does not answer."""

    def get(self, organization_id: str, lead_id: str, category: Category) -> Memory:
        """Read one memory, strongly consistent; one of version 0 where there is none."""
        ...

    def of_lead(self, organization_id: str, lead_id: str) -> list[Memory]:
        """All memories of a lead, strongly consistent, in the order of the categories."""
        ...

    def put(self, memory: Memory) -> bool:
        """Store ``memory`` if the stored version is the one before; ``False`` where another has written since."""
        ...


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival(Generic[T_co]):
    """A record of a table's stream: something was stored. Records arrive at least once, in order for each item only."""

    sequence_number: str
    """By it Lambda is told that the record failed."""
    key: str
    """Key of the item, for whoever has to look after a record that failed."""
    at: datetime | None
    """When the item was stored, to the second."""
    item: T_co | Exception
    """What was stored, or why it cannot be read."""


class OrganizationStore(Protocol):
    """The state of organisations. Every method raises ``UnavailableError`` where the store does not answer."""

    def get(self, organization_id: str, *, consistent: bool = False) -> Organization:
        """Read one; one of version 0 where there is none. Without ``consistent`` it may be a moment old."""
        ...

    def put(self, organization: Organization, claims: Sequence[Claim]) -> bool:
        """Store the state and take the claims of the events that led to it (at most 99): all, or nothing.

        ``False`` where the stored version is not the one before, or a claim is taken, or another write is under way.
        """
        ...


class DeadLetters(Protocol):
    """Where records go that no retry can help, so that they do not hold up the others."""

    def send(self, message: str) -> None:
        """Keep a message; returning means that it is durable."""
        ...


class ObjectStore(Protocol):
    """Text too large for an item or a message."""

    def put(self, key: str, text: str) -> None:
        """Keep ``text`` under ``key``; returning means that it is durable."""
        ...

    def get(self, key: str) -> str:
        """The text under ``key``. Raises ``ObjectMissingError`` where it is not there, else ``UnavailableError``."""
        ...


class ErasureStore(Protocol):
    """Erasures and what stays of the erased. Every reading is strongly consistent."""

    def start(self, erasure: Erasure) -> Erasure:
        """Store an erasure of a lead or of an organisation, and close the organisation's fence with it, all in one.

        Gives back the one that runs already (of an organisation: that there ever was), else ``erasure``.
        """
        ...

    def get(self, organization_id: str, erasure_id: str) -> Erasure | None:
        """Read one erasure."""
        ...

    def page(self, organization_id: str, after: str | None, limit: int) -> ErasurePage:
        """Erasures of an organisation, newest first."""
        ...

    def tombstone(self, organization_id: str, lead_id: str) -> Tombstone | None:
        """What stays of a lead's latest erasure; ``None`` where it never was erased."""
        ...

    def advance(self, erasure: Erasure, *, new_walk: bool = False) -> bool:
        """Store how far a running erasure has come if it has gone on one time less.

        Leaves its counts and ``found`` alone, which are the shelves'; a new walk has found nothing yet.
        """
        ...

    def count(self, erasure: Erasure, store: Store, number: int) -> None:
        """Count what has gone from where no transaction reaches, and mark it as ``found``."""
        ...

    def finish(self, erasure: Erasure) -> bool:
        """Store that ``erasure`` is done at its ``until``, forget its lead's id, and open the fence behind it, all in one.

        ``False`` where somebody else has done so.
        """
        ...


@dataclass(frozen=True, slots=True)
class ErasurePage:
    """Some erasures, newest first, and the id behind which there are more."""

    erasures: Sequence[Erasure]
    after: str | None


class Shelf(Protocol):
    """One store as an erasure sees it: what of somebody is there goes, and is counted."""

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        """Erase some more from ``position`` on and give back where to go on, or ``None`` at the end of the store.

        What goes is counted in the stored erasure, and marks it as ``found``, in one transaction with its going where the
        store can do that. May be called again from any position, also by two workers at once.
        """
        ...


class WebhookQueue(Protocol):
    """The way of a verified webhook delivery into the pipeline."""

    def send(self, message: str) -> None:
        """Hand over a message; returning means that it is durable."""
        ...


class WorkQueue(Protocol):
    """Where the next piece of a long work waits for a worker."""

    def send(self, message: str, delay_seconds: int = 0) -> None:
        """Hand over a message, to be delivered after a while; returning means that it is durable."""
        ...


@dataclass(frozen=True, slots=True)
class LeadPage:
    """Some leads of a segment in the table's own order; ``more`` says that there may be others behind the last."""

    leads: Sequence[LeadKey]
    more: bool


class LeadScan(Protocol):
    """All leads there are, cut into segments; a lead is in one of them, always the same."""

    def page(self, segment: int, segments: int, after: LeadKey | None) -> LeadPage:
        """Some leads behind ``after``, each once; whoever had an event when this was called is among them in the end."""
        ...

    def count(self) -> int | None:
        """About how many events there are; ``None`` where that is not known."""
        ...


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some reprocessings, newest first, and the id behind which there are more."""

    jobs: Sequence[Job]
    after: str | None


class ReprocessingStore(Protocol):
    """Reprocessings and their progress. Every reading is strongly consistent."""

    def start(self, job: Job, segments: Sequence[Segment]) -> str | None:
        """Store a job and its segments, or give back the id of the open one of the same scope."""
        ...

    def get(self, owner: str, job_id: str) -> Job | None:
        """Read one job."""
        ...

    def page(self, owner: str, after: str | None, limit: int) -> JobPage:
        """Jobs of an organisation, or of everything."""
        ...

    def segment(self, job: Job, number: int) -> Segment | None:
        """One of a job's segments."""
        ...

    def segments(self, job: Job) -> list[Segment]:
        """A job's segments by number."""
        ...

    def change(self, job: Job, expected: Status) -> bool:
        """Store the status of ``job`` if the stored one is ``expected``; the scope of a closed job is free again."""
        ...

    def advance(self, job: Job, segment: Segment) -> bool:
        """Store ``segment`` if the stored one has gone on one time less."""
        ...
