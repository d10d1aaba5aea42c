"""Rebuilding memories as the work of a reprocessing."""

from __future__ import annotations

from typing import Any

import pytest

from lead_events import memories
from lead_events.categories import Category
from lead_events.memory import Memory, Window
from lead_events.messaging.sqs import NoDeadLetters
from lead_events.projecting import Projector
from lead_events.rebuilding import UNFOLDABLE, Rebuilding
from lead_events.store.memory import InMemoryEvents
from lead_events.store.memory_memories import InMemoryMemories
from tests.support.builders import LEAD, ORGANIZATION, stored_event
from tests.support.clock import FakeClock
from tests.support.reprocessing import Inline


@pytest.fixture
def events() -> InMemoryEvents:
    return InMemoryEvents()


@pytest.fixture
def stored() -> InMemoryMemories:
    return InMemoryMemories()


@pytest.fixture
def rebuilding(events: InMemoryEvents, stored: InMemoryMemories) -> Rebuilding:
    return Rebuilding(Projector(events, stored, NoDeadLetters(), Inline(), FakeClock(), lambda _: None, presence=None))


def test_a_rebuild_writes_what_differs_and_tells_how_many_events_and_memories(
    events: InMemoryEvents, stored: InMemoryMemories, rebuilding: Rebuilding
) -> None:
    for _ in range(3):
        events.append(stored_event())
    events.append(stored_event(event_type="message.received", payload={}))
    result = rebuilding.rebuild(ORGANIZATION, LEAD)
    assert (result.events, result.changed, result.failure) == (4, 1, None)
    assert stored.get(ORGANIZATION, LEAD, Category.SUBSCRIPTION).rebuilt
    assert rebuilding.rebuild(ORGANIZATION, LEAD).changed == 0


def test_a_preview_writes_nothing_and_names_the_differing_fields_as_readers_see_them(
    events: InMemoryEvents, stored: InMemoryMemories, rebuilding: Rebuilding
) -> None:
    event = stored_event()
    events.append(event)
    result = rebuilding.preview(ORGANIZATION, LEAD)
    assert (result.events, result.changed) == (1, 1)
    [difference] = result.differences
    view = memories.view(Category.SUBSCRIPTION, memories.fold([event])[Category.SUBSCRIPTION])
    assert difference.subject == "subscription"
    assert set(difference.fields) == set(view)
    assert all(each["is"] is None for each in difference.fields.values())
    assert stored.of_lead(ORGANIZATION, LEAD) == []
    rebuilding.rebuild(ORGANIZATION, LEAD)
    assert rebuilding.preview(ORGANIZATION, LEAD).differences == []


def test_a_memory_that_says_too_much_is_shown_with_what_only_it_says(
    stored: InMemoryMemories, rebuilding: Rebuilding
) -> None:
    state: Any = memories.fold([stored_event()])[Category.SUBSCRIPTION]
    stored.put(
        Memory(organization_id=ORGANIZATION, lead_id=LEAD, category=Category.SUBSCRIPTION).changed(state, Window())
    )
    [difference] = rebuilding.preview(ORGANIZATION, LEAD).differences
    assert all(each["wouldBe"] is None for each in difference.fields.values())


def test_an_event_that_no_fold_can_take_is_told_of_the_lead(
    events: InMemoryEvents, rebuilding: Rebuilding, monkeypatch: pytest.MonkeyPatch
) -> None:
    events.append(stored_event())

    def refuse(*_: Any) -> Any:
        raise ValueError

    monkeypatch.setattr(memories, "apply", refuse)
    assert rebuilding.rebuild(ORGANIZATION, LEAD).failure == UNFOLDABLE
    assert rebuilding.preview(ORGANIZATION, LEAD).failure == UNFOLDABLE
