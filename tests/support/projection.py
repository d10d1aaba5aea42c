"""The projector over stores in memory: histories, arrivals, and writers that come in between."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import Any, Final

from lead_events import memories
from lead_events.categories import Category
from lead_events.errors import UnavailableError
from lead_events.event import StoredEvent
from lead_events.instants import Clock
from lead_events.memory import Memory, State
from lead_events.ports import Arrival
from lead_events.projecting import Projector
from lead_events.store.memory import InMemoryEvents
from lead_events.store.memory_memories import InMemoryMemories
from lead_events.store.wire import item_from_wire, item_to_wire
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.clock import FakeClock
from tests.support.fakes import FakeQueue
from tests.support.memory_events import events
from tests.support.presence import nobody_erased

PURCHASE: Final = ["purchase_completed"]


def some(count: int, seed: int = 1, types: list[str] | None = None, lead: str = LEAD) -> list[StoredEvent]:
    """Events of a lead, always the same."""
    return events(lead, count, random.Random(seed), types=types)


class Inline(Executor):
    """Runs everything at once in the caller's thread: a test that fails fails again."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


class Shelf(InMemoryEvents):
    """Events that keep the time at which a test says they were stored."""

    def append(self, event: StoredEvent) -> StoredEvent | None:
        self._events[event.key] = event
        return None


class MeddledMemories(InMemoryMemories):
    """Before each put, whatever ``meddlers`` has next: another writer, a failure."""

    def __init__(self, meddlers: Iterable[Callable[[], None]] = ()) -> None:
        super().__init__()
        self.meddlers: Iterator[Callable[[], None]] = iter(meddlers)
        self.reads = 0

    def get(self, organization_id: str, lead_id: str, category: Category) -> Memory:
        self.reads += 1
        return super().get(organization_id, lead_id, category)

    def put(self, memory: Memory) -> bool:
        next(self.meddlers, lambda: None)()
        return super().put(memory)


class Projection:
    """A projector and all it works with."""

    def __init__(
        self,
        meddlers: Iterable[Callable[[], None]] = (),
        clock: Clock | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.events = Shelf()
        self.memories = MeddledMemories(meddlers)
        self.dead_letters = FakeQueue()
        self.clock = clock or FakeClock()
        self.pauses: list[int] = []
        self.projector = Projector(
            self.events,
            self.memories,
            self.dead_letters,
            executor or Inline(),
            self.clock,
            self.pauses.append,
            presence=nobody_erased(),
        )

    def store(self, events: Iterable[StoredEvent]) -> list[Arrival[StoredEvent]]:
        """Store events; their records."""
        found = []
        for event in events:
            self.events.append(event)
            found.append(arrival(event))
        return found

    def states(self, lead_id: str = LEAD, organization_id: str = ORGANIZATION) -> dict[Category, State]:
        """What the memories of a lead hold."""
        return {each.category: each.state for each in self.memories.of_lead(organization_id, lead_id)}

    def fresh(self, lead_id: str = LEAD) -> dict[Category, State]:
        """What they should hold: all stored events folded anew, in the form in which a store gives it back."""
        return fresh([event for event in self.events.all() if event.lead_id == lead_id])


def fresh(events: Sequence[StoredEvent]) -> dict[Category, State]:
    """A fresh fold, in the form in which a store gives it back."""
    return {each: item_from_wire(item_to_wire(state)) for each, state in memories.fold(events).items()}


def arrival(item: Any, number: str | None = None) -> Arrival[Any]:
    """The record of an event, or of one that cannot be read."""
    name = number or getattr(item, "event_id", "unreadable")
    return Arrival(sequence_number=f"seq of {name}", key=f"key of {name}", at=None, item=item)


def unavailable() -> None:
    """A store that does not answer."""
    raise UnavailableError("DynamoDB did not answer.")
