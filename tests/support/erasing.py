"""Erasures in memory: shelves that hold things, a queue whose messages wait, and a worker that may be killed anywhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from lead_events.cursors import Cursors
from lead_events.erasing import Eraser
from lead_events.erasure import Erasure, Store
from lead_events.erasures import Erasures
from lead_events.errors import UnavailableError
from lead_events.store.memory import InMemoryBus, InMemoryClaims
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_organizations import InMemoryOrganizations
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.clock import FakeClock
from tests.support.fakes import CrashPoints, Killed, secret

QUIET = timedelta(minutes=20)


class FakeShelf:
    """Holds things that go one after the other, each with its count, as a transaction of DynamoDB does it."""

    def __init__(self, store: Store, erasures: InMemoryErasures, points: CrashPoints, things: int = 0) -> None:
        self.store = store
        self.things = things
        self.cleared_at: list[datetime | None] = []
        self._erasures = erasures
        self._points = points

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        self._points.pass_or_die()
        self.cleared_at.append(erasure.until)
        if not self.things:
            return None
        self.things -= 1
        self._erasures.count(erasure, self.store, 1)
        self._points.pass_or_die()
        return str(int(position or 0) + 1)


class DelayingQueue:
    """Messages that become visible after a while, and again after ``VISIBLE_AGAIN`` if they were not deleted."""

    VISIBLE_AGAIN = timedelta(minutes=6)

    def __init__(self, clock: FakeClock, points: CrashPoints) -> None:
        self.waiting: list[tuple[datetime, str, int]] = []
        self.sent: list[str] = []
        self._clock = clock
        self._points = points

    def send(self, message: str, delay_seconds: int = 0) -> None:
        self._points.pass_or_die()
        assert 0 <= delay_seconds <= 900
        self.sent.append(message)
        self.waiting.append((self._clock.instant + timedelta(seconds=delay_seconds), message, 0))
        self._points.pass_or_die()


class Workshop:
    """Everything that erases, in memory. ``kills`` are the steps at which the worker dies."""

    def __init__(
        self,
        *kills: int,
        things: int = 3,
        slow: timedelta = timedelta(milliseconds=1),
        error: Callable[[], BaseException] = Killed,
    ) -> None:
        self.clock = FakeClock(step=slow)
        self.points = CrashPoints((), error)
        self.organizations = InMemoryOrganizations(InMemoryClaims())
        self.erasures = InMemoryErasures(self.organizations)
        self.queue = DelayingQueue(self.clock, self.points)
        self.bus = InMemoryBus()
        self.removed: list[str] = []
        self.shelves = [self.shelf(store, things) for store in (Store.EVENTS, Store.MEMORIES, Store.OBJECTS)]
        self.all = [*self.shelves, self.shelf(Store.CLAIMS, things)]
        self.identities = self.shelf(Store.IDENTITIES, things)
        self.api = Erasures(erasures=self.erasures, queue=self.queue, cursors=Cursors(secret), clock=self.clock)
        self.eraser = Eraser(
            erasures=self.erasures,
            queue=self.queue,
            shelves_of_lead=self.shelves,
            shelves_of_organization=self.all,
            identities=self.identities,
            remove_body=self.removed.append,
            bus=self.bus,
            clock=self.clock,
            quiet_period=QUIET,
        )
        self._kills = kills

    def shelf(self, store: Store, things: int) -> FakeShelf:
        return FakeShelf(store, self.erasures, self.points, things)

    def erase(self, lead_id: str | None = LEAD) -> str:
        """Ask for an erasure and give back its id; from now on the worker may die."""
        if lead_id is None:
            self.api.erase_organization(ORGANIZATION, "offboarding.retention-expired")
            [found] = self.erasures.page(ORGANIZATION, None, 10).erasures
            erasure_id = found.erasure_id
        else:
            erasure_id = str(self.api.erase_lead(ORGANIZATION, lead_id, "operations")["erasureId"])
        self.points.steps, self.points.count = set(self._kills), -1
        return erasure_id

    def turn(self) -> Erasure | None:
        """The next message to a worker, who may die: then it becomes visible again."""
        self.queue.waiting.sort()
        visible, message, receives = self.queue.waiting.pop(0)
        self.clock.instant = max(self.clock.instant, visible)
        try:
            return self.eraser.work(message, redelivered=receives > 0)
        except (Killed, UnavailableError):
            again = self.clock.instant + DelayingQueue.VISIBLE_AGAIN
            self.queue.waiting.append((again, message, receives + 1))
            return None

    def run(self, turns: int = 300) -> list[Erasure]:
        """Work until no message waits; the erasures that were ended."""
        ended = []
        for _ in range(turns):
            if not self.queue.waiting:
                return ended
            if (done := self.turn()) is not None:
                ended.append(done)
        raise AssertionError("It does not come to an end.")

    def get(self, erasure_id: str) -> Erasure:
        found = self.erasures.get(ORGANIZATION, erasure_id)
        assert found is not None
        return found

    def receipt(self, erasure_id: str) -> dict[str, Any]:
        return self.api.one(ORGANIZATION, erasure_id)
