"""A lead memory: what the events of one category say about a lead, and which events it holds already.

A memory is the fold of a *set* of events: whatever their order, however often each arrives. The folds are commutative; that
an event is applied once is the *window*'s business. DynamoDB Streams deliver a record again for up to 24 hours after the event
was stored, never later. So the window remembers the ids of events stored in the last 25 hours, 8 bytes each, by the hour in
which they were stored: enough to recognise every redelivery, and no more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

from lead_events.categories import Category
from lead_events.event import StoredEvent

WINDOW: Final = timedelta(hours=25)
"""Longer than a stream record lives."""
MAX_WINDOW_IDS: Final = 20_000
"""Ids that a window holds at most (160 KB). A lead with more events of one category in a day is rebuilt instead."""

_ID_BYTES: Final = 8
_HOUR: Final = 3_600

State = dict[str, Any]
"""What a fold keeps: JSON values with exact numbers. Empty for no events."""


@dataclass(frozen=True, slots=True)
class Window:
    """Ids of recently stored events: hour of storage (hours since 1970) → 8 bytes of hash per id, concatenated."""

    hours: Mapping[int, bytes] = field(default_factory=dict)
    overflowing: bool = False
    """Whether there were more ids than it may hold, so that it holds none: whatever comes next is rebuilt, not applied."""

    @classmethod
    def of(cls, events: Iterable[StoredEvent], now: datetime) -> Self:
        """The window of events that are folded already; those stored too long ago to be delivered again are left out."""
        hours: dict[int, bytearray] = {}
        first = _hour(now - WINDOW)
        for event in events:
            if _hour(event.stored_at) >= first:
                hours.setdefault(_hour(event.stored_at), bytearray()).extend(_digest(event.event_id))
        window = cls({hour: bytes(ids) for hour, ids in hours.items()})
        return window if len(window) <= MAX_WINDOW_IDS else cls(overflowing=True)

    def has(self, event: StoredEvent) -> bool:
        """Whether ``event`` is applied already."""
        ids, wanted = self.hours.get(_hour(event.stored_at), b""), _digest(event.event_id)
        position = ids.find(wanted)
        while position % _ID_BYTES:  # also of -1: a match across two ids is none
            if position < 0:
                return False
            position = ids.find(wanted, position + 1)
        return True

    def with_events(self, events: Iterable[StoredEvent], now: datetime) -> Self:
        """This window with more events, without what has become too old."""
        first = _hour(now - WINDOW)
        hours = {hour: ids for hour, ids in self.hours.items() if hour >= first}
        for event in events:
            hour = _hour(event.stored_at)
            if hour >= first:
                hours[hour] = hours.get(hour, b"") + _digest(event.event_id)
        return type(self)(hours)

    def takes(self, events: Sequence[StoredEvent], now: datetime) -> bool:
        """Whether ``events`` can be applied under this window: it knows what was applied, and has room for them."""
        if self.overflowing or any(self.is_old(event, now) for event in events):
            return False
        return len(self) + len(events) <= MAX_WINDOW_IDS

    def is_old(self, event: StoredEvent, now: datetime) -> bool:
        """Whether ``event`` was stored before everything the window can remember."""
        return _hour(event.stored_at) < _hour(now - WINDOW)

    def __len__(self) -> int:
        return sum(map(len, self.hours.values())) // _ID_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One category of a lead's memory as it is stored."""

    organization_id: str
    lead_id: str
    category: Category
    state: State = field(default_factory=dict)
    window: Window = field(default_factory=Window)
    version: int = 0
    """Counts the writes; 0 is not stored yet. A write names the version it read."""
    rebuilt: bool = False
    """Whether the last write was a rebuild, which is not published."""

    def changed(self, state: State, window: Window, *, rebuilt: bool = False) -> Memory:
        """The next version."""
        return replace(self, state=state, window=window, version=self.version + 1, rebuilt=rebuilt)


def _hour(instant: datetime) -> int:
    return int(instant.timestamp()) // _HOUR


def _digest(event_id: str) -> bytes:
    return hashlib.sha256(event_id.encode()).digest()[:_ID_BYTES]
