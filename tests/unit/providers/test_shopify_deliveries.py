"""Whose event a delivery of Shopify's is, which and when, and that none breaks us."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.errors import RejectedError
from lead_events.event import EventDraft, IdentityKind, OrganizationEvent
from lead_events.limits import check_payload
from lead_events.providers.shopify import HEADERS
from tests.support.damage import damaged
from tests.support.providers import NOW, fact
from tests.support.shopify import ORDER, SAMPLES, SHOP, drafts_of, headers_of, only, sample, told_by, topic_of

CUSTOMER = "shopify:7700000000000000101"


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
