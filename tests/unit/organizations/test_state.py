"""The state of an organisation is a function of the set of its events: any order, any duplicates, one state."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from typing import Any

import pytest
import simplejson
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.limits import size_of
from lead_events.organizations import contract, state
from lead_events.organizations.registers import Pool, stamp_of
from lead_events.organizations.state import _FOLDS, exact
from lead_events.strict_json import dumps
from tests.support.clock import START
from tests.support.organization_events import Desk, histories, told


def bits(value: Any) -> str:
    text: str = simplejson.dumps(value, use_decimal=True, sort_keys=True)
    return text


@settings(max_examples=300, deadline=None)
@given(history=histories(), data=st.data())
def test_any_order_and_any_duplicates_give_one_state_to_the_bit(
    history: list[dict[str, Any]], data: st.DataObject
) -> None:
    plain, other = Desk(), Desk()
    plain.take(*history)
    other.take(*data.draw(st.permutations(history + data.draw(st.lists(st.sampled_from(history))))))
    assert bits(other.organization().state) == bits(plain.organization().state)
    assert dumps(other.shown()) == dumps(plain.shown())
    if not any(each["type"] == "offboarding.retention-expired" for each in history):  # then some are not even written
        assert (other.organization().version, plain.organization().version) == (len(history), len(history))


@settings(max_examples=150, deadline=None)
@given(history=histories(12), data=st.data())
def test_the_same_holds_where_more_is_told_than_is_kept(history: list[dict[str, Any]], data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patched:
        for limit in ("OWN_SUBSCRIPTIONS", "OWN_INVOICES", "OF_LEADS", "PROVIDERS"):
            patched.setattr(state, limit, 1)
        plain, other = Desk(), Desk()
        plain.take(*history)
        other.take(*data.draw(st.permutations(history)))
    assert bits(other.organization().state) == bits(plain.organization().state)


EVENTS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.dictionaries(st.sampled_from("xyz"), st.integers(0, 3))), max_size=25
)


@settings(max_examples=300)
@given(events=EVENTS, limit=st.integers(1, 4), data=st.data())
def test_a_pool_holds_exactly_the_events_above_its_floor(
    events: list[tuple[str, dict[str, int]]], limit: int, data: st.DataObject
) -> None:
    """The floor is the last event of the thing of rank limit + 1; each register holds the latest event above it."""
    stamped = [(*event, f"{number:03d}") for number, event in enumerate(events)]
    pool: dict[str, Any] = {}
    for key, values, stamp in data.draw(st.permutations(stamped)):
        pool = Pool(limit).write(pool, key, values, stamp)
    last = {key: stamp for key, _, stamp in stamped}
    floor = ([*sorted(last.values(), reverse=True), *[""] * (limit + 1)])[limit]
    expected: dict[str, Any] = {}
    for key, values, stamp in stamped:
        if stamp > floor:
            expected.setdefault(key, {}).update(
                {name: [value, stamp] for name, value in (*values.items(), ("last", None))}
            )
    assert pool.get("floor", "") == floor
    assert pool.get("things", {}) == expected


def test_a_subscriptions_life_gives_one_state_in_every_order() -> None:
    plan = {"subscriptionId": "s1", "planId": "p", "planName": "Pro", "amount": 10, "currency": "BRL"}
    life = [
        told("billing.subscription-created", 0, status="trialing", **plan),
        told("billing.subscription-changed", 5, status="active", **plan),
        told("billing.invoice-paid", 7, invoiceId="i1", **plan),
        told("billing.subscription-cancelled", 9, status="cancelled", reason="price", **plan),
    ]
    found = set()
    for order in itertools.permutations(life):
        desk = Desk()
        desk.take(*order, order[0])
        found.add(dumps(desk.shown()))
    [one] = found
    subscription = simplejson.loads(one)["subscription"]
    assert subscription == {
        "subscriptionId": "s1", "leadId": None, "status": "cancelled", "planId": "p", "planName": "Pro", "amount": 10,
        "currency": "BRL", "since": "2026-03-24T14:00:00.000000Z", "cancelledAt": "2026-03-24T14:09:00.000000Z",
        "reason": "price", "lastEventAt": "2026-03-24T14:09:00.000000Z",
    }  # fmt: skip


def test_fields_are_reconciled_one_by_one() -> None:
    desk = Desk()
    desk.take(
        told("billing.subscription-changed", 9, subscriptionId="s", amount=20),
        told("billing.subscription-changed", 5, subscriptionId="s", planId="max"),
        told(
            "billing.subscription-created",
            0,
            subscriptionId="s",
            planId="pro",
            planName="Pro",
            amount=10,
            currency="brl",
        ),
    )
    shown = desk.shown()["subscription"]
    assert (shown["planId"], shown["planName"], shown["amount"], shown["currency"]) == ("max", None, 20, "BRL")
    assert (shown["status"], shown["since"]) == ("active", "2026-03-24T14:00:00.000000Z")


def test_a_subscription_that_lives_again_has_no_end_and_no_reason() -> None:
    desk = Desk()
    desk.take(
        told("billing.subscription-cancelled", 1, subscriptionId="s", reason="price"),
        told("billing.subscription-changed", 2, subscriptionId="s", status="active"),
    )
    shown = desk.shown()["subscription"]
    assert (shown["status"], shown["cancelledAt"], shown["reason"]) == ("active", None, None)


def test_created_comes_before_changed_and_cancelled_of_the_same_time() -> None:
    for order in itertools.permutations(
        told(f"billing.subscription-{kind}", 1, subscriptionId="s", status=kind)
        for kind in ("created", "changed", "cancelled")
    ):
        desk = Desk()
        desk.take(*order)
        assert desk.shown()["subscription"]["status"] == "cancelled"


def test_sums_are_exact_and_count_each_event_once() -> None:
    costs = [told("billing.cost-recorded", number, amount=Decimal("0.1"), currency="USD") for number in range(30)]
    costs += [
        told("billing.cost-recorded", 40, amount=-1, currency="USD"),
        told("billing.fee-created", amount=5, currency="BRL"),
    ]
    desk = Desk()
    desk.take(*random.Random(1).sample(costs * 3, len(costs) * 3))
    assert desk.shown()["costs"] == {"USD": {"count": 31, "total": 2}}
    assert desk.shown()["fees"] == {"BRL": {"count": 1, "total": 5}}


@pytest.mark.parametrize(
    ("number", "text"), [("10.00", "10"), ("0E+3", "0"), ("1E+2", "100"), ("-0.50", "-0.5"), ("0.000", "0")]
)
def test_a_number_has_one_form(number: str, text: str) -> None:
    assert str(exact(Decimal(number))) == text


def test_a_paid_invoice_is_not_overdue_whatever_is_told_later() -> None:
    desk = Desk()
    desk.take(
        told("billing.invoice-overdue", 9, invoiceId="i1", amount=1),
        told("billing.invoice-paid", 5, invoiceId="i1"),
        told("billing.invoice-overdue", 1, invoiceId="i2", dueDate="2026-03-20"),
    )
    invoices = desk.shown()["invoices"]
    assert invoices["overdue"] == ["i2"]
    assert (invoices["paidEvents"], invoices["overdueEvents"]) == (1, 2)
    assert [(each["invoiceId"], each["status"]) for each in invoices["items"]] == [("i1", "paid"), ("i2", "overdue")]
    assert invoices["items"][1]["dueDate"] == "2026-03-20T00:00:00.000000Z"


def test_subscriptions_of_leads_are_told_apart_from_the_organisations_own() -> None:
    desk = Desk()
    desk.take(
        told("billing.subscription-created", 1, subscriptionId="own"),
        told("billing.subscription-cancelled", 9, subscriptionId="theirs", leadId="lead_1", planId="p"),
    )
    shown = desk.shown()
    assert shown["subscription"]["subscriptionId"] == "own"
    assert [each["leadId"] for each in shown["subscriptions"]] == [None, "lead_1"]


def test_the_state_is_bounded_in_size() -> None:
    organization, long = Desk().organization(), "é" * 255
    facts = []
    for number in range(400):
        for lead in (None, f"lead_{number}"):
            for model in contract.EVENTS:
                fields = dict.fromkeys(
                    ("planName", "planId", "status", "reason", "cancelledAt", "startedAt"), f"{number}{long}"[:255]
                ) | {
                    "subscriptionId": f"{number}{long}"[:255],
                    "invoiceId": f"{number}{long}"[:255],
                    "provider": f"{number}{long}"[:255],
                }
                fields |= {
                    "amount": Decimal("999999999999999.123456789012"),
                    "currency": "BRL",
                    "dueDate": long,
                    "effectiveAt": None,
                }
                facts.append((model, fields, lead, number))
    for model, fields, lead, number in facts:
        organization = organization.applied(
            state.OrganizationFact(
                organization_id="o",
                type=model.type,
                id=f"{number}{lead}",
                time=START,
                rank=model.rank,
                fields=fields,
                lead_id=lead,
            )
        )
    assert size_of(organization.state) < 350_000


def test_every_event_of_the_contract_has_its_fold() -> None:
    assert set(_FOLDS) == {each.type for each in contract.EVENTS}


def test_stamps_are_ordered_by_time_then_rank_then_id() -> None:
    assert stamp_of(START, 0, "b") < stamp_of(START, 1, "a")
    assert stamp_of(START, 0, "a") != stamp_of(START, 0, "b")
