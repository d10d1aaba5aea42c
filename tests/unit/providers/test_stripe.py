"""Stripe's signature, and what each of its events becomes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.errors import RejectedError, UnauthenticatedError
from lead_events.event import Delivery, EventDraft, SourceType
from lead_events.limits import check_payload
from lead_events.providers import find
from lead_events.providers.stripe import translate, verify
from tests.samples import load, names
from tests.support.signing import stripe_headers

NOW = datetime(2026, 1, 8, 13, 0, tzinfo=UTC)
SECRET = "whsec_new"
OLD_SECRET = "whsec_old"
SAMPLES = names("stripe")

shared = os.environ.get("LEAD_EVENTS_SHARED", "")
corpus = pytest.mark.skipif(not shared, reason="LEAD_EVENTS_SHARED names no folder of shared facts")


def drafts_of(event: Any, lead_id: str | None = None) -> list[EventDraft]:
    body = event if isinstance(event, str) else json.dumps(event)
    return translate(Delivery(provider="stripe", organization_id="org_1", body=body, received_at=NOW, lead_id=lead_id))


def sample(name: str, **changes: Any) -> dict[str, Any]:
    """A sample as JSON; ``changes`` replace fields of its ``data.object``."""
    event: dict[str, Any] = json.loads(load("stripe", name))
    event["data"]["object"] |= changes
    return event


def only(event: Any, lead_id: str | None = None) -> EventDraft:
    [draft] = drafts_of(event, lead_id)
    return draft


def fact(draft: EventDraft) -> str | None:
    return draft.shared_fact.id if draft.shared_fact else None


def payload_of(event: Any) -> dict[str, Any]:
    payload = only(event).payload
    assert isinstance(payload, dict)
    return payload


# The signature


def signed(*parts: str, body: bytes = b"{}") -> bool:
    try:
        verify({"stripe-signature": ",".join(parts)}, body, [SECRET, OLD_SECRET], NOW)
    except UnauthenticatedError:
        return False
    return True


def parts_of(secret: str = SECRET, at: datetime = NOW, body: bytes = b"{}") -> list[str]:
    return stripe_headers(body, secret, at)["stripe-signature"].split(",")


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
def test_while_a_secret_is_rolled_either_is_accepted(secret: str) -> None:
    assert signed(*parts_of(secret))


def test_one_genuine_signature_among_several_is_enough() -> None:
    time, genuine = parts_of()
    assert signed(time, "v1=" + "0" * 64, genuine)
    assert signed(time, genuine, "v1=" + "0" * 64)


@pytest.mark.parametrize(("seconds", "accepted"), [(-301, False), (-300, True), (0, True), (300, True), (301, False)])
def test_the_signatures_time_may_be_300_seconds_off_either_way(seconds: int, accepted: bool) -> None:
    assert signed(*parts_of(at=NOW + timedelta(seconds=seconds))) is accepted


def test_the_test_scheme_v0_never_counts() -> None:
    time, genuine = parts_of()
    assert not signed(time, genuine.replace("v1=", "v0="))


def test_a_time_given_twice_is_refused() -> None:
    time, genuine = parts_of()
    assert not signed(time, time, genuine)
    assert not signed(time, genuine, "t=1")


@pytest.mark.parametrize("time", ["t=", "t", "t=abc", "t=-1", "t=1e9", "t=١٧٦٧٨٧٧٢٠٠", "t= 1", "t=" + "9" * 400, "x=1"])
def test_a_time_that_is_no_whole_number_is_refused(time: str) -> None:
    assert not signed(time, parts_of()[1])


def test_a_body_changed_by_one_byte_is_refused() -> None:
    body = load("stripe", "invoice.paid.old")
    assert signed(*parts_of(body=body), body=body)
    assert not signed(*parts_of(body=body), body=body.removesuffix(b"\n"))
    assert not signed(*parts_of(body=body), body=json.dumps(json.loads(body)).encode())


@pytest.mark.parametrize("secrets", [[], [""], [" ", "\t\n"]])
def test_without_a_secret_everything_is_refused_even_what_the_empty_key_signed(secrets: list[str]) -> None:
    for key in ["", " ", SECRET]:
        with pytest.raises(UnauthenticatedError):
            verify(stripe_headers(b"{}", key, NOW), b"{}", secrets, NOW)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_header_is_refused_with_the_same_words(header: str) -> None:
    with pytest.raises(UnauthenticatedError) as refused:
        verify({"stripe-signature": header}, b"{}", [SECRET], NOW)
    with pytest.raises(UnauthenticatedError) as missing:
        verify({}, b"{}", [SECRET], NOW)
    assert str(refused.value) == str(missing.value)


def test_a_signature_that_utf_8_cannot_hold_is_refused() -> None:
    assert not signed(parts_of()[0], "v1=\ud83d")


# What each event becomes

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


# Nothing that is verified breaks us

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**30, 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=300),
    st.lists(st.integers() | st.text(), max_size=3),
    st.dictionaries(st.text(), st.text(), max_size=3),
    st.sampled_from(["", "paid", "succeeded", "usd", "invalid id", "x" * 256, {"id": "pi_1"}, [{}], [None]]),
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, child in children for found in [(*path, key), *paths(child, (*path, key))]]


@st.composite
def damaged(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
    event = deepcopy(sample(draw(st.sampled_from(SAMPLES))))
    for _ in range(draw(st.integers(1, 6))):
        if not (places := paths(event)):
            break
        *parents, key = draw(st.sampled_from(places))
        place: Any = event
        for each in parents:
            place = place[each]
        if draw(st.booleans()):
            del place[key]
        else:
            place[key] = draw(JUNK)
    return event


@settings(max_examples=300, deadline=None)
@given(damaged() | JUNK)
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
def test_every_shared_vector_is_judged_as_marked() -> None:
    vectors = json.loads((Path(shared) / "providers" / "vectors.json").read_text())["vectors"]
    ours = [vector for vector in vectors if vector["scheme"] == "stripe"]
    assert ours
    for vector in ours:
        headers = {name.lower(): value for name, value in vector["header"].items()}
        try:
            verify(headers, vector["body"].encode(), [vector["secret"]], datetime.fromtimestamp(vector["now"], UTC))
            judged = "accept"
        except UnauthenticatedError:
            judged = "reject"
        assert judged == vector["expect"], vector["id"]


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
