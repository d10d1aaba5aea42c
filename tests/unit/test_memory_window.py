"""The window knows what a memory holds already, for longer than a stream record lives, and stays small."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events import memory
from lead_events.event import StoredEvent
from lead_events.memory import MAX_WINDOW_IDS, Window
from tests.support.clock import START
from tests.support.memory_events import events

HOUR = timedelta(hours=1)


def stored(hours_ago: float, number: int = 0) -> StoredEvent:
    [event] = events("lead_1", 1, random.Random(number))
    return replace(event, stored_at=START - hours_ago * HOUR)


@given(st.lists(st.floats(0, 24), max_size=30), st.integers(0, 2**32))
def test_whatever_was_stored_in_the_last_24_hours_is_known_again(hours: list[float], seed: int) -> None:
    known = [stored(each, seed + number) for number, each in enumerate(hours)]
    other = stored(1, seed - 1)
    for window in (Window.of(known, START), Window().with_events(known, START)):
        assert all(window.has(each) for each in known)
        assert not window.has(other)
        assert not any(window.is_old(each, START) for each in known)
        assert len(window) == len(known)


def test_what_is_too_old_to_come_again_is_forgotten() -> None:
    old, new = stored(27, 1), stored(1, 2)
    assert Window.of([old, new], START).has(new)
    assert len(Window.of([old, new], START)) == 1
    assert Window.of([old], START).is_old(old, START)
    later = Window.of([new], START).with_events([stored(-26, 3)], START + 27 * HOUR)
    assert len(later) == 1
    assert not later.has(new)


def test_a_match_across_two_ids_is_none() -> None:
    event = stored(1)
    [(hour, digest)] = Window.of([event], START).hours.items()
    assert not Window({hour: b"1234" + digest + b"5678"}).has(event)
    assert Window({hour: b"1234" + digest + b"5678" + digest}).has(event)


def test_a_window_takes_what_it_has_room_for() -> None:
    full = Window({0: bytes(8 * (MAX_WINDOW_IDS - 1))})
    assert full.takes([stored(1, 1)], START)
    assert not full.takes([stored(1, 1), stored(1, 2)], START)
    assert not Window().takes([stored(27)], START)
    assert not Window(overflowing=True).takes([stored(1)], START)


def test_a_window_of_too_many_holds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_WINDOW_IDS", 3)
    recent = [stored(1, number) for number in range(4)]
    assert len(Window.of(recent[:3], START)) == 3
    assert Window.of(recent, START) == Window(overflowing=True)
