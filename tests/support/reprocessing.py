"""Reprocessings in memory: jobs, leads, a queue that does to messages what queues do, and a task that counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from datetime import timedelta
from typing import Any, TypeVar

from lead_events.cursors import Cursors
from lead_events.errors import UnavailableError
from lead_events.jobs import Job, Kind, LeadKey, LeadResult, Segment, Tally
from lead_events.ports import LeadPage
from lead_events.reprocessing import Message, Reprocessor
from lead_events.reprocessings import Reprocessings
from lead_events.store.memory import InMemoryEvents
from lead_events.store.memory_jobs import InMemoryLeads, InMemoryReprocessings
from lead_events.store.memory_queue import InMemoryQueue
from tests.support.builders import stored_event
from tests.support.clock import FakeClock
from tests.support.fakes import CrashPoints, secret

T = TypeVar("T")


class Inline(Executor):
    """Runs what it is given at once, in its caller's thread."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Messages(InMemoryQueue):
    """A queue whose sender may be killed before or after a message is on it."""

    def __init__(self, points: CrashPoints | None = None) -> None:
        super().__init__()
        self._points = points or CrashPoints()

    def send(self, message: str, delay_seconds: int = 0) -> None:
        self._points.pass_or_die()
        super().send(message, delay_seconds)
        self._points.pass_or_die()


class CrashingJobs(InMemoryReprocessings):
    """Jobs in memory whose ``advance`` may be killed before or after it took effect."""

    def __init__(self, points: CrashPoints) -> None:
        super().__init__()
        self._points = points

    def advance(self, job: Job, segment: Segment) -> bool:
        self._points.pass_or_die()
        done = super().advance(job, segment)
        self._points.pass_or_die()
        return done


class Leads:
    """Counts the work that is done with each lead; ``events`` of each, ``broken`` ones raise."""

    def __init__(self, points: CrashPoints, events: Callable[[str, str], int]) -> None:
        self.done: Counter[LeadKey] = Counter()
        self.broken: dict[str, Callable[[], Exception]] = {}
        self._points = points
        self._events = events

    def __call__(self, organization_id: str, lead_id: str) -> LeadResult:
        self._points.pass_or_die()
        if lead_id in self.broken:
            error = self.broken[lead_id]()
            raise error
        self.done[organization_id, lead_id] += 1
        return LeadResult(self._events(organization_id, lead_id), 1)


class Reprocessing:
    """Everything together. ``crash_at`` numbers the steps at which a worker is killed."""

    def __init__(self, *crash_at: int, segments: int = 4, step: timedelta = timedelta(seconds=1)) -> None:
        self.points = CrashPoints(crash_at)
        self.events = InMemoryEvents()
        self.jobs = CrashingJobs(self.points)
        self.queue = Messages(self.points)
        self.clock = FakeClock(step=step)
        self.leads = Leads(
            self.points, lambda *lead: sum((e.organization_id, e.lead_id) == lead for e in self.events.all())
        )
        self.scan = InMemoryLeads(self.events)
        self.api = Reprocessings(
            jobs=self.jobs,
            queue=self.queue,
            scan=self.scan,
            cursors=Cursors(secret),
            clock=self.clock,
            segments=segments,
        )
        self.worker = Reprocessor(
            jobs=self.jobs,
            queue=self.queue,
            scan=self.scan,
            tasks={(kind, dry): self.leads for kind in Kind for dry in (True, False)},
            clock=self.clock,
            executor=Inline(),
        )

    def store(self, leads: dict[LeadKey, int]) -> None:
        """Store so many events of each lead."""
        for (organization_id, lead_id), count in leads.items():
            for _ in range(count):
                self.events.append(stored_event(organization_id=organization_id, lead_id=lead_id))

    def deliver(self, message: str, *, redelivered: bool = False) -> Tally:
        """Let a worker have a message."""
        return self.worker.work(message, redelivered=redelivered)

    def drain(self) -> None:
        """Work until nothing waits."""
        while self.queue.sent:
            self.deliver(self.queue.sent.pop(0))

    def waiting(self) -> Iterator[Message]:
        """Messages on the queue."""
        return map(Message.read, self.queue.sent)


class SilentScan:
    """A scan that does not answer after ``pages`` pages."""

    def __init__(self, inner: InMemoryLeads, pages: int) -> None:
        self._inner = inner
        self.pages = pages

    def page(self, segment: int, segments: int, after: LeadKey | None) -> LeadPage:
        if self.pages == 0:
            raise UnavailableError("DynamoDB did not answer.")
        self.pages -= 1
        return self._inner.page(segment, segments, after)

    def count(self) -> int | None:
        return self._inner.count()


__all__ = ["Inline", "Leads", "Messages", "Reprocessing", "SilentScan"]
