"""What each of Hotmart's events becomes, in webhook 2.0.0 and 1.0.0."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from lead_events import catalogue
from lead_events.errors import RejectedError
from lead_events.event import SourceType
from lead_events.limits import check_payload
from lead_events.providers import find
from lead_events.providers.hotmart import HEADERS, translate
from tests.samples import load
from tests.support.hotmart import FORM, FORMS, SAMPLES, approved, drafts_of, form, only, sample
from tests.support.providers import NOW, payload_of

BECOMES = {
    "CLUB_FIRST_ACCESS": ["hotmart.CLUB_FIRST_ACCESS"],
    "CLUB_MODULE_COMPLETED": ["hotmart.CLUB_MODULE_COMPLETED"],
    "ORDER_FULFILLMENT": ["hotmart.ORDER_FULFILLMENT"],
    "PURCHASE_APPROVED.coupon_usd": ["purchase_completed", "discount_accepted"],
    "PURCHASE_APPROVED.first_recurrence": ["purchase_completed", "subscription_created"],
    "PURCHASE_APPROVED.order_bump": ["purchase_completed"],
    "PURCHASE_APPROVED.pix": ["purchase_completed"],
    "PURCHASE_APPROVED.renewal": ["purchase_completed"],
    "PURCHASE_APPROVED.test_button": ["purchase_completed", "discount_accepted"],
    "PURCHASE_APPROVED.without_price": ["hotmart.PURCHASE_APPROVED"],
    "PURCHASE_BILLET_PRINTED": ["purchase_abandoned"],
    "PURCHASE_CANCELED.refused": ["purchase_abandoned"],
    "PURCHASE_CHARGEBACK": ["hotmart.PURCHASE_CHARGEBACK"],
    "PURCHASE_COMPLETE": ["hotmart.PURCHASE_COMPLETE"],
    "PURCHASE_DELAYED": ["hotmart.PURCHASE_DELAYED"],
    "PURCHASE_EXPIRED": ["purchase_abandoned"],
    "PURCHASE_NEW_KIND_2030": ["hotmart.PURCHASE_NEW_KIND_2030"],
    "PURCHASE_OUT_OF_SHOPPING_CART": ["purchase_abandoned"],
    "PURCHASE_PROTEST": ["hotmart.PURCHASE_PROTEST"],
    "PURCHASE_REFUNDED": ["hotmart.PURCHASE_REFUNDED"],
    "SUBSCRIPTION_CANCELLATION": ["subscription_cancelled"],
    "SWITCH_PLAN": ["hotmart.SWITCH_PLAN"],
    "UPDATE_SUBSCRIPTION_CHARGE_DATE": ["hotmart.UPDATE_SUBSCRIPTION_CHARGE_DATE"],
}
FORMS_BECOME = {
    "v1.approved": ("purchase_completed", "PURCHASE_APPROVED:HP1000000001"),
    "v1.billet_printed": ("purchase_abandoned", "PURCHASE_BILLET_PRINTED:HP1000000001"),
    "v1.completed": ("hotmart.PURCHASE_COMPLETE", "PURCHASE_COMPLETE:HP1000000001"),
    "v1.refunded": ("hotmart.PURCHASE_REFUNDED", "PURCHASE_REFUNDED:HP1000000001"),
    "v1.under_analisys": ("hotmart.under_analisys", "under_analisys:HP1000000001"),
}


def test_every_sample_has_its_promise() -> None:
    assert sorted(BECOMES) == SAMPLES
    assert sorted(FORMS_BECOME) == FORMS
    assert HEADERS == ("content-type",)
    assert find("hotmart").translate is translate


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_becomes_the_events_of_the_table_and_its_redelivery_the_same(name: str) -> None:
    drafts = drafts_of(load("hotmart", name).decode())
    assert [draft.event_type for draft in drafts] == BECOMES[name]
    assert drafts[0].external_event_id == sample(name)["id"]
    assert drafts == drafts_of(load("hotmart", name).decode())
    for draft in drafts:
        catalogue.check(draft.event_type, draft.payload)
        check_payload(draft.payload)
        assert (draft.source, draft.source_type) == ("hotmart", SourceType.EXTERNAL)
        assert draft.received_at == NOW
    assert len({draft.external_event_id for draft in drafts}) == len(drafts)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_becomes_the_event_that_webhook_2_would_tell(name: str) -> None:
    draft = only(form(name), content_type=FORM)
    assert (draft.event_type, draft.external_event_id) == FORMS_BECOME[name]
    catalogue.check(draft.event_type, draft.payload)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_payload_holds_an_email_a_phone_a_document_or_a_persons_name(name: str) -> None:
    shown = json.dumps([draft.payload for draft in drafts_of(sample(name))], default=str, ensure_ascii=False)
    secret = ("@", "900000001", "Ana", "Caio", "Zoe", "Gil Nunes", "00000000191", "192.0.2.7")
    assert not [each for each in secret if each in shown]


def test_a_sale_tells_product_money_and_method() -> None:
    draft = only(sample("PURCHASE_APPROVED.pix"))
    expected = {
        "productId": "4421337",
        "productName": "Curso de Vendas",
        "amount": 497,
        "currency": "BRL",
        "paymentMethod": "pix",
        "installments": 1,
        "transaction": "HP2000000001",
    }
    assert payload_of(draft).items() >= expected.items()
    assert draft.object_id_ref == "HP2000000001"
    assert draft.tracking == {"src": "instagram", "sck": "bio|janeiro", "xcod": "lead_ana"}


@pytest.mark.parametrize(
    ("written", "amount"), [("64.9", "64.9"), ("1350.50", "1350.50"), ('"25.50"', "25.50"), ("7", "7"), ("0", "0")]
)
def test_amounts_are_exact_major_units_whether_numbers_or_strings(written: str, amount: str) -> None:
    body = json.dumps(approved(price={"value": "HERE", "currency_value": "brl"})).replace('"HERE"', written)
    payload = payload_of(only(body))
    assert (str(payload["amount"]), payload["currency"]) == (amount, "BRL")


@pytest.mark.parametrize("price", [None, {}, {"value": 7}, {"value": "7,00", "currency_value": "BRL"}])
def test_without_the_offers_price_what_was_paid_is_the_amount(price: Any) -> None:
    assert payload_of(only(approved(price=price)))["amount"] == Decimal("529.9")


@pytest.mark.parametrize("value", [None, "", -1, True, "1e3", 10**20, [], "NaN"])
def test_a_sale_of_unknown_amount_is_kept_under_hotmarts_name(value: Any) -> None:
    money = {"value": value, "currency_value": "BRL"}
    assert only(approved(price=money, full_price=money)).event_type == "hotmart.PURCHASE_APPROVED"


@pytest.mark.parametrize("created", [1714557600000, "1714557600000", 1714557600000.0])
def test_times_are_milliseconds(created: Any) -> None:
    assert only(approved() | {"creation_date": created}).occurred_at == datetime(2024, 5, 1, 10, tzinfo=UTC)


def test_the_time_may_be_spelled_in_camel_case_and_is_that_of_receipt_where_there_is_none() -> None:
    event = sample("CLUB_FIRST_ACCESS")
    assert only(event).occurred_at == datetime.fromtimestamp(event["creationDate"] / 1000, UTC)
    del event["creationDate"]
    assert only(event).occurred_at == NOW


@pytest.mark.parametrize("created", ["2024-05-01T10:00:00Z", -1, True, 10**40, [1]])
def test_a_time_that_hotmart_would_not_write_is_refused(created: Any) -> None:
    with pytest.raises(RejectedError):
        drafts_of(approved() | {"creation_date": created})


def test_a_form_happened_when_it_was_paid_or_else_ordered_and_other_news_when_it_came() -> None:
    times = {name: only(form(name), content_type=FORM).occurred_at for name in FORMS}
    assert times["v1.approved"] == datetime(2026, 1, 8, 12, 50, 6, tzinfo=UTC)
    assert times["v1.billet_printed"] == datetime(2026, 1, 8, 12, 49, 4, tzinfo=UTC)
    assert times["v1.refunded"] == NOW


def test_a_first_recurrence_creates_the_subscription_and_later_ones_renew_it() -> None:
    created = payload_of(drafts_of(sample("PURCHASE_APPROVED.first_recurrence"))[1])
    assert (created["planId"], created["planName"], created["amount"]) == ("711001", "Plano Mensal", Decimal("64.9"))
    renewal = sample("PURCHASE_APPROVED.renewal")
    for number, types in ((1, 2), ("1", 2), (2, 1), (None, 1), (True, 1)):
        renewal["data"]["purchase"]["recurrence_number"] = number
        assert len(drafts_of(renewal)) == types


def test_a_subscription_without_a_plan_leaves_the_purchase() -> None:
    event = sample("PURCHASE_APPROVED.first_recurrence")
    event["data"]["subscription"]["plan"] = {"name": "Plano Mensal"}
    assert only(event).event_type == "purchase_completed"


def test_a_cancelled_subscription_names_its_plan_and_the_end_of_access() -> None:
    payload = payload_of(only(sample("SUBSCRIPTION_CANCELLATION")))
    assert (payload["planId"], payload["recurrenceAmount"]) == ("711001", Decimal("64.9"))
    assert payload["accessUntil"] == "2026-02-08T13:00:00.000000Z"


@pytest.mark.parametrize(
    ("price", "before", "currency", "percent"),
    [
        ("79.60", "99.50", "USD", "20"),
        (75, 100, "USD", "25"),
        ("87.5", 100, "USD", "12.5"),
        (66.66, 99.99, "USD", None),
        (150.6, 150.6, "USD", None),
        (80, 100, "EUR", None),
        (120, 100, "USD", None),
    ],
)
def test_a_coupons_percent_is_given_where_it_is_exact(price: Any, before: Any, currency: str, percent: Any) -> None:
    event = sample("PURCHASE_APPROVED.coupon_usd")
    event["data"]["purchase"]["price"]["value"] = price
    event["data"]["purchase"]["original_offer_price"] = {"value": before, "currency_value": currency}
    accepted = payload_of(drafts_of(event)[1])
    assert accepted["couponCode"] == "VERAO20"
    assert accepted.get("discountPercent") == (percent and Decimal(percent))


def test_an_abandonment_says_how_far_it_went() -> None:
    told = ("PURCHASE_OUT_OF_SHOPPING_CART", "PURCHASE_EXPIRED", "PURCHASE_BILLET_PRINTED", "PURCHASE_CANCELED.refused")
    cart, expired, printed, refused = (payload_of(only(sample(name))) for name in told)
    assert (cart["productIds"], cart["stageAbandoned"], "cartValue" in cart) == (["4421337"], "checkout", False)
    assert (expired["cartValue"], expired["stageAbandoned"], "pending" in expired) == (497, "payment", False)
    assert printed["pending"] is True
    assert refused["refusalReason"] == "Transação não autorizada"


def test_a_switch_tells_the_plan_that_is_current() -> None:
    payload = payload_of(only(sample("SWITCH_PLAN")))
    assert (payload["planId"], payload["otherPlanIds"], payload["productId"]) == ("711002", ["711001"], "4421337")


def test_tests_are_flagged() -> None:
    assert all(payload_of(draft)["test"] is True for draft in drafts_of(sample("PURCHASE_APPROVED.test_button")))
    assert payload_of(only(sample("CLUB_MODULE_COMPLETED")))["test"] is True
    assert "test" not in payload_of(only(sample("PURCHASE_APPROVED.pix")))


def test_an_unknown_kind_without_a_buyer_is_an_event_without_a_lead() -> None:
    draft = only(sample("PURCHASE_NEW_KIND_2030"))
    assert (draft.lead_id, draft.identities) == (None, ())
    assert only(sample("PURCHASE_NEW_KIND_2030") | {"event": "novo tipo ção"}).event_type == "hotmart.unknown"
