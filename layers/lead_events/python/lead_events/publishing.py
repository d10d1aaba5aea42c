"""What is stored becomes known: a CloudEvent on the bus for each new event and for each memory that an event has changed.

Delivery is at least once and in no order. An envelope has the same id however often it is sent: the event's own id, or one
made of the memory's key, version and content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from lead_events import memories
from lead_events.envelope import write
from lead_events.errors import NotPublishedError, UnavailableError
from lead_events.event import StoredEvent
from lead_events.instants import EPOCH
from lead_events.limits import MAX_BUS_ENTRY_BYTES
from lead_events.memory import Memory
from lead_events.names import OWN_EVENT_SOURCE, Attribute, lead_key
from lead_events.observability import log_failure
from lead_events.ports import Arrival, Bus, DeadLetters
from lead_events.presence import Presence
from lead_events.representation import event_json
from lead_events.strict_json import dumps

EVENT_RECORDED: Final = "lead.event-recorded"
MEMORY_UPDATED: Final = "lead.memory-updated"

Envelope = dict[str, Any]


class Publisher:
    """Tells other domains. What a rebuild wrote is no news."""

    def __init__(self, bus: Bus, dead_letters: DeadLetters, presence: Presence) -> None:
        self._bus = bus
        self._dead_letters = dead_letters
        self._presence = presence

    def publish(self, arrivals: Sequence[Arrival[StoredEvent | Memory]]) -> tuple[int, list[str]]:
        """How many were published, and the sequence numbers of those to be delivered again.

        What cannot be read goes to the dead letters, so that it does not hold up the others.
        """
        waiting: dict[str, tuple[str, Envelope]] = {}
        failed: list[str] = []
        for arrival in arrivals:
            try:
                envelope = envelope_of(arrival) if self._is_present(arrival) else None
            except UnavailableError as error:
                log_failure("not published", error, key=arrival.key)
                failed.append(arrival.sequence_number)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is this record's and will be so again
                failed += self._give_up(arrival, error)
            else:
                if envelope is not None:
                    waiting[envelope["id"]] = arrival.sequence_number, envelope
        try:
            self._bus.publish([envelope for _, envelope in waiting.values()])
        except NotPublishedError as error:
            log_failure("not published", error)
            refused = [number for envelope_id, (number, _) in waiting.items() if envelope_id in error.refused]
        except UnavailableError as error:
            log_failure("not published", error)
            refused = [number for number, _ in waiting.values()]
        else:
            refused = []
        return len(waiting) - len(refused), failed + refused

    def _is_present(self, arrival: Arrival[StoredEvent | Memory]) -> bool:
        """Whether it was not erased since; what cannot be read is present."""
        item = arrival.item
        if isinstance(item, Exception):
            return True
        stored_at = item.stored_at if isinstance(item, StoredEvent) else arrival.at
        return self._presence.has(item.organization_id, item.lead_id, stored_at)

    def _give_up(self, arrival: Arrival[StoredEvent | Memory], error: Exception) -> list[str]:
        log_failure("record cannot be published", error, key=arrival.key)
        letter = {
            "condition": "RecordCannotBePublished",
            "error": type(error).__name__,
            "key": arrival.key,
            "sequenceNumber": arrival.sequence_number,
        }
        try:
            self._dead_letters.send(dumps(letter))
        except UnavailableError as unavailable:
            log_failure("record not given up", unavailable, key=arrival.key)
            return [arrival.sequence_number]
        return []


def envelope_of(arrival: Arrival[StoredEvent | Memory]) -> Envelope | None:
    """The envelope of what was stored; ``None`` where it is no news. Raises what kept the record from being read."""
    if isinstance(arrival.item, Exception):
        raise arrival.item
    if isinstance(arrival.item, StoredEvent):
        return event_recorded(arrival.item)
    return None if arrival.item.rebuilt else memory_updated(arrival.item, arrival.at or EPOCH)


def event_recorded(event: StoredEvent) -> Envelope:
    """``lead.event-recorded``: the event as the API shows it, or where to read it if it is too large for the bus."""
    data = event_json(event)
    path = f"/v1/organizations/{event.organization_id}/leads/{event.lead_id}/events/{event.event_id}"
    stored_at = event.received_at if event.stored_at == EPOCH else event.stored_at
    return _within_limit(
        write(type=EVENT_RECORDED, id=event.event_id, source=OWN_EVENT_SOURCE, time=stored_at, data=data),
        Attribute.PAYLOAD,
        path,
    )


def memory_updated(memory: Memory, stored_at: datetime) -> Envelope:
    """``lead.memory-updated``: the memory as the API shows it, or where to read it."""
    path = f"/v1/organizations/{memory.organization_id}/leads/{memory.lead_id}/memories/{memory.category}"
    data = {
        "organizationId": memory.organization_id,
        "leadId": memory.lead_id,
        "category": memory.category.value,
        "memory": memories.view(memory.category, memory.state),
    }
    return _within_limit(
        write(
            type=MEMORY_UPDATED,
            id=_memory_envelope_id(memory),
            source=OWN_EVENT_SOURCE,
            time=stored_at,
            data=data,
        ),
        "memory",
        path,
    )


def _memory_envelope_id(memory: Memory) -> str:
    # Not by key and version alone: versions start again where somebody deletes a memory.
    content = hashlib.sha256(json.dumps(memory.state, sort_keys=True, default=str).encode()).hexdigest()
    key = f"{lead_key(memory.organization_id, memory.lead_id)}#{memory.category}#{memory.version}#{content}"
    return f"evt_{uuid5(NAMESPACE_URL, key)}"


def _within_limit(envelope: Envelope, content: str, path: str) -> Envelope:
    """``envelope``, with the path to ``content`` in the API instead of the content where the bus would not take it."""
    size = len(OWN_EVENT_SOURCE.encode()) + len(envelope["type"].encode()) + len(dumps(envelope).encode())
    if size <= MAX_BUS_ENTRY_BYTES:
        return envelope
    data = {name: value for name, value in envelope["data"].items() if name != content}
    return envelope | {"data": data | {"reference": path}}
