"""A stream outlives what it tells of by a day: nothing that was erased is projected or published from it."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from lead_events import memories
from lead_events.categories import Category
from lead_events.errors import UnavailableError
from lead_events.memory import Memory
from lead_events.ports import Arrival
from lead_events.presence import Presence
from lead_events.publishing import Publisher
from lead_events.store.memory import InMemoryBus
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.erased import ERASED_AT, Land
from tests.support.fakes import FakeQueue
from tests.support.memory_events import events
from tests.support.projection import PURCHASE, Projection, arrival, some

BEFORE = ERASED_AT - timedelta(minutes=5)


def projection(presence: Presence) -> Projection:
    found = Projection()
    found.projector._presence = presence
    return found


def stored_at(instant: datetime, count: int = 3, lead: str = LEAD) -> list[Arrival[Any]]:
    return [arrival(replace(each, stored_at=instant)) for each in some(count, types=PURCHASE, lead=lead)]


def memory(lead_id: str, at: datetime | None) -> Arrival[Any]:
    folded = memories.fold(events(lead_id, 3, random.Random(1), types=PURCHASE))
    state = folded[Category.PURCHASE]
    found = Memory(organization_id=ORGANIZATION, lead_id=lead_id, category=Category.PURCHASE, state=state, version=1)
    return replace(arrival(found, lead_id), at=at)


@pytest.mark.parametrize("under_way", [True, False])
def test_a_late_record_of_an_erased_lead_makes_no_memory(under_way: bool) -> None:
    land = Land()
    land.begin() if under_way else land.erase()
    world = projection(land.presence)
    done = world.projector.project(stored_at(BEFORE) + stored_at(BEFORE, lead="lead_2"))
    assert done.failed == []
    assert world.states() == {}
    assert Category.PURCHASE in world.states("lead_2")


def test_what_is_stored_of_a_lead_that_has_returned_is_projected() -> None:
    land = Land()
    land.erase()
    world = projection(land.presence)
    done = world.projector.project(stored_at(BEFORE, 2) + stored_at(ERASED_AT + timedelta(minutes=1), 5)[2:])
    assert done.applied == 3


def test_late_records_of_an_erased_lead_are_not_published() -> None:
    land, bus = Land(), InMemoryBus()
    land.erase()
    publisher = Publisher(bus, FakeQueue(), land.presence)
    arrivals = [*stored_at(BEFORE), memory(LEAD, BEFORE), memory(LEAD, None), memory("lead_2", BEFORE)]
    assert publisher.publish(arrivals) == (1, [])
    assert [each["data"]["leadId"] for each in bus.published] == ["lead_2"]
    later = ERASED_AT + timedelta(minutes=2)
    assert publisher.publish([*stored_at(later), memory(LEAD, later)]) == (4, [])


def test_nothing_of_an_erased_organisation_is_projected_or_published() -> None:
    land, bus = Land(), InMemoryBus()
    land.begin(None)
    arrivals = stored_at(ERASED_AT + timedelta(days=1))
    world = projection(land.presence)
    assert world.projector.project(arrivals).applied == 0
    assert world.states() == {}
    assert Publisher(bus, FakeQueue(), land.presence).publish(arrivals) == (0, [])
    assert bus.published == []


class Unanswering:
    def has(self, organization_id: str, lead_id: str, at: object) -> bool:
        raise UnavailableError("DynamoDB did not answer.")


def test_records_that_cannot_be_looked_up_are_delivered_again() -> None:
    arrivals = stored_at(BEFORE)
    numbers = [each.sequence_number for each in arrivals]
    world = projection(Unanswering())  # type: ignore[arg-type]  # a presence that does not answer
    assert world.projector.project(arrivals).failed == numbers
    assert Publisher(InMemoryBus(), FakeQueue(), Unanswering()).publish(arrivals) == (0, numbers)  # type: ignore[arg-type]
    assert world.dead_letters.sent == []


def test_records_of_others_cost_no_look_at_any_tombstone() -> None:
    land, bus = Land(), InMemoryBus()
    land.erase()
    later = ERASED_AT + timedelta(minutes=2)
    projection(land.presence).projector.project(stored_at(later, 50, "lead_2"))
    Publisher(bus, FakeQueue(), land.presence).publish(stored_at(later, 50, "lead_2"))
    assert land.erasures.looks == 0
