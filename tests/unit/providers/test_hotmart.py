"""What each of Hotmart's events becomes, in webhook 2.0.0 and 1.0.0."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.errors import RejectedError
from lead_events.event import Delivery, EventDraft, SourceType
from lead_events.limits import check_payload
from lead_events.providers import find
from lead_events.providers.hotmart import HEADERS, translate
from tests import samples
from tests.samples import load, names
from tests.support.damage import JUNK, damaged

NOW = datetime(2026, 1, 8, 13, 0, tzinfo=UTC)
FORM = "application/x-www-form-urlencoded"
SAMPLES = names("hotmart")
FORMS = sorted(path.stem for path in (Path(samples.__file__).parent / "hotmart").glob("*.form"))

shared = os.environ.get("LEAD_EVENTS_SHARED", "")
corpus = pytest.mark.skipif(not shared, reason="LEAD_EVENTS_SHARED names no folder of shared facts")


def drafts_of(event: Any, lead_id: str | None = None, content_type: str | None = None) -> list[EventDraft]:
    body = event if isinstance(event, str) else json.dumps(event)
    headers = {"content-type": content_type} if content_type else {}
    return translate(
        Delivery(
            provider="hotmart", organization_id="org_1", body=body, received_at=NOW, lead_id=lead_id, headers=headers
        )
    )


def sample(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(load("hotmart", name))
    return event


def form(name: str, /, **changes: str) -> str:
    body = (Path(samples.__file__).parent / "hotmart" / f"{name}.form").read_text()
    return urlencode(dict(parse_qsl(body, keep_blank_values=True)) | changes) if changes else body


def approved(**purchase: Any) -> dict[str, Any]:
    """The plain sale with fields of its ``data.purchase`` replaced."""
    event = sample("PURCHASE_APPROVED.pix")
    event["data"]["purchase"] |= purchase
    return event


def only(event: Any, lead_id: str | None = None, content_type: str | None = None) -> EventDraft:
    [draft] = drafts_of(event, lead_id, content_type)
    return draft


def payload_of(draft: EventDraft) -> dict[str, Any]:
    assert isinstance(draft.payload, dict)
    return draft.payload


def fact(draft: EventDraft) -> str | None:
    return draft.shared_fact.id if draft.shared_fact else None


def people(event: Any) -> list[tuple[str, str, str | None]]:
    return [(each.kind.value, each.value, each.region) for each in drafts_of(event)[0].identities]


# What each event becomes

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


# Which event, which sale


def test_without_an_id_the_event_is_named_by_what_it_tells_of_what_or_by_its_text() -> None:
    event = approved()
    del event["id"]
    assert only(event).external_event_id == "PURCHASE_APPROVED:HP2000000001"
    del event["data"]["purchase"]["transaction"]
    first, again, other = (only(each).external_event_id for each in (event, event, event | {"version": "2.0.1"}))
    assert first == again != other
    with_tokens = [only(event | {"hottok": token}).external_event_id for token in ("token-1", "token-2")]
    assert with_tokens[0] == with_tokens[1]


def test_an_id_of_any_length_gives_one_that_fits() -> None:
    ids = [only(approved() | {"id": each}).external_event_id for each in ("x" * 300, "y" * 300, 1234567890123456789)]
    assert all(each and len(each) <= 255 for each in ids)
    assert len(set(ids)) == 3


def test_approved_and_complete_of_one_sale_are_one_purchase_in_whatever_order_and_webhook_version() -> None:
    events = [sample("PURCHASE_APPROVED.pix"), sample("PURCHASE_COMPLETE"), approved() | {"id": "another"}]
    version_1 = form("v1.approved", transaction="HP2000000001")
    for order in permutations([*events, version_1]):
        facts = {fact(d) for each in order for d in drafts_of(each) if d.event_type == "purchase_completed"}
        assert facts == {"purchase:HP2000000001"}
    again = drafts_of(events[2])[0].shared_fact
    assert again is not None
    assert again.event_type == "hotmart.PURCHASE_APPROVED"


def test_a_printed_boleto_that_expires_is_one_abandonment_but_every_test_is_seen() -> None:
    printed, expired = only(sample("PURCHASE_BILLET_PRINTED")), only(sample("PURCHASE_EXPIRED"))
    assert fact(printed) == fact(expired) is not None
    event = sample("PURCHASE_EXPIRED")
    event["data"]["product"]["id"] = 0
    assert fact(only(event)) is None


# Who it was


@pytest.mark.parametrize(
    ("origin", "lead"),
    [
        ({"xcod": "lead_ana"}, "lead_ana"),
        ({"xcod": "lead:ana-1"}, "ana-1"),
        ({"sck": "lead:ana-1"}, "ana-1"),
        ({"src": "lead:ana-1"}, "ana-1"),
        ({"xcod": "lead_ana", "sck": "lead:other"}, "lead_ana"),
        ({"xcod": "janeiro"}, "lead_url"),
        ({"sck": "lead_magnet", "src": "lead_form"}, "lead_url"),
        ({"xcod": "lead:ana silva"}, "lead_url"),
        ({"xcod": "lead_" + "x" * 64}, "lead_url"),
        (None, "lead_url"),
    ],
)
def test_a_lead_is_planted_where_it_cannot_be_a_campaigns_tag(origin: Any, lead: str) -> None:
    assert only(approved(origin=origin), lead_id="lead_url").lead_id == lead


def test_people_are_known_by_phone_and_email_as_written() -> None:
    assert people(sample("PURCHASE_APPROVED.pix")) == [
        ("phone", "82900000001", "BR"),
        ("email", "Ana.Lima@casa.example", None),
    ]
    assert people(sample("PURCHASE_APPROVED.coupon_usd"))[0] == ("phone", "12025550123", "US")
    assert people(sample("PURCHASE_OUT_OF_SHOPPING_CART"))[0] == ("phone", "+55 (82) 90000-0002", "BR")
    assert people(sample("SUBSCRIPTION_CANCELLATION"))[:2] == [
        ("phone", "82900000001", "BR"),
        ("phone", "8230000001", "BR"),
    ]
    for name in ("SWITCH_PLAN", "UPDATE_SUBSCRIPTION_CHARGE_DATE", "CLUB_FIRST_ACCESS"):
        assert [kind for kind, _, _ in people(sample(name))] == (
            ["email"] if name != "UPDATE_SUBSCRIPTION_CHARGE_DATE" else []
        )
    assert people(form("v1.approved")) == [("phone", "82900000002", "BR"), ("email", "caio@reis.example", None)]


@pytest.mark.parametrize(
    ("buyer", "phone"),
    [
        ({"checkout_phone_code": "082", "checkout_phone": "90000-0001"}, "8290000-0001"),
        ({"checkout_phone_code": "82", "checkout_phone": "5582900000001"}, "5582900000001"),
        ({"checkout_phone_code": "82", "checkout_phone": "+5582900000001"}, "+5582900000001"),
        ({"checkout_phone": "999999999"}, None),
        ({"phone": "999999999"}, None),
        ({"checkout_phone_code": "82", "checkout_phone": ""}, None),
    ],
)
def test_a_brazilian_number_tells_of_somebody_only_with_its_area(buyer: dict[str, str], phone: str | None) -> None:
    event = approved()
    event["data"]["buyer"] = buyer
    assert [value for _, value, _ in people(event)] == ([phone] if phone else [])


# Nothing that is verified breaks us


def is_told(event: Any) -> bool:
    """Whether an event has its name and no time but the samples' own."""
    if not isinstance(event, dict) or not isinstance(event.get("event"), str) or not event["event"].strip():
        return False
    created = event.get("creationDate") if event.get("creation_date") is None else event["creation_date"]
    return created is None or created in [each.get("creation_date") for each in map(sample, SAMPLES)]


def check_all(drafts: list[EventDraft]) -> None:
    assert drafts
    for draft in drafts:
        catalogue.check(draft.event_type, draft.payload)
        check_payload(draft.payload)
        check_payload(draft.shared_fact.payload if draft.shared_fact else None)
        assert draft.external_event_id
        assert len(draft.external_event_id) <= 255


@settings(max_examples=300, deadline=None)
@given(damaged(sample, SAMPLES) | JUNK)
def test_damaged_events_become_events_or_a_clean_refusal(event: Any) -> None:
    try:
        check_all(drafts_of(json.dumps(event), content_type="application/json"))
    except RejectedError:
        # What the data hold is never a reason to refuse.
        assert not is_told(event)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from([name for name, _ in parse_qsl(form("v1.approved"))]), st.text()) | st.text())
def test_damaged_forms_become_events_or_a_clean_refusal(fields: Any) -> None:
    body = fields if isinstance(fields, str) else form("v1.approved", **fields)
    try:
        check_all(drafts_of(body, content_type=FORM))
    except RejectedError:
        assert isinstance(fields, str)


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '"x"', "{}", '{"id":"1"}', '{"event":1}', '{"a":1,"a":2}'])
@pytest.mark.parametrize("content_type", [None, FORM, "application/json"])
def test_a_body_that_is_no_hotmart_event_is_refused(body: str, content_type: str | None) -> None:
    with pytest.raises(RejectedError):
        drafts_of(body, content_type=content_type)


def test_json_that_a_careless_sender_calls_a_form_is_read_as_json() -> None:
    assert only(sample("PURCHASE_APPROVED.pix"), content_type=FORM).event_type == "purchase_completed"
    assert only("\ufeff" + json.dumps(approved()), content_type=FORM).event_type == "purchase_completed"


# The shared facts


@corpus
def test_every_shared_sample_is_translated() -> None:
    expected = {
        "CLUB_FIRST_ACCESS.test_button": ["hotmart.CLUB_FIRST_ACCESS"],
        "CLUB_MODULE_COMPLETED.test_button": ["hotmart.CLUB_MODULE_COMPLETED"],
        "PURCHASE_APPROVED.docs_all_fields": ["purchase_completed", "subscription_created", "discount_accepted"],
        "PURCHASE_APPROVED.real_pix_subscription": ["purchase_completed", "subscription_created"],
        "PURCHASE_APPROVED.test_button": ["purchase_completed", "discount_accepted"],
        "PURCHASE_CANCELED.test_button": ["purchase_abandoned"],
        "PURCHASE_CHARGEBACK.test_button": ["hotmart.PURCHASE_CHARGEBACK"],
        "PURCHASE_EXPIRED.test_button": ["purchase_abandoned"],
        "PURCHASE_OUT_OF_SHOPPING_CART.test_button": ["purchase_abandoned"],
        "PURCHASE_PROTEST.test_button": ["hotmart.PURCHASE_PROTEST"],
        "SUBSCRIPTION_CANCELLATION.test_button": ["subscription_cancelled"],
        "SWITCH_PLAN.docs": ["hotmart.SWITCH_PLAN"],
        "v1_form_urlencoded.approved.as_json": ["purchase_completed"],
    }
    found = {}
    for path in (Path(shared) / "providers/samples/hotmart").glob("*.json"):
        body = urlencode(json.loads(path.read_text())) if path.stem.startswith("v1") else path.read_text()
        drafts = drafts_of(body)
        check_all(drafts)
        assert "INVENTED-HOTTOK" not in repr(drafts)
        found[path.stem] = [draft.event_type for draft in drafts]
    assert found == expected
