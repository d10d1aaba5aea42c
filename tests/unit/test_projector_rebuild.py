"""What the window cannot tell is folded anew; a rebuild restores what the events say, whoever else writes."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lead_events import memories, memory, projecting
from lead_events.categories import Category
from lead_events.errors import UnavailableError
from lead_events.limits import size_of
from lead_events.memory import Memory
from lead_events.projecting import ATTEMPTS
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.memory_events import event
from tests.support.projection import PURCHASE, Projection, some

# ------------------------------------------------------------------------------------------------ beyond the window


def test_a_record_that_is_replayed_by_hand_after_days_counts_nothing_twice() -> None:
    world = Projection()
    records = world.store(some(5, types=PURCHASE))
    world.projector.project(records)
    world.clock.instant += timedelta(days=3)  # type: ignore[attr-defined]
    world.projector.project(world.store([replace(each, stored_at=world.clock()) for each in some(3, 2, PURCHASE)]))
    assert world.projector.project(records).failed == []
    assert world.states() == world.fresh()


def test_a_lead_with_more_events_than_a_window_holds_is_folded_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_WINDOW_IDS", 10)
    world = Projection()
    records = world.store(some(60, types=PURCHASE))
    for start in range(0, 60, 4):
        batch = records[start : start + 4]
        assert world.projector.project([*batch, *records[:start:7]]).failed == []
        stored = world.memories.get(ORGANIZATION, LEAD, Category.PURCHASE)
        assert len(stored.window) <= 10
        assert not stored.rebuilt  # it is news
    assert world.states() == world.fresh()
    world.clock.instant += timedelta(days=2)  # type: ignore[attr-defined]
    world.projector.project(world.store([replace(each, stored_at=world.clock()) for each in some(2, 2, PURCHASE)]))
    assert not world.memories.get(ORGANIZATION, LEAD, Category.PURCHASE).window.overflowing
    assert world.states() == world.fresh()


# ------------------------------------------------------------------------------------------------------------ rebuilding


def test_a_rebuild_restores_deleted_memories_identically() -> None:
    world = Projection()
    world.projector.project(world.store(some(200)))
    before = world.states()
    world.memories.clear()
    done = world.projector.rebuild(ORGANIZATION, LEAD)
    assert (done.events, set(done.changed)) == (200, set(before))
    assert world.states() == before
    assert all(each.rebuilt for each in world.memories.all())


def test_a_rebuild_that_finds_all_well_writes_nothing() -> None:
    world = Projection()
    world.projector.project(world.store(some(50)))
    before = world.memories.writes
    assert world.projector.rebuild(ORGANIZATION, LEAD).changed == ()
    assert world.memories.writes == before


def test_a_rebuild_forgets_what_no_event_says() -> None:
    world = Projection()
    records = world.store(some(3, types=PURCHASE))
    world.projector.project(records)
    world.events._events.clear()
    assert world.projector.rebuild(ORGANIZATION, LEAD).changed == (Category.PURCHASE,)
    assert world.states() == {Category.PURCHASE: {}}


def test_a_rebuild_of_one_category_leaves_the_others() -> None:
    world = Projection()
    world.store(some(100))
    assert world.projector.rebuild(ORGANIZATION, LEAD, [Category.FORM]).changed == (Category.FORM,)
    assert set(world.states()) == {Category.FORM}


def test_the_version_never_goes_down() -> None:
    world = Projection()
    history = some(60, types=PURCHASE)
    versions = []
    for start in range(0, 60, 10):
        missed = world.store(history[start : start + 5])
        world.projector.rebuild(ORGANIZATION, LEAD)
        versions.append(world.memories.get(ORGANIZATION, LEAD, Category.PURCHASE).version)
        world.projector.project([*missed, *world.store(history[start + 5 : start + 10])])
        versions.append(world.memories.get(ORGANIZATION, LEAD, Category.PURCHASE).version)
    assert versions == list(range(1, 13))


def test_a_preview_tells_what_a_rebuild_would_change_and_changes_nothing() -> None:
    world = Projection()
    world.projector.project(world.store(some(50)))
    assert world.projector.preview(ORGANIZATION, LEAD)[1] == []
    stored = world.memories.get(ORGANIZATION, LEAD, Category.PURCHASE)
    world.memories.put(stored.changed({"seen": {"n": 1}}, stored.window))
    done, [difference] = world.projector.preview(ORGANIZATION, LEAD)
    assert (done.events, done.changed, difference.before) == (50, (Category.PURCHASE,), {"seen": {"n": 1}})
    assert difference.after == world.fresh()[Category.PURCHASE]
    assert world.states()[Category.PURCHASE] == {"seen": {"n": 1}}
    world.projector.rebuild(ORGANIZATION, LEAD)
    assert world.states() == world.fresh()


def test_a_lead_that_never_stands_still_is_not_rebuilt_for_ever() -> None:
    world = Projection()
    world.store(some(3, types=PURCHASE))

    def other() -> None:
        found = world.memories.get(ORGANIZATION, LEAD, Category.PURCHASE)
        super(type(world.memories), world.memories).put(found.changed({}, found.window))

    world.memories.meddlers = iter([other] * ATTEMPTS)
    with pytest.raises(UnavailableError):
        world.projector.rebuild(ORGANIZATION, LEAD)


def test_3000_custom_fields_stay_below_an_item_and_hold_up_nobody() -> None:
    """C53: 3,000 events of 500 bytes, each with a new field; then one of another lead in the same batch."""
    rnd = random.Random(3)
    responses = [
        [{"field": f"custom_{each}", "question": f"Pergunta {each}?", "answer": "x" * 400}] for each in range(3_000)
    ]
    answers = [
        event(LEAD, number, rnd, types=["form_submitted"], payload={"formId": "f1", "responses": each})
        for number, each in enumerate(responses)
    ]
    world = Projection()
    records = world.store(answers)
    for start in range(0, 3_000, 100):
        other = world.store(some(1, seed=start, types=PURCHASE, lead="lead_11")) if start == 2_900 else []
        done = world.projector.project([*records[start : start + 100], *other])
        assert (done.failed, done.poison) == ([], 0)
    [stored] = world.memories.of_lead(ORGANIZATION, LEAD)
    assert memories.event_count(stored.state) == 3_000
    assert item_bytes(stored) < 400 * 1024
    assert memories.event_count(world.states("lead_11")[Category.PURCHASE]) == 1
    assert world.states() == world.fresh()
    assert world.dead_letters.sent == []


def item_bytes(stored: Memory) -> int:
    return size_of(stored.state) + sum(len(ids) + 10 for ids in stored.window.hours.values()) + 200


def test_an_event_that_cannot_be_folded_is_given_up_also_where_all_are_folded_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "MAX_WINDOW_IDS", 5)
    world = Projection()
    records = world.store(some(10, types=PURCHASE))
    bad = records[2].item
    apply = memories.apply

    def breaking(category: Category, state: Any, each: Any) -> Any:
        if each == bad:
            raise KeyError("what was sent")
        return apply(category, state, each)

    monkeypatch.setattr(memories, "apply", breaking)
    done = world.projector.project(records)
    assert (done.applied, done.poison, done.failed) == (9, 1, [])


def test_pauses_grow_up_to_a_bound_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(projecting.time, "sleep", slept.append)
    projecting._pause(0)
    assert slept == []
    for attempt in range(1, ATTEMPTS):
        projecting._pause(attempt)
        assert 0 < slept[-1] <= 0.02 * 2 ** (attempt - 1)
    assert max(slept) <= 0.64
