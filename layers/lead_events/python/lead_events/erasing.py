"""The work of an erasure: walk through every store, again and again, until there is nothing left and nothing can still come.

::

    message (erasure, slice) ──► still the next slice? ──► shelf after shelf, for some seconds ──► position, under the slice
         ▲                          no: somebody was faster                                         number it began with
         └──────────────────────────────── message of the next slice ◄───────────────────────────────────────┘

From the beginning on the fence keeps out what is new. What was let in just before may still be written: by a process that asked
seconds ago, from a batch under way, from a message that is tried again; and who read what was there until now may write what
came of it. So one walk is not enough. The last one begins a *quiet period*, longer than all of that takes, after the beginning
and after the last walk that found something, and it finds nothing; else there is another.

Then ``until`` is fixed, the identities let go of the lead, other domains are told, and the fence opens for what happens later.

A message may come twice, late, or never, and a worker may die anywhere: whatever is done twice finds nothing the second time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from lead_events import envelope
from lead_events.erasure import Erasure, Leftover, Slice, Status, read_message
from lead_events.errors import UnavailableError
from lead_events.instants import Clock, format_instant
from lead_events.names import OWN_EVENT_SOURCE
from lead_events.observability import log_failure, logger
from lead_events.ports import Bus, ErasureStore, Shelf, WorkQueue

LEAD_ERASED: Final = "lead.erased"
ORGANIZATION_ERASED: Final = "organization.erased"

SLICE: Final = timedelta(seconds=4)
"""Time after which a slice ends; the page that was begun is finished."""
ATTEMPTS: Final = 5
"""Slices that may fail because a service does not answer, before the queue's own retries, and its dead letters, take over."""
_LONGEST_PAUSE: Final = 900  # seconds: SQS delays a message no longer


class Eraser:
    """A worker. Several may be at the same erasure."""

    def __init__(
        self,
        *,
        erasures: ErasureStore,
        queue: WorkQueue,
        shelves_of_lead: Sequence[Shelf],
        shelves_of_organization: Sequence[Shelf],
        identities: Shelf,
        remove_body: Callable[[str], None],
        bus: Bus,
        clock: Clock,
        quiet_period: timedelta,
    ) -> None:
        """``identities`` is cleared at the very end: until then they lead to the lead, and so to its fence."""
        self._erasures = erasures
        self._queue = queue
        self._shelves_of_lead = shelves_of_lead
        self._shelves_of_organization = shelves_of_organization
        self._identities = identities
        self._remove_body = remove_body
        self._bus = bus
        self._clock = clock
        self._quiet_period = quiet_period

    def work(self, text: str, *, redelivered: bool) -> Erasure | None:
        """Do what a message asks for; raise where it must stay on the queue. Gives back the erasure if this ended it.

        ``redelivered`` says that the message was received before.
        """
        message = read_message(text)
        if isinstance(message, Leftover):
            self._remove_body(message.key)
            return None
        erasure = self._erasures.get(message.organization_id, message.erasure_id)
        if erasure is None or erasure.status is Status.DONE:
            return None
        if erasure.slices != message.number:
            if redelivered or message.attempt:  # whoever was faster may have died before it sent the next message
                self._send_next(erasure)
            return None
        try:
            return self._close(erasure) if erasure.until is not None else self._walk(erasure)
        except UnavailableError as error:
            if message.attempt >= ATTEMPTS:
                raise
            log_failure("erasure interrupted", error, erasureId=erasure.erasure_id)
            again = replace(message, attempt=message.attempt + 1)
            self._queue.send(again.write(), 2**again.attempt)
            return None

    def _walk(self, erasure: Erasure) -> Erasure | None:
        """Go on with the current walk, or begin one."""
        now = self._clock()
        if erasure.walk_started_at is None:
            wait = self._quiet_at(erasure) - now
            if erasure.slices and wait > timedelta():  # every walk but the first
                self._send_next(erasure, wait)
                return None
            erasure = replace(erasure, walk_started_at=now)
        shelves = self._shelves_of_lead if erasure.of_lead else self._shelves_of_organization
        ends = now + SLICE
        while erasure.stage < len(shelves):
            if self._clock() >= ends:
                self._go_on(erasure)
                return None
            position = shelves[erasure.stage].clear(erasure, erasure.position)
            stage = erasure.stage + (position is None)
            erasure = replace(erasure, stage=stage, position=position)
        return self._walked(erasure)

    def _walked(self, erasure: Erasure) -> Erasure | None:
        """A walk has come to its end: decide what is next."""
        assert erasure.walk_started_at is not None
        stored = self._erasures.get(erasure.organization_id, erasure.erasure_id)
        found = stored is None or stored.found
        if found or erasure.walk_started_at < self._quiet_at(erasure):
            found_until = self._clock() if found else erasure.found_until
            again = replace(erasure, stage=0, position=None, walk_started_at=None, found_until=found_until)
            self._go_on(again, new_walk=True)
            return None
        closing = replace(erasure, stage=0, position=None, until=self._clock(), slices=erasure.slices + 1)
        return self._close(closing) if self._erasures.advance(closing) else None

    def _quiet_at(self, erasure: Erasure) -> datetime:
        """From when on nothing can be under way any more."""
        return max(erasure.requested_at, erasure.found_until or erasure.requested_at) + self._quiet_period

    def _close(self, erasure: Erasure) -> Erasure | None:
        """Nothing is left: let the identities go, tell the others, open the fence."""
        ends = self._clock() + SLICE
        position = erasure.position
        while erasure.of_lead and (position := self._identities.clear(erasure, position)) is not None:
            if self._clock() >= ends:
                self._go_on(replace(erasure, position=position))
                return None
        done = replace(erasure, status=Status.DONE, completed_at=self._clock())
        self._bus.publish([erased(done)])
        if not self._erasures.finish(done):
            return None
        logger().info("erasure done", extra={"organizationId": done.organization_id, "erasureId": done.erasure_id})
        return done

    def _go_on(self, erasure: Erasure, *, new_walk: bool = False) -> None:
        """Store how far it has come, and send the next message; whoever was faster has done so already."""
        moved = replace(erasure, slices=erasure.slices + 1)
        if self._erasures.advance(moved, new_walk=new_walk):
            self._send_next(moved)

    def _send_next(self, erasure: Erasure, wait: timedelta = timedelta()) -> None:
        self._queue.send(Slice.next_of(erasure).write(), min(int(wait.total_seconds()) + bool(wait), _LONGEST_PAUSE))


def erased(erasure: Erasure) -> dict[str, Any]:
    """``lead.erased`` or ``organization.erased``: whoever took copies of what was published has to erase them too.

    It has the same id however often it is sent.
    """
    assert erasure.until is not None
    data = {
        "organizationId": erasure.organization_id,
        "erasureId": erasure.erasure_id,
        "erasedUntil": format_instant(erasure.until),
    }
    return envelope.write(
        type=LEAD_ERASED if erasure.of_lead else ORGANIZATION_ERASED,
        id=f"evt_{uuid5(NAMESPACE_URL, erasure.erasure_id)}",
        source=OWN_EVENT_SOURCE,
        time=erasure.until,
        data=data | ({"leadId": erasure.lead_id} if erasure.of_lead else {}),
    )
