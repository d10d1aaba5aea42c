"""A cursor continues the query that gave it, and nothing else."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.cursors import Cursors
from lead_events.errors import UnreadableError
from lead_events.event import new_event_id
from lead_events.instants import END, EPOCH
from lead_events.ports import Position
from tests.support.builders import query
from tests.support.clock import START
from tests.support.fakes import secret

CURSORS = Cursors(secret)
EVENT_ID = "evt_019d254b-8700-7000-98f9-ae6b0593d93d"
"""Of ``START``: the same in every process that collects these tests."""
POSITION = Position(START, EVENT_ID)
CURSOR = CURSORS.write(query(), POSITION)


def refused(cursor: str, **changes: Any) -> str:
    with pytest.raises(UnreadableError) as caught:
        CURSORS.read(query(**changes), cursor)
    return caught.value.code


@given(st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)))  # noqa: DTZ001
def test_any_position_is_read_back_by_its_query(naive: datetime) -> None:
    position = Position(naive.replace(tzinfo=UTC), new_event_id(naive.replace(tzinfo=UTC)))
    assert CURSORS.read(query(), CURSORS.write(query(), position)) == position


def test_the_bounds_of_time_are_positions_too() -> None:
    for instant in (EPOCH, END):
        position = Position(instant, new_event_id(instant))
        assert CURSORS.read(query(), CURSORS.write(query(), position)) == position


@given(st.integers(0, 8 * 40 - 1))
def test_any_flipped_bit_makes_a_cursor_invalid(bit: int) -> None:
    data = bytearray(urlsafe_b64decode(CURSOR + "=" * (-len(CURSOR) % 4)))
    data[bit // 8] ^= 1 << bit % 8
    assert refused(urlsafe_b64encode(bytes(data)).rstrip(b"=").decode()) == "invalid_cursor"


@given(st.integers(0, len(CURSOR) - 1), st.sampled_from("ABz09-_=+/ \n~é"))
def test_any_changed_character_makes_a_cursor_invalid(place: int, character: str) -> None:
    if CURSOR[place] != character:
        assert refused(CURSOR[:place] + character + CURSOR[place + 1 :]) == "invalid_cursor"


@pytest.mark.parametrize(
    "changes",
    [
        {"organization_id": "org_B"}, {"lead_id": "lead_2"}, {"event_type": "lead.won"}, {"start": START}, {"end": START},
        {"descending": True}, {"start": START, "end": START + timedelta(days=1)},
    ],
)  # fmt: skip
def test_a_cursor_is_invalid_for_any_other_tenant_lead_filter_or_direction(changes: dict[str, Any]) -> None:
    assert refused(CURSOR, **changes) == "invalid_cursor"
    theirs = CURSORS.write(query(**changes), POSITION)
    assert refused(theirs) == "invalid_cursor"
    assert CURSORS.read(query(**changes), theirs) == POSITION


def test_parts_of_a_query_do_not_run_into_each_other() -> None:
    cursor = CURSORS.write(query(organization_id="a", lead_id="bc"), POSITION)
    assert refused(cursor, organization_id="ab", lead_id="c") == "invalid_cursor"


@pytest.mark.parametrize(
    "cursor",
    ["AAAA", "A", "=", "%%%%", "é", CURSOR + "A", CURSOR + "=", CURSOR[:-1], " " + CURSOR, CURSOR * 2, "A" * 54],
)
def test_what_is_no_cursor_is_invalid(cursor: str) -> None:
    assert refused(cursor) == "invalid_cursor"


@given(st.text(max_size=80))
def test_any_text_is_refused_and_crashes_nothing(text: str) -> None:
    if text != CURSOR:
        assert refused(text) == "invalid_cursor"


def test_another_secret_reads_no_cursor_of_ours() -> None:
    with pytest.raises(UnreadableError):
        Cursors(lambda: "another").read(query(), CURSOR)


def test_a_cursor_shows_no_key_and_no_name() -> None:
    data = urlsafe_b64decode(CURSOR + "=" * (-len(CURSOR) % 4))
    assert len(data) == 40
    assert b"org" not in data
    assert b"lead" not in data
