"""The twins in memory: for tests and tools, with the same promises."""

from __future__ import annotations

import operator
import threading
from dataclasses import replace

from lead_events.event import EventKey, StoredEvent
from lead_events.idempotency import Claim
from lead_events.names import lead_key
from lead_events.ports import Page, Position, TimelineQuery
from lead_events.store.items import event_of, item_of, raw_form
from lead_events.store.ranges import is_empty


class InMemoryEvents:
    """Events in a dict; they pass through the items' codec, so that limits are the same."""

    def __init__(self) -> None:
        self._events: dict[EventKey, StoredEvent] = {}
        self._lock = threading.Lock()

    def append(self, event: StoredEvent) -> StoredEvent | None:
        item, reference = item_of(event, ttl=None)
        raw = event.raw_payload if reference else raw_form(item)
        assert raw is None or isinstance(raw, str)
        with self._lock:
            if event.key in self._events:
                return _without_raw(self._events[event.key])
            self._events[event.key] = event_of(item, raw)
            return None

    def get(self, key: EventKey, *, raw: bool = False) -> StoredEvent | None:
        found = self._events.get(key)
        return found if found is None or raw else _without_raw(found)

    def find(self, organization_id: str, source: str, external_event_id: str) -> EventKey | None:
        wanted = (organization_id, source, external_event_id)
        with self._lock:
            found = [each for each in self._events.values()
                     if (each.organization_id, each.source, each.external_event_id) == wanted]  # fmt: skip
        return found[0].key if found else None

    def page(self, query: TimelineQuery, after: Position | None, limit: int, *, raw: bool = False) -> Page:
        if is_empty(query):
            return Page([], more=False)
        partition = lead_key(query.organization_id, query.lead_id)
        with self._lock:
            matching = [each for key, each in self._events.items() if key.lead_organization_id == partition]
        matching = [each for each in matching if _in_range(query, each)]
        matching.sort(key=lambda each: (each.occurred_at, each.event_id), reverse=query.descending)
        if after is not None:
            last = (after.occurred_at, after.event_id)
            beyond = operator.lt if query.descending else operator.gt
            matching = [each for each in matching if beyond((each.occurred_at, each.event_id), last)]
        chosen = matching[:limit]
        return Page([each if raw else _without_raw(each) for each in chosen], more=len(matching) > limit)

    def all(self) -> list[StoredEvent]:
        """Every event, in key order."""
        return [self._events[key] for key in sorted(self._events)]


class InMemoryClaims:
    """Claims in a dict."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}
        self._lock = threading.Lock()

    def claim(self, claim: Claim) -> Claim | None:
        with self._lock:
            first = self._claims.get(claim.claim_id)
            if first is None or first == claim:  # equal: our own write, sent twice
                self._claims[claim.claim_id] = claim
                return None
            return first

    def get(self, claim_id: str) -> Claim | None:
        return self._claims.get(claim_id)

    def __len__(self) -> int:
        return len(self._claims)


class InMemoryObjects:
    """Objects in a dict."""

    def __init__(self) -> None:
        self._objects: dict[str, str] = {}

    def put(self, key: str, text: str) -> None:
        self._objects[key] = text

    def get(self, key: str) -> str:
        return self._objects[key]


def _without_raw(event: StoredEvent) -> StoredEvent:
    return replace(event, raw_payload=None)


def _in_range(query: TimelineQuery, event: StoredEvent) -> bool:
    return (
        (query.event_type is None or event.event_type == query.event_type)
        and (query.start is None or event.occurred_at >= query.start)
        and (query.end is None or event.occurred_at < query.end)
    )
