"""The read side: timelines by pages, and single events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from lead_events.cursors import Cursors
from lead_events.errors import FieldError, InvalidError, NotFoundError, UnreadableError
from lead_events.event import EventKey, StoredEvent, check_event_type, check_reference, check_source
from lead_events.idempotency import claim_id
from lead_events.instants import parse_bound
from lead_events.ports import ClaimStore, EventStore, Position, TimelineQuery
from lead_events.representation import event_json
from lead_events.strict_json import dumps

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 100
PAGE_BYTES: Final = 5_000_000
"""A page is cut before its response, escaped once more by Lambda, passes this; the limit of a response is 6,291,556 bytes."""
MAX_STORE_PAGES: Final = 20
"""Pages of the store read for one page of ours: bounds the work where the store's pages are short."""
RAW_PAGE: Final = 10
"""Events read at once with their raw payloads: many may be large and in S3, and a page may end after a few."""


class Queries:
    """Answers readers. Whose events they may read is settled before."""

    def __init__(self, events: EventStore, claims: ClaimStore, cursors: Cursors) -> None:
        self._events = events
        self._claims = claims
        self._cursors = cursors

    def timeline(self, organization_id: str, lead_id: str, parameters: Mapping[str, str]) -> str:
        """A page of a lead's events as the JSON text ``{"items": […], "cursor": …}``; ``cursor`` is null at the end."""
        query, limit, raw = read_parameters(organization_id, lead_id, parameters)
        cursor = parameters.get("cursor")
        after = self._cursors.read(query, cursor) if cursor else None
        shown: list[str] = []
        size = 0
        more = True
        for _ in range(MAX_STORE_PAGES):
            wanted = limit - len(shown)
            page = self._events.page(query, after, min(wanted, RAW_PAGE) if raw else wanted, raw=raw)
            more = page.more
            for event in page.events:
                text = dumps(event_json(event, raw=raw))
                size += len(json.dumps(text))  # as Lambda's runtime escapes it into its own response
                if shown and size > PAGE_BYTES:
                    return self._page(query, shown, after, more=True)
                shown.append(text)
                after = Position(event.occurred_at, event.event_id)
            if not more or len(shown) == limit:
                break
        return self._page(query, shown, after, more=more)

    def event(self, organization_id: str, lead_id: str, event_id: str, *, raw: bool = False) -> dict[str, Any]:
        """One event by its id."""
        key = EventKey.of_event_id(organization_id, lead_id, event_id)
        return self._shown(key, raw=raw)

    def external_event(
        self, organization_id: str, source: str, external_event_id: str, *, raw: bool = False
    ) -> dict[str, Any]:
        """One event by its source's id.

        Through its claim: strongly consistent, and bound to the organisation. An event that shares its fact with others
        is claimed by the fact instead; such a one is found through ``idempotency-index``, a moment later.
        """
        try:
            name, reference = check_source(source, "source"), check_reference(external_event_id, "externalEventId")
        except InvalidError:
            raise NotFoundError from None
        if reference is None:
            raise NotFoundError
        claim = self._claims.get(claim_id(organization_id, name, reference))
        if claim is not None and claim.erased:
            raise NotFoundError
        key = claim.key if claim else self._events.find(organization_id, name, reference)
        return self._shown(key, raw=raw)

    def _shown(self, key: EventKey | None, *, raw: bool) -> dict[str, Any]:
        found: StoredEvent | None = self._events.get(key, raw=raw) if key else None
        if found is None:
            raise NotFoundError
        return event_json(found, raw=raw)

    def _page(self, query: TimelineQuery, shown: list[str], after: Position | None, *, more: bool) -> str:
        cursor = self._cursors.write(query, after) if more and after else None
        return f'{{"items":[{",".join(shown)}],"cursor":{dumps(cursor)}}}'


def read_parameters(
    organization_id: str, lead_id: str, parameters: Mapping[str, str]
) -> tuple[TimelineQuery, int, bool]:
    """Query, limit and whether raw payloads are wanted. Raises ``UnreadableError`` (400) that names the parameter."""
    event_type = parameters.get("eventType")
    start, end, order = parameters.get("from"), parameters.get("to"), parameters.get("order", "asc")
    limit, include = read_limit(parameters), parameters.get("include")
    if order not in ("asc", "desc"):
        raise invalid_parameter("order", "must be asc or desc")
    try:
        query = TimelineQuery(
            organization_id=organization_id,
            lead_id=lead_id,
            event_type=check_event_type(event_type, "eventType") if event_type else None,
            start=parse_bound(start, "from", end=False) if start else None,
            end=parse_bound(end, "to", end=True) if end else None,
            descending=order == "desc",
        )
    except InvalidError as error:  # in a parameter it is the request that cannot be read
        raise UnreadableError(error.detail, code="invalid_parameter", errors=error.errors) from None
    if query.start and query.end and query.start > query.end:
        raise invalid_parameter("from", "must not be after to")
    return query, limit, wants_raw(include)


def read_limit(parameters: Mapping[str, str]) -> int:
    """The most entries that a page may have."""
    limit = parameters.get("limit", str(DEFAULT_LIMIT))
    if not (limit.isascii() and limit.isdigit() and len(limit) <= 6 and 1 <= int(limit) <= MAX_LIMIT):
        raise invalid_parameter("limit", f"must be a whole number from 1 to {MAX_LIMIT}")
    return int(limit)


def wants_raw(include: str | None) -> bool:
    """Whether ``include=rawPayload`` was asked for."""
    if include not in (None, "", "rawPayload"):
        raise invalid_parameter("include", "can only be rawPayload")
    return include == "rawPayload"


def invalid_parameter(name: str, rule: str) -> UnreadableError:
    """The 400 of a query parameter."""
    return UnreadableError(f"{name}: {rule}", code="invalid_parameter", errors=(FieldError(name, rule),))
