"""The parts of memories: any order gives the same state, to the bit; states stay small; nothing handed out changes."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
import simplejson
from hypothesis import given
from hypothesis import strategies as st

from lead_events.memories import _shapes as shapes
from lead_events.memories._shapes import Map

STAMPS = st.integers(0, 40).map("evt_{:04d}".format)
NUMBERS = st.one_of(
    st.integers(-(10**16), 10**16),
    st.decimals(allow_nan=False, allow_infinity=False, places=9, min_value=-(10**15), max_value=10**15),
    st.sampled_from([Decimal("1E+125"), Decimal("-1E-130"), Decimal("0E-9"), Decimal("9.9999995"), 10**14]),
)
KEYS = st.integers(0, 30).map(lambda number: shapes.digest(f"key {number}"))
Input = tuple[str, str, Any]
"""Stamp, key and value of one event: of a stamp there is one event."""
INPUTS = st.lists(st.tuples(STAMPS, KEYS, NUMBERS), unique_by=lambda each: each[0], max_size=40)
BOUND = 5


def _tally(at: Map, each: Input) -> None:
    stamp, key, value = each
    if (row := shapes.tally(at, "part", key, BOUND)) is not None:
        shapes.count(row, "n")
        shapes.add(row, "sum", value)
        shapes.cite(row, stamp)
        if (inner := shapes.tally(row, "inner", shapes.digest(str(value)), 2)) is not None:
            shapes.count(inner, "n")


PARTS: dict[str, Callable[[Map, Input], None]] = {
    "count": lambda at, each: shapes.count(at, "part"),
    "add": lambda at, each: shapes.add(at, "part", each[2]),
    "keep": lambda at, each: shapes.keep(at, "part", each[0], each[2]),
    "best": lambda at, each: shapes.best(at, "part", each[0], each[2]),
    "cite": lambda at, each: shapes.cite(at, each[0]),
    "recent": lambda at, each: shapes.recent(at, "part", each[0], {"value": each[2]}, BOUND),
    "latest": lambda at, each: shapes.latest(at, "part", each[1], each[0], {"value": each[2]}, BOUND),
    "tally": _tally,
}


def put(name: str, inputs: list[Input], state: Map | None = None) -> Map:
    at = {} if state is None else state
    for each in inputs:
        at = dict(at)
        PARTS[name](at, each)
    return at


def bits(state: Map) -> str:
    text: str = simplejson.dumps(state, use_decimal=True, sort_keys=True)
    return text


@pytest.mark.parametrize("name", PARTS)
@given(inputs=INPUTS, seed=st.integers(0, 1000))
def test_any_order_gives_the_same_state_to_the_bit(name: str, inputs: list[Input], seed: int) -> None:
    shuffled = random.Random(seed).sample(inputs, len(inputs))
    assert bits(put(name, shuffled)) == bits(put(name, inputs))


@pytest.mark.parametrize("name", PARTS)
@given(inputs=INPUTS, cut=st.integers(0, 40))
def test_a_state_that_was_handed_out_stays_as_it_was(name: str, inputs: list[Input], cut: int) -> None:
    before = put(name, inputs[:cut])
    copied = copy.deepcopy(before)
    put(name, inputs[cut:], before)
    assert before == copied


@pytest.mark.parametrize("name", PARTS)
@given(inputs=INPUTS)
def test_a_state_does_not_grow_beyond_its_bound(name: str, inputs: list[Input]) -> None:
    part = put(name, inputs)
    held = part.get("ids") or part.get("part") or []
    if name == "latest":
        assert len(held["keys"] if held else []) == len(held["rows"] if held else []) <= BOUND
    elif name in ("recent", "tally"):
        assert len(held) <= BOUND
    elif name == "cite":
        assert len(held) <= shapes.CITED
    assert len(bits(part)) < 2_500


@given(INPUTS)
def test_sums_are_exact_and_what_is_too_large_is_told(inputs: list[Input]) -> None:
    values = [value for _, _, value in inputs]
    fitting = [Decimal(each) for each in values if abs(each) < shapes.LARGEST]
    state = put("add", inputs)
    exact = sum((each.quantize(Decimal("0.000001"), context=shapes._EXACT) for each in fitting), Decimal(0))
    assert shapes.summed(state, "part") == (exact if fitting else None)
    assert shapes.too_large(state, "part") == len(values) - len(fitting)
    if fitting:
        assert abs(Decimal(shapes.mean(state, "part") or 0) - exact / len(fitting)) <= Decimal("0.0001")


@given(INPUTS)
def test_what_is_kept_is_of_the_latest_event_and_of_the_largest_value(inputs: list[Input]) -> None:
    last = max(inputs, default=None, key=lambda each: each[0])
    most = max(inputs, default=None, key=lambda each: (each[2], each[0]))
    assert shapes.kept(put("keep", inputs), "part") == (last and last[2])
    assert put("best", inputs).get("part") == (most and [most[0], most[2]])


@given(INPUTS)
def test_the_latest_few_are_the_latest_few(inputs: list[Input]) -> None:
    newest = sorted((each[0] for each in inputs), reverse=True)
    assert [row["at"] for row in shapes.entries(put("recent", inputs), "part")] == newest[:BOUND]
    assert put("cite", inputs).get("ids", []) == newest[: shapes.CITED]


@given(INPUTS)
def test_latest_holds_the_last_value_of_the_keys_seen_last(inputs: list[Input]) -> None:
    last: dict[str, Input] = {}
    for each in sorted(inputs):
        last[each[1]] = each
    wanted = sorted(last.values(), reverse=True)[:BOUND]
    assert shapes.keyed(put("latest", inputs), "part") == [
        (key, {"at": stamp, "value": value}) for stamp, key, value in wanted
    ]


@given(INPUTS)
def test_a_tally_counts_all_of_the_keys_it_holds(inputs: list[Input]) -> None:
    kept = sorted({key for _, key, _ in inputs})[:BOUND]
    held = put("tally", inputs).get("part", {})
    assert sorted(held) == kept
    for key in kept:
        assert held[key]["n"] == sum(each[1] == key for each in inputs)


@pytest.mark.parametrize(
    ("written", "form"),
    [
        (Decimal("19.90"), "19.9"),
        (Decimal("1E+2"), "100"),
        (Decimal("-0.00"), "0"),
        (10**125, "1E+125"),
        (Decimal(10**125), "1E+125"),
        (10**20, str(10**20)),
        (Decimal(7), "7"),
        (Decimal("1E-7"), "1E-7"),
    ],
)
def test_a_number_has_one_form(written: Decimal | int, form: str) -> None:
    assert simplejson.dumps(shapes.number(written)) == form


def test_digests_tell_apart_what_is_written_together() -> None:
    names = [
        ("a", "bc"),
        ("ab", "c"),
        ("abc",),
        ("", "abc"),
        ("abc", ""),
        ("1:a", "b"),
        ("\ud800",),
        ("?",),
        ("__proto__",),
    ]
    found = {shapes.digest(*each) for each in names}
    assert len(found) == len(names) - 1  # half of a pair cannot be stored, and reads as a question mark
    assert all(len(each) == 16 for each in found)
