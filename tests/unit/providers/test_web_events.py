"""What becomes of the events that the tenant's own site tells, its backend and its visitors' browsers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.errors import ForbiddenError, RejectedError, TooLargeError
from lead_events.event import Delivery, EventDraft, SourceType, Translation
from lead_events.limits import check_payload
from lead_events.providers import find
from lead_events.providers.web import translate
from tests.samples import load, names
from tests.support.damage import JUNK, damaged
from tests.support.providers import NOW, payload_of

SAMPLES = names("web")
SIGNED = {"webhook-id": "msg_1"}


def sample(name: str, /, **changes: Any) -> Any:
    value = json.loads(load("web", name))
    return value | changes if isinstance(value, dict) else value


def told_by(body: Any, *, signed: bool, lead_id: str | None = None) -> Sequence[Translation]:
    text = body if isinstance(body, str) else json.dumps(body)
    headers = SIGNED if signed else {}
    return translate(
        Delivery(provider="web", organization_id="org_1", body=text, received_at=NOW, headers=headers, lead_id=lead_id)
    )


def only(name: str, lead_id: str | None = None, **changes: Any) -> EventDraft:
    [draft] = told_by(sample(name, **changes), signed=name.startswith("backend"), lead_id=lead_id)
    assert isinstance(draft, EventDraft), draft
    return draft


# What each event becomes

BECOMES = {
    "backend.array": ["discount_accepted", "web.video_watched"],
    "backend.purchase_completed": ["purchase_completed"],
    "backend.ticket_opened": ["ticket_opened"],
    "backend.without_event_id": ["product_viewed"],
    "browser.batch": ["product_viewed", "untrusted_event_type", "invalid", "product_viewed"],
    "browser.conversation_ended": ["conversation_ended"],
    "browser.conversation_started": ["conversation_started"],
    "browser.form_submitted": ["form_submitted"],
    "browser.interest_detected": ["interest_detected"],
    "browser.no_contract": ["web.product_viewed"],
    "browser.product_asked": ["product_asked"],
    "browser.product_viewed": ["product_viewed"],
}


def test_every_sample_has_its_promise() -> None:
    assert sorted(BECOMES) == SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_becomes_its_events_or_its_errors_in_place(name: str) -> None:
    signed = name.startswith("backend")
    found = told_by(load("web", name).decode(), signed=signed)
    assert [
        each.event_type if isinstance(each, EventDraft) else getattr(each, "code", "") for each in found
    ] == BECOMES[name]
    for each in found:
        if isinstance(each, EventDraft):
            catalogue.check(each.event_type, each.payload)
            check_payload(each.payload)
            assert (each.source, each.source_type, each.received_at) == ("web", SourceType.DIRECT, NOW)
            assert payload_of(each).get("trust") == (None if signed else "browser")


def test_the_provider_is_found_by_its_name() -> None:
    assert find("web").translate is translate


@pytest.mark.parametrize(
    "event_type", ["purchase_completed", "discount_accepted", "ticket_opened", "agent_insight", "x"]
)
def test_a_browser_is_not_believed_what_it_could_gain_by(event_type: str) -> None:
    [refused] = told_by(sample("backend.purchase_completed", type=event_type), signed=False)
    assert isinstance(refused, ForbiddenError)


def test_a_browser_cannot_say_that_it_is_more_than_a_browser() -> None:
    payload = payload_of(
        only("browser.product_viewed", payload={"productId": "p", "trust": "server", "clockSkew": True})
    )
    assert (payload["trust"], "clockSkew" in payload) == ("browser", False)


def test_without_the_headers_of_a_delivery_a_browsers_trust_is_given() -> None:
    [refused] = told_by(sample("backend.purchase_completed"), signed=False)
    assert isinstance(refused, RejectedError)
    blank = Delivery(
        provider="web",
        organization_id="org_1",
        body=json.dumps(sample("backend.purchase_completed")),
        received_at=NOW,
        headers={"webhook-id": " "},
    )
    assert isinstance(translate(blank)[0], RejectedError)


def test_a_browsers_texts_are_trimmed_and_without_tags_and_the_backends_left_alone() -> None:
    assert payload_of(only("browser.product_viewed"))["productName"] == "Curso de Vendas"
    assert payload_of(only("browser.product_asked"))["question"] == "Tem certificado se a nota for < 7?"
    nested = payload_of(only("browser.product_asked", payload={"question": "a <<b>script>alert(1)</<i>script> b"}))
    assert nested["question"] == "a script>alert(1)/script> b"
    told = payload_of(only("backend.ticket_opened", payload={"ticketId": "t", "subject": " <b>x</b> "}))
    assert told["subject"] == " <b>x</b> "


def test_a_conversation_without_a_channel_was_on_the_web() -> None:
    assert payload_of(only("browser.conversation_started"))["channel"] == "web"
    assert payload_of(only("browser.conversation_started", payload={"channel": "chat"}))["channel"] == "chat"
    assert "channel" not in payload_of(only("browser.product_viewed"))


def test_numbers_stay_exact() -> None:
    body = load("web", "backend.purchase_completed").decode().replace("497.0", "497.10")
    assert payload_of(told_by(body, signed=True)[0])["amount"] == Decimal("497.10")


def test_keys_are_kept_literally_and_those_that_cannot_be_stored_left_out() -> None:
    keys = ["utm.source", "lead-score", "ADD", "#x", ":y", "a b", "__proto__", "", "k" * 1024, "k" * 1025]
    responses = [dict.fromkeys(keys, "1")]
    payload = payload_of(only("browser.form_submitted", payload={"formId": "f", "responses": responses, "": 1}))
    assert payload["responses"] == [dict.fromkeys((key for key in keys if 0 < len(key) <= 1024), "1")]
    assert "" not in payload


@pytest.mark.parametrize(
    "changes", [{"payload": []}, {"payload": "x"}, {"type": None}, {"type": "ação"}, {"type": "x" * 97}]
)
def test_what_is_no_event_is_refused(changes: dict[str, Any]) -> None:
    [refused] = told_by(sample("backend.ticket_opened", **changes), signed=True)
    assert isinstance(refused, RejectedError)


def test_a_payload_too_deep_or_with_numbers_too_long_is_refused() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    for value in (deep, 10**40 + 1):
        [refused] = told_by(sample("backend.ticket_opened", payload={"ticketId": "t", "v": value}), signed=True)
        assert isinstance(refused, RejectedError)


# Ids and batches


def test_an_event_is_known_by_its_event_id_a_browsers_in_a_space_of_its_own() -> None:
    event_id = sample("backend.purchase_completed")["eventId"]
    assert only("backend.purchase_completed").external_event_id == event_id
    assert only("browser.product_viewed", eventId=event_id).external_event_id == f"browser:{event_id}"


def test_without_an_event_id_the_message_id_counts_and_a_browsers_event_is_refused() -> None:
    assert only("backend.without_event_id").external_event_id == "msg_1"
    two = told_by([sample("backend.without_event_id")] * 2, signed=True)
    assert [draft.external_event_id for draft in two if isinstance(draft, EventDraft)] == ["msg_1:0", "msg_1:1"]
    for event_id in (None, "", " ", 7, {}):
        [refused] = told_by(sample("browser.product_viewed", eventId=event_id), signed=False)
        assert isinstance(refused, RejectedError)


def test_ids_that_are_too_long_are_hashed() -> None:
    ids = {only("browser.product_viewed", eventId="x" * 300 + end).external_event_id for end in "ab"}
    assert len(ids) == 2
    assert all(each and len(each) <= 255 for each in ids)


def test_a_delivery_sent_again_later_is_the_same_events() -> None:
    for name in SAMPLES:
        signed = name.startswith("backend")
        delivery = Delivery(
            provider="web",
            organization_id="org_1",
            body=load("web", name).decode(),
            received_at=NOW,
            headers=SIGNED if signed else {},
        )
        first, again = translate(delivery), translate(replace(delivery, received_at=NOW + timedelta(minutes=9)))
        for one, other in zip(first, again, strict=True):
            if isinstance(one, EventDraft):
                assert isinstance(other, EventDraft)
                assert (one.external_event_id, one.payload) == (other.external_event_id, other.payload)


@pytest.mark.parametrize("name", ["browser.batch", "backend.array"])
def test_an_event_of_a_batch_keeps_its_own_text_and_is_the_same_alone(name: str) -> None:
    signed, body = name.startswith("backend"), load("web", name).decode()
    for draft in told_by(body, signed=signed):
        if isinstance(draft, EventDraft):
            assert draft.raw_payload is not None
            assert draft.raw_payload in body
            assert len(draft.raw_payload) < len(body)
            assert told_by(draft.raw_payload, signed=signed) == [draft]


def test_an_event_alone_keeps_the_body_to_the_letter() -> None:
    body = "\ufeff " + load("web", "browser.product_viewed").decode()
    [draft] = told_by(body, signed=False)
    assert isinstance(draft, EventDraft)
    assert draft.raw_payload == body


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '"x"', "7", '{"events":[]}', '{"a":1,"a":2}', "[" * 100_000])
def test_a_body_without_any_event_is_refused(body: str) -> None:
    with pytest.raises(RejectedError):
        told_by(body, signed=True)


def test_more_events_than_are_taken_at_once_are_refused() -> None:
    event = sample("backend.without_event_id")
    assert len(told_by([event] * 1_000, signed=True)) == 1_000
    for count, signed in ((1_001, True), (51, False)):
        with pytest.raises(TooLargeError):
            told_by([event] * count, signed=signed)


# Times

CLAIMS = [
    (timedelta(minutes=5), True),
    (timedelta(minutes=5, microseconds=1), False),
    (timedelta(days=-7), True),
    (timedelta(days=-7, microseconds=-1), False),
    (timedelta(0), True),
]


@pytest.mark.parametrize(("off", "believed"), CLAIMS)
def test_a_browsers_clock_is_believed_within_bounds_and_the_backends_always(off: timedelta, believed: bool) -> None:
    claimed = NOW + off
    draft = only("browser.product_viewed", occurredAt=claimed.isoformat())
    assert draft.occurred_at == (claimed if believed else NOW)
    assert payload_of(draft).get("clockSkew") is (None if believed else True)
    signed = only("backend.ticket_opened", occurredAt=claimed.isoformat())
    assert (signed.occurred_at, "clockSkew" in payload_of(signed)) == (claimed, False)


def test_an_event_without_a_time_happened_when_it_came() -> None:
    assert only("browser.product_viewed", occurredAt=None).occurred_at == NOW
    assert "clockSkew" not in payload_of(only("browser.product_viewed", occurredAt=None))


@pytest.mark.parametrize(
    "time", [1714557600, 1714557600000, "1714557600", "yesterday", "2026-01-08T13:00:00", "", True]
)
def test_a_time_of_unknown_unit_or_zone_is_refused_not_guessed(time: Any) -> None:
    [refused] = told_by(sample("browser.product_viewed", occurredAt=time), signed=False)
    assert isinstance(refused, RejectedError)
    assert refused.code == "invalid_time"


# Whose event it is, and where they came from


def known_of(draft: EventDraft) -> list[tuple[str, str]]:
    return [(each.kind.value, each.value) for each in draft.identities]


def test_a_visitor_is_known_by_the_cookie_phone_and_email_of_the_form_too() -> None:
    assert known_of(only("browser.form_submitted")) == [
        ("customer", "web:a7c1f0de-visitante"),
        ("phone", "+5582900000001"),
        ("phone", "+55 82 90000-0001"),
        ("email", "ana@trabalho.example"),
        ("email", "ana.lima@clientes.example"),
    ]
    assert known_of(only("browser.product_viewed")) == [("customer", "web:a7c1f0de-visitante")]


def test_the_sites_own_user_id_counts_only_from_its_backend() -> None:
    assert known_of(only("backend.purchase_completed"))[0] == ("customer", "web_user:42")
    forged = only("browser.form_submitted", anonymousId="web_user:42", identify={"externalId": "42"})
    assert known_of(forged)[0] == ("customer", "web:web_user:42")


@pytest.mark.parametrize("who", [None, [], "x", {"email": "", "phone": None}, {"email": 7}, {"email": "x" * 400}])
def test_nobody_is_made_up(who: Any) -> None:
    assert only("backend.ticket_opened", identify=who, anonymousId=None).identities == ()


def test_the_lead_is_the_one_planted_in_the_event_or_else_in_the_url() -> None:
    assert only("browser.interest_detected", lead_id="lead_url").lead_id == "lead_ana"
    assert only("browser.interest_detected", lead_id="lead_url", leadId="no id").lead_id == "lead_url"
    assert only("browser.product_viewed").lead_id is None


def test_the_campaign_is_read_from_the_page_and_what_the_site_collected_counts_first() -> None:
    assert only("browser.product_viewed").tracking == {
        "utm_source": "google",
        "utm_medium": "cpc",
        "utm_campaign": "verao_2026",
        "sck": "af1|af2",
        "landing_url": "https://escola-lima.example/curso",
        "referrer": "https://busca.example/",
    }


@pytest.mark.parametrize(
    "context", [None, [], {"url": "http://["}, {"url": 7, "utm": []}, {"utm": {"source": 7, "x" * 99: "y"}}]
)
def test_a_context_that_cannot_be_read_tells_nothing(context: Any) -> None:
    assert only("browser.product_viewed", context=context).tracking == {}


def test_an_order_a_ticket_or_a_conversation_is_our_object() -> None:
    assert only("backend.purchase_completed").object_id == "order_1001"
    assert only("backend.ticket_opened").object_id == "tkt_7"
    assert only("browser.product_viewed").object_id is None


# Nothing that is verified breaks us

FIELDS = ["eventId", "type", "occurredAt", "context", "identify", "payload", "anonymousId", "events"]
HARD = st.sampled_from(["purchase_completed", "http://[", "<" * 5_000, "x" * 500_000, {"": {"a": [1]}}])


@settings(max_examples=300, deadline=None)
@given(damaged(sample, SAMPLES) | JUNK, st.dictionaries(st.sampled_from(FIELDS), HARD, max_size=2), st.booleans())
def test_damaged_deliveries_become_events_or_clean_refusals(body: Any, hard: dict[str, Any], signed: bool) -> None:
    body = body | hard if isinstance(body, dict) else body
    try:
        found = told_by(body, signed=signed)
    except RejectedError:
        return
    assert found
    for each in found:
        if isinstance(each, EventDraft):
            catalogue.check(each.event_type, each.payload)
            check_payload(each.payload)
            assert each.external_event_id
            assert signed or payload_of(each)["trust"] == "browser"
        else:
            assert isinstance(each, RejectedError)
