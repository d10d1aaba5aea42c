"""Reprocessing beside live traffic: memories are the fold of all events in the end, whatever came in between."""

from __future__ import annotations

import json
import random
import threading
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import memories
from lead_events.categories import Category
from lead_events.cursors import Cursors
from lead_events.event import StoredEvent
from lead_events.instants import now
from lead_events.jobs import Kind
from lead_events.memory import Memory
from lead_events.messaging.sqs import NoDeadLetters
from lead_events.ports import Arrival, Page, Position, TimelineQuery
from lead_events.projecting import Projector
from lead_events.rebuilding import Rebuilding
from lead_events.reprocessing import Reprocessor
from lead_events.reprocessings import Reprocessings
from lead_events.store.memory import InMemoryEvents
from lead_events.store.memory_jobs import InMemoryLeads, InMemoryReprocessings
from lead_events.store.memory_memories import InMemoryMemories
from lead_events.strict_json import dumps
from tests.support import memory_events
from tests.support.fakes import secret
from tests.support.presence import nobody_erased
from tests.support.reprocessing import Inline, Messages

ORGANIZATION = "org_A"


class Interrupted(InMemoryEvents):
    """Events during whose reading something else happens."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Any = lambda: None

    def page(self, query: TimelineQuery, after: Position | None, limit: int, *, raw: bool = False) -> Page:
        self.meanwhile()
        found = super().page(query, after, min(limit, 7), raw=raw)
        self.meanwhile()
        return found


class Live:
    """Projector and reprocessor over the same stores."""

    def __init__(self, executor: Any) -> None:
        self.events = Interrupted()
        self.memories = InMemoryMemories()
        self.projector = Projector(
            self.events, self.memories, NoDeadLetters(), executor, now, lambda _: None, presence=nobody_erased()
        )
        self.jobs, self.queue = InMemoryReprocessings(), Messages()
        scan = InMemoryLeads(self.events)
        self.api = Reprocessings(
            jobs=self.jobs, queue=self.queue, scan=scan, cursors=Cursors(secret), clock=now, segments=3
        )
        rebuilding = Rebuilding(self.projector)
        self.worker = Reprocessor(
            jobs=self.jobs,
            queue=self.queue,
            scan=scan,
            tasks={(Kind.MEMORIES, False): rebuilding.rebuild},
            clock=now,
            executor=executor,
        )

    def append(self, event: StoredEvent) -> StoredEvent:
        """Store an event; what its stream record tells."""
        self.events.append(event)
        found = self.events.get(event.key)
        assert found is not None
        return found

    def project(self, events: Iterable[StoredEvent]) -> None:
        arrivals = [
            Arrival(sequence_number=str(n), key=each.event_id, at=None, item=each) for n, each in enumerate(events)
        ]
        while arrivals:
            failed = set(self.projector.project(arrivals).failed)
            arrivals = [each for each in arrivals if each.sequence_number in failed]

    def check(self) -> None:
        """Every memory is the fold of the lead's events, byte by byte."""
        leads: dict[str, list[StoredEvent]] = defaultdict(list)
        for event in self.events.all():
            leads[event.lead_id].append(event)
        for lead, events in leads.items():
            stored = {each.category: each for each in self.memories.of_lead(ORGANIZATION, lead)}
            assert shown({each: memory.state for each, memory in stored.items()}) == shown(memories.fold(events))


def shown(states: dict[Category, Any]) -> str:
    views = {each.value: memories.view(each, state) for each, state in states.items() if state}
    return json.dumps(json.loads(dumps(views)), sort_keys=True)


@given(st.integers(0, 2**32))
def test_events_that_arrive_at_any_point_of_a_rebuild_are_neither_lost_nor_counted_twice(seed: int) -> None:
    rnd = random.Random(seed)
    live = Live(Inline())
    made = [
        *memory_events.events("lead_1", rnd.randint(0, 25), rnd),
        *memory_events.events("lead_2", rnd.randint(0, 8), rnd),
    ]
    rnd.shuffle(made)
    cut = rnd.randint(0, len(made))
    records = [live.append(each) for each in made[:cut]]
    late, busy = made[cut:], [False]

    def happen() -> None:
        if busy[0]:
            return
        busy[0] = True
        for _ in range(rnd.randint(0, 3)):
            if late and rnd.random() < 0.5:
                records.append(live.append(late.pop()))
            if records and rnd.random() < 0.7:
                live.project(rnd.choices(records, k=rnd.randint(1, 4)))
        busy[0] = False

    live.events.meanwhile = happen
    live.api.start(ORGANIZATION, b"")
    live.api.start(ORGANIZATION, b'{"leadId": "lead_1"}')
    while live.queue.sent:
        live.worker.work(live.queue.sent.pop(rnd.randrange(len(live.queue.sent))), redelivered=rnd.random() < 0.3)
        happen()
    records += [live.append(each) for each in late]
    live.project(rnd.sample(records, len(records)))  # each record comes in the end, and some come again
    live.project(rnd.sample(records, len(records) // 2))
    live.check()


@settings(max_examples=3)
@given(st.integers(0, 2**32))
def test_c50_two_rebuilds_of_a_thousand_events_while_fifty_arrive_give_the_fold_of_all(seed: int) -> None:
    rnd = random.Random(seed)
    with ThreadPoolExecutor(8) as threads:
        live = Live(threads)
        live.events.page = super(Interrupted, live.events).page  # type: ignore[method-assign]
        made = list(memory_events.events("lead_9", 1_050, rnd))
        older = sorted(made, key=lambda each: each.occurred_at)[:3]
        first = [each for each in made if each not in older][:1_000]
        late = [each for each in made if each not in first]
        for each in first:
            live.append(each)
        live.project(live.events.all())
        versions: list[int] = []
        live.api.start(ORGANIZATION, b"")
        live.api.start(ORGANIZATION, b'{"leadId": "lead_9"}')
        done = threading.Event()

        def work() -> None:
            with suppress(IndexError):  # the other one took the last message
                while True:
                    live.worker.work(live.queue.sent.pop(), redelivered=False)

        def watch() -> None:
            while not done.is_set():
                versions.append(live.memories.get(ORGANIZATION, "lead_9", Category.PURCHASE).version)

        others = [threading.Thread(target=each) for each in (work, work, watch)]
        for each in others:
            each.start()
        for event in late:
            live.project([live.append(event)])
        for each in others[:2]:
            each.join()
        done.set()
        others[2].join()
        live.check()
        assert versions == sorted(versions)


def test_a_memory_that_says_something_else_is_put_right() -> None:
    live = Live(Inline())
    for event in memory_events.events("lead_1", 30, random.Random(1)):
        live.append(event)
    wrong = Memory(organization_id=ORGANIZATION, lead_id="lead_1", category=Category.PURCHASE)
    event = next(each for each in live.events.all() if memories.category_of(each) is Category.PURCHASE)
    state = memories.fold(
        [event, replace(event, event_id=event.event_id[:-1] + "0", occurred_at=event.occurred_at - timedelta(1))]
    )
    live.memories.put(wrong.changed(state[Category.PURCHASE], wrong.window))
    live.api.start(ORGANIZATION, b"")
    while live.queue.sent:
        live.worker.work(live.queue.sent.pop(), redelivered=False)
    live.check()
