"""What DynamoDB could not store exactly is refused by us, before it is asked."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import InvalidError, TooLargeError
from lead_events.limits import MAX_PAYLOAD_BYTES, check_payload, size_of
from lead_events.store.items import item_of
from lead_events.store.wire import from_wire, to_wire
from tests.support.builders import nested, stored_event


def refused(value: Any) -> InvalidError:
    with pytest.raises(InvalidError) as caught:
        check_payload(value)
    return caught.value


def test_thirty_one_levels_are_stored_and_thirty_two_are_too_deep() -> None:
    check_payload(nested(31))
    check_payload(nested(30, inside={}))
    assert refused(nested(32)).code == "too_deep"
    assert refused(nested(31, inside={})).code == "too_deep"
    assert refused(nested(900)).code == "too_deep"


@pytest.mark.parametrize(
    "number",
    ["30.40", "0.1", "1e-7", "0.30000000000000004", "0", "-0.0", "0e999", "0e-999", "1e-130", "9.9e125", "-1e-130",
     "1" + "0" * 60, "1.5" + "0" * 60, "0.000" + "1" * 38, "12345678901234567890123456789012345678", "-" + "9" * 38,
     "1." + "1" * 37 + "e-130"],
)  # fmt: skip
def test_numbers_within_the_limits_are_stored_exactly(number: str) -> None:
    value = Decimal(number)
    check_payload({"n": value})
    assert from_wire(to_wire(value)) == value
    if value == int(value):
        assert from_wire(to_wire(int(value))) == int(value)


@pytest.mark.parametrize(
    "number",
    ["1e400", "1e126", "-1e126", "9e-131", "1e-400", "1." + "1" * 38, "123456789012345678901234567890123456789",
    "0." + "1" * 39],
)  # fmt: skip
def test_numbers_beyond_the_limits_are_invalid_never_rounded(number: str) -> None:
    value = Decimal(number)
    error = refused({"a": [value]})
    assert (error.code, error.errors[0].field) == ("invalid_number", "payload.a[]")
    if value == int(value):
        assert refused(int(value)).code == "invalid_number"


@pytest.mark.parametrize("key", ["ana@example.org", "+5582900000001", "000.000.001-91", "Ana Lima", "7", "x" * 65, "é"])
def test_a_key_that_is_no_name_of_a_field_is_not_told(key: str) -> None:
    error = refused({key: {"a": 10**200}})
    assert (error.errors[0].field, key in error.detail) == ("payload.*.a", False)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_any_number_is_refused_or_stored_exactly(number: Decimal) -> None:
    try:
        check_payload(number)
    except InvalidError:
        return
    assert from_wire(to_wire(number)) == number


def test_booleans_are_no_numbers() -> None:
    check_payload({"a": True, "b": [False, None, "", [], {}]})


@pytest.mark.parametrize(
    "key", ["utm.source", "lead-score", "name", "ADD", "#x", ":y", "a b", "__proto__", "constructor", "é" * 512, "\x00"]
)
def test_any_key_that_people_think_of_is_allowed(key: str) -> None:
    check_payload({key: {key: 1}})


@pytest.mark.parametrize("key", ["", "k" * 70_000, "é" * 513])
def test_empty_and_endless_keys_are_invalid(key: str) -> None:
    error = refused({"a": {key: 1}})
    assert (error.code, error.errors[0].field) == ("invalid_key", "payload.a")


def test_six_hundred_fields_at_once_are_fine() -> None:
    check_payload({f"hidden.{number}": str(number) for number in range(600)})


@pytest.mark.parametrize("note", ["é" * 205_000, "a" * 409_500, "a" * MAX_PAYLOAD_BYTES])
def test_a_payload_too_large_for_an_item_is_refused_by_its_bytes(note: str) -> None:
    with pytest.raises(TooLargeError):
        check_payload({"note": note})


@pytest.mark.parametrize("note", ["é" * 100_000, "a" * (MAX_PAYLOAD_BYTES - 100)])
def test_a_payload_below_the_limit_fits_whatever_stands_beside_it(note: str) -> None:
    payload = {"note": note}
    check_payload(payload)
    longest = "😀" * 255
    event = stored_event(
        organization_id="o" * 64, lead_id="l" * 64, source="s" * 100, event_type="t" * 100, payload=payload,
        external_event_id=longest, object_id=longest, object_id_ref=longest, data_content_type="😀" * 1024,
        raw_payload="x" * 900_000,
    )  # fmt: skip
    item_of(event, ttl=10**10)


@given(st.recursive(
    st.none() | st.booleans() | st.text(max_size=20) | st.integers(-10**37, 10**37),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1, max_size=9), inner, max_size=4),
))  # fmt: skip
def test_the_size_we_count_is_never_below_what_dynamodb_counts(value: Any) -> None:
    assert size_of(value) >= _documented_size(value)


def _documented_size(value: Any) -> int:
    """As the developer guide has it: UTF-8 bytes; half a byte a digit, and one; 3 a container, and 1 an element."""
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, int):
        return (len(str(abs(value)).rstrip("0")) + 1) // 2 + 1 + (value < 0)
    if isinstance(value, dict):
        return 3 + sum(1 + len(key.encode()) + _documented_size(child) for key, child in value.items())
    return 3 + sum(1 + _documented_size(child) for child in value)
