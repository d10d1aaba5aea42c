"""Each event about an organisation is applied exactly once, through races, crashes and repetitions; none ends in silence."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from lead_events.errors import UnavailableError
from lead_events.event import OutcomeKind
from lead_events.idempotency import Claim
from lead_events.instants import format_instant
from lead_events.organizations.state import Organization
from lead_events.store.memory import InMemoryClaims
from lead_events.store.memory_organizations import InMemoryOrganizations
from tests.support.builders import ORGANIZATION
from tests.support.clock import START
from tests.support.organization_events import Desk, message, reconciler, told

APPLIED, DUPLICATE = OutcomeKind.APPLIED, OutcomeKind.DUPLICATE


def cost(number: int, **data: Any) -> dict[str, Any]:
    return told("billing.cost-recorded", number, **{"amount": 1, "currency": "USD", **data})


def kinds(desk: Desk, *envelopes: dict[str, Any]) -> list[OutcomeKind]:
    return [each.kind for each in desk.take(*envelopes)]


def test_the_first_delivery_is_applied_and_the_others_are_duplicates_whatever_their_time_or_way() -> None:
    desk = Desk()
    later = cost(0) | {"time": format_instant(START), "source": "billing_service"}
    assert kinds(desk, cost(0), cost(0), later) == [APPLIED, DUPLICATE, DUPLICATE]
    assert desk.shown()["costs"]["USD"] == {"count": 1, "total": 1}


def test_the_same_id_with_other_content_is_a_conflict_and_kept() -> None:
    desk = Desk()
    assert kinds(desk, cost(0, amount=1), cost(0, amount=2) | {"id": cost(0, amount=1)["id"]}) == [
        APPLIED,
        OutcomeKind.CONFLICT,
    ]
    assert [each.code for each in desk.rejections.all()] == ["idempotency_conflict"]
    assert desk.shown()["costs"]["USD"]["total"] == 1


def test_ids_of_two_organisations_have_nothing_to_do_with_each_other() -> None:
    desk = Desk()
    assert kinds(desk, cost(0), cost(0, organization="org_B") | {"id": cost(0)["id"]}) == [APPLIED, APPLIED]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"time": None}, "invalid_time"),
        ({"time": format_instant(START + timedelta(hours=25))}, "invalid_time"),
        ({"data": {"organizationId": ORGANIZATION, "currency": "USD"}}, "invalid"),
    ],
)
def test_what_breaks_a_rule_is_kept_among_the_rejected_once(change: dict[str, Any], code: str) -> None:
    desk = Desk()
    broken = {name: value for name, value in (cost(0) | change).items() if value is not None}
    assert kinds(desk, broken, broken) == [OutcomeKind.REJECTED] * 2
    [kept] = desk.rejections.all()
    assert (kept.code, kept.deliveries, kept.source, kept.event_type) == (
        code,
        2,
        "billing_service",
        "billing.cost-recorded",
    )


@pytest.mark.parametrize("data", [{}, {"organizationId": "a#b"}, [], None])
def test_a_message_that_does_not_tell_its_organisation_stays_on_the_queue(data: Any) -> None:
    desk = Desk()
    with pytest.raises(Exception, match=r"organizationId|object"):
        desk.take(cost(0) | {"data": data})
    assert desk.rejections.all() == []


def test_an_event_that_names_a_lead_is_the_leads_as_well_and_each_once() -> None:
    desk = Desk()
    both = told("billing.subscription-created", 1, leadId="lead_1", planId="pro", subscriptionId="s")
    assert kinds(desk, both, both) == [OutcomeKind.STORED, DUPLICATE]
    assert [(each.lead_id, each.event_type) for each in desk.events.all()] == [("lead_1", "subscription_created")]
    assert desk.organization().version == 1


def test_an_event_that_only_one_of_the_two_can_use_is_kept_for_the_other_once() -> None:
    desk = Desk()
    assert kinds(desk, told("billing.subscription-created", 1, leadId="lead_1")) == [
        OutcomeKind.REJECTED
    ]  # a lead's has a plan
    assert desk.organization().version == 1
    long = told("billing.subscription-created", 2, leadId="lead_1", planId="p", planName="x" * 256)
    assert kinds(desk, long) == [OutcomeKind.STORED, OutcomeKind.REJECTED]
    both = told("billing.subscription-created", 3, leadId="lead_1", planId=5)
    assert kinds(desk, both) == [OutcomeKind.REJECTED]
    assert len(desk.rejections.all()) == 3


def test_other_events_go_the_pipelines_road() -> None:
    desk = Desk()
    assert kinds(desk, told("ticketing.ticket-opened", 1, leadId="lead_1", ticketId="t")) == [OutcomeKind.STORED]
    assert kinds(desk, told("billing.something-new", 1)) == [OutcomeKind.REJECTED]
    assert desk.organization().version == 0


class Flaky(InMemoryOrganizations):
    """Dies before or after its writes."""

    def __init__(self, claims: InMemoryClaims) -> None:
        super().__init__(claims)
        self.rnd = random.Random(4)

    def put(self, organization: Organization, claims: Sequence[Claim]) -> bool:
        chance = self.rnd.random()
        if chance < 0.2:
            raise UnavailableError("died before")
        done = super().put(organization, claims)
        if chance < 0.4:
            raise UnavailableError("died after")
        return done


def test_each_event_counts_once_through_races_of_processes_and_crashes() -> None:
    """Three processes over one store get every message twice and crash on every third write; messages come again until done."""
    claims = InMemoryClaims()
    store = Flaky(claims)
    processes = [reconciler(store, claims) for _ in range(3)]
    pending = [message(cost(number)) for number in range(200)] * 2
    random.Random(5).shuffle(pending)
    applied = 0

    def deliver(job: tuple[int, Any]) -> OutcomeKind | Any:
        number, each = job
        try:
            return processes[number % 3].take(each).kind
        except UnavailableError:
            return each

    with ThreadPoolExecutor(24) as pool:
        while pending:
            ended = list(pool.map(deliver, enumerate(pending)))
            applied += ended.count(APPLIED)
            pending = [each for each in ended if not isinstance(each, OutcomeKind)]
    organization = store.get(ORGANIZATION)
    assert organization.state["costs"]["USD"] == {"count": 200, "total": 200}
    assert applied <= 200  # where the answer was lost, the next delivery is a duplicate
    assert len(claims) == 200


class Slow(InMemoryOrganizations):
    """Takes as long to write as a store does, and the first time until everybody has come."""

    def put(self, organization: Organization, claims: Sequence[Claim]) -> bool:
        time.sleep(0.02 if self.get(ORGANIZATION).version else 1)
        return super().put(organization, claims)


def test_events_that_wait_together_are_written_together() -> None:
    claims = InMemoryClaims()
    store = Slow(claims)
    busy = reconciler(store, claims)
    with ThreadPoolExecutor(50) as pool:
        ended = list(pool.map(lambda number: busy.take(message(cost(number % 100))).kind, range(200)))
    assert ended.count(APPLIED) == 100
    assert store.get(ORGANIZATION).state["costs"]["USD"]["count"] == 100
    assert store.get(ORGANIZATION).version < 80


def test_a_store_that_never_lets_a_write_through_ends_in_send_again() -> None:
    class Busy(InMemoryOrganizations):
        def put(self, organization: Organization, claims: Sequence[Claim]) -> bool:
            return False

    claims = InMemoryClaims()
    contended = reconciler(Busy(claims), claims)
    with pytest.raises(UnavailableError):
        contended.take(message(cost(0)))
    assert len(claims) == 0
