"""Whose Stripe's events are, and that one sale is one purchase."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from tests.support.providers import fact
from tests.support.stripe import drafts_of, only, sample

# Whose event it is

PLANTED: list[tuple[str, dict[str, Any], str | None]] = [
    ("checkout.session.completed.paid", {}, "lead_ana"),
    ("checkout.session.completed.paid", {"metadata": {"leadId": "lead_meta"}}, "lead_meta"),
    ("checkout.session.completed.paid", {"metadata": {"lead_id": "lead_meta"}}, "lead_meta"),
    ("checkout.session.completed.paid", {"metadata": {"leadId": "not an id"}}, "lead_ana"),
    ("checkout.session.completed.paid", {"client_reference_id": "a#b"}, "lead_url"),
    ("checkout.session.completed.paid", {"client_reference_id": None, "metadata": None}, "lead_url"),
    ("payment_intent.succeeded.standalone", {}, "lead_zoe"),
    ("invoice.paid.old", {}, "lead_caio"),
    ("invoice.paid.new", {}, "lead_bia"),
    ("customer.subscription.deleted", {}, "lead_caio"),
    ("payment_intent.succeeded.checkout_old", {}, "lead_url"),
]


@pytest.mark.parametrize(("name", "changes", "lead"), PLANTED)
def test_the_lead_is_the_one_planted_in_the_object_or_else_in_the_url(
    name: str, changes: dict[str, Any], lead: str | None
) -> None:
    assert only(sample(name, **changes), lead_id="lead_url").lead_id == lead


def test_without_a_valid_planted_lead_there_is_none() -> None:
    event = sample("checkout.session.completed.paid", client_reference_id="x" * 65, metadata={"leadId": 7})
    assert only(event).lead_id is None
    assert only(event, lead_id="no id").lead_id is None


def test_invoices_before_2023_name_their_lead_in_their_lines() -> None:
    event = sample("invoice.paid.old", subscription_details=None)
    event["data"]["object"]["lines"]["data"][0]["metadata"] = {"leadId": "lead_line"}
    assert only(event).lead_id == "lead_line"


def test_the_order_id_planted_in_the_metadata_is_our_object() -> None:
    assert only(sample("checkout.session.completed.paid")).object_id == "order_1001"
    assert only(sample("checkout.session.completed.paid", metadata={"orderId": "x" * 256})).object_id is None


# One sale, one purchase

SALES = {
    "Checkout, before basil": ["checkout.session.completed.paid", "payment_intent.succeeded.checkout_old"],
    "Checkout, since basil": ["checkout.session.completed.paid_new", "payment_intent.succeeded.checkout_new"],
    "slow payment": ["checkout.session.completed.unpaid", "checkout.session.async_payment_succeeded"],
    "Checkout with an invoice, since basil": [
        "checkout.session.completed.one_time_invoice",
        "invoice.paid.one_time_new",
    ],
    "subscription, before basil": ["invoice.paid.old", "payment_intent.succeeded.invoice_old"],
    "subscription by Checkout, since basil": [
        "checkout.session.completed.subscription",
        "invoice.paid.new",
        "payment_intent.succeeded.invoice_new",
    ],
    "payment without Checkout": ["payment_intent.succeeded.standalone", "charge.succeeded"],
}


def purchases(events: list[dict[str, Any]]) -> int:
    """Purchases that remain when of each fact the first event alone is stored."""
    drafts = [draft for event in events for draft in drafts_of(event)]
    return len({fact(draft) for draft in drafts if draft.event_type == "purchase_completed"})


@pytest.mark.parametrize("sale", SALES)
def test_a_sale_is_one_purchase_in_whatever_order_and_however_often_it_is_told(sale: str) -> None:
    events = [sample(name) for name in SALES[sale]]
    again = [event | {"id": event["id"] + "again"} for event in events]
    for order in permutations(events):
        assert purchases(list(order)) == 1
        assert purchases([*again, *order]) == 1


def test_a_one_time_sale_of_session_payment_and_invoice_is_one_purchase_before_basil() -> None:
    intent = "pi_3SnAna0000000001"
    events = [
        sample("checkout.session.completed.paid", invoice="in_1SnAna"),
        sample("payment_intent.succeeded.checkout_old"),
        sample("invoice.paid.old", id="in_1SnAna", payment_intent=intent, billing_reason="manual", subscription=None),
    ]
    assert purchases(events) == 1


def test_both_names_of_a_paid_invoice_tell_of_one_purchase() -> None:
    invoice = sample("invoice.paid.new")
    assert purchases([invoice, invoice | {"type": "invoice.payment_succeeded", "id": "evt_other"}]) == 1


def test_a_payment_of_an_invoice_before_payments_named_their_invoice_is_known_by_stripes_own_description() -> None:
    for description in ("Subscription creation", "Subscription update", "Payment for Invoice"):
        event = sample("payment_intent.succeeded.invoice_new", payment_details=None, description=description)
        assert only(event).event_type == "stripe.payment_intent.succeeded"


def test_a_payment_that_did_not_succeed_is_no_purchase() -> None:
    for changes in ({"status": "requires_payment_method"}, {"amount_received": 0}, {"amount_received": None}):
        event = sample("payment_intent.succeeded.standalone", **changes)
        assert only(event).event_type == "stripe.payment_intent.succeeded"


def test_different_sales_are_different_purchases() -> None:
    assert purchases([sample(names_[0]) for names_ in SALES.values() if "unpaid" not in names_[0]]) >= 4
    assert purchases([sample("invoice.paid.new"), sample("invoice.paid.new", id="in_2")]) == 2


def test_two_event_objects_for_one_change_tell_of_one_fact() -> None:
    once = [
        "customer.subscription.created.old",
        "customer.subscription.deleted",
        "checkout.session.expired",
        "refund.created",
    ]
    for name in once:
        first, second = only(sample(name)), only(sample(name) | {"id": "evt_other"})
        assert fact(first) == fact(second) is not None


def test_a_subscription_that_waited_for_its_first_payment_is_created_once() -> None:
    began, created = (
        sample("customer.subscription.updated.first_payment"),
        sample("customer.subscription.created.incomplete"),
    )
    created["data"]["object"]["status"] = "active"
    assert fact(only(began)) == fact(only(created))


def test_changes_that_come_again_are_told_each_time() -> None:
    for name in (
        "charge.refunded",
        "customer.subscription.updated.cancel_at_period_end",
        "payment_intent.payment_failed",
    ):
        assert fact(only(sample(name))) is None
