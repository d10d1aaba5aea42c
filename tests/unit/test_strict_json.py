"""JSON is read strictly and exactly, and written exactly."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import UnreadableError
from lead_events.strict_json import decode_text, dumps, loads, loads_array

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=9) | st.floats(
    allow_nan=False, allow_infinity=False
).map(repr).map(Decimal)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | TEXTS | NUMBERS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)


def code_of(text: str) -> str:
    with pytest.raises(UnreadableError) as caught:
        loads(text)
    return caught.value.code


@pytest.mark.parametrize(
    "text",
    [
        '{"score":NaN}', '{"score":-Infinity}', '{"score":Infinity}', "{", "", " ", "[1,]", '{"a":1,}', "{'a':1}", "01", "1.",
        "nul", "[1] [2]", '"tab\there"', "1" * 5_000, "0." + "1" * 5_000, "1e" + "9" * 30, "// x\n1", "\ufeff\ufeff1",
    ],
)  # fmt: skip
def test_what_is_no_json_is_a_malformed_body(text: str) -> None:
    assert code_of(text) == "malformed_body"


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
def test_twenty_thousand_levels_are_a_malformed_body_and_no_crash(brackets: tuple[str, str]) -> None:
    opening, closing = brackets
    assert code_of(opening * 20_000 + "1" + closing * 20_000) == "malformed_body"
    assert code_of(opening * 20_000) == "malformed_body"


@pytest.mark.parametrize(
    "text",
    [
        '{"specversion":"1.0","id":"e-1","id":"e-2"}',
        '{"data":{"email":"a","email":"b"}}',
        '[{"a":[{"b":1,"\\u0062":2}]}]',
        '{"":1,"":1}',
    ],
)
def test_the_same_key_twice_in_one_object_is_refused_at_any_depth(text: str) -> None:
    assert code_of(text) == "duplicate_key"


def test_the_same_key_in_two_objects_is_fine() -> None:
    assert loads('{"a":{"a":1}}') == {"a": {"a": 1}}


@pytest.mark.parametrize(
    "text",
    [
        r'{"name":"Ana \ud83d"}',
        r'{"\ud83d":1}',
        r'[[{"a":["\uDE00"]}]]',
        r'"\ude00\ud83d"',
        r'"\ud83dx\ude00"',
    ],
)
def test_half_of_a_surrogate_pair_is_refused_anywhere(text: str) -> None:
    assert code_of(text) == "lone_surrogate"


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert loads(r'"Ana \ud83d\ude00"') == "Ana 😀"


def test_a_null_character_inside_a_string_is_kept() -> None:
    assert loads(r'"a\u0000b"') == "a\x00b"


def test_a_backslash_before_a_u_is_no_escape() -> None:
    assert loads(r'"C:\\ud83d"') == "C:\\ud83d"


def test_one_byte_order_mark_is_passed_over() -> None:
    assert loads('\ufeff{"a":1}') == {"a": 1}
    assert loads_array("\ufeff[1]") == [(1, "1")]


def test_bytes_that_are_no_utf_8_are_unreadable() -> None:
    assert decode_text("João".encode()) == "João"
    for body in (b'{"id":"\xe9"}', b"\xff\xfe1\x00", b"\xed\xa0\xbd"):
        with pytest.raises(UnreadableError):
            decode_text(body)


def test_numbers_keep_every_digit_that_was_sent() -> None:
    text = '{"score":30.40,"w":[0.1,1e-7],"total":0.30000000000000004,"big":12345678901234567890123456789012345678}'
    read: Any = loads(text)
    assert read["total"] == Decimal("0.30000000000000004")
    assert str(read["score"]) == "30.40"
    assert read["w"] == [Decimal("0.1"), Decimal("1E-7")]
    assert read["big"] == 12345678901234567890123456789012345678
    assert json.loads(dumps(read)) == json.loads(text)


def test_a_number_beyond_floats_is_read_as_it_stands() -> None:
    assert loads("1e400") == Decimal("1E+400")


def test_writing_refuses_what_json_has_no_word_for() -> None:
    for value in (float("nan"), Decimal("Infinity"), object()):
        with pytest.raises((ValueError, TypeError)):
            dumps(value)


@given(VALUES)
def test_any_value_reads_back_as_it_was_written(value: Any) -> None:
    assert loads(dumps(value)) == value


@given(VALUES)
def test_any_value_reads_the_same_in_escaped_and_in_plain_text(value: Any) -> None:
    plain = dumps(value)
    escaped = "".join(each if ord(each) < 128 else json.dumps(each)[1:-1] for each in plain)
    assert loads(escaped) == loads(plain)


def test_the_elements_of_an_array_keep_their_own_text_byte_for_byte() -> None:
    elements = ['{ "a" : 1.50 }', '"\\u00e9\\/"', "[ 1 ,2]", "1e2", "null"]
    text = " [\n" + " ,\t".join(elements) + "\r\n] \n"
    assert [own for _, own in loads_array(text)] == elements


def test_an_empty_array_has_no_elements() -> None:
    assert loads_array(" [ ] ") == []


@pytest.mark.parametrize(
    "text", ["[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[] 1", "[1}", "{}", "1", "", "null"]
)
def test_what_is_no_array_is_refused_as_one(text: str) -> None:
    with pytest.raises(UnreadableError):
        loads_array(text)


@pytest.mark.parametrize("text", ['[1,{"a":1,"a":2}]', '[1,"\\ud83d"]', "[1,NaN]", "[" * 20_000])
def test_the_rules_hold_inside_an_array_too(text: str) -> None:
    with pytest.raises(UnreadableError):
        loads_array(text)


@given(st.lists(VALUES, max_size=5), st.sampled_from(["", " ", "\n\t "]))
def test_any_array_gives_each_element_and_its_text(values: list[Any], space: str) -> None:
    texts = [dumps(value) for value in values]
    read = loads_array(f"[{space}" + f"{space},{space}".join(texts) + f"{space}]")
    assert read == list(zip(values, texts, strict=True))
