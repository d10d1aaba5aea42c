"""Instants are read strictly, written in one width, and order as strings as they do in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import InvalidError
from lead_events.instants import (
    END,
    EPOCH,
    format_instant,
    from_microseconds,
    from_unix_milliseconds,
    from_unix_seconds,
    now,
    parse_bound,
    parse_instant,
    to_microseconds,
)

TEN = "2024-05-01T10:00:00.000000Z"
INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)).map(  # noqa: DTZ001
    lambda each: each.replace(tzinfo=UTC)
)


def stored(text: object) -> str:
    return format_instant(parse_instant(text, "time"))


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01T07:00:00-03:00",
        "2024-05-01T10:00:00+00:00",
        "2024-05-01T10:00:00-00:00",
        "2024-05-01t10:00:00z",
        "2024-05-01T10:00:00Z",
        "2024-05-01T10:00:00.0Z",
        "2024-05-01T10:00:00.0000009Z",
        "2024-05-02T09:59:00+23:59",
    ],
)
def test_every_notation_of_an_instant_is_stored_the_same(text: str) -> None:
    assert stored(text) == TEN


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-01T10:00:00",
        "2024-05-01",
        "2024-05-01T10:00Z",
        "2024-05-01T24:00:00Z",
        "2024-05-01T14:53:60Z",
        "2016-12-31T23:59:60Z",
        "2024-05-01T10:00:00+24:00",
        "2024-05-01T10:00:00+10:60",
        "2024-05-01T10:00:00.Z",
        "2024-05-01T10:00:00,5Z",
        "2024-05-01 10:00:00Z",
        "2024-05-01T10:00:00 02:00",
        "2024-05-01T10:00:00+0200",
        "2023-02-29T10:00:00Z",
        "2024-13-01T10:00:00Z",
        "２０２４-05-01T10:00:00Z",
        " 2024-05-01T10:00:00Z",
        "2024-05-01T10:00:00Z\n",
        "1714557600",
        "",
        "0000-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999999Z",
        "1970-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        1714557600,
        Decimal("1714557600.5"),
        True,
        None,
        [TEN],
    ],
)
def test_what_is_no_rfc_3339_date_time_is_invalid_time_and_never_shifted(value: object) -> None:
    with pytest.raises(InvalidError) as caught:
        parse_instant(value, "time")
    assert (caught.value.code, caught.value.errors[0].field) == ("invalid_time", "time")
    assert not value or not isinstance(value, str) or value not in caught.value.detail


def test_digits_finer_than_a_microsecond_are_cut_off_never_rounded_into_the_next_second() -> None:
    assert stored("2024-05-01T10:00:00.99999999999999999999999999Z") == "2024-05-01T10:00:00.999999Z"


def test_string_order_of_written_instants_is_time_order() -> None:
    posted = ["2024-05-01T10:00:01Z", "2024-05-01T10:00:00.5Z", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000001Z"]
    assert sorted(map(stored, posted)) == [
        "2024-05-01T10:00:00.000000Z",
        "2024-05-01T10:00:00.000001Z",
        "2024-05-01T10:00:00.500000Z",
        "2024-05-01T10:00:01.000000Z",
    ]


@given(INSTANTS, INSTANTS)
def test_any_two_instants_order_as_their_texts_do_and_read_back(one: datetime, other: datetime) -> None:
    texts = format_instant(one), format_instant(other)
    assert (one < other) == (texts[0] < texts[1])
    assert [len(text) for text in texts] == [27, 27]
    assert parse_instant(texts[0], "time") == one
    assert from_microseconds(to_microseconds(one)) == one


@given(INSTANTS, st.integers(-23 * 60, 23 * 60))
def test_any_offset_reads_as_the_same_instant(instant: datetime, minutes: int) -> None:
    try:
        text = instant.astimezone(timezone(timedelta(minutes=minutes))).isoformat()
    except OverflowError:
        return
    assert parse_instant(text, "time") == instant


def test_the_first_and_the_last_instant_are_inside_the_bounds() -> None:
    assert parse_instant("1970-01-01T00:00:00Z", "time") == EPOCH
    assert parse_instant("9999-12-31T23:59:59.999999Z", "time") == END


def test_now_is_an_instant_in_utc() -> None:
    assert now().utcoffset() == timedelta(0)


def test_a_date_means_its_first_instant_below_and_the_whole_day_above() -> None:
    assert format_instant(parse_bound("2024-05-31", "from", end=False)) == "2024-05-31T00:00:00.000000Z"
    assert format_instant(parse_bound("2024-05-31", "to", end=True)) == "2024-06-01T00:00:00.000000Z"


def test_an_instant_as_a_bound_is_that_instant_at_both_ends() -> None:
    for end in (False, True):
        assert format_instant(parse_bound("2024-05-01T12:00:00+02:00", "to", end=end)) == TEN


@pytest.mark.parametrize("text", ["2024-02-30", "2024-5-1", "20240501", "1969-12-30", "9999-12-31", "tomorrow"])
def test_a_bound_that_is_no_day_of_ours_is_invalid_time(text: str) -> None:
    with pytest.raises(InvalidError) as caught:
        parse_bound(text, "to", end=True)
    assert caught.value.code == "invalid_time"


@pytest.mark.parametrize("value", [1714557600, "1714557600", Decimal(1714557600), Decimal("1.7145576E+9")])
def test_unix_seconds_are_seconds_whatever_their_size(value: object) -> None:
    assert format_instant(from_unix_seconds(value, "created")) == TEN


@pytest.mark.parametrize("value", [1714557600000, "1714557600000", Decimal("1714557600000.0009")])
def test_unix_milliseconds_are_milliseconds_whatever_their_size(value: object) -> None:
    assert format_instant(from_unix_milliseconds(value, "creation_date")) == TEN


def test_small_milliseconds_do_not_become_seconds() -> None:
    assert format_instant(from_unix_milliseconds(20_000_000_000, "creation_date")) == "1970-08-20T11:33:20.000000Z"


@pytest.mark.parametrize(
    "value",
    [
        None, True, "", "abc", "-1", "1.5", "１７１４５５７６００", "1" * 17, [], {}, -1, 10**15, 10**30,
        Decimal("-0.001"), Decimal("1E+400"), Decimal("1E+999999999"),
    ],
)  # fmt: skip
def test_what_is_no_unix_time_is_invalid_time(value: object) -> None:
    for read in (from_unix_seconds, from_unix_milliseconds):
        with pytest.raises(InvalidError) as caught:
            read(value, "created")
        assert caught.value.code == "invalid_time"


def test_fractions_of_unix_time_are_cut_off_never_rounded() -> None:
    nearly = Decimal("1714557600." + "9" * 40)
    assert format_instant(from_unix_seconds(nearly, "created")) == "2024-05-01T10:00:00.999999Z"
    assert format_instant(from_unix_milliseconds(nearly * 1000, "created")).startswith("2024-05-01T10:00:0")
    assert format_instant(from_unix_seconds(Decimal("1E-999999"), "created")) == "1970-01-01T00:00:00.000000Z"
