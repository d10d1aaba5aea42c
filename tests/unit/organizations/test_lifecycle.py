"""``active → leaving → retention_expired``, whatever the order of arrival, and what follows for deliveries and readers."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest

from lead_events.errors import GoneError, UnavailableError
from lead_events.event import OutcomeKind
from lead_events.lifecycles import REMEMBERED_SECONDS, Lifecycles
from lead_events.organizations.state import Organization
from tests.support.builders import ORGANIZATION, OTHER_ORGANIZATION
from tests.support.clock import START
from tests.support.organization_events import Desk, told

REQUESTED, REVERTED, CONFIRMED, EXPIRED = (
    f"offboarding.{each}"
    for each in ("cancellation-requested", "cancellation-reverted", "cancellation-confirmed", "retention-expired")
)


@pytest.mark.parametrize(
    ("events", "status", "gone"),
    [
        ([(REQUESTED, 1)], "leaving", False),
        ([(REQUESTED, 1), (REVERTED, 2)], "active", False),
        ([(REVERTED, 1), (REQUESTED, 2)], "leaving", False),
        ([(REQUESTED, 1), (CONFIRMED, 2)], "leaving", True),
        ([(CONFIRMED, 2)], "leaving", True),
        ([(REQUESTED, 1), (CONFIRMED, 2), (REVERTED, 3)], "active", False),
        ([(REQUESTED, 1), (REVERTED, 2), (CONFIRMED, 3)], "leaving", True),
        ([(REQUESTED, 1), (REVERTED, 1)], "active", False),
        ([(CONFIRMED, 1), (REVERTED, 2), (REQUESTED, 3)], "leaving", False),
        ([(EXPIRED, 1)], "retention_expired", True),
        ([(EXPIRED, 1), (REVERTED, 9), (REQUESTED, 8)], "retention_expired", True),
    ],
)
def test_the_status_follows_from_the_times_of_the_events(
    events: list[tuple[str, int]], status: str, *, gone: bool
) -> None:
    for order in itertools.permutations(events):
        desk = Desk()
        desk.take(*(told(kind, minute) for kind, minute in order))
        assert desk.shown()["lifecycle"]["status"] == status
        assert desk.organization().lifecycle.is_gone(START) == gone


def test_the_plan_to_leave_tells_reason_and_retention_until_it_is_reverted() -> None:
    desk = Desk()
    desk.take(told(REQUESTED, 1, reason="price", retentionExpiresAt="2026-07-01"))
    shown = desk.shown()["lifecycle"]
    assert (shown["reason"], shown["retentionExpiresAt"]) == ("price", "2026-07-01T00:00:00.000000Z")
    desk.take(told(CONFIRMED, 2, retentionExpiresAt="2026-08-01"))
    shown = desk.shown()["lifecycle"]
    assert (shown["reason"], shown["retentionExpiresAt"]) == ("price", "2026-08-01T00:00:00.000000Z")
    desk.take(told(REVERTED, 3))
    shown = desk.shown()["lifecycle"]
    assert (shown["reason"], shown["retentionExpiresAt"], shown["leftAt"]) == (None, None, None)


def test_a_confirmed_organisation_is_served_until_it_is_out() -> None:
    desk = Desk()
    desk.take(told(CONFIRMED, 1, effectiveAt="2026-03-26T00:00:00Z"))
    lifecycle = desk.organization().lifecycle
    assert not lifecycle.is_gone(START)
    assert lifecycle.is_gone(START + timedelta(days=1))
    assert desk.shown()["lifecycle"]["leftAt"] == "2026-03-26T00:00:00.000000Z"


def test_what_comes_for_an_organisation_that_left_is_rejected_and_kept_and_taken_again_once_it_is_back() -> None:
    desk = Desk()
    seconds = 0.0
    desk.pipeline._admission._lifecycles = Lifecycles(desk.organizations, desk.clock, lambda: seconds)
    late = told("ticketing.ticket-opened", 5, leadId="lead_1", ticketId="t")
    desk.take(told(CONFIRMED, 1))
    [outcome] = desk.take(late)
    assert outcome.kind is OutcomeKind.REJECTED
    [kept] = desk.rejections.all()
    assert (kept.code, kept.organization_id) == ("organization_gone", ORGANIZATION)
    assert "ticket-opened" in kept.raw_payload
    desk.take(told(REVERTED, 2))
    seconds = REMEMBERED_SECONDS
    assert [each.kind for each in desk.take(late)] == [OutcomeKind.STORED]


def test_events_about_an_organisation_are_still_taken_after_it_left() -> None:
    desk = Desk()
    desk.take(told(CONFIRMED, 1), told("billing.invoice-paid", 2, invoiceId="i"))
    assert desk.shown()["invoices"]["paidEvents"] == 1


def test_nothing_is_taken_or_kept_of_an_organisation_whose_retention_has_expired() -> None:
    desk = Desk()
    desk.take(told(EXPIRED, 1))
    late = [
        told("billing.invoice-paid", 2, invoiceId="i"),
        told("billing.invoice-paid", 2, invoiceId="i", leadId="lead_1"),
        told("ticketing.ticket-opened", 5, leadId="lead_1", ticketId="t"),
        told("ticketing.ticket-opened", 6, ticketId="t"),  # names no lead
        told("billing.invoice-paid", 7),  # breaks its contract
    ]
    ended = desk.take(*late, told(EXPIRED, 1))
    assert {outcome.kind for outcome in ended[:-1]} == {OutcomeKind.ERASED}
    assert desk.rejections.all() == []
    assert desk.events.all() == []
    assert "paidEvents" not in str(desk.organization().state)


class Counting:
    """An organisation that may change, and how often it is asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self.found = Organization(organization_id=ORGANIZATION)
        self.fails = False

    def get(self, organization_id: str, *, consistent: bool = False) -> Organization:
        self.asked += 1
        if self.fails:
            raise UnavailableError("no answer")
        return self.found

    def put(self, organization: Organization, claims: Any) -> bool:
        raise NotImplementedError


def test_a_known_organisation_costs_no_call_for_half_a_minute() -> None:
    store, now = Counting(), 0.0
    lifecycles = Lifecycles(store, lambda: START, lambda: now)
    for _ in range(100):
        lifecycles.check(ORGANIZATION)
    lifecycles.check(OTHER_ORGANIZATION)
    assert store.asked == 2
    desk = Desk()
    desk.take(told(EXPIRED))
    store.found = desk.organization()
    lifecycles.check(ORGANIZATION)
    now = 30.0
    with pytest.raises(GoneError):
        lifecycles.check(ORGANIZATION)
    assert store.asked == 3


def test_an_answer_is_good_for_half_a_minute_from_the_question_on_however_long_it_took() -> None:
    seconds = [0.0]

    class Slow(Counting):
        def get(self, organization_id: str, *, consistent: bool = False) -> Organization:
            found = super().get(organization_id)
            seconds[0] += 20  # it was so when it was looked at, and is told late
            return found

    store = Slow()
    lifecycles = Lifecycles(store, lambda: START, lambda: seconds[0])
    for instant in (0.0, 29.0, REMEMBERED_SECONDS):
        seconds[0] = instant
        lifecycles.check(ORGANIZATION)
    assert store.asked == 2


def test_one_that_leaves_at_a_known_instant_is_gone_then_without_being_asked_for_again() -> None:
    desk, clock = Desk(), [START]
    desk.take(told(CONFIRMED, 1, effectiveAt="2026-03-25T14:00:10Z"))
    lifecycles = Lifecycles(desk.organizations, lambda: clock[0], lambda: 0.0)
    lifecycles.check(ORGANIZATION)
    clock[0] += timedelta(seconds=10)
    before = desk.organizations.reads
    with pytest.raises(GoneError):
        lifecycles.check(ORGANIZATION)
    assert desk.organizations.reads == before


def test_a_store_that_does_not_answer_lets_nobody_through_and_is_asked_again() -> None:
    store = Counting()
    lifecycles = Lifecycles(store, lambda: START, lambda: 0.0)
    store.fails = True
    with pytest.raises(UnavailableError):
        lifecycles.check(ORGANIZATION)
    store.fails = False
    lifecycles.check(ORGANIZATION)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lead_events.lifecycles._REMEMBERED", 3)
    lifecycles = Lifecycles(Counting(), lambda: START, lambda: 0.0)
    for number in range(10):
        lifecycles.check(f"org_{number}")
    assert len(lifecycles._known) <= 3
