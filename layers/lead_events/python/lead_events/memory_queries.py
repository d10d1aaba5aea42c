"""The read side of the memories: what is known about a lead, now or as of some time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from lead_events import memories
from lead_events.categories import Category
from lead_events.errors import InvalidError, NotFoundError, UnreadableError
from lead_events.event import StoredEvent
from lead_events.instants import END, MICROSECOND, format_instant, parse_bound
from lead_events.memory import State
from lead_events.ports import EventStore, MemoryStore, TimelineQuery
from lead_events.queries import invalid_parameter
from lead_events.store.wire import item_from_wire, item_to_wire
from lead_events.timelines import events_of

MAX_EVENTS: Final = 20_000
"""Events that are folded for one answer about the past: some seconds of work."""


class MemoryQueries:
    """Answers readers of memories. Whose memories they may read is settled before."""

    def __init__(self, events: EventStore, stored: MemoryStore) -> None:
        self._events = events
        self._memories = stored

    def of_lead(self, organization_id: str, lead_id: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Everything known, by category; a category about which nothing is known is left out.

        Raises ``UnreadableError`` (400) that names the parameter, ``InvalidError`` (422) where too much would be folded.
        """
        as_of, states = self._states(organization_id, lead_id, parameters)
        return {
            "organizationId": organization_id,
            "leadId": lead_id,
            "asOf": as_of and format_instant(as_of),
            "memories": {each.value: memories.view(each, state) for each, state in states.items()},
        }

    def text(self, organization_id: str, lead_id: str, parameters: Mapping[str, str]) -> str:
        """The same as a short text for an agent's prompt, which cites event ids."""
        _, states = self._states(organization_id, lead_id, parameters)
        return memories.text({each: memories.view(each, state) for each, state in states.items()})

    def one(self, organization_id: str, lead_id: str, category: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """What is known of one category. Raises ``NotFoundError`` where that is nothing."""
        if category not in set(Category):
            raise NotFoundError
        wanted = Category(category)
        as_of, states = self._states(organization_id, lead_id, parameters, wanted)
        if wanted not in states:
            raise NotFoundError
        return {
            "organizationId": organization_id,
            "leadId": lead_id,
            "category": wanted.value,
            "asOf": as_of and format_instant(as_of),
            "memory": memories.view(wanted, states[wanted]),
        }

    def _states(
        self, organization_id: str, lead_id: str, parameters: Mapping[str, str], category: Category | None = None
    ) -> tuple[datetime | None, dict[Category, State]]:
        as_of = read_as_of(parameters)
        if as_of is not None:
            found = self._fold(organization_id, lead_id, as_of)
        elif category is not None:
            found = {category: self._memories.get(organization_id, lead_id, category).state}
        else:
            found = {each.category: each.state for each in self._memories.of_lead(organization_id, lead_id)}
        return as_of, {each: found[each] for each in Category if found.get(each)}

    def _fold(self, organization_id: str, lead_id: str, as_of: datetime) -> dict[Category, State]:
        end = as_of + MICROSECOND if as_of < END else None  # the instant itself is included
        query = TimelineQuery(organization_id=organization_id, lead_id=lead_id, end=end)
        events: list[StoredEvent] = []
        for event in events_of(self._events, query):
            events.append(event)
            if len(events) > MAX_EVENTS:
                raise InvalidError.of("asOf", f"more than {MAX_EVENTS} events had occurred by then")
        states = memories.fold(events)
        # As they would come back from the store: numbers have one form there.
        return {each: item_from_wire(item_to_wire(state)) for each, state in states.items()}


def wants_text(parameters: Mapping[str, str]) -> bool:
    """Whether ``format=text`` was asked for."""
    wanted = parameters.get("format", "json")
    if wanted not in ("json", "text"):
        raise invalid_parameter("format", "must be json or text")
    return wanted == "text"


def read_as_of(parameters: Mapping[str, str]) -> datetime | None:
    """The last instant to be known of; of a date, the last of its day in UTC."""
    value = parameters.get("asOf")
    if not value:
        return None
    try:
        instant = parse_bound(value, "asOf", end=True)
    except InvalidError as error:  # in a parameter it is the request that cannot be read
        raise UnreadableError(error.detail, code="invalid_parameter", errors=error.errors) from None
    return instant - MICROSECOND if len(value) == len("2026-01-01") else instant
