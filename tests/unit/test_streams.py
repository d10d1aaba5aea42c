"""Batches of DynamoDB Streams: what concerns us is read, what cannot be read stops nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lead_events.event import StoredEvent
from lead_events.memory import Memory, Window
from lead_events.store import streams
from lead_events.store.items import item_of
from lead_events.store.memories import item_of as memory_item
from lead_events.store.wire import item_to_wire
from tests.contracts.test_memory_store import STATE, memory, window
from tests.support.aws import stream_event
from tests.support.builders import stored_event
from tests.support.clock import START

EVENT_KEYS = ("leadOrganizationId", "occurredAtId")
MEMORY_KEYS = ("leadOrganizationId", "category")


def batch_of(*events: StoredEvent, name: str = "INSERT") -> dict[str, Any]:
    return stream_event(*(item_to_wire(item_of(each, None)[0]) for each in events), name=name, keys=EVENT_KEYS)


def test_a_stored_event_arrives_as_it_was_stored_but_for_its_raw_text() -> None:
    event = replace(stored_event(raw_payload='{"a": "%s"}' % ("compressible " * 200)), stored_at=START)
    [found] = streams.stored_events(batch_of(event))
    assert found.item == replace(event, raw_payload=None)
    assert isinstance(found.item, StoredEvent)
    assert found.item.stored_at == START
    assert found.sequence_number == "0"
    assert found.key == f"{event.key.lead_organization_id} {event.key.occurred_at_id}"
    assert found.at == START


@pytest.mark.parametrize("name", ["MODIFY", "REMOVE"])
def test_what_expires_or_is_erased_is_no_new_event(name: str) -> None:
    assert streams.stored_events(batch_of(stored_event(), name=name)) == []


@pytest.mark.parametrize("name", ["INSERT", "MODIFY"])
@pytest.mark.parametrize("of", [window(), Window(), Window(overflowing=True)])
def test_a_changed_memory_arrives_as_it_was_written(name: str, of: Window) -> None:
    written = memory().changed(STATE, of, rebuilt=True)
    batch = stream_event(item_to_wire(memory_item(written)), name=name, keys=MEMORY_KEYS)
    [found] = streams.changed_memories(batch)
    assert found.item == written
    assert streams.stored_events(batch) == []


def test_a_deleted_memory_is_no_change() -> None:
    batch = stream_event(item_to_wire(memory_item(memory(version=1))), name="REMOVE", keys=MEMORY_KEYS)
    assert streams.changed_memories(batch) == []


def test_one_that_cannot_be_read_arrives_as_the_error() -> None:
    batch = batch_of(stored_event(), stored_event(external_event_id="e-2"))
    del batch["Records"][0]["dynamodb"]["NewImage"]["payload"]
    bad, good = streams.stored_events(batch)
    assert isinstance(bad.item, KeyError)
    assert bad.sequence_number == "0"
    assert isinstance(good.item, StoredEvent)


def test_a_memory_that_cannot_be_read_arrives_as_the_error() -> None:
    item = item_to_wire(memory_item(memory(version=1))) | {"window": {"M": {"x": {"B": b"12345678"}}}}
    [bad] = streams.changed_memories(stream_event(item, keys=MEMORY_KEYS))
    assert not isinstance(bad.item, Memory)


def test_lambda_is_told_which_records_failed() -> None:
    assert streams.failures(["7", "9"], whole_batches=False) == {
        "batchItemFailures": [{"itemIdentifier": "7"}, {"itemIdentifier": "9"}]
    }
    assert streams.failures([], whole_batches=True) == {"batchItemFailures": []}


def test_where_nobody_can_be_told_which_the_batch_fails() -> None:
    with pytest.raises(streams.UnfinishedBatchError):
        streams.failures(["7"], whole_batches=True)


def test_an_empty_batch_holds_nothing() -> None:
    assert streams.stored_events({}) == streams.changed_memories({}) == []
