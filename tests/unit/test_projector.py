"""Events become memories: each once, whatever the order, whoever else writes."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import memories
from lead_events.categories import Category
from lead_events.errors import TooLargeError, UnavailableError
from lead_events.event import StoredEvent
from lead_events.ports import Arrival
from lead_events.projecting import ATTEMPTS
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.clock import START, FakeClock
from tests.support.projection import PURCHASE, Projection, arrival, some, unavailable

EXAMPLES = int(os.environ.get("LEAD_EVENTS_EXAMPLES", "100"))


# ------------------------------------------------------------------------------------------------ equal to a fresh fold


class Schedule:
    """A lead's events as they are stored, delivered, lost, delivered again, while rebuilds come in between."""

    def __init__(self, history: list[StoredEvent], seed: int) -> None:
        self.rnd = random.Random(seed)
        self.clock = FakeClock(START + timedelta(seconds=len(history)))
        self.world = Projection(self.meddlers(), self.clock)
        self.waiting = list(history)
        self.undelivered: list[Arrival[StoredEvent]] = []
        self.delivered: list[Arrival[StoredEvent]] = []
        self.depth = 0

    def meddlers(self) -> Iterator[Callable[[], None]]:
        """Between a reading and its writing: nothing, a failure, or somebody else's whole step."""
        while True:
            yield self.rnd.choice([lambda: None, lambda: None, lambda: None, unavailable, self.nested_step])

    def nested_step(self) -> None:
        if self.depth < 2:
            self.step()

    def step(self) -> None:
        """Store some events, deliver some records (some of them again), or rebuild."""
        self.depth += 1
        try:
            self.rnd.choice([self.store, self.store, self.deliver, self.deliver, self.redeliver, self.rebuild])()
        finally:
            self.depth -= 1

    def store(self) -> None:
        for _ in range(min(self.rnd.randint(1, 5), len(self.waiting))):
            self.undelivered += self.world.store([self.waiting.pop()])

    def deliver(self) -> None:
        self.rnd.shuffle(self.undelivered)
        cut = self.rnd.randint(0, len(self.undelivered))
        batch, self.undelivered = self.undelivered[:cut], self.undelivered[cut:]
        self.project(batch + self.rnd.sample(self.delivered, min(2, len(self.delivered))))

    def redeliver(self) -> None:
        self.project(self.rnd.choices(self.delivered, k=5) if self.delivered else [])

    def project(self, batch: list[Arrival[StoredEvent]]) -> None:
        done = self.world.projector.project(batch)
        assert done.poison == 0
        failed = [each for each in batch if each.sequence_number in done.failed]
        self.delivered += [each for each in batch if each not in failed]
        self.undelivered += failed

    def rebuild(self) -> None:
        with suppress(UnavailableError):
            self.world.projector.rebuild(ORGANIZATION, LEAD)

    def finish(self) -> None:
        """Everything is stored, and delivered until nothing fails."""
        self.world.memories.meddlers = iter(())
        while self.waiting or self.undelivered:
            self.store()
            self.deliver()


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 2**32), st.integers(0, 2**32), st.integers(0, 40), st.integers(0, 30))
def test_whatever_happens_memories_end_up_equal_to_a_fresh_fold(
    history_seed: int, seed: int, size: int, steps: int
) -> None:
    """Any order, duplication, batches, failures between reading and writing, and rebuilds meanwhile."""
    schedule = Schedule(some(size, history_seed), seed)
    for _ in range(steps):
        schedule.step()
    schedule.finish()
    assert schedule.world.states() == schedule.world.fresh()
    # And nothing is left to be mended.
    assert schedule.world.projector.rebuild(ORGANIZATION, LEAD).changed == ()


def test_threads_that_project_and_rebuild_at_once_end_up_equal_to_a_fresh_fold() -> None:
    world = Projection(executor=ThreadPoolExecutor(8))
    records = world.store(some(600))
    batches = [records[start : start + 30] for start in range(0, 600, 30)]

    def deliver(number: int) -> list[Any]:
        if number % 7 == 0:
            with suppress(UnavailableError):  # it lost too many races; the worker would begin again
                world.projector.rebuild(ORGANIZATION, LEAD)
            return []
        return world.projector.project(batches[number % len(batches)]).failed

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(deliver, range(60)))
    for batch in batches:  # what lost too many races is delivered again
        assert world.projector.project(batch).failed == []
    assert world.states() == world.fresh()


def test_a_failure_in_the_middle_and_the_redelivery_of_what_follows_count_nothing_twice() -> None:
    """Batch 10, 20, 30; it fails once on 20; 20 and 30 come again, then the whole batch."""
    world = Projection()
    ten, twenty, thirty = world.store(some(3, types=PURCHASE))
    world.memories.meddlers = iter([lambda: None, unavailable])
    assert world.projector.project([ten]).failed == []
    assert world.projector.project([twenty, thirty]).failed == [twenty.sequence_number, thirty.sequence_number]
    for batch in ([twenty, thirty], [ten, twenty, thirty], [thirty, thirty]):
        assert world.projector.project(batch).failed == []
    assert world.states() == world.fresh()
    assert memories.event_count(world.states()[Category.PURCHASE]) == 3


def test_an_older_event_that_arrives_later_does_not_overwrite_the_newer() -> None:
    first, second = some(2, types=["subscription_created"])
    orders = []
    for order in ([first, second], [second, first]):
        world = Projection()
        for each in order:
            world.projector.project(world.store([each]))
        orders.append(world.states())
        world.projector.rebuild(ORGANIZATION, LEAD)
        assert world.states() == orders[-1]
    assert orders[0] == orders[1]


def test_events_of_other_types_touch_no_memory() -> None:
    world = Projection()
    done = world.projector.project(world.store(some(5, types=["message.received"])))
    assert (done.applied, done.failed, world.memories.all(), world.memories.reads) == (0, [], [], 0)


# --------------------------------------------------------------------------------------------------------- what it costs


def test_a_batch_reads_and_writes_each_memory_it_touches_once() -> None:
    world = Projection()
    records = world.store([*some(40), *some(40, seed=2, lead="lead_2")])
    touched = {
        (each.item.lead_id, memories.category_of(each.item)) for each in records if memories.category_of(each.item)
    }  # type: ignore[union-attr, arg-type]
    assert world.projector.project(records).failed == []
    assert world.memories.writes == world.memories.reads == len(touched)


def test_a_batch_that_was_applied_writes_nothing() -> None:
    world = Projection()
    records = world.store(some(40))
    world.projector.project(records)
    before = world.memories.writes
    assert world.projector.project(records).applied == 0
    assert world.memories.writes == before


# -------------------------------------------------------------------------------------------- records that never succeed


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Ids of events that no fold can take."""
    ids: set[str] = set()
    apply = memories.apply

    def breaking(category: Category, state: Any, each: StoredEvent) -> Any:
        if each.event_id in ids:
            raise KeyError("what was sent")
        return apply(category, state, each)

    monkeypatch.setattr(memories, "apply", breaking)
    return ids


def test_a_poisonous_event_is_given_up_and_the_others_are_applied(broken: set[str]) -> None:
    world = Projection()
    records = world.store(some(10, types=PURCHASE))
    broken.add(records[4].item.event_id)  # type: ignore[union-attr]
    done = world.projector.project(records)
    assert (done.applied, done.poison, done.failed) == (9, 1, [])
    assert memories.event_count(world.states()[Category.PURCHASE]) == 9
    [letter] = world.dead_letters.sent
    assert json.loads(letter) == {
        "condition": "RecordCannotBeProjected",
        "error": "KeyError",
        "key": records[4].key,
        "sequenceNumber": records[4].sequence_number,
    }


def test_once_the_fold_is_mended_a_rebuild_takes_the_event_in(broken: set[str]) -> None:
    world = Projection()
    records = world.store(some(10, types=PURCHASE))
    broken.add(records[4].item.event_id)  # type: ignore[union-attr]
    world.projector.project(records)
    assert world.projector.rebuild(ORGANIZATION, LEAD).unfoldable == (records[4].item.event_id,)  # type: ignore[union-attr]
    broken.clear()
    assert world.projector.rebuild(ORGANIZATION, LEAD).changed == (Category.PURCHASE,)
    assert world.states() == world.fresh()
    assert world.projector.project(records).applied == 0


def test_a_record_that_cannot_be_read_is_given_up() -> None:
    world = Projection()
    records = world.store(some(3, types=PURCHASE))
    done = world.projector.project([arrival(ValueError("what was sent")), *records])
    assert (done.applied, done.poison, done.failed) == (3, 1, [])
    assert "what was sent" not in world.dead_letters.sent[0]


def test_what_cannot_be_given_up_is_delivered_again() -> None:
    world = Projection()
    world.dead_letters.fail = True
    bad = arrival(ValueError())
    assert world.projector.project([bad, *world.store(some(3, types=PURCHASE))]).failed == [bad.sequence_number]


def test_a_memory_that_fits_no_item_is_given_up() -> None:
    world = Projection()
    records = world.store(some(3, types=PURCHASE))

    def too_large() -> None:
        raise TooLargeError("The event does not fit an item of 400 KB.")

    world.memories.meddlers = iter([too_large])
    done = world.projector.project([*records, *world.store(some(2, types=PURCHASE, lead="lead_2"))])
    assert (done.applied, done.poison, done.failed) == (2, 3, [])


def test_one_leads_trouble_is_not_anothers() -> None:
    world = Projection()
    theirs, mine = world.store(some(3, types=PURCHASE)), world.store(some(3, types=PURCHASE, lead="lead_2"))
    world.memories.meddlers = iter([unavailable])
    done = world.projector.project([*theirs, *mine])
    assert done.failed == [each.sequence_number for each in theirs]
    assert world.states("lead_2") == world.fresh("lead_2")


def test_a_memory_that_never_stands_still_is_delivered_again() -> None:
    world = Projection()
    records = world.store(some(3, types=PURCHASE))

    def other() -> None:
        found = world.memories.get(ORGANIZATION, LEAD, Category.PURCHASE)
        super(type(world.memories), world.memories).put(found.changed({}, found.window))

    world.memories.meddlers = iter([other] * ATTEMPTS)
    assert world.projector.project(records).failed == [each.sequence_number for each in records]
    assert world.pauses == list(range(ATTEMPTS))  # longer and longer
    assert world.projector.project(records).failed == []
