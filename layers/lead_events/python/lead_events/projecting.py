"""Events become memories: one by one as they are stored, and all over again where a lead is rebuilt.

Both write under the version that they have read, and both know by its window what a memory holds. So they may meet: whoever
writes second reads again. What a rebuild has seen is in the window it writes, and is skipped when its record comes; what it has
not seen comes by its record.
"""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Final

from lead_events import memories
from lead_events.categories import Category
from lead_events.errors import RejectedError, UnavailableError
from lead_events.event import StoredEvent
from lead_events.instants import Clock
from lead_events.memory import Memory, State, Window
from lead_events.observability import log_failure
from lead_events.ports import Arrival, DeadLetters, EventStore, MemoryStore, TimelineQuery
from lead_events.presence import Presence
from lead_events.strict_json import dumps
from lead_events.timelines import events_of

ATTEMPTS: Final = 10
"""Readings of one memory: another writer comes in between as often as it has another batch, or rebuilds."""
_PAUSE_MILLISECONDS: Final = 20
"""Longest pause before the second attempt; doubled before each further one, up to some 640 ms."""

MemoryKey = tuple[str, str, Category]


@dataclass(frozen=True, slots=True)
class Poison:
    """A record that fails whenever it is tried, for a reason of its own."""

    arrival: Arrival[StoredEvent]
    error: Exception


@dataclass(slots=True)
class Projected:
    """What became of a batch."""

    applied: int = 0
    """Events that a memory holds since this batch."""
    poison: int = 0
    """Records that went to the dead letters."""
    failed: list[str] = field(default_factory=list)
    """Sequence numbers of the records to be delivered again."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild of a lead found."""

    events: int
    """Events read, those of other types than the catalogue's included."""
    changed: tuple[Category, ...]
    """Memories that were not what the events say."""
    unfoldable: tuple[str, ...] = ()
    """Ids of events that no fold could take; the memories are without them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A memory that a rebuild would change."""

    category: Category
    before: State
    after: State


@dataclass(slots=True)
class Folded:
    """All events of a lead, folded anew."""

    events: int = 0
    states: dict[Category, State] = field(default_factory=dict)
    recent: dict[Category, list[StoredEvent]] = field(default_factory=lambda: defaultdict(list))
    """Events that may be delivered again."""
    unfoldable: list[str] = field(default_factory=list)


class Projector:
    """Keeps the memories."""

    def __init__(
        self,
        events: EventStore,
        stored: MemoryStore,
        dead_letters: DeadLetters,
        executor: Executor,
        clock: Clock,
        pause: Callable[[int], None] | None = None,
        *,
        presence: Presence | None,
    ) -> None:
        """``presence`` is ``None`` for those who only rebuild and hear of no stream."""
        self._events = events
        self._memories = stored
        self._dead_letters = dead_letters
        self._executor = executor
        self._clock = clock
        self._pause = pause or _pause
        self._presence = presence

    def project(self, arrivals: Sequence[Arrival[StoredEvent]]) -> Projected:
        """Apply a batch of stored events: one reading and one writing for each memory it touches, all at the same time.

        Raises nothing for a record: it is applied, among the failed, or among the dead letters. Those are for records that
        cannot be read or folded; nothing would ever come of trying them again but that the others wait.
        """
        batch = Projected()
        poison = [Poison(each, each.item) for each in arrivals if isinstance(each.item, Exception)]
        groups: dict[MemoryKey, list[Arrival[StoredEvent]]] = defaultdict(list)
        for arrival in arrivals:
            event = arrival.item
            if isinstance(event, StoredEvent) and (category := memories.category_of(event)) is not None:
                groups[event.organization_id, event.lead_id, category].append(arrival)
        for group, done in zip(
            groups.values(), self._executor.map(self._guarded, groups, groups.values()), strict=True
        ):
            if done is None:
                batch.failed += [each.sequence_number for each in group]
            else:
                batch.applied += done[0]
                poison += done[1]
        for each in poison:
            self._give_up(each, batch)
        return batch

    def rebuild(
        self, organization_id: str, lead_id: str, categories: Collection[Category] = tuple(Category)
    ) -> Rebuilt:
        """Fold a lead's events anew and store what differs; safe beside everything else that writes.

        Raises ``UnavailableError`` where others write faster than this reads.
        """
        return self._rebuild(organization_id, lead_id, categories, rebuilt=True)

    def preview(self, organization_id: str, lead_id: str) -> tuple[Rebuilt, list[Difference]]:
        """What ``rebuild`` would change, without changing it.

        An event that is stored, but whose record has yet to come, counts as a difference. Raises ``UnavailableError`` as
        ``rebuild`` does.
        """
        for attempt in range(ATTEMPTS):
            self._pause(attempt)
            before = self._stored(organization_id, lead_id)
            folded = self._fold(organization_id, lead_id, tuple(Category))
            if _versions(before) == _versions(self._stored(organization_id, lead_id)):
                found = [
                    Difference(category, was, now)
                    for category in Category
                    if (was := before[category].state) != (now := folded.states.get(category, {}))
                ]
                changed = tuple(each.category for each in found)
                return Rebuilt(folded.events, changed, tuple(folded.unfoldable)), found
        raise UnavailableError("The memories of a lead change faster than its events can be read.")

    def _guarded(self, key: MemoryKey, arrivals: Sequence[Arrival[StoredEvent]]) -> tuple[int, list[Poison]] | None:
        """How many events were applied and which cannot be; ``None`` where it must be tried again."""
        try:
            return self._apply(key, arrivals)
        except RejectedError as error:  # of the store: the memory fits no item
            return 0, [Poison(each, error) for each in arrivals]
        except Exception as error:  # noqa: BLE001  # one lead's trouble is not another's
            log_failure("memory not updated", error, organizationId=key[0], leadId=key[1], category=key[2].value)
            return None

    def _apply(self, key: MemoryKey, arrivals: Sequence[Arrival[StoredEvent]]) -> tuple[int, list[Poison]]:
        organization_id, lead_id, category = key
        arrivals = self._present(organization_id, lead_id, arrivals)
        for attempt in range(ATTEMPTS):
            self._pause(attempt)
            memory, now = self._memories.get(*key), self._clock()
            new = {each.item.event_id: each for each in arrivals if isinstance(each.item, StoredEvent)}
            events = [each.item for each in new.values() if isinstance(each.item, StoredEvent)]
            old = [event for event in events if memory.window.is_old(event, now)]
            events = [event for event in events if event in old or not memory.window.has(event)]
            if not events:
                return 0, []
            if not memory.window.takes(events, now):
                # What was replayed by hand is no news; what a window has no room for is.
                done = self._rebuild(organization_id, lead_id, (category,), rebuilt=bool(old))
                unfoldable = [_unfoldable(new[each]) for each in done.unfoldable if each in new]
                return len(events) - len(unfoldable), unfoldable
            state, applied, poison = _applied(memory.state, category, events)
            if not applied:
                return 0, [Poison(new[event_id], error) for event_id, error in poison.items()]
            if self._memories.put(memory.changed(state, memory.window.with_events(applied, now))):
                return len(applied), [Poison(new[event_id], error) for event_id, error in poison.items()]
        raise UnavailableError("A memory changes faster than it can be written.")

    def _present(
        self, organization_id: str, lead_id: str, arrivals: Sequence[Arrival[StoredEvent]]
    ) -> Sequence[Arrival[StoredEvent]]:
        """Those whose events were not erased since."""
        presence = self._presence
        if presence is None:
            return arrivals
        return [
            each
            for each in arrivals
            if isinstance(each.item, StoredEvent) and presence.has(organization_id, lead_id, each.item.stored_at)
        ]

    def _rebuild(
        self, organization_id: str, lead_id: str, categories: Collection[Category], *, rebuilt: bool
    ) -> Rebuilt:
        pending, changed = set(categories), set()
        for attempt in range(ATTEMPTS):
            self._pause(attempt)
            before = self._stored(organization_id, lead_id)
            folded = self._fold(organization_id, lead_id, pending)
            now = self._clock()
            for category in sorted(pending):
                memory, state = before[category], folded.states.get(category, {})
                window = Window.of(folded.recent[category], now)
                if state == memory.state and window.overflowing == memory.window.overflowing:
                    pending.discard(
                        category
                    )  # what it holds is what its window says: the rest still comes, or changes nothing
                elif self._memories.put(memory.changed(state, window, rebuilt=rebuilt)):
                    pending.discard(category)
                    changed.add(category)
            if not pending:
                in_order = tuple(each for each in Category if each in changed)
                return Rebuilt(folded.events, in_order, tuple(folded.unfoldable))
        raise UnavailableError("The memories of a lead change faster than its events can be read.")

    def _stored(self, organization_id: str, lead_id: str) -> dict[Category, Memory]:
        found = {each: Memory(organization_id=organization_id, lead_id=lead_id, category=each) for each in Category}
        return found | {each.category: each for each in self._memories.of_lead(organization_id, lead_id)}

    def _fold(self, organization_id: str, lead_id: str, categories: Collection[Category]) -> Folded:
        """Page by page: a lead's events need not fit in memory."""
        folded, everything, now = Folded(), Window(), self._clock()
        query = TimelineQuery(organization_id=organization_id, lead_id=lead_id)
        for event in events_of(self._events, query):
            folded.events += 1
            category = memories.category_of(event)
            if category is None or category not in categories:
                continue
            state, applied, _ = _applied(folded.states.get(category, {}), category, [event])
            folded.states[category] = state
            if not applied:
                folded.unfoldable.append(event.event_id)
            elif not everything.is_old(event, now):
                folded.recent[category].append(event)
        return folded

    def _give_up(self, poison: Poison, batch: Projected) -> None:
        arrival = poison.arrival
        log_failure("record cannot be projected", poison.error, key=arrival.key)
        try:
            self._dead_letters.send(_letter(poison))
        except UnavailableError as error:
            log_failure("record not given up", error, key=arrival.key)
            batch.failed.append(arrival.sequence_number)
        else:
            batch.poison += 1


def _applied(
    state: State, category: Category, events: Iterable[StoredEvent]
) -> tuple[State, list[StoredEvent], dict[str, Exception]]:
    """``state`` with ``events``; those it holds now, and by their ids the errors of those it cannot."""
    applied, poison = [], {}
    for event in events:
        try:
            state = memories.apply(category, state, event)
        except Exception as error:  # noqa: BLE001  # a fold is pure: it would fail again
            poison[event.event_id] = error
        else:
            applied.append(event)
    return state, applied, poison


def _unfoldable(arrival: Arrival[StoredEvent]) -> Poison:
    return Poison(arrival, ValueError("The event cannot be folded."))


def _letter(poison: Poison) -> str:
    """Says which record, and what kind of error; no content."""
    return dumps(
        {
            "condition": "RecordCannotBeProjected",
            "error": type(poison.error).__name__,
            "key": poison.arrival.key,
            "sequenceNumber": poison.arrival.sequence_number,
        }
    )


def _versions(stored: dict[Category, Memory]) -> list[int]:
    return [each.version for each in stored.values()]


def _pause(attempt: int) -> None:
    """Let others finish; none before the first attempt."""
    if attempt:
        longest = _PAUSE_MILLISECONDS * 2 ** min(attempt - 1, 5)
        time.sleep((longest / 2 + secrets.randbelow(longest // 2 + 1)) / 1_000)
