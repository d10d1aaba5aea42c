"""What is known about a lead: now, and as of some time."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from lead_events import memories, memory_queries
from lead_events.categories import Category
from lead_events.errors import InvalidError, NotFoundError, UnreadableError
from lead_events.event import StoredEvent
from lead_events.instants import format_instant
from lead_events.memory_queries import MemoryQueries, read_as_of, wants_text
from lead_events.strict_json import dumps
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.memory_events import events
from tests.support.projection import Projection, fresh


@pytest.fixture
def history() -> list[StoredEvent]:
    return events(LEAD, 200, random.Random(5))


@pytest.fixture
def world(history: list[StoredEvent]) -> Projection:
    made = Projection()
    made.projector.project(made.store(history))
    return made


@pytest.fixture
def queries(world: Projection) -> MemoryQueries:
    return MemoryQueries(world.events, world.memories)


def test_everything_known_is_shown_by_category(queries: MemoryQueries, history: list[StoredEvent]) -> None:
    shown = queries.of_lead(ORGANIZATION, LEAD, {})
    assert (shown["organizationId"], shown["leadId"], shown["asOf"]) == (ORGANIZATION, LEAD, None)
    assert list(shown["memories"]) == [each.value for each in Category]
    assert shown["memories"] == {each.value: memories.view(each, state) for each, state in fresh(history).items()}


def test_one_category_is_shown_alone(queries: MemoryQueries) -> None:
    everything = queries.of_lead(ORGANIZATION, LEAD, {})
    for category in Category:
        assert queries.one(ORGANIZATION, LEAD, category.value, {}) == {
            "organizationId": ORGANIZATION,
            "leadId": LEAD,
            "category": category.value,
            "asOf": None,
            "memory": everything["memories"][category.value],
        }


@pytest.mark.parametrize("category", ["nothing", "", "Purchase", "__proto__"])
def test_there_are_no_other_categories(queries: MemoryQueries, category: str) -> None:
    with pytest.raises(NotFoundError):
        queries.one(ORGANIZATION, LEAD, category, {})


def test_of_a_lead_without_events_nothing_is_known(queries: MemoryQueries) -> None:
    assert queries.of_lead(ORGANIZATION, "nobody", {})["memories"] == {}
    assert "Nothing is known" in queries.text(ORGANIZATION, "nobody", {})
    with pytest.raises(NotFoundError):
        queries.one(ORGANIZATION, "nobody", "purchase", {})


def test_a_memory_whose_events_are_gone_is_not_shown(world: Projection, queries: MemoryQueries) -> None:
    world.events._events.clear()
    world.projector.rebuild(ORGANIZATION, LEAD)
    assert queries.of_lead(ORGANIZATION, LEAD, {})["memories"] == {}


def test_the_text_is_what_the_views_say_and_cites_events(queries: MemoryQueries) -> None:
    text = queries.text(ORGANIZATION, LEAD, {})
    assert "[evt_" in text
    assert len(text.encode()) <= 4_000


def test_as_of_an_instant_what_had_occurred_by_then_is_known(
    queries: MemoryQueries, history: list[StoredEvent]
) -> None:
    ordered = sorted(history, key=lambda each: each.occurred_at)
    for event in ordered[::20]:
        then = event.occurred_at
        shown = queries.of_lead(ORGANIZATION, LEAD, {"asOf": format_instant(then)})
        known = fresh([each for each in history if each.occurred_at <= then])
        assert shown["asOf"] == format_instant(then)
        assert dumps(shown["memories"]) == dumps(
            {each.value: memories.view(each, state) for each, state in known.items()}
        )


def test_as_of_the_last_event_all_that_is_known_now_is_known_to_the_byte(
    queries: MemoryQueries, history: list[StoredEvent]
) -> None:
    last = max(each.occurred_at for each in history)
    then = queries.of_lead(ORGANIZATION, LEAD, {"asOf": format_instant(last)})
    assert dumps(then["memories"]) == dumps(queries.of_lead(ORGANIZATION, LEAD, {})["memories"])
    assert queries.text(ORGANIZATION, LEAD, {"asOf": format_instant(last)}) == queries.text(ORGANIZATION, LEAD, {})


def test_as_of_a_date_its_whole_day_is_known(queries: MemoryQueries, history: list[StoredEvent]) -> None:
    day = history[0].occurred_at.date()
    shown = queries.of_lead(ORGANIZATION, LEAD, {"asOf": day.isoformat()})
    assert shown["asOf"] == f"{day.isoformat()}T23:59:59.999999Z"
    known = fresh([each for each in history if each.occurred_at.date() <= day])
    assert set(shown["memories"]) == {each.value for each in known}


def test_before_its_first_event_nothing_is_known(queries: MemoryQueries, history: list[StoredEvent]) -> None:
    before = min(each.occurred_at for each in history) - timedelta(microseconds=1)
    assert queries.of_lead(ORGANIZATION, LEAD, {"asOf": format_instant(before)})["memories"] == {}
    with pytest.raises(NotFoundError):
        queries.one(ORGANIZATION, LEAD, "purchase", {"asOf": format_instant(before)})


@pytest.mark.parametrize("value", ["yesterday", "2026-13-01", "2026-01-01T00:00:00", "9999-12-31", "1"])
def test_an_impossible_time_is_refused(queries: MemoryQueries, value: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        queries.of_lead(ORGANIZATION, LEAD, {"asOf": value})
    assert (refused.value.code, refused.value.errors[0].field) == ("invalid_parameter", "asOf")


def test_the_end_of_time_is_a_time() -> None:
    assert read_as_of({"asOf": "9999-12-31T23:59:59.999999Z"}) is not None
    assert read_as_of({"asOf": ""}) is read_as_of({}) is None


def test_too_much_to_fold_at_once_is_refused(
    world: Projection, queries: MemoryQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_queries, "MAX_EVENTS", 199)
    with pytest.raises(InvalidError) as refused:
        queries.of_lead(ORGANIZATION, LEAD, {"asOf": "2027-01-01"})
    assert refused.value.errors[0].field == "asOf"
    assert len(queries.of_lead(ORGANIZATION, LEAD, {})["memories"]) == len(Category)
    world.events._events.popitem()
    assert queries.of_lead(ORGANIZATION, LEAD, {"asOf": "9999-12-31T23:59:59.999999Z"})["memories"]


def test_the_answer_tells_nothing_of_arrival_or_rebuilds(world: Projection, queries: MemoryQueries) -> None:
    before = dumps(queries.of_lead(ORGANIZATION, LEAD, {}))
    world.memories.clear()
    world.projector.rebuild(ORGANIZATION, LEAD)
    for stored in world.memories.all():
        world.memories.put(replace(stored.changed(stored.state, stored.window)))
    assert dumps(queries.of_lead(ORGANIZATION, LEAD, {})) == before


@pytest.mark.parametrize(("given", "text"), [({}, False), ({"format": "json"}, False), ({"format": "text"}, True)])
def test_text_is_given_where_it_is_asked_for(given: dict[str, str], text: bool) -> None:
    assert wants_text(given) is text


def test_there_is_no_other_format() -> None:
    with pytest.raises(UnreadableError):
        wants_text({"format": "xml"})
