"""What is stored becomes known: once for each envelope id, whatever fails; what is too large carries a reference."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from lead_events import memories
from lead_events.categories import Category
from lead_events.envelope import read_structured
from lead_events.errors import NotPublishedError, UnavailableError
from lead_events.instants import format_instant
from lead_events.limits import MAX_BUS_ENTRY_BYTES
from lead_events.memory import Memory
from lead_events.names import OWN_EVENT_SOURCE
from lead_events.ports import Arrival
from lead_events.publishing import Publisher, envelope_of
from lead_events.representation import event_json
from lead_events.store.memory import InMemoryBus
from lead_events.strict_json import dumps
from tests.support.builders import LEAD, ORGANIZATION, stored_event
from tests.support.clock import START
from tests.support.fakes import FakeQueue
from tests.support.memory_events import events
from tests.support.presence import nobody_erased
from tests.support.projection import arrival


class FailingBus(InMemoryBus):
    """Takes all but the envelopes whose ids are refused; ``down`` lets nothing through."""

    def __init__(self, refused: set[str] | None = None) -> None:
        super().__init__()
        self.refused = refused or set()
        self.down = False

    def publish(self, entries: Any) -> None:
        if self.down:
            raise UnavailableError("EventBridge did not answer.")
        super().publish([each for each in entries if each["id"] not in self.refused])
        if refused := self.refused & {each["id"] for each in entries}:
            raise NotPublishedError("EventBridge refused some events.", frozenset(refused))


def purchase(version: int = 1, *, rebuilt: bool = False, seed: int = 1) -> Arrival[Memory]:
    folded = memories.fold(events(LEAD, 3, random.Random(seed), types=["purchase_completed"]))
    found = Memory(
        organization_id=ORGANIZATION,
        lead_id=LEAD,
        category=Category.PURCHASE,
        state=folded[Category.PURCHASE],
        version=version,
        rebuilt=rebuilt,
    )
    return replace(arrival(found, f"{version}"), at=START)


def published(*arrivals: Arrival[Any]) -> list[dict[str, Any]]:
    bus = InMemoryBus()
    assert Publisher(bus, FakeQueue(), nobody_erased()).publish(arrivals) == (len(bus.published), [])
    return bus.published


def test_a_stored_event_is_told_whole_but_without_its_raw_text() -> None:
    event = replace(stored_event(raw_payload='{"a": 1}'), stored_at=START)
    [envelope] = published(arrival(event))
    assert envelope == {
        "specversion": "1.0",
        "type": "lead.event-recorded",
        "id": event.event_id,
        "source": OWN_EVENT_SOURCE,
        "time": format_instant(START),
        "datacontenttype": "application/json",
        "data": event_json(event),
    }
    assert "rawPayload" not in envelope["data"]


def test_a_changed_memory_is_told_as_the_api_shows_it() -> None:
    memory = purchase()
    [envelope] = published(memory)
    assert isinstance(memory.item, Memory)
    assert envelope["type"] == "lead.memory-updated"
    assert envelope["data"] == {
        "organizationId": ORGANIZATION,
        "leadId": LEAD,
        "category": "purchase",
        "memory": memories.view(Category.PURCHASE, memory.item.state),
    }


@pytest.mark.parametrize("each", [arrival(stored_event()), purchase()])
def test_what_is_told_is_an_envelope_that_others_can_read(each: Arrival[Any]) -> None:
    [envelope] = published(each)
    read = read_structured(dumps(envelope))
    assert (read.id, read.type, read.source) == (envelope["id"], envelope["type"], envelope["source"])


def test_what_a_rebuild_wrote_is_no_news() -> None:
    assert published(purchase(rebuilt=True)) == []


def test_an_envelope_has_the_same_id_however_often_it_is_told() -> None:
    event = stored_event()
    for each in (arrival(event), purchase()):
        assert published(each) == published(each)


def test_each_change_of_a_memory_has_an_id_of_its_own_also_where_versions_start_again() -> None:
    told = [purchase(1), purchase(2), purchase(1, seed=2)]
    assert len({envelope["id"] for envelope in published(*told)}) == 3


def test_a_record_that_comes_twice_in_a_batch_is_told_once() -> None:
    event = arrival(stored_event())
    assert len(published(event, event)) == 1


@pytest.mark.parametrize("over", [False, True])
def test_an_event_that_the_bus_would_not_take_carries_a_reference(over: bool) -> None:
    event = stored_event(payload={"text": ""})
    room = MAX_BUS_ENTRY_BYTES - entry_bytes(published(arrival(event))[0])
    text = "é" * (room // 2) + "e" * (room % 2)  # two bytes each
    large = replace(event, payload={"text": text + ("x" if over else "")})
    [envelope] = published(arrival(large))
    assert entry_bytes(envelope) <= MAX_BUS_ENTRY_BYTES
    assert ("payload" in envelope["data"]) == (not over)
    path = f"/v1/organizations/{ORGANIZATION}/leads/{LEAD}/events/{event.event_id}"
    assert envelope["data"].get("reference") == (path if over else None)


def test_a_memory_that_the_bus_would_not_take_carries_a_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "view", lambda *_: {"text": "x" * 300_000})
    [envelope] = published(purchase())
    assert envelope["data"] == {
        "organizationId": ORGANIZATION,
        "leadId": LEAD,
        "category": "purchase",
        "reference": f"/v1/organizations/{ORGANIZATION}/leads/{LEAD}/memories/purchase",
    }


def test_exactly_the_refused_are_delivered_again() -> None:
    arrivals = [arrival(stored_event(external_event_id=f"e-{number}")) for number in range(25)]
    refused = {arrivals[number].item.event_id for number in (3, 17)}
    bus = FailingBus(refused)
    assert Publisher(bus, FakeQueue(), nobody_erased()).publish(arrivals) == (
        23,
        [arrivals[number].sequence_number for number in (3, 17)],
    )
    bus.refused = set()
    assert Publisher(bus, FakeQueue(), nobody_erased()).publish([arrivals[3], arrivals[17]]) == (2, [])
    assert sorted(each["id"] for each in bus.published) == sorted(each.item.event_id for each in arrivals)


def test_a_bus_that_does_not_answer_gets_everything_again() -> None:
    arrivals = [arrival(stored_event()), purchase()]
    bus = FailingBus()
    bus.down = True
    assert Publisher(bus, FakeQueue(), nobody_erased()).publish(arrivals) == (
        0,
        [each.sequence_number for each in arrivals],
    )


def test_a_record_that_cannot_be_read_is_given_up_and_the_others_are_told() -> None:
    bus, letters = InMemoryBus(), FakeQueue()
    bad = arrival(ValueError("what was sent"))
    assert Publisher(bus, letters, nobody_erased()).publish([bad, arrival(stored_event())]) == (1, [])
    assert json.loads(letters.sent[0]) == {
        "condition": "RecordCannotBePublished",
        "error": "ValueError",
        "key": bad.key,
        "sequenceNumber": bad.sequence_number,
    }


def test_what_cannot_be_given_up_is_delivered_again() -> None:
    letters = FakeQueue()
    letters.fail = True
    bad = arrival(ValueError())
    assert Publisher(InMemoryBus(), letters, nobody_erased()).publish([bad]) == (0, [bad.sequence_number])


def test_an_event_stored_before_that_was_kept_takes_the_time_it_was_received() -> None:
    event = stored_event()
    envelope = envelope_of(arrival(event))
    assert envelope is not None
    assert envelope["time"] == format_instant(event.received_at)


def entry_bytes(envelope: dict[str, Any]) -> int:
    """As EventBridge counts: source, detail-type and detail in UTF-8."""
    return len(OWN_EVENT_SOURCE) + len(envelope["type"]) + len(dumps(envelope).encode())
