"""What every scan over all leads promises."""

from __future__ import annotations

from typing import Any

import pytest

from lead_events.jobs import LeadKey
from lead_events.ports import EventStore, LeadScan
from lead_events.store.scanning import DynamoDbLeads
from tests.contracts.conftest import Aws, dynamodb_events
from tests.support.builders import stored_event


def store(events: EventStore, leads: dict[LeadKey, int]) -> None:
    for (organization_id, lead_id), count in leads.items():
        for _ in range(count):
            events.append(stored_event(organization_id=organization_id, lead_id=lead_id))


def walk(scan: LeadScan, segment: int, segments: int, after: LeadKey | None = None) -> list[LeadKey]:
    found: list[LeadKey] = []
    more = True
    while more:
        page = scan.page(segment, segments, after)
        assert page.leads or not page.more
        found += page.leads
        after, more = (page.leads[-1] if page.leads else after), page.more
    return found


LEADS = {("org_A", f"lead_{number}"): 1 + number * 7 % 23 for number in range(25)} | {
    ("org_B", "lead_1"): 40,
    ("org_B", "a"): 1,
}


@pytest.mark.parametrize("segments", [1, 3, 8])
def test_every_lead_is_met_once_in_one_segment_however_many_events_it_has(
    events: EventStore, leads: LeadScan, segments: int
) -> None:
    store(events, LEADS)
    found = [lead for segment in range(segments) for lead in walk(leads, segment, segments)]
    assert sorted(found) == sorted(LEADS)


def test_a_segment_goes_on_behind_any_of_its_leads(events: EventStore, leads: LeadScan) -> None:
    store(events, LEADS)
    for segment in range(3):
        whole = walk(leads, segment, 3)
        for index, lead in enumerate(whole):
            assert walk(leads, segment, 3, lead) == whole[index + 1 :]


def test_a_lead_whose_events_are_gone_still_has_its_place(events: EventStore, leads: LeadScan) -> None:
    store(events, LEADS)
    whole = walk(leads, 0, 1)
    behind = walk(leads, 0, 1, ("org_A", "lead_that_is_gone"))
    assert behind == whole[len(whole) - len(behind) :]


def test_a_table_without_events_has_no_leads(events: EventStore, leads: LeadScan) -> None:
    assert walk(leads, 0, 2) == walk(leads, 1, 2) == []
    assert leads.count() is None


def test_events_are_counted_about(events: EventStore, leads: LeadScan) -> None:
    store(events, LEADS)
    assert leads.count() == sum(LEADS.values())


def test_a_lead_of_many_events_is_read_in_one_page_of_a_few(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.contracts.conftest import InMemoryObjects

    events = dynamodb_events(aws, InMemoryObjects())
    store(events, {("org_A", "lead_1"): 300, ("org_A", "lead_2"): 300})
    asked: list[Any] = []
    scan = aws.dynamodb.scan
    monkeypatch.setattr(aws.dynamodb, "scan", lambda **request: asked.append(request) or scan(**request))
    assert len(walk(DynamoDbLeads(aws.dynamodb, aws.name), 0, 1)) == 2
    assert len(asked) <= 3
    assert all(request["ConsistentRead"] for request in asked)
