"""What each of Stripe's events becomes, and that none breaks us."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.errors import RejectedError
from lead_events.event import SourceType
from lead_events.limits import check_payload
from lead_events.providers import find
from lead_events.providers.stripe import translate
from tests.samples import load
from tests.support.damage import JUNK, damaged
from tests.support.providers import NOW, corpus, fact, shared
from tests.support.stripe import SAMPLES, drafts_of, only, payload_of, sample

BECOMES = {
    "charge.dispute.created": ["stripe.charge.dispute.created"],
    "charge.refunded": ["stripe.charge.refunded"],
    "charge.succeeded": ["stripe.charge.succeeded"],
    "checkout.session.async_payment_failed": ["stripe.checkout.session.async_payment_failed"],
    "checkout.session.async_payment_succeeded": ["purchase_completed"],
    "checkout.session.completed.discount": ["purchase_completed", "discount_accepted"],
    "checkout.session.completed.jpy": ["purchase_completed"],
    "checkout.session.completed.kwd": ["purchase_completed"],
    "checkout.session.completed.one_time_invoice": ["purchase_completed"],
    "checkout.session.completed.paid": ["purchase_completed"],
    "checkout.session.completed.paid_new": ["purchase_completed"],
    "checkout.session.completed.subscription": ["stripe.checkout.session.completed"],
    "checkout.session.completed.unpaid": ["stripe.checkout.session.completed"],
    "checkout.session.expired": ["purchase_abandoned"],
    "customer.created": ["stripe.customer.created"],
    "customer.subscription.created.incomplete": ["stripe.customer.subscription.created"],
    "customer.subscription.created.old": ["subscription_created"],
    "customer.subscription.deleted": ["subscription_cancelled"],
    "customer.subscription.updated.cancel_at_period_end": ["stripe.customer.subscription.updated"],
    "customer.subscription.updated.first_payment": ["subscription_created"],
    "invoice.paid.new": ["purchase_completed"],
    "invoice.paid.old": ["purchase_completed"],
    "invoice.paid.one_time_new": ["purchase_completed"],
    "payment_intent.payment_failed": ["stripe.payment_intent.payment_failed"],
    "payment_intent.succeeded.checkout_new": ["stripe.payment_intent.succeeded"],
    "payment_intent.succeeded.checkout_old": ["purchase_completed"],
    "payment_intent.succeeded.invoice_new": ["stripe.payment_intent.succeeded"],
    "payment_intent.succeeded.invoice_old": ["stripe.payment_intent.succeeded"],
    "payment_intent.succeeded.standalone": ["purchase_completed"],
    "refund.created": ["stripe.refund.created"],
}


def test_every_sample_has_its_promise() -> None:
    assert sorted(BECOMES) == SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_becomes_the_events_of_the_table(name: str) -> None:
    event = sample(name)
    drafts = drafts_of(load("stripe", name).decode())
    assert [draft.event_type for draft in drafts] == BECOMES[name]
    assert drafts[0].external_event_id == event["id"]
    for draft in drafts:
        catalogue.check(draft.event_type, draft.payload)
        check_payload(draft.payload)
        assert (draft.source, draft.source_type) == ("stripe", SourceType.EXTERNAL)
        assert draft.raw_payload == load("stripe", name).decode()
        assert draft.object_id_ref == event["data"]["object"]["id"]
        assert draft.received_at == NOW
    assert len({draft.external_event_id for draft in drafts}) == len(drafts)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_payload_holds_an_email_a_phone_or_a_name(name: str) -> None:
    shown = json.dumps([draft.payload for draft in drafts_of(sample(name))], default=str, ensure_ascii=False)
    assert not [
        each for each in ("@", "+55", "Ana Lima", "Caio Reis", "Bia Melo", "Zoe Pires", "Gil Nunes") if each in shown
    ]


def test_the_provider_is_found_by_its_name() -> None:
    assert find("stripe").translate is translate


def test_times_are_unix_seconds() -> None:
    assert only(sample("customer.created") | {"created": 1714557600}).occurred_at == datetime(
        2024, 5, 1, 10, tzinfo=UTC
    )


def test_an_invoice_happened_when_it_was_paid() -> None:
    assert only(sample("invoice.paid.old")).occurred_at == datetime(2026, 1, 8, 12, 57, 30, tzinfo=UTC)
    assert only(sample("invoice.paid.old", status_transitions=None)).occurred_at == NOW


@pytest.mark.parametrize(
    ("currency", "minor", "major"),
    [
        ("usd", 1999, "19.99"),
        ("jpy", 5200, "5200"),
        ("kwd", 12340, "12.34"),
        ("isk", 50000, "500"),
        ("ugx", 50000, "500"),
        ("huf", 50000, "500"),
        ("twd", 100, "1"),
        ("clp", 7, "7"),
        ("tnd", 1000, "1"),
    ],
)
def test_money_is_in_major_units_as_stripe_counts_them(currency: str, minor: int, major: str) -> None:
    payload = payload_of(sample("checkout.session.completed.paid", currency=currency, amount_total=minor))
    assert payload["amount"] == Decimal(major)
    assert payload["currency"] == currency.upper()


@pytest.mark.parametrize("amount", [None, "4970", 49.7, -1, True, 10**40])
def test_a_sale_of_unknown_amount_is_kept_under_stripes_name(amount: Any) -> None:
    event_type = only(sample("checkout.session.completed.paid", amount_total=amount)).event_type
    assert event_type == "stripe.checkout.session.completed"


def test_a_free_order_is_a_purchase_of_nothing() -> None:
    free = sample(
        "checkout.session.completed.paid", payment_status="no_payment_required", amount_total=0, payment_intent=None
    )
    assert payload_of(free)["amount"] == 0
    assert fact(only(free)) == free["data"]["object"]["id"]


def test_the_payment_method_is_named_only_where_it_is_known() -> None:
    assert payload_of(sample("checkout.session.completed.paid"))["paymentMethod"] == "pix"
    several = payload_of(sample("checkout.session.completed.paid_new"))
    assert "paymentMethod" not in several
    assert several["paymentMethodTypes"] == ["card", "link", "pix"]
    charged = {"data": [{"payment_method_details": {"type": "boleto"}}]}
    intent = sample("payment_intent.succeeded.checkout_old", payment_method_types=["card", "boleto"], charges=charged)
    assert payload_of(intent)["paymentMethod"] == "boleto"


def test_the_product_comes_from_the_metadata_or_else_from_the_lines_of_either_shape() -> None:
    planted = payload_of(sample("checkout.session.completed.paid"))
    assert (planted["productId"], planted["productName"], planted["category"]) == (
        "prod_curso_vendas",
        "Curso de Vendas",
        "courses",
    )
    assert payload_of(sample("invoice.paid.old"))["productId"] == "prod_pro"
    assert payload_of(sample("invoice.paid.new"))["productId"] == "prod_pro"
    lines = {"data": [{"price": {"product": {"id": "prod_a"}}, "description": "A"}, {"price": {"product": "prod_b"}}]}
    expanded = payload_of(sample("checkout.session.completed.paid", metadata={}, line_items=lines))
    assert expanded["productIds"] == ["prod_a", "prod_b"]


@pytest.mark.parametrize(
    ("discount", "subtotal", "percent"),
    [
        (5000, 50000, "10"),
        (6250, 50000, "12.5"),
        (1, 10000, "0.01"),
        (6212, 49700, None),
        (1, 100000, None),
        (500, 0, None),
        (50000, 50000, "100"),
    ],
)
def test_a_discounts_percent_is_given_where_two_decimals_hold_it(
    discount: int, subtotal: int, percent: str | None
) -> None:
    event = sample(
        "checkout.session.completed.discount", amount_subtotal=subtotal, total_details={"amount_discount": discount}
    )
    accepted = drafts_of(event)[1].payload
    assert isinstance(accepted, dict)
    assert accepted.get("discountPercent") == (percent and Decimal(percent))
    assert accepted["discountIds"] == ["VERAO12", "promo_1SnVerao"]


def test_an_invoices_discount_is_accepted_too() -> None:
    invoice = sample(
        "invoice.paid.new", total_discount_amounts=[{"amount": 999, "discount": "di_1"}], discounts=["di_1"]
    )
    [_, accepted] = drafts_of(invoice)
    assert accepted.payload == {
        "discountPercent": Decimal("10.00"),
        "productId": "prod_pro",
        "discountAmount": Decimal("9.99"),
        "currency": "BRL",
        "discountIds": ["di_1"],
    }


def test_an_expired_checkout_is_an_abandoned_purchase() -> None:
    payload = payload_of(sample("checkout.session.expired"))
    assert payload["productIds"] == ["prod_curso_vendas", "prod_mentoria"]
    assert (payload["cartValue"], payload["stageAbandoned"]) == (Decimal("497.00"), "checkout")


def test_a_plans_amount_counts_its_quantity_and_is_left_out_where_it_depends_on_use() -> None:
    assert payload_of(sample("customer.subscription.created.old"))["amount"] == Decimal("199.80")
    event = sample("customer.subscription.created.old")
    event["data"]["object"]["items"]["data"][0]["price"]["recurring"]["usage_type"] = "metered"
    assert "amount" not in payload_of(event)


def test_a_cancelled_subscription_says_why() -> None:
    payload = payload_of(sample("customer.subscription.deleted"))
    assert (payload["planId"], payload["reason"], payload["feedback"]) == (
        "price_1SnPro",
        "cancellation_requested",
        "too_expensive",
    )


def test_a_cancellation_at_the_periods_end_is_not_yet_one() -> None:
    draft = only(sample("customer.subscription.updated.cancel_at_period_end"))
    assert draft.event_type == "stripe.customer.subscription.updated"
    assert payload_of(sample("customer.subscription.updated.cancel_at_period_end"))["cancelAtPeriodEnd"] is True


def test_an_unknown_event_is_kept_under_stripes_name_with_safe_fields_only() -> None:
    assert payload_of(sample("customer.created")) == {"objectType": "customer", "objectId": "cus_SnCaio0000012"}


def test_a_thin_event_is_kept_by_what_it_relates_to() -> None:
    draft = only(
        {
            "id": "evt_test_1",
            "object": "v2.core.event",
            "type": "v1.billing.meter.error_report_triggered",
            "created": "2026-01-08T13:00:00Z",
            "related_object": {"id": "mtr_1", "type": "billing.meter", "url": "/v1/billing"},
        }
    )
    assert draft.payload == {"objectType": "billing.meter", "objectId": "mtr_1"}
    assert (draft.occurred_at, draft.object_id_ref) == (NOW, "mtr_1")


# Nothing that is verified breaks us

WORDS = st.sampled_from(["paid", "succeeded", "usd", "invalid id", {"id": "pi_1"}])


@settings(max_examples=300, deadline=None)
@given(damaged(sample, SAMPLES, JUNK | WORDS) | JUNK | WORDS)
def test_damaged_events_become_events_or_a_clean_refusal(event: Any) -> None:
    try:
        drafts = drafts_of(json.dumps(event))
    except RejectedError:
        envelopes = [{name: each[name] for name in ("id", "type", "created")} for each in map(sample, SAMPLES)]
        # What the object holds is never a reason to refuse.
        assert not isinstance(event, dict) or {n: event.get(n) for n in ("id", "type", "created")} not in envelopes
        return
    assert drafts
    for draft in drafts:
        catalogue.check(draft.event_type, draft.payload)
        check_payload(draft.payload)


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", '"x"', "{}", '{"id":"evt_1"}', '{"id":1,"id":2}', "1e999999999"]
)
def test_a_body_that_is_no_stripe_event_is_refused(body: str) -> None:
    with pytest.raises(RejectedError):
        drafts_of(body)


@pytest.mark.parametrize(
    "created", ["1e999999999", "1767877200.5", '"1767877200"', "null", "-1", "1" + "0" * 40, "true"]
)
def test_a_time_that_stripe_would_not_write_is_refused(created: str) -> None:
    with pytest.raises(RejectedError):
        drafts_of(f'{{"id":"evt_1","type":"customer.created","created":{created}}}')


# The shared facts


@corpus
def test_every_shared_sample_is_translated() -> None:
    expected = {
        "charge.refunded": "stripe.charge.refunded",
        "checkout.session.completed": "purchase_completed",
        "customer.subscription.created": "subscription_created",
        "customer.subscription.deleted": "subscription_cancelled",
        "invoice.paid": "purchase_completed",
        "payment_intent.succeeded": "stripe.payment_intent.succeeded",  # received nothing: a payment in name only
    }
    found = {path.stem: only(path.read_text()) for path in (Path(shared) / "providers/samples/stripe").glob("*.json")}
    assert {name: draft.event_type for name, draft in found.items()} == expected
    for draft in found.values():
        catalogue.check(draft.event_type, draft.payload)
