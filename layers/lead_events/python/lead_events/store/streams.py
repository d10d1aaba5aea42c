"""Batches of DynamoDB Streams as Lambda hands them over: which events were stored, which memories changed."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from lead_events.event import StoredEvent
from lead_events.instants import from_unix_seconds
from lead_events.memory import Memory
from lead_events.names import Attribute, MemoryAttribute
from lead_events.ports import Arrival
from lead_events.store.items import event_of
from lead_events.store.memories import memory_of
from lead_events.store.wire import item_from_wire

_STORED: Final = "INSERT"
_CHANGED: Final = ("INSERT", "MODIFY")


def stored_events(batch: dict[str, Any]) -> list[Arrival[StoredEvent]]:
    """The events that were stored; one whose item cannot be read arrives as the error. What expired is left out."""
    return [
        _arrival(record, lambda image: event_of(item_from_wire(image)))
        for record in batch.get("Records", [])
        if record["eventName"] == _STORED and Attribute.OCCURRED_AT_ID in record["dynamodb"]["Keys"]
    ]


def changed_memories(batch: dict[str, Any]) -> list[Arrival[Memory]]:
    """The memories that were written, rebuilt ones included; one that cannot be read arrives as the error."""
    return [
        _arrival(record, lambda image: memory_of(item_from_wire(_with_bytes(image))))
        for record in batch.get("Records", [])
        if record["eventName"] in _CHANGED and MemoryAttribute.CATEGORY in record["dynamodb"]["Keys"]
    ]


class UnfinishedBatchError(RuntimeError):
    """Records of a batch failed, where nobody can be told which."""


def failures(sequence_numbers: Sequence[str], *, whole_batches: bool) -> dict[str, list[dict[str, str]]]:
    """What a function answers: Lambda delivers again from the first record that failed.

    The local twin does not know such answers, and would take the batch for done. There ``whole_batches`` fail, by
    ``UnfinishedBatchError``: it costs a repetition, and changes nothing else.
    """
    if sequence_numbers and whole_batches:
        raise UnfinishedBatchError("Some records have to be delivered again.")
    return {"batchItemFailures": [{"itemIdentifier": each} for each in sequence_numbers]}


def _arrival(record: dict[str, Any], read: Callable[[dict[str, Any]], Any]) -> Arrival[Any]:
    stored = record["dynamodb"]
    item: Any
    try:
        item = read(stored["NewImage"])
    except Exception as error:  # noqa: BLE001  # whatever it is, it is this record's and will be so again
        item = error
    return Arrival(
        sequence_number=stored.get("SequenceNumber", ""), key=_key(stored["Keys"]), at=_time(stored), item=item
    )


def _key(keys: dict[str, Any]) -> str:
    """The key as text: partition, blank, sort."""
    sort = keys.get(Attribute.OCCURRED_AT_ID) or keys[MemoryAttribute.CATEGORY]
    return f"{keys[Attribute.LEAD_ORGANIZATION_ID]['S']} {sort['S']}"


def _time(stored: dict[str, Any]) -> datetime | None:
    at = stored.get("ApproximateCreationDateTime")
    return None if at is None else from_unix_seconds(int(at), "ApproximateCreationDateTime")


def _with_bytes(image: dict[str, Any]) -> dict[str, Any]:
    """``image`` with its window as bytes: Lambda hands over JSON, and with it binary values as Base64."""
    window = image.get(MemoryAttribute.WINDOW, {}).get("M", {})
    decoded = {hour: {"B": base64.b64decode(ids["B"])} for hour, ids in window.items()}
    return image | ({MemoryAttribute.WINDOW: {"M": decoded}} if decoded else {})
