"""Shopify's signature, and what each of its topics becomes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from datetime import UTC, datetime
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.errors import RejectedError, UnauthenticatedError
from lead_events.event import Delivery, EventDraft, IdentityKind, OrganizationEvent, SourceType
from lead_events.limits import check_payload
from lead_events.providers import find
from lead_events.providers.shopify import HEADERS, translate, verify
from tests.samples import load, names
from tests.support.damage import damaged
from tests.support.signing import shopify_headers

NOW = datetime(2026, 1, 8, 13, 0, tzinfo=UTC)
SECRET = "shpss_new"
OLD_SECRET = "shpss_old"
SAMPLES = names("shopify")
SHOP = "escola-lima.myshopify.example"
ORDER = "gid://shopify/Order/5500000000000000001"
CUSTOMER = "shopify:7700000000000000101"

shared = os.environ.get("LEAD_EVENTS_SHARED", "")
corpus = pytest.mark.skipif(not shared, reason="LEAD_EVENTS_SHARED names no folder of shared facts")


def topic_of(name: str) -> str:
    return "/".join(name.split(".")[:2])


def headers_of(topic: str | None, **changes: str | None) -> dict[str, str]:
    """The headers of a delivery; ``event_id=None`` leaves one out."""
    given = {
        "topic": topic,
        "shop_domain": SHOP,
        "event_id": f"event-{topic}",
        "webhook_id": f"webhook-{topic}",
        "triggered_at": "2026-01-08T12:58:30.877041743Z",
        "api_version": "2026-07",
    } | changes
    return {f"x-shopify-{name.replace('_', '-')}": value for name, value in given.items() if value is not None}


def told_by(body: Any, headers: dict[str, str], lead_id: str | None = None) -> list[EventDraft | OrganizationEvent]:
    text = body if isinstance(body, str) else json.dumps(body)
    return translate(
        Delivery(
            provider="shopify", organization_id="org_1", body=text, received_at=NOW, headers=headers, lead_id=lead_id
        )
    )


def sample(name: str, /, **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(load("shopify", name))
    return body | changes


def drafts_of(
    name: str, changes: dict[str, Any] | None = None, lead_id: str | None = None, **headers: str | None
) -> list[EventDraft]:
    found = told_by(sample(name, **(changes or {})), headers_of(topic_of(name), **headers), lead_id)
    assert all(isinstance(each, EventDraft) for each in found)
    return [each for each in found if isinstance(each, EventDraft)]


def only(
    name: str, changes: dict[str, Any] | None = None, lead_id: str | None = None, **headers: str | None
) -> EventDraft:
    [draft] = drafts_of(name, changes, lead_id, **headers)
    return draft


def payload_of(draft: EventDraft) -> dict[str, Any]:
    assert isinstance(draft.payload, dict)
    return draft.payload


def fact(draft: EventDraft) -> str | None:
    return draft.shared_fact.id if draft.shared_fact else None


# The signature


def accepted(headers: dict[str, str], body: bytes = b"{}", secrets: tuple[str, ...] = (SECRET, OLD_SECRET)) -> bool:
    try:
        verify(headers, body, secrets, NOW)
    except UnauthenticatedError:
        return False
    return True


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
def test_while_the_secret_is_rotated_either_is_accepted(secret: str) -> None:
    assert accepted(shopify_headers(b"{}", secret))


def test_the_header_without_its_prefix_is_read_too() -> None:
    [signature] = shopify_headers(b"{}", SECRET).values()
    assert accepted({"shopify-hmac-sha256": signature})
    assert not accepted({"shopify-hmac-sha256": "x" + signature})


def test_a_body_changed_by_one_byte_or_written_anew_is_refused() -> None:
    body = b'{"note":"R\\u0026D caf\\u00e9 \\ud83d\\ude00","url":"https:\\/\\/example.org","total":10.00 }\n'
    assert accepted(shopify_headers(body, SECRET), body)
    assert not accepted(shopify_headers(body, SECRET), body.removesuffix(b"\n"))
    assert not accepted(shopify_headers(body, SECRET), json.dumps(json.loads(body)).encode())


def test_a_signature_in_hex_is_refused() -> None:
    assert not accepted({"x-shopify-hmac-sha256": hmac.new(SECRET.encode(), b"{}", hashlib.sha256).hexdigest()})


@pytest.mark.parametrize("secrets", [(), ("",), (" ", "\t\n")])
def test_without_a_secret_everything_is_refused_even_what_the_empty_key_signed(secrets: tuple[str, ...]) -> None:
    for key in ["", " ", SECRET]:
        assert not accepted(shopify_headers(b"{}", key), secrets=secrets)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_header_is_refused_with_the_same_words(header: str) -> None:
    with pytest.raises(UnauthenticatedError) as refused:
        verify({"x-shopify-hmac-sha256": header}, b"{}", [SECRET], NOW)
    with pytest.raises(UnauthenticatedError) as missing:
        verify({}, b"{}", [SECRET], NOW)
    assert str(refused.value) == str(missing.value)


# What each topic becomes

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


# Whose event it is


@pytest.mark.parametrize(
    ("name", "changes", "lead"),
    [
        ("orders.paid", {}, "lead_ana"),
        ("orders.paid", {"note_attributes": [{"name": "lead_id", "value": "lead_b"}]}, "lead_b"),
        ("orders.paid", {"note_attributes": [{"name": "leadId", "value": "no id"}]}, "lead_url"),
        ("orders.paid", {"note_attributes": None}, "lead_url"),
        ("orders.paid", {"note_attributes": {"leadId": "lead_c"}}, "lead_c"),
        ("checkouts.create", {}, "lead_ana"),
        ("carts.create", {}, "lead_ana"),
        ("customers.create", {}, "lead_url"),
    ],
)
def test_the_lead_is_the_one_planted_in_the_note_attributes_or_else_in_the_url(
    name: str, changes: dict[str, Any], lead: str
) -> None:
    assert only(name, changes, lead_id="lead_url").lead_id == lead


def known_of(draft: EventDraft) -> list[tuple[str, str, str | None]]:
    return [(each.kind.value, each.value, each.region) for each in draft.identities]


def test_the_buyer_is_known_by_customer_id_phone_and_email_and_never_by_where_a_gift_goes() -> None:
    assert known_of(only("orders.paid")) == [
        ("customer", CUSTOMER, None),
        ("phone", "+5582900000001", "BR"),
        ("phone", "(82) 90000-0001", "BR"),
        ("phone", "82 90000-0001", "BR"),
        ("email", "ana.lima@clientes.example", None),
    ]


def test_a_guest_is_known_by_the_billing_address_and_email() -> None:
    assert known_of(only("orders.paid.guest_abroad")) == [
        ("phone", "555-555-SHIP", "US"),
        ("email", "caio.reis@clientes.example", None),
    ]


def test_emails_that_disagree_are_all_given_the_customers_first() -> None:
    changes = {"email": "jon@clientes.example", "contact_email": "jo@clientes.example"}
    emails = [each.value for each in only("orders.paid", changes).identities if each.kind == IdentityKind.EMAIL]
    assert emails == ["ana.lima@clientes.example", "jon@clientes.example", "jo@clientes.example"]


@pytest.mark.parametrize(
    "name", ["customers.create", "orders.paid", "checkouts.update", "subscription_contracts.create"]
)
def test_a_customer_has_one_id_whatever_tells_of_them(name: str) -> None:
    assert known_of(only(name))[0] == ("customer", CUSTOMER, None)


def test_the_id_that_no_javascript_has_rounded_counts() -> None:
    rounded = sample("orders.paid")["customer"] | {"id": 7700000000000000000}
    assert known_of(only("orders.paid", {"customer": rounded}))[0][1] == CUSTOMER
    assert only("orders.paid", {"id": 5500000000000000000}).object_id_ref == ORDER
    assert only("orders.paid", {"admin_graphql_api_id": None}).object_id_ref == ORDER


def test_redacted_people_have_no_identity() -> None:
    nobody = dict.fromkeys(("customer", "email", "contact_email", "phone", "billing_address"))
    draft = only("orders.paid", nobody)
    assert (draft.event_type, draft.identities) == ("purchase_completed", ())


def test_the_campaign_is_read_from_the_landing_page_and_the_note_attributes() -> None:
    assert only("orders.paid").tracking == {
        "utm_source": "instagram",
        "utm_medium": "paid",
        "utm_campaign": "verao_2026",
        "utm_content": "video_3",
        "fbclid": "IwAR0abc",
        "landing_url": "/products/curso-de-vendas",
        "referrer": "https://l.instagram.example/",
    }


# Privacy


def test_a_privacy_request_is_the_organisations_and_says_whom_it_is_about() -> None:
    [event] = told_by(sample("customers.redact"), headers_of("customers/redact"), lead_id="lead_url")
    assert isinstance(event, OrganizationEvent)
    assert (event.organization_id, event.source) == ("org_1", "shopify")
    assert event.payload == {
        "shopId": "954889",
        "shopDomain": SHOP,
        "customerId": "7700000000000000101",
        "email": "ana.lima@clientes.example",
        "phone": "+5582900000001",
        "orderIds": ["5500000000000000001", "5500000000000000003"],
    }


@pytest.mark.parametrize("topic", ["customers/redact", "customers/data_request", "shop/redact"])
def test_a_privacy_request_of_any_content_is_handed_on(topic: str) -> None:
    [event] = told_by({"customer": [], "orders_to_redact": [None, {}, "x"]}, headers_of(topic))
    assert isinstance(event, OrganizationEvent)
    assert event.payload == {"shopDomain": SHOP}


# One event, one id; one sale, one purchase


def test_a_delivery_sent_again_later_is_the_same_event() -> None:
    for name in SAMPLES:
        first = told_by(sample(name), headers_of(topic_of(name)))
        again = told_by(sample(name), headers_of(topic_of(name), triggered_at="2026-01-08T13:10:00Z"))
        assert [(each.external_event_id, each.payload) for each in first] == [
            (each.external_event_id, each.payload) for each in again
        ]


def test_an_event_id_on_several_webhooks_is_one_event_and_on_several_topics_several() -> None:
    one, other = only("orders.updated", webhook_id="w1"), only("orders.updated", webhook_id="w2")
    assert one.external_event_id == other.external_event_id
    [elsewhere] = told_by(sample("orders.updated"), headers_of("orders/edited", event_id="event-orders/updated"))
    assert elsewhere.external_event_id != one.external_event_id
    shop_b = only("orders.updated", shop_domain="b.myshopify.example")
    assert shop_b.external_event_id != one.external_event_id


def test_without_an_event_id_the_webhook_id_tells_deliveries_apart() -> None:
    ids = [only("orders.updated", event_id=None, webhook_id=each).external_event_id for each in ("w1", "w1", "w2")]
    assert ids == ["w1", "w1", "w2"]


def test_without_any_id_the_body_is_the_id() -> None:
    nothing: dict[str, str | None] = dict.fromkeys(("event_id", "webhook_id", "shop_domain"))
    first, again = only("orders.updated", **nothing), only("orders.updated", **nothing)
    assert first.external_event_id == again.external_event_id != only("orders.paid", **nothing).external_event_id


def test_ids_that_are_too_long_are_hashed_and_still_tell_events_apart() -> None:
    long = [drafts_of("orders.paid.discount", event_id="e" * 300 + end) for end in ("a", "b")]
    ids = [draft.external_event_id for drafts in long for draft in drafts]
    assert len(set(ids)) == 4
    assert all(each and len(each) <= 255 for each in ids)


def test_the_headers_without_their_prefix_are_read_too() -> None:
    plain = {name.removeprefix("x-"): value for name, value in headers_of("orders/paid").items()}
    assert set(plain) <= set(HEADERS)
    assert told_by(sample("orders.paid"), plain) == told_by(sample("orders.paid"), headers_of("orders/paid"))


def purchases(deliveries: list[tuple[str, dict[str, Any]]]) -> int:
    drafts = [draft for name, changes in deliveries for draft in drafts_of(name, changes)]
    return len({fact(draft) for draft in drafts if draft.event_type == "purchase_completed"})


def test_an_order_is_one_purchase_in_whatever_order_it_is_told() -> None:
    told: list[tuple[str, dict[str, Any]]] = [
        ("orders.create.paid", {}),
        ("orders.paid", {}),
        ("orders.updated", {}),
        ("orders.cancelled", {}),
    ]
    for order in permutations(told):
        assert purchases(list(order)) == 1
    assert purchases([("orders.create.pending", {}), ("orders.paid", {"id": 5500000000000000002})]) == 1
    assert purchases([("orders.paid", {}), ("orders.paid.discount", {})]) == 2


def test_the_second_to_tell_a_sale_is_kept_under_shopifys_name() -> None:
    again = only("orders.create.paid").shared_fact
    assert again is not None
    assert (again.id, again.event_type) == (ORDER, "shopify.orders/create")
    assert isinstance(again.payload, dict)
    assert again.payload["financialStatus"] == "paid"


# Times


@pytest.mark.parametrize(
    ("triggered_at", "changes", "time"),
    [
        ("2023-03-29T18:00:27.877041743Z", {}, datetime(2023, 3, 29, 18, 0, 27, 877041, tzinfo=UTC)),
        ("2023-03-29T18:00:27.999999999Z", {}, datetime(2023, 3, 29, 18, 0, 27, 999999, tzinfo=UTC)),
        (None, {}, datetime(2026, 1, 8, 12, 58, 30, tzinfo=UTC)),
        ("yesterday", {"updated_at": None}, datetime(2026, 1, 8, 12, 55, 1, tzinfo=UTC)),
        (None, {"updated_at": 7, "processed_at": "2021-12-31T19:00:00-05:00"}, datetime(2022, 1, 1, tzinfo=UTC)),
        (None, {"updated_at": None, "processed_at": None, "created_at": None}, NOW),
    ],
)
def test_an_event_happened_when_shopify_was_triggered_or_else_when_its_object_says(
    triggered_at: str | None, changes: dict[str, Any], time: datetime
) -> None:
    assert only("orders.paid", changes, triggered_at=triggered_at).occurred_at == time


# Nothing that is verified breaks us


@pytest.mark.parametrize("topic", [None, "", " ", "Ordem paga", "orders/paid\n1", "x" * 101, "ação"])
def test_a_delivery_without_a_topic_is_kept_as_unknown(topic: str | None) -> None:
    [draft] = told_by(sample("orders.paid"), headers_of(topic, event_id="e1"), lead_id="lead_url")
    assert isinstance(draft, EventDraft)
    assert (draft.event_type, draft.lead_id) == ("shopify.unknown", "lead_ana")
    assert draft.external_event_id is not None
    [bare] = told_by(sample("orders.paid"), {})
    assert isinstance(bare, EventDraft)
    assert bare.event_type == "shopify.unknown"


def test_a_topic_that_nobody_knows_is_kept_under_its_name_with_safe_fields_only() -> None:
    body = {"id": 7, "order_id": 8, "status": "success", "email": "ana.lima@clientes.example"}
    [draft] = told_by(body, headers_of("fulfillments/new_kind_2030"))
    assert isinstance(draft, EventDraft)
    assert draft.event_type == "shopify.fulfillments/new_kind_2030"
    assert draft.payload == {"objectId": "7", "orderId": "gid://shopify/Order/8", "status": "success"}


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '"x"', '{"id":1,"id":2}', "1e999999999"])
def test_a_body_that_is_no_object_is_refused(body: str) -> None:
    with pytest.raises(RejectedError):
        told_by(body, headers_of("orders/paid"))


HARD = st.sampled_from(["http://[", "/?utm_source=%ff", "x" * 400_000, "10.0", "9" * 16])
FIELDS = ["landing_site", "referring_site", "name", "total_price", "total_discounts", "currency", "token", "line_items"]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(SAMPLES).flatmap(lambda name: st.tuples(st.just(topic_of(name)), damaged(sample, [name]))),
    st.dictionaries(st.sampled_from(FIELDS), HARD, max_size=2),
    st.dictionaries(st.sampled_from(HEADERS), st.text(max_size=300), max_size=4),
)
def test_damaged_deliveries_become_events(
    delivery: tuple[str, Any], hard: dict[str, Any], headers: dict[str, str]
) -> None:
    topic, body = delivery
    found = told_by(body | hard, headers_of(topic) | headers)
    assert found
    for each in found:
        check_payload(each.payload)
        assert each.external_event_id
        assert len(each.external_event_id) <= 255
        if isinstance(each, EventDraft):
            catalogue.check(each.event_type, each.payload)


# The shared facts


@corpus
def test_every_shared_vector_is_judged_as_marked() -> None:
    vectors = json.loads((Path(shared) / "providers" / "vectors.json").read_text())["vectors"]
    ours = [vector for vector in vectors if vector["scheme"] == "shopify"]
    assert ours
    for vector in ours:
        headers = {name.lower(): value for name, value in vector["header"].items()}
        judged = "accept" if accepted(headers, vector["body"].encode(), (vector["secret"],)) else "reject"
        assert judged == vector["expect"], vector["id"]
        assert (
            base64.b64encode(hmac.new(vector["secret"].encode(), vector["body"].encode(), "sha256").digest()).decode()
            == vector["header"]["X-Shopify-Hmac-Sha256"]
        ) is (vector["expect"] == "accept")


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
