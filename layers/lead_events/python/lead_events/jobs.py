"""A reprocessing: what is worked on, how far it has come, and what it found.

A job is cut into segments of the events table. A segment's *position* is the lead behind which it stands; everything that is
counted is written together with the position and on the condition that it is still the one before. So whatever is
delivered twice counts once, and what is lost can be taken up from the position again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from lead_events.strict_json import dumps

SEGMENTS: Final = 8
"""Segments of a job over many leads: as many workers as can be at it at once."""
MAX_FAILURES: Final = 20
"""Failed leads that one segment names; it counts them all."""
MAX_SAMPLES: Final = 10
"""Differences that are shown of a dry run; a segment keeps as many."""
STALLED_AFTER: Final = timedelta(minutes=5)
"""A running job without progress for so long has lost its messages: a resume takes it up again."""

LeadKey = tuple[str, str]
"""Organisation and lead."""


class Kind(StrEnum):
    """What is done with each lead."""

    MEMORIES = "memories"
    """Its memories are folded anew from its events."""
    RETRANSLATION = "retranslation"
    """Its raw payloads are translated anew, and what would be different is told. Events are never edited."""


class Status(StrEnum):
    """Where a job stands."""

    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    DONE = "done"

    @property
    def open(self) -> bool:
        """Whether the job may still go on, so that no other of its scope may start."""
        return self in (Status.RUNNING, Status.PAUSED)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a job is about: everything, an organisation, or one lead of it."""

    organization_id: str | None = None
    lead_id: str | None = None

    @property
    def owner(self) -> str:
        """Partition of the store: jobs of an organisation, or of everything."""
        return "ALL" if self.organization_id is None else f"ORG#{self.organization_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A reprocessing as its caller asked for it, and its status."""

    job_id: str
    scope: Scope
    kind: Kind = Kind.MEMORIES
    dry_run: bool = False
    segments: int = SEGMENTS
    expected_events: int | None = None
    """About how many events there are to come past, if that is known: for the percentage."""
    started_at: datetime
    status: Status = Status.RUNNING
    changed_at: datetime
    """When the status changed last."""
    idle: timedelta = timedelta()
    """How long it has been paused before."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What would be different in one memory, or in one event."""

    organization_id: str
    lead_id: str
    subject: str
    """The memory's category, or the event's id."""
    fields: Mapping[str, Any]
    """What is and what would be, by the name of each differing field at the top; long values are cut."""


@dataclass(frozen=True, slots=True)
class LeadResult:
    """What became of one lead."""

    events: int
    changed: int = 0
    """Memories that were written or would change; events that would be different."""
    differences: Sequence[Difference] = ()
    failure: str | None = None
    """Code of what could not be done."""


LeadTask = Callable[[str, str], LeadResult]
"""What a job does with a lead of an organisation. It may be done again at any time, and beside live traffic."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A lead that could not be worked on, and why."""

    organization_id: str
    lead_id: str
    code: str


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of some leads."""

    leads: int = 0
    events: int = 0
    changed: int = 0
    failed: int = 0
    failures: tuple[Failure, ...] = ()
    samples: tuple[Difference, ...] = ()

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.leads + other.leads,
            self.events + other.events,
            self.changed + other.changed,
            self.failed + other.failed,
            (self.failures + other.failures)[:MAX_FAILURES],
            (self.samples + other.samples)[:MAX_SAMPLES],
        )

    def with_result(self, lead: LeadKey, result: LeadResult) -> Tally:
        """One lead more."""
        failures = (Failure(*lead, result.failure),) if result.failure else ()
        samples = tuple(result.differences[:MAX_SAMPLES])
        return self + Tally(1, result.events, result.changed, len(failures), failures, samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a job, and how far it has come."""

    number: int
    slices: int = 0
    """How often it went on: with the position the condition of every write."""
    position: LeadKey | None = None
    """The lead behind which it stands; ``None`` at the beginning."""
    done: bool = False
    tally: Tally = field(default_factory=Tally)
    moved_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job has come, as its segments tell."""

    segments: int
    segments_done: int
    tally: Tally
    last_progress_at: datetime
    working: timedelta
    """How long it has been at work, pauses left out."""
    share: float
    """Of 1; by segments, or by events where it is known about how many there are."""
    stalled: bool

    @property
    def events_per_second(self) -> float | None:
        seconds = self.working.total_seconds()
        return self.tally.events / seconds if seconds > 0 else None

    def remaining(self) -> timedelta | None:
        """How long it may still take."""
        if not 0 < self.share < 1 or not self.working:
            return None
        return self.working * ((1 - self.share) / self.share)


def progress_of(job: Job, segments: Sequence[Segment], now: datetime) -> Progress:
    """What the segments of ``job`` tell together."""
    tally = sum((each.tally for each in segments), Tally())
    done = sum(each.done for each in segments)
    last = max([each.moved_at for each in segments if each.moved_at], default=job.started_at)
    resumed = job.changed_at if job.status is Status.RUNNING else job.started_at
    ended = now if job.status is Status.RUNNING else job.changed_at
    share = done / job.segments
    if job.expected_events and done < job.segments:
        share = max(share, min(0.99, tally.events / job.expected_events))
    return Progress(
        segments=job.segments,
        segments_done=done,
        tally=tally,
        last_progress_at=last,
        working=max(ended - job.started_at - job.idle, timedelta()),
        share=share,
        stalled=job.status is Status.RUNNING and now - max(last, resumed) > STALLED_AFTER,
    )


def bounded(value: Any, limit: int = 300) -> Any:
    """A value to be shown: its own where its JSON is short, else the beginning of that."""
    text = dumps(value)
    return value if len(text) <= limit else f"{text[:limit]}…"
