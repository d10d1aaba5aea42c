"""Memories are a function of the set of a lead's events: any order, any batches, any store in between, any rebuild."""

from __future__ import annotations

import copy
import os
import random
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import simplejson
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import catalogue, memories
from lead_events.categories import Category
from lead_events.event import StoredEvent
from lead_events.limits import size_of
from lead_events.memories import fold_of
from lead_events.memory import State
from lead_events.store.wire import from_wire, to_wire
from tests.support import memory_events
from tests.support.memory_events import BEGIN, event, events, histories

EXAMPLES = int(os.environ.get("LEAD_EVENTS_EXAMPLES", "100"))
"""Examples of the properties; more are worth it where a fold changed."""
RND = random.Random(11)


def bits(value: Any) -> str:
    text: str = simplejson.dumps(value, use_decimal=True, sort_keys=True)
    return text


def shown(states: dict[Category, State]) -> str:
    return bits({category: memories.view(category, state) for category, state in states.items()})


def kept(state: State) -> State:
    """The state as the store gives it back."""
    found: State = from_wire(to_wire(state))
    return found


@settings(max_examples=EXAMPLES)
@given(history=histories(60), seed=st.integers(0, 2**16))
def test_any_order_gives_the_same_memories_to_the_bit(history: list[StoredEvent], seed: int) -> None:
    shuffled = random.Random(seed).sample(history, len(history))
    assert bits(memories.fold(shuffled)) == bits(memories.fold(history))


@settings(max_examples=EXAMPLES)
@given(history=histories(30), data=st.data())
def test_batches_stored_in_between_and_redelivered_events_change_nothing(
    history: list[StoredEvent], data: st.DataObject
) -> None:
    deliveries = data.draw(st.permutations(history + history[: len(history) // 2]))
    states: dict[Category, State] = {}
    seen: set[str] = set()
    for each in deliveries:
        category = memories.category_of(each)
        if category is None or each.event_id in seen:  # as the window of a memory says
            continue
        seen.add(each.event_id)
        states[category] = memories.apply(category, kept(states.get(category, {})), each)
    fresh = memories.fold(history)
    assert shown({category: kept(states[category]) for category in fresh}) == shown(fresh)
    assert {category: kept(state) for category, state in states.items()} == {
        category: kept(state) for category, state in fresh.items()
    }


@settings(max_examples=EXAMPLES // 2)
@given(
    seed=st.integers(0, 2**32), types=st.lists(st.sampled_from(list(memory_events.PAYLOADS)), min_size=1, max_size=2)
)
def test_beyond_every_bound_the_order_does_not_matter_either(seed: int, types: list[str]) -> None:
    rnd = random.Random(seed)
    history = [
        event("lead_1", number, rnd, types=types, payload=many(types[0], rnd))
        for number in range(rnd.randrange(150, 300))
    ]
    history = [each for each in history if each.event_type == types[0]]
    assert bits(memories.fold(rnd.sample(history, len(history)))) == bits(memories.fold(history))


def many(kind: str, rnd: random.Random) -> dict[str, Any]:
    """A payload that is about one of 120 things."""
    number = rnd.randrange(120)
    made = memory_events.PAYLOADS[kind](rnd) | {
        name: f"{name} {number}"
        for name in (
            "productId",
            "ticketId",
            "campaignId",
            "planId",
            "insightType",
            "type",
            "channel",
            "category",
            "label",
        )
    }
    made |= {"currency": "".join(rnd.choice("ABC") for _ in range(3)), "paymentMethod": f"m{number}"}
    made["productIds"] = [f"productId {rnd.randrange(120)}" for _ in range(rnd.randrange(14))]
    made["responses"] = [
        {"field": rnd.randrange(9) and f"f{rnd.randrange(200)}", "answer": number} for _ in range(rnd.randrange(200))
    ]
    made["responses"] = [{**each, "field": str(each["field"])} for each in made["responses"]]
    return made


@given(history=histories(20))
def test_a_state_that_was_handed_out_stays_as_it_was(history: list[StoredEvent]) -> None:
    states: dict[Category, State] = {}
    for each in history:
        if (category := memories.category_of(each)) is None:
            continue
        before = states.get(category, {})
        copied = copy.deepcopy(before)
        states[category] = memories.apply(category, before, each)
        assert before == copied


@pytest.mark.parametrize("name", catalogue.EVENT_TYPES)
def test_every_type_of_the_catalogue_has_its_fold_in_its_category(name: str) -> None:
    made = event("lead_1", 1, RND, types=[name])
    assert memories.category_of(made) is catalogue.EVENT_TYPES[name].category
    assert name in fold_of(catalogue.EVENT_TYPES[name].category).FOLDS


def test_no_other_type_touches_a_memory() -> None:
    assert {each for category in Category for each in fold_of(category).FOLDS} == set(catalogue.EVENT_TYPES)
    other = event("lead_1", 1, RND, types=["stripe.invoice.created"], payload={})
    assert memories.category_of(other) is None
    assert memories.fold([other]) == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.text(max_size=30)
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=4),
    max_leaves=8,
)  # fmt: skip
NAMES = sorted(
    {name for model in catalogue.EVENT_TYPES.values() for name in model.sample} | {"productIds", "test", "trust"}
)


@settings(max_examples=EXAMPLES * 3)
@given(kind=st.sampled_from(list(catalogue.EVENT_TYPES)), payload=st.dictionaries(st.sampled_from(NAMES), JSON) | JSON)
def test_no_payload_breaks_a_fold_a_view_or_a_text(kind: str, payload: Any) -> None:
    made = event("lead_1", 1, random.Random(1), types=[kind], payload=payload)
    [(category, state)] = memories.fold([made]).items()
    view = memories.view(category, state)
    assert view["eventCount"] == 1
    assert made.event_id in memories.text({category: view}) or len(memories.fold_of(category).lines(view)) == 0
    kept(state)


def test_an_older_event_that_comes_later_changes_nothing_that_is_newer() -> None:
    begin = BEGIN.replace(hour=10)
    newer = event("lead_7", 1, RND, types=["subscription_created"], occurred_at=begin + timedelta(seconds=6),
                  payload={"planId": "pro", "status": "active"})  # fmt: skip
    older = event("lead_7", 2, RND, types=["subscription_created"], occurred_at=begin + timedelta(seconds=5),
                  payload={"planId": "pro", "status": "incomplete"})  # fmt: skip
    views = [
        memories.view(Category.SUBSCRIPTION, memories.fold(order)[Category.SUBSCRIPTION])
        for order in ([newer, older], [older, newer])
    ]
    assert views[0] == views[1]
    assert (views[0]["plans"][0]["status"], views[0]["plans"][0]["sourceStatus"]) == ("active", "active")
    assert views[0]["eventCount"] == 2
    assert views[0]["firstSeen"] == "2026-01-01T10:00:05.000000Z"
    assert views[0]["lastSeen"] == "2026-01-01T10:00:06.000000Z"


def test_three_thousand_custom_fields_stay_small_and_are_counted() -> None:
    state: State = {}
    for number in range(3_000):
        answers = [{"field": f"custom_{number}", "question": "?", "answer": "x" * 500}]
        made = event("lead_10", number, RND, types=["form_submitted"], occurred_at=BEGIN + timedelta(minutes=number),
                     payload={"formId": "f", f"custom_{number}": "x" * 500, "responses": answers})  # fmt: skip
        state = memories.apply(Category.FORM, state, made)
    view = memories.view(Category.FORM, state)
    assert view["eventCount"] == view["submissionCount"] == 3_000
    assert [each["field"] for each in view["answers"][:2]] == ["custom_2999", "custom_2998"]
    assert view["omitted"]
    assert size_of(state) < 40_000


def test_of_six_hundred_fields_at_once_the_first_stay_however_they_are_called() -> None:
    odd = ["utm.source", "lead-score", "name", "ADD", "#x", ":y", "a b", "__proto__", "constructor"]
    answers = [{"field": name, "answer": name} for name in [*odd, *map(str, range(591))]]
    made = event("lead_1", 1, RND, types=["form_submitted"], payload={"formId": "f", "responses": answers})
    view = memories.view(Category.FORM, kept(memories.fold([made])[Category.FORM]))
    assert [(each["field"], each["answer"]) for each in view["answers"][: len(odd)]] == [(name, name) for name in odd]
    assert view["omitted"]


@pytest.mark.parametrize("unit", ["x", "🦄", "é", "\x01"])
def test_the_worst_that_can_be_sent_fits_an_item(unit: str) -> None:
    rnd = random.Random(5)
    for category in Category:
        state: State = {}
        for number in range(300):
            kind = rnd.choice(list(fold_of(category).FOLDS))
            made = event("lead_1", number, rnd, types=[kind], payload=worst(kind, number, unit))
            state = memories.apply(category, state, made)
        assert size_of(state) < 150_000, category
        assert depth(state) <= 12
        assert "" not in list(keys(state))
        assert all(len(each) < 20 for each in keys(state))
        kept(state)
        assert len(bits(memories.view(category, state)).encode()) < 600_000  # escaped
        assert len(memories.text({category: memories.view(category, state)}).encode()) <= 4_000


def worst(kind: str, number: int, unit: str) -> dict[str, Any]:
    """Every field the contract has and those that folds read besides: long texts that all differ, long numbers."""
    fields = catalogue.EVENT_TYPES[kind].model_fields.values()
    long = f"{number}{unit * 400}"
    made: dict[str, Any] = {str(field.alias): long for field in fields}
    names = {name for name in NAMES if name not in ("test", "trust")} | {"status", "currency"}
    made |= dict.fromkeys(names, long)
    exact = Decimal("9" * 15 + "." + "9" * 23) / 10
    numbers = ("amount", "cartValue", "confidence", "score", "satisfactionScore", "durationSeconds", "messageCount")
    made |= dict.fromkeys((*numbers, "sentimentScore", "discountPercent", "daysSinceDelivery"), exact + number)
    made["productIds"] = [f"{number}/{each}{unit * 400}" for each in range(20)]
    made["responses"] = [
        {"field": f"{each}{long}", "question": f"{each}{long}", "answer": [long] * 30}
        for each in range(number % 3 * 200)
    ]
    return made


def depth(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, children), default=0) if isinstance(value, dict | list) else 0


def keys(value: Any) -> list[str]:
    if isinstance(value, list):
        return [key for each in value for key in keys(each)]
    return [*value, *(key for each in value.values() for key in keys(each))] if isinstance(value, dict) else []


def test_made_up_histories_are_what_sources_may_send() -> None:
    for each in events("lead_1", 1_000, random.Random(2)):
        catalogue.check(each.event_type, each.payload)
    assert set(memory_events.PAYLOADS) == set(catalogue.EVENT_TYPES)
