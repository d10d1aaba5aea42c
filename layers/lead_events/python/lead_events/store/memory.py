"""The twins in memory: for tests and tools, with the same promises."""

from __future__ import annotations

import operator
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from lead_events.errors import ObjectMissingError
from lead_events.event import EventKey, IdentityKind, StoredEvent
from lead_events.idempotency import Claim
from lead_events.instants import format_instant, now
from lead_events.names import lead_key
from lead_events.ports import (
    IdentityRecord,
    KnownIdentity,
    Page,
    Position,
    Rejection,
    RejectionPage,
    StoredRejection,
    TimelineQuery,
)
from lead_events.rejecting import rejected_event_id
from lead_events.store.items import event_of, item_of, raw_form
from lead_events.store.ranges import is_empty


class InMemoryEvents:
    """Events in a dict; they pass through the items' codec, so that limits are the same."""

    def __init__(self) -> None:
        self._events: dict[EventKey, StoredEvent] = {}
        self._lock = threading.Lock()

    def append(self, event: StoredEvent) -> StoredEvent | None:
        item, reference = item_of(replace(event, stored_at=now()), ttl=None)
        raw = event.raw_payload if reference else raw_form(item)
        assert raw is None or isinstance(raw, str)
        with self._lock:
            first = self._events.setdefault(event.key, event_of(item, raw))
            # The same id received at the same time: the same write, sent twice.
            return None if first.received_at == event.received_at else _without_raw(first)

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

    def erase(self, claim_id: str) -> None:
        """Leave nothing of a claim but that there was one."""
        with self._lock:
            self._claims[claim_id] = Claim.of_erased(claim_id)

    def __len__(self) -> int:
        return len(self._claims)


class InMemoryObjects:
    """Objects in a dict."""

    def __init__(self) -> None:
        self._objects: dict[str, str] = {}

    def put(self, key: str, text: str) -> None:
        self._objects[key] = text

    def get(self, key: str) -> str:
        if key not in self._objects:
            raise ObjectMissingError("There is no such object.")
        return self._objects[key]


class InMemoryIdentities:
    """Identities in a dict."""

    def __init__(self) -> None:
        self._owners: dict[str, tuple[str, str, KnownIdentity]] = {}
        self._erased: dict[str, datetime] = {}
        self._lock = threading.Lock()

    def records(self, keys: Sequence[str]) -> dict[str, IdentityRecord]:
        with self._lock:
            return {key: self._record(key) for key in keys if key in self._owners or key in self._erased}

    def _record(self, key: str) -> IdentityRecord:
        return IdentityRecord(self._owners[key][1] if key in self._owners else None, self._erased.get(key))

    def claim(self, organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> str | None:
        with self._lock:
            if key in self._owners:
                return self._owners[key][1]
            self._owners[key] = (organization_id, lead_id, KnownIdentity(kind, now()))
            return None

    def claim_all(self, organization_id: str, lead_id: str, keys: Mapping[str, IdentityKind]) -> bool:
        with self._lock:
            if any(key in self._owners for key in keys):
                return False
            since = now()
            self._owners |= {key: (organization_id, lead_id, KnownIdentity(kind, since)) for key, kind in keys.items()}
            return True

    def of_lead(self, organization_id: str, lead_id: str) -> list[KnownIdentity]:
        found = [known for *owner, known in self._owners.values() if owner == [organization_id, lead_id]]
        return sorted(found, key=lambda each: each.since)

    def keys_of_lead(self, organization_id: str, lead_id: str) -> frozenset[str]:
        with self._lock:
            return frozenset(key for key, each in self._owners.items() if each[:2] == (organization_id, lead_id))

    def erase(self, key: str, until: datetime) -> None:
        """Leave nothing of an identity but until when it was erased."""
        with self._lock:
            self._owners.pop(key, None)
            self._erased[key] = until


class InMemoryRejections:
    """Rejections in a dict."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], StoredRejection] = {}
        self._erased: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def keep(self, rejection: Rejection) -> str:
        rejected_id = rejected_event_id(rejection)
        key = (rejection.organization_id, rejected_id)
        with self._lock:
            if key in self._erased:
                return rejected_id
            known = self._kept.get(key)
            if known is None:
                mine = {each.name: getattr(rejection, each.name) for each in fields(rejection)}
                first = mine | {"rejected_event_id": rejected_id, "last_seen_at": rejection.seen_at, "deliveries": 1}
                self._kept[key] = StoredRejection(**first)
            else:
                self._kept[key] = replace(
                    known,
                    seen_at=min(known.seen_at, rejection.seen_at),
                    last_seen_at=max(known.last_seen_at, rejection.seen_at),
                    deliveries=known.deliveries + 1,
                )
        return rejected_id

    def get(self, organization_id: str, rejected_event_id: str, *, raw: bool = False) -> StoredRejection | None:
        found = self._kept.get((organization_id, rejected_event_id))
        return found if found is None or raw else replace(found, raw_payload="")

    def page(self, organization_id: str, after: tuple[str, str] | None, limit: int) -> RejectionPage:
        mine = [each for (owner, _), each in self._kept.items() if owner == organization_id]
        ordered = sorted(mine, key=_seen, reverse=True)
        behind = [each for each in ordered if after is None or _seen(each) < after]
        chosen = [replace(each, raw_payload="") for each in behind[:limit]]
        return RejectionPage(chosen, _seen(chosen[-1]) if len(behind) > limit else None)

    def erase(self, organization_id: str, rejected_event_id: str) -> None:
        """Leave nothing of a rejection but that there was one."""
        with self._lock:
            self._kept.pop((organization_id, rejected_event_id), None)
            self._erased.add((organization_id, rejected_event_id))

    def all(self) -> list[StoredRejection]:
        """Every rejection."""
        return list(self._kept.values())


class InMemoryBus:
    """Published envelopes in a list."""

    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []

    def publish(self, entries: Sequence[dict[str, Any]]) -> None:
        self.published += entries


def _seen(rejection: StoredRejection) -> tuple[str, str]:
    return format_instant(rejection.last_seen_at), rejection.rejected_event_id


def _without_raw(event: StoredEvent) -> StoredEvent:
    return replace(event, raw_payload=None)


def _in_range(query: TimelineQuery, event: StoredEvent) -> bool:
    return (
        (query.event_type is None or event.event_type == query.event_type)
        and (query.start is None or event.occurred_at >= query.start)
        and (query.end is None or event.occurred_at < query.end)
    )
