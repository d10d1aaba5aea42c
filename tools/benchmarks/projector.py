"""The projector: memories written per event, and whether a long history makes an event dearer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from lead_events.event import StoredEvent, new_event_id
from lead_events.instants import now
from lead_events.lifecycles import Lifecycles
from lead_events.messaging.sqs import NoDeadLetters
from lead_events.ports import Arrival
from lead_events.presence import Presence
from lead_events.projecting import Projector
from lead_events.store.memory import InMemoryClaims, InMemoryEvents
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_memories import InMemoryMemories
from lead_events.store.memory_organizations import InMemoryOrganizations
from tools.benchmarks.figures import Bar, Figure
from tools.benchmarks.folds import custom_fields, mixed
from tools.benchmarks.lab import Lab

BATCH = 100
"""Records of one invocation."""
SMALL, LARGE = 1_000, 100_000
"""Events that a lead has already."""
MORE = 2_000
ROUNDS = 5


def measure(lab: Lab) -> list[Figure]:
    """Writes are counted; times are processor times of the fastest of some rounds."""
    large = 5_000 if lab.quick else LARGE
    rounds = 1 if lab.quick else ROUNDS
    lab.say(f"projector: batches of {BATCH}, leads with {SMALL:,} and {large:,} events")
    one_lead = list(islice(mixed(), BATCH))
    many_leads = [replace(each, lead_id=f"lead_{index}") for index, each in enumerate(one_lead)]
    one_memory = list(islice(custom_fields(), BATCH))
    # In turns, so that both have the same neighbours on the machine.
    small, whole = zip(*((_seconds_behind(SMALL), _seconds_behind(large)) for _ in range(rounds)), strict=True)
    return [
        Figure("projector", f"{BATCH} events of one memory", "writes/event", _writes(one_memory) / BATCH),
        Figure("projector", f"{BATCH} events of one lead, every type", "writes/event", _writes(one_lead) / BATCH),
        Figure("projector", f"{BATCH} events of {BATCH} leads", "writes/event", _writes(many_leads) / BATCH,
               bar=Bar(1, "value")),
        Figure("projector", "events a second, in memory", "events/s", 1 / min(whole)),
        Figure("projector", f"an event behind {large:,} of its lead, against {SMALL:,}", "µs", min(whole) * 1e6,
               min(small) * 1e6, None if lab.quick else Bar(1.2)),
    ]  # fmt: skip


def _writes(events: Sequence[StoredEvent]) -> int:
    store = InMemoryMemories()
    _project(store, events)
    return store.writes


def _seconds_behind(history: int) -> float:
    """Processor seconds of an event of a lead that has a history, which was stored a month ago, beyond the window."""
    store = InMemoryMemories()
    long_ago = now() - timedelta(days=30)
    # A day for each thousand: nobody's window holds a hundred thousand events.
    days = ((long_ago + timedelta(days=index // 1_000), each) for index, each in enumerate(mixed()))
    rest = iter(islice(days, history))
    while part := list(islice(rest, 1_000)):
        _project(store, [each for _, each in part], at=part[0][0])
    fresh = [replace(each, event_id=new_event_id(each.occurred_at)) for each in islice(mixed(), MORE)]
    begun = time.process_time()
    _project(store, fresh, at=now() + timedelta(days=365))
    return (time.process_time() - begun) / MORE


def _project(store: InMemoryMemories, events: Sequence[StoredEvent], at: datetime | None = None) -> None:
    moment = at or now()

    def clock() -> datetime:
        return moment

    organizations = InMemoryOrganizations(InMemoryClaims())
    presence = Presence(Lifecycles(organizations, now), InMemoryErasures(organizations))
    with ThreadPoolExecutor(4) as executor:
        projector = Projector(InMemoryEvents(), store, NoDeadLetters(), executor, clock, presence=presence)
        rest = iter(events)
        while batch := list(islice(rest, BATCH)):
            stored = [replace(each, stored_at=clock()) for each in batch]
            arrivals = [
                Arrival(sequence_number=str(index), key=each.event_id, at=each.stored_at, item=each)
                for index, each in enumerate(stored)
            ]
            done = projector.project(arrivals)
            if done.failed or done.poison:
                raise ValueError("the projector left events out")
