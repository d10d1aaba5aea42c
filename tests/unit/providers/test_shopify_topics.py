"""What each of Shopify's topics becomes."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lead_events import catalogue
from lead_events.event import EventDraft, SourceType
from lead_events.limits import check_payload
from lead_events.providers import find
from lead_events.providers.shopify import translate
from tests.samples import load
from tests.support.providers import NOW, corpus, fact, payload_of, shared
from tests.support.shopify import ORDER, SAMPLES, SHOP, drafts_of, headers_of, only, sample, told_by, topic_of

BECOMES = {
    "app.uninstalled": ["shopify.app/uninstalled"],
    "carts.create": ["interest_detected"],
    "carts.update": ["interest_detected"],
    "carts.update.empty": ["shopify.carts/update"],
    "checkouts.create": ["shopify.checkouts/create"],
    "checkouts.update": ["shopify.checkouts/update"],
    "checkouts.update.completed": ["shopify.checkouts/update"],
    "customers.create": ["shopify.customers/create"],
    "customers.data_request": ["privacy.customer-data-requested"],
    "customers.redact": ["privacy.customer-redaction-requested"],
    "orders.cancelled": ["shopify.orders/cancelled"],
    "orders.create.paid": ["purchase_completed"],
    "orders.create.pending": ["shopify.orders/create"],
    "orders.paid": ["purchase_completed"],
    "orders.paid.discount": ["purchase_completed", "discount_accepted"],
    "orders.paid.discount_fixed": ["purchase_completed", "discount_accepted"],
    "orders.paid.guest_abroad": ["purchase_completed"],
    "orders.updated": ["shopify.orders/updated"],
    "products.update": ["shopify.products/update"],
    "refunds.create": ["shopify.refunds/create"],
    "shop.redact": ["privacy.shop-redaction-requested"],
    "subscription_contracts.cancel": ["subscription_cancelled"],
    "subscription_contracts.create": ["subscription_created"],
    "subscription_contracts.update.cancelled": ["subscription_cancelled"],
    "subscription_contracts.update.paused": ["shopify.subscription_contracts/update"],
}


def test_every_sample_has_its_promise() -> None:
    assert sorted(BECOMES) == SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_becomes_the_events_of_the_table(name: str) -> None:
    body = load("shopify", name).decode()
    found = told_by(body, headers_of(topic_of(name)))
    assert [getattr(each, "event_type", getattr(each, "type", None)) for each in found] == BECOMES[name]
    assert found[0].external_event_id == f"{SHOP}:{topic_of(name).replace('/', '.')}:event-{topic_of(name)}"
    assert len({each.external_event_id for each in found}) == len(found)
    for each in found:
        check_payload(each.payload)
        assert each.occurred_at == datetime(2026, 1, 8, 12, 58, 30, 877041, tzinfo=UTC)
        if isinstance(each, EventDraft):
            catalogue.check(each.event_type, each.payload)
            assert (each.source, each.source_type) == ("shopify", SourceType.EXTERNAL)
            assert (each.raw_payload, each.received_at) == (body, NOW)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_payload_of_a_lead_holds_a_person_a_key_or_a_token(name: str) -> None:
    secrets = ["@", "+55", "0000-0001", "Lima", "Melo", "203.0.113", "segredo", "chavesecreta", "tokenof", "Flores"]
    for each in told_by(sample(name), headers_of(topic_of(name))):
        if isinstance(each, EventDraft):
            shown = json.dumps([each.payload, dict(each.tracking)], default=str, ensure_ascii=False)
            assert [secret for secret in secrets if secret in shown] == []


def test_the_provider_is_found_by_its_name() -> None:
    assert find("shopify").translate is translate


def test_a_paid_order_is_a_purchase() -> None:
    draft = only("orders.paid")
    assert draft.payload == {
        "productId": "9007199254740993117",
        "productName": "Curso de Vendas",
        "amount": Decimal("497.00"),
        "currency": "BRL",
        "paymentMethod": "pix",
        "items": [
            {
                "productId": "9007199254740993117",
                "productName": "Curso de Vendas",
                "variantId": "45678901234567",
                "sku": "CURSO-7",
                "price": Decimal("497.00"),
                "quantity": 1,
            }
        ],
        "orderId": ORDER,
        "orderName": "#1001",
        "sourceName": "web",
        "checkoutKey": hashlib.sha256(b"tokenofcheckout1").hexdigest()[:24],
        "cartKey": hashlib.sha256(b"c1-tokenofcart").hexdigest()[:24],
    }
    assert (draft.object_id, draft.object_id_ref) == ("order_1001", ORDER)


def test_several_products_and_payments_are_all_named() -> None:
    payload = payload_of(drafts_of("orders.paid.discount")[0])
    assert payload["productIds"] == ["9007199254740993117", "9007199254740993118"]
    assert (payload["paymentMethod"], payload["paymentMethods"]) == ("gift_card", ["gift_card", "mercado_pago"])


def test_amounts_are_the_shops_and_what_the_buyer_saw_stands_beside_them() -> None:
    payload = payload_of(only("orders.paid.guest_abroad"))
    assert (payload["amount"], payload["currency"]) == (Decimal("497.00"), "BRL")
    assert (payload["presentmentAmount"], payload["presentmentCurrency"]) == (Decimal(14012), "JPY")


def test_a_line_without_a_product_still_gives_the_sale_its_name() -> None:
    payload = payload_of(only("orders.paid.guest_abroad"))
    assert payload["productName"] == "Gorjeta"
    assert "productId" not in payload


def test_an_order_of_very_many_lines_says_how_many_and_repeats_some() -> None:
    lines = sample("orders.paid")["line_items"] * 500
    payload = payload_of(only("orders.paid", {"line_items": lines}))
    assert (len(payload["items"]), payload["lineCount"]) == (100, 500)


def test_names_longer_than_shopifys_are_left_out() -> None:
    assert "orderName" not in payload_of(only("orders.updated", {"name": "x" * 400_000}))


@pytest.mark.parametrize("amount", [None, "", "abc", "-1.00", "1e3", True, {}, "1" * 40, "NaN"])
def test_a_sale_of_unknown_amount_is_kept_under_shopifys_name(amount: Any) -> None:
    assert only("orders.paid", {"total_price": amount}).event_type == "shopify.orders/paid"


@pytest.mark.parametrize(
    ("name", "flagged"), [("orders.paid.guest_abroad", True), ("orders.paid", None), ("refunds.create", None)]
)
def test_a_test_order_is_flagged(name: str, flagged: bool | None) -> None:
    assert payload_of(only(name)).get("test") is flagged
    assert payload_of(only(name, test="true"))["test"] is True


@pytest.mark.parametrize("status", ["pending", "authorized", "partially_paid", "voided", "expired", None, 7, "paid "])
def test_an_order_that_is_not_paid_is_no_purchase(status: Any) -> None:
    assert only("orders.create.paid", {"financial_status": status}).event_type == "shopify.orders/create"


def test_a_cancelled_order_says_why() -> None:
    payload = payload_of(only("orders.cancelled"))
    assert (payload["orderId"], payload["cancelReason"], payload["financialStatus"]) == (ORDER, "customer", "refunded")


def test_a_refund_is_the_money_that_went_back_never_a_float() -> None:
    payload = payload_of(only("refunds.create"))
    assert (payload["amountRefunded"], payload["currency"]) == (Decimal("497.10"), "BRL")
    assert (payload["orderId"], payload["refundId"]) == (ORDER, "gid://shopify/Refund/6600000000000000001")


def test_a_refund_in_no_certain_currency_has_no_amount() -> None:
    moved = [
        {"kind": "refund", "status": "success", "amount": "1.00", "currency": currency} for currency in ("BRL", "USD")
    ]
    assert "amountRefunded" not in payload_of(only("refunds.create", {"transactions": moved}))
    unnamed = [{"kind": "refund", "status": "success", "amount": "1.00", "currency": None}]
    assert payload_of(only("refunds.create", {"transactions": unnamed}))["currency"] == "BRL"
    assert "amountRefunded" not in payload_of(
        only("refunds.create", {"transactions": unnamed, "refund_line_items": []})
    )


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        ({}, "checkout"),
        ({"phone": "+5582900000001"}, "contact"),
        ({"email": "a@clientes.example"}, "contact"),
        ({"email": "a@clientes.example", "shipping_address": {"city": "Maceió"}}, "address"),
        ({"shipping_lines": [{"title": "PAC"}]}, "shipping"),
        ({"gateway": "pix", "shipping_lines": [{}]}, "payment"),
        ({"completed_at": "2026-01-08T09:55:00-03:00", "gateway": "pix"}, "completed"),
    ],
)
def test_a_checkout_says_how_far_the_buyer_came_and_is_not_yet_abandoned(changes: dict[str, Any], stage: str) -> None:
    draft = only("checkouts.create", changes)
    assert draft.event_type == "shopify.checkouts/create"
    assert payload_of(draft)["stage"] == stage
    assert payload_of(draft)["cartValue"] == Decimal("497.00")


def test_an_order_repeats_the_key_of_its_checkout_and_cart() -> None:
    order, checkout, cart = (payload_of(only(name)) for name in ("orders.paid", "checkouts.create", "carts.create"))
    assert order["checkoutKey"] == checkout["checkoutKey"] == only("checkouts.create").object_id_ref
    assert order["cartKey"] == checkout["cartKey"] == cart["cartKey"]


def test_a_cart_is_an_interest_in_its_products_told_once() -> None:
    created, updated = only("carts.create"), only("carts.update")
    assert payload_of(created)["productId"] == "9007199254740993117"
    assert (payload_of(created)["cartValue"], payload_of(created)["currency"]) == (Decimal("994.00"), "BRL")
    assert fact(created) == fact(updated) is not None
    other = [{**sample("carts.create")["line_items"][0], "product_id": 1}]
    assert fact(only("carts.update", {"line_items": other})) != fact(created)


def test_a_contract_serves_as_its_own_plan() -> None:
    created, cancelled = payload_of(only("subscription_contracts.create")), only("subscription_contracts.cancel")
    assert created["planId"] == payload_of(cancelled)["planId"] == "gid://shopify/SubscriptionContract/402440842"
    assert (created["currency"], created["interval"], created["intervalCount"]) == ("BRL", "month", 1)
    assert fact(cancelled) == fact(only("subscription_contracts.update.cancelled")) is not None


def test_a_contract_that_is_not_active_was_not_created_and_one_that_expired_has_ended() -> None:
    assert (
        only("subscription_contracts.create", {"status": "failed"}).event_type
        == "shopify.subscription_contracts/create"
    )
    assert only("subscription_contracts.update.paused", {"status": "EXPIRED"}).event_type == "subscription_cancelled"


# Discounts


def discount_of(name: str, **changes: Any) -> dict[str, Any]:
    return payload_of(drafts_of(name, changes)[1])


def test_a_discount_names_its_code_its_amount_and_the_percent_that_shopify_writes() -> None:
    purchase, accepted_ = drafts_of("orders.paid.discount")
    assert accepted_.payload == {
        "discountPercent": Decimal("10.0"),
        "discountAmount": Decimal("65.70"),
        "discountCodes": ["VERAO10"],
        "currency": "BRL",
        "orderId": "gid://shopify/Order/5500000000000000003",
    }
    assert accepted_.external_event_id == f"{purchase.external_event_id}:discount_accepted"
    assert fact(accepted_) == f"{fact(purchase)}:discount_accepted"


def test_a_fixed_discount_has_no_percent() -> None:
    assert "discountPercent" not in discount_of("orders.paid.discount_fixed")


@pytest.mark.parametrize(
    "changes",
    [
        {"target_selection": "entitled"},
        {"target_type": "shipping_line"},
        {"value_type": "fixed_amount"},
        {"value": 10.0},
        {"value": None},
    ],
)
def test_a_discount_on_a_part_of_the_order_has_no_percent_of_it(changes: dict[str, Any]) -> None:
    applied = sample("orders.paid.discount")["discount_applications"][0] | changes
    assert "discountPercent" not in discount_of("orders.paid.discount", discount_applications=[applied])


def test_of_several_discounts_no_percent_is_told() -> None:
    applied = sample("orders.paid.discount")["discount_applications"] * 2
    assert "discountPercent" not in discount_of("orders.paid.discount", discount_applications=applied)


@pytest.mark.parametrize(
    ("amount", "discount", "total", "percent"),
    [
        ("65.70", "65.70", "657.00", "10"),
        ("10.0", "65.70", "657.00", "10"),  # the percent itself, as orders that an app made have it
        ("41.50", "41.50", "414.95", None),  # ten percent, rounded to money
        ("20.00", "65.70", "657.00", None),  # agrees with neither
        ("0.00", "0.00", "657.00", None),
        ("1.00", "1.00", None, None),
    ],
)
def test_without_applications_a_percent_must_follow_from_the_totals(
    amount: str, discount: str, total: str | None, percent: str | None
) -> None:
    found = discount_of(
        "orders.paid.discount",
        discount_applications=[],
        discount_codes=[{"code": "VERAO10", "amount": amount, "type": "percentage"}],
        total_discounts=discount,
        total_line_items_price=total,
    )
    assert found.get("discountPercent") == (percent and Decimal(percent))


# The shared facts


@corpus
def test_every_shared_sample_is_translated() -> None:
    expected = {
        "carts.create": "interest_detected",
        "checkouts.create": "shopify.checkouts/create",
        "customers.create": "shopify.customers/create",
        "orders.cancelled": "shopify.orders/cancelled",
        "orders.paid": "purchase_completed",
        "refunds.create": "shopify.refunds/create",
        "subscription_contracts.create": "subscription_created",
    }
    found = {}
    for path in (Path(shared) / "providers/samples/shopify").glob("*.json"):
        [draft] = told_by(path.read_text(), headers_of(topic_of(path.stem)))
        assert isinstance(draft, EventDraft)
        catalogue.check(draft.event_type, draft.payload)
        found[path.stem] = draft.event_type
    assert found == expected
