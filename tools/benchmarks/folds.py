"""Folding events into memories, without a store: how fast, and whether a long history makes it slower."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

from lead_events import catalogue, memories
from lead_events.categories import Category
from lead_events.event import SourceType, StoredEvent, new_event_id
from lead_events.limits import MAX_ITEM_BYTES, size_of
from lead_events.memory import State
from tools.benchmarks.figures import Bar, Figure
from tools.benchmarks.lab import Lab

MIXED: Final = 10_000
CUSTOM_FIELDS: Final = 3_000
EDGE: Final = 100
"""Events at the beginning and at the end of a history that are compared."""
ROUNDS: Final = 9

_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)


def measure(lab: Lab) -> list[Figure]:
    """Processor time; the fastest of some rounds, for everything slower is the machine's doing."""
    rounds = 2 if lab.quick else ROUNDS
    lab.say(f"folds of {MIXED:,} events of every type and of {CUSTOM_FIELDS:,} custom fields, {rounds} rounds")
    events = list(islice(mixed(), MIXED))
    spent = min(_whole(events) for _ in range(rounds))
    fields = list(islice(custom_fields(), CUSTOM_FIELDS))
    runs = [_each(fields) for _ in range(rounds)]
    first, last = (min(sum(times[part]) for times, _ in runs) for part in (slice(EDGE), slice(-EDGE, None)))
    return [
        Figure("folds", f"{MIXED:,} events of every type of one lead", "events/s", MIXED / spent),
        Figure(
            "folds", f"last {EDGE} of {CUSTOM_FIELDS:,} custom fields, against the first {EDGE}", "µs an event",
            last / EDGE * 1e6, first / EDGE * 1e6, Bar(1.2),
        ),
        Figure(
            "folds", f"memory of {CUSTOM_FIELDS:,} custom fields", "bytes", size_of(runs[0][1]),
            bar=Bar(MAX_ITEM_BYTES, "value"),
        ),
    ]  # fmt: skip


def mixed() -> Iterator[StoredEvent]:
    """Samples of the catalogue in turn, of some hundred products, tickets, campaigns and plans."""
    number = 0
    while True:
        for name, model in catalogue.EVENT_TYPES.items():
            number += 1
            ids = {key: f"{value}_{number % 137}" for key, value in model.sample.items() if key.endswith("Id")}
            yield _event(number, name, model.sample | ids)


def custom_fields() -> Iterator[StoredEvent]:
    """Each event brings a field that no other has, with an answer of 500 bytes."""
    number = 0
    while True:
        number += 1
        answer = {"field": f"custom_{number}", "question": "What else?", "answer": "x" * 500}
        yield _event(number, "form_submitted", {"formId": "form_9", "responses": [answer]})


def _whole(events: Sequence[StoredEvent]) -> float:
    begun = time.process_time()
    memories.fold(events)
    return time.process_time() - begun


def _each(events: Sequence[StoredEvent]) -> tuple[list[float], State]:
    """Seconds of each event, and the state of all."""
    state: State = {}
    times = []
    for event in events:
        begun = time.perf_counter()
        state = memories.apply(Category.FORM, state, event)
        times.append(time.perf_counter() - begun)
    return times, state


def _event(number: int, event_type: str, payload: dict[str, Any]) -> StoredEvent:
    occurred_at = _BEGIN + timedelta(minutes=number)
    return StoredEvent(
        organization_id="org_bench",
        lead_id="lead_bench",
        source_type=SourceType.INTERNAL,
        source="ai_agents_service",
        event_type=event_type,
        payload=payload,
        occurred_at=occurred_at,
        received_at=occurred_at,
        event_id=new_event_id(occurred_at),
    )
