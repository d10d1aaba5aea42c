"""Fakes of what the library needs from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lead_events.errors import UnavailableError
from lead_events.event import EventKey, StoredEvent
from lead_events.idempotency import Claim
from lead_events.in_memory import pipeline_in_memory
from lead_events.ports import Page, Position, TimelineQuery
from lead_events.store.memory import (
    InMemoryBus,
    InMemoryClaims,
    InMemoryEvents,
    InMemoryIdentities,
    InMemoryObjects,
    InMemoryRejections,
)
from lead_events.store.memory_queue import InMemoryQueue
from tests.support.clock import FakeClock


class FakeQueue(InMemoryQueue):
    """Keeps what is sent; ``fail`` makes it unreachable."""

    fail = False

    def send(self, message: str, delay_seconds: int = 0) -> None:
        if self.fail:
            raise UnavailableError("SQS did not answer.")
        super().send(message, delay_seconds)


class FakeWebhookSecrets:
    """Secrets as an operator changed them: ``known`` is what was read before, ``current`` what a fresh reading gives."""

    def __init__(self, current: Iterable[str] = (), known: Iterable[str] | None = None) -> None:
        self.current = list(current)
        self.known = self.current if known is None else list(known)
        self.asked: list[tuple[str, str, bool]] = []

    def get(self, provider: str, organization_id: str, *, fresh: bool = False) -> list[str]:
        self.asked.append((provider, organization_id, fresh))
        return self.current if fresh else self.known


class Killed(BaseException):
    """The function's end in the middle of things, as a time-out brings it; no ``except Exception`` sees it."""


class CrashPoints:
    """Kills at chosen steps: ``steps`` are the numbers of the calls, from 0, that do not come back."""

    def __init__(self, steps: Iterable[int] = (), error: Callable[[], BaseException] = Killed) -> None:
        self.steps = set(steps)
        self.error = error
        self.count = -1

    def pass_or_die(self) -> None:
        self.count += 1
        if self.count in self.steps:
            raise self.error()


class CrashingEvents:
    """Events in memory whose ``append`` may be killed before or after it took effect."""

    def __init__(self, points: CrashPoints) -> None:
        self.inner = InMemoryEvents()
        self._points = points
        self.appends = 0

    def append(self, event: StoredEvent) -> StoredEvent | None:
        self._points.pass_or_die()
        self.appends += 1
        found = self.inner.append(event)
        self._points.pass_or_die()
        return found

    def get(self, key: EventKey, *, raw: bool = False) -> StoredEvent | None:
        return self.inner.get(key, raw=raw)

    def find(self, organization_id: str, source: str, external_event_id: str) -> EventKey | None:
        return self.inner.find(organization_id, source, external_event_id)

    def page(self, query: TimelineQuery, after: Position | None, limit: int, *, raw: bool = False) -> Page:
        return self.inner.page(query, after, limit, raw=raw)


class CrashingClaims:
    """Claims in memory whose ``claim`` may be killed before or after it took effect."""

    def __init__(self, points: CrashPoints) -> None:
        self.inner = InMemoryClaims()
        self._points = points

    def claim(self, claim: Claim) -> Claim | None:
        self._points.pass_or_die()
        found = self.inner.claim(claim)
        self._points.pass_or_die()
        return found

    def get(self, claim_id: str) -> Claim | None:
        return self.inner.get(claim_id)


class World:
    """A pipeline over stores in memory, with the crash points given."""

    def __init__(self, *crash_at: int, error: Callable[[], BaseException] = Killed) -> None:
        self.points = CrashPoints(crash_at, error)
        self.events = CrashingEvents(self.points)
        self.claims = CrashingClaims(self.points)
        self.objects = InMemoryObjects()
        self.clock = FakeClock()
        self.identities = InMemoryIdentities()
        self.rejections = InMemoryRejections()
        self.bus = InMemoryBus()
        self.pipeline = pipeline_in_memory(
            events=self.events,
            claims=self.claims,
            objects=self.objects,
            identities=self.identities,
            rejections=self.rejections,
            bus=self.bus,
            clock=self.clock,
        )

    @property
    def stored(self) -> list[StoredEvent]:
        """Every event, in key order."""
        return self.events.inner.all()


def secret(_: Any = None) -> str:
    """A cursor secret."""
    return "cursor-secret"
