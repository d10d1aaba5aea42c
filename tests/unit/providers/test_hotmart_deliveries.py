"""Which event and sale Hotmart tells of and whose, and that no delivery breaks us."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.errors import RejectedError
from lead_events.event import EventDraft
from lead_events.limits import check_payload
from tests.support.damage import JUNK, damaged
from tests.support.hotmart import FORM, SAMPLES, approved, drafts_of, form, only, sample
from tests.support.providers import corpus, fact, shared

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


def people(event: Any) -> list[tuple[str, str, str | None]]:
    return [(each.kind.value, each.value, each.region) for each in drafts_of(event)[0].identities]


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
