"""All events of a timeline, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lead_events.event import StoredEvent
from lead_events.ports import EventStore, Position, TimelineQuery

PAGE: Final = 1_000
"""Events asked of the store at once; it gives at most 1 MB of them."""


def events_of(
    store: EventStore, query: TimelineQuery, limit: int = PAGE, *, raw: bool = False
) -> Iterator[StoredEvent]:
    """All events of ``query``, page by page of at most ``limit``; their raw payloads only where asked for."""
    after, more = None, True
    while more:
        page = store.page(query, after, limit, raw=raw)
        yield from page.events
        more = page.more and bool(page.events)
        if page.events:
            after = Position(page.events[-1].occurred_at, page.events[-1].event_id)
