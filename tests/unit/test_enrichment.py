"""Enrichment adds and normalises, promise by promise, and takes nothing away."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events import enrichment
from lead_events.enrichment import attribution, channel, clock, contacts, enrich, money, objects
from lead_events.errors import InvalidError
from lead_events.event import EventDraft, LeadEvent, OutcomeKind, SourceType
from lead_events.idempotency import fingerprint
from lead_events.reading import draft_of_direct
from lead_events.strict_json import loads
from tests.support.builders import LEAD, ORGANIZATION, draft
from tests.support.clock import START
from tests.support.fakes import World

EXTERNAL, INTERNAL, DIRECT = SourceType
MICROSECOND: Final = timedelta(microseconds=1)


def free(payload: Any = None, **changes: Any) -> EventDraft:
    """A draft of a type with a free payload."""
    return draft(event_type="free.form", payload={} if payload is None else payload, **changes)


def payload_of(found: EventDraft) -> dict[str, Any]:
    assert isinstance(found.payload, dict)
    return found.payload


# -------------------------------------------------------------------------------------------------------------- clock


@pytest.mark.parametrize("ahead", [timedelta(days=-9_000), timedelta(0), timedelta(minutes=5)])
def test_an_event_of_the_past_or_a_moment_ahead_is_taken_as_it_is(ahead: timedelta) -> None:
    given_ = free(occurred_at=START + ahead)
    assert clock.check_clock(given_) is given_


@pytest.mark.parametrize("ahead", [timedelta(minutes=5) + MICROSECOND, timedelta(hours=23), timedelta(hours=24)])
def test_a_clock_that_is_ahead_is_flagged_up_to_24_hours(ahead: timedelta) -> None:
    found = clock.check_clock(free({"a": 1}, occurred_at=START + ahead))
    assert found.payload == {"a": 1, "clockSkew": True}
    assert found.occurred_at == START + ahead


@pytest.mark.parametrize("ahead", [timedelta(hours=24) + MICROSECOND, timedelta(days=365)])
def test_what_is_more_than_24_hours_ahead_is_refused(ahead: timedelta) -> None:
    with pytest.raises(InvalidError) as caught:
        clock.check_clock(free(occurred_at=START + ahead))
    assert (caught.value.code, caught.value.errors[0].field) == ("invalid_time", "occurredAt")


def test_a_payload_that_is_no_object_cannot_be_flagged_and_is_taken() -> None:
    assert enrich(free([1], occurred_at=START + timedelta(hours=1))).payload == [1]


def test_the_flag_does_not_make_another_event_of_a_redelivery() -> None:
    world = World()
    early = draft(occurred_at=START + timedelta(minutes=10))
    late = replace(early, received_at=START + timedelta(minutes=9))
    assert [world.pipeline.process(each).kind for each in (early, late, early)] == [
        OutcomeKind.STORED, OutcomeKind.DUPLICATE, OutcomeKind.DUPLICATE,
    ]  # fmt: skip
    assert payload_of(world.stored[0])["clockSkew"] is True
    flagged, plain = (LeadEvent.of(enrich(each), LEAD) for each in (early, late))
    assert flagged.payload != plain.payload
    assert fingerprint(flagged) == fingerprint(plain)
    assert fingerprint(flagged) != fingerprint(replace(plain, payload=payload_of(plain) | {"other": True}))


# -------------------------------------------------------------------------------------------------------------- money


@pytest.mark.parametrize(("written", "read"), [("brl", "BRL"), (" Usd ", "USD"), ("EUR", "EUR"), ("jpy\n", "JPY")])
def test_a_currency_is_in_upper_case_without_blanks(written: str, read: str) -> None:
    assert money.normalise_money(free({"currency": written, "amount": Decimal("19.90")})).payload == {
        "currency": read,
        "amount": Decimal("19.90"),
    }


@pytest.mark.parametrize("written", ["R$", "real", "", "ßßß", "éur", None, 5, ["brl"], "b r"])
def test_what_is_no_currency_is_left_to_the_contract(written: Any) -> None:
    given_ = free({"currency": written})
    assert money.normalise_money(given_) is given_


def test_a_currency_in_lower_case_meets_the_contract_of_its_type() -> None:
    world = World()
    outcome = world.pipeline.process(draft(payload={"planId": "p", "amount": 10, "currency": "brl"}))
    assert payload_of(outcome.stored())["currency"] == "BRL"


# ----------------------------------------------------------------------------------------------------------- contacts


def test_phone_and_email_are_in_their_one_spelling() -> None:
    found = contacts.normalise_contacts(free({"phone": "(82) 0000-0001", "email": " Ana.Teste@Example.org "}))
    assert found.payload == {"phone": "+5582900000001", "email": "ana.teste@example.org"}


@pytest.mark.parametrize(
    "value", ["", None, 82900000001, "n/a", ["+5582900000001"], {"number": "+5582900000001"}, "4004-1234"]
)
def test_what_cannot_be_read_stays_as_it_is(value: Any) -> None:
    given_ = free({"phone": value, "email": value})
    assert contacts.normalise_contacts(given_) is given_


# ------------------------------------------------------------------------------------------------------------ channel


@pytest.mark.parametrize("source", ["whatsapp", "instagram", "web", "kiosk"])
def test_the_channel_of_what_a_lead_did_directly_is_its_source(source: str) -> None:
    assert payload_of(channel.name_channel(free(source=source, source_type=DIRECT)))["channel"] == source
    assert (
        payload_of(channel.name_channel(free({"channel": None}, source=source, source_type=DIRECT)))["channel"]
        == source
    )


@pytest.mark.parametrize(
    "given_",
    [
        free({"channel": "phone"}, source_type=DIRECT),
        free({"channel": ""}, source_type=DIRECT),
        free(),
        free(source_type=EXTERNAL),
        free("text", source_type=DIRECT),
    ],
)
def test_a_channel_that_is_named_stays_and_others_have_none(given_: EventDraft) -> None:
    assert channel.name_channel(given_) is given_


# -------------------------------------------------------------------------------------------------------- attribution


@pytest.mark.parametrize(
    ("tracking", "found"),
    [
        ({"utm_source": "google", "utm_medium": "cpc", "utm_campaign": "launch", "utm_id": "7", "utm_term": "crm",
          "utm_content": "a"},
         {"source": "google", "medium": "cpc", "campaign": "launch", "campaignId": "7", "term": "crm", "content": "a"}),
        ({"utm.source": "google", "UTM_Medium": " cpc "}, {"source": "google", "medium": "cpc"}),
        ({"src": "a", "sck": "b", "xcod": "c"}, {"src": "a", "sck": "b", "xcod": "c"}),
        ({"ref": "r", "ad_id": "1", "ctwa_clid": "c", "source_url": "https://x", "headline": "h"},
         {"ref": "r", "adId": "1", "clickId": "c", "sourceUrl": "https://x", "headline": "h"}),
        ({"gclid": "g", "fbclid": "f"}, {"clickId": "g"}),
        ({"landing_url": "https://x.example/?utm_source=ig&utm_medium=a%20b&other=1#utm_term=no"},
         {"source": "ig", "medium": "a b"}),
        ({"landing_url": "/p?utm_source=url&utm_term=t", "utm_source": "said"}, {"source": "said", "term": "t"}),
        ({"landing_url": "/p?utm_source=url", "utm_source": " "}, {"source": "url"}),
        ({"utm_source": "said", "utm.source": ""}, {"source": "said"}),
        ({"utm_source": "x" * 600}, {"source": "x" * 500}),
    ],
)  # fmt: skip
def test_where_a_lead_came_from_has_one_shape(tracking: dict[str, str], found: dict[str, str]) -> None:
    assert payload_of(attribution.attribute(free(tracking=tracking)))["attribution"] == found


@pytest.mark.parametrize(
    "tracking",
    [
        {},
        {"other": "x"},
        {"utm_source": ""},
        {"landing_url": "https://[broken"},
        {"landing_url": "?" + "&" * 500},
        {"landing_url": "x"},
    ],
)
def test_where_nothing_tells_there_is_no_attribution(tracking: dict[str, str]) -> None:
    given_ = free(tracking=tracking)
    assert attribution.attribute(given_) is given_


@pytest.mark.parametrize("said", [{}, {"source": "mine"}, "mine"])
def test_an_attribution_of_the_caller_stays(said: Any) -> None:
    given_ = free({"attribution": said}, tracking={"utm_source": "google"})
    assert attribution.attribute(given_) is given_


# ------------------------------------------------------------------------------------------------------------ objects


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"orderId": "o"}, "o"), ({"transaction": "HP1", "subscriptionId": "s"}, "HP1"),
        ({"formResponseId": "r", "formId": "f"}, "r"),
        ({"messageId": "wamid.1"}, "wamid.1"), ({"ticketId": "t"}, "t"), ({"formId": "f"}, "f"), ({}, None), ("text", None),
        ({"orderId": "", "transaction": "HP1"}, "HP1"), ({"orderId": None, "messageId": 5}, None),
        ({"orderId": "x" * 256, "transaction": "HP1"}, "HP1"), ({"orderId": "a\nb"}, None),
    ],
)  # fmt: skip
def test_the_object_of_an_event_from_outside_is_its_sources_id(payload: Any, name: str | None) -> None:
    for source_type in (EXTERNAL, DIRECT):
        found = objects.name_objects(free(payload, source_type=source_type))
        assert (found.object_id, found.object_id_ref) == (None, name)


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"ticketId": "t", "campaignId": "c"}, "t"),
        ({"campaignId": "c"}, "c"),
        ({"conversationId": "v"}, "v"),
        ({"orderId": "o"}, None),
    ],
)
def test_the_object_of_an_event_from_inside_is_our_own_id(payload: Any, name: str | None) -> None:
    found = objects.name_objects(free(payload, source_type=INTERNAL))
    assert (found.object_id, found.object_id_ref) == (name, None)


def test_an_object_that_is_named_stays() -> None:
    assert (
        objects.name_objects(free({"orderId": "o"}, source_type=EXTERNAL, object_id_ref="mine")).object_id_ref == "mine"
    )
    assert objects.name_objects(free({"ticketId": "t"}, object_id="mine")).object_id == "mine"


# ---------------------------------------------------------------------------------------------------------- the whole


def test_the_order_is_fixed_what_may_refuse_comes_first() -> None:
    assert (
        clock.check_clock,
        money.normalise_money,
        contacts.normalise_contacts,
        channel.name_channel,
        attribution.attribute,
        objects.name_objects,
    ) == enrichment.STEPS


WORDS = st.text(max_size=20) | st.sampled_from(
    ["brl", " USD ", "(82) 90000-0001", "558200000001", "ANA@Example.org", "İ@example.org", "", " ", "whatsapp", "google",
     "t-1", "a\nb"]
)  # fmt: skip
VALUES = (
    WORDS
    | st.none()
    | st.booleans()
    | st.integers()
    | st.lists(WORDS, max_size=2)
    | st.dictionaries(WORDS, WORDS, max_size=2)
)
NAMES = [
    "currency",
    "phone",
    "email",
    "channel",
    "attribution",
    "clockSkew",
    "orderId",
    "transaction",
    "ticketId",
    "campaignId",
    "other",
]
DRAFTS = st.builds(
    free,
    st.dictionaries(st.sampled_from(NAMES), VALUES) | VALUES,
    source_type=st.sampled_from(SourceType),
    source=st.sampled_from(["web", "hotmart", "ticketing_service"]),
    tracking=st.dictionaries(
        st.sampled_from(["utm_source", "utm.source", "SRC", "gclid", "landing_url", "other"]),
        WORDS | st.just("https://x/?utm_source=y&src=z"),
    ),
    occurred_at=st.timedeltas(timedelta(days=-1), timedelta(hours=24)).map(lambda ahead: START + ahead),
    object_id=st.none() | st.just("mine"),
    object_id_ref=st.none() | st.just("theirs"),
    raw_payload=st.none() | st.just("raw"),
    request_text=st.none() | st.just("request"),
)


@given(DRAFTS)
def test_enriching_twice_changes_nothing(given_: EventDraft) -> None:
    once = enrich(given_)
    assert enrich(once) == once


@given(DRAFTS)
def test_enriching_is_pure(given_: EventDraft) -> None:
    before = {each.name: deepcopy(getattr(given_, each.name)) for each in fields(given_)}
    assert enrich(given_) == enrich(given_)
    assert {each.name: getattr(given_, each.name) for each in fields(given_)} == before


STEPS: Final[list[Callable[[EventDraft], EventDraft]]] = [*enrichment.STEPS, enrich]


@given(DRAFTS, st.sampled_from(STEPS))
def test_no_step_takes_a_field_away_or_touches_what_is_not_its_own(
    given_: EventDraft, step: Callable[[EventDraft], EventDraft]
) -> None:
    found = step(given_)
    if isinstance(given_.payload, dict):
        assert set(given_.payload) <= set(payload_of(found))
        for name in ("orderId", "transaction", "ticketId", "campaignId", "other"):
            assert payload_of(found).get(name, ...) == given_.payload.get(name, ...)
        added = set(payload_of(found)) - set(given_.payload)
        assert added <= {"clockSkew", "channel", "attribution"}
    else:
        assert found.payload == given_.payload
    own = {"payload", "object_id", "object_id_ref", "raw_payload"}
    assert all(
        getattr(found, each.name) == getattr(given_, each.name) for each in fields(found) if each.name not in own
    )
    assert given_.object_id in (None, found.object_id)
    assert given_.object_id_ref in (None, found.object_id_ref)


# ----------------------------------------------------------------------------------------- what the caller wrote stays

BODY: Final = {"source": "crm", "sourceType": "INTERNAL", "eventType": "crm.note", "occurredAt": "2026-03-25T14:00:00Z"}


def direct(payload: Any, **changes: Any) -> tuple[str, EventDraft]:
    text = json.dumps(BODY | {"payload": payload} | changes, indent=1) + "\n"
    return text, draft_of_direct(text, ORGANIZATION, LEAD, None, START)


@pytest.mark.parametrize("payload", [{"currency": "brl"}, {"phone": "82 90000-0001"}, {"email": "ANA@example.org"}])
def test_where_a_field_is_rewritten_the_request_is_kept_to_the_byte(payload: dict[str, str]) -> None:
    text, given_ = direct(payload)
    found = enrich(given_)
    assert found.payload != payload
    assert found.raw_payload == text
    assert loads(found.raw_payload)["payload"] == payload  # type: ignore[index, call-overload]


@pytest.mark.parametrize("payload", [{"currency": "BRL"}, {"email": "ana@example.org", "phone": "n/a"}, {}, ["x"], "x"])
def test_where_nothing_is_rewritten_the_request_is_not_kept_twice(payload: Any) -> None:
    assert enrich(direct(payload)[1]).raw_payload is None


def test_a_field_that_is_only_added_is_no_rewriting() -> None:
    _, given_ = direct({"note": "x"}, occurredAt="2026-03-25T15:00:00Z", source="web", sourceType="DIRECT")
    assert payload_of(enrich(given_)) == {"note": "x", "clockSkew": True, "channel": "web"}
    assert enrich(given_).raw_payload is None


def test_a_raw_payload_of_the_caller_is_never_replaced() -> None:
    _, given_ = direct({"currency": "brl"}, rawPayload="mine")
    assert enrich(given_).raw_payload == "mine"


def test_what_a_caller_wrote_comes_back_from_the_store() -> None:
    world = World()
    text, given_ = direct({"phone": "82 90000-0001"})
    stored = world.pipeline.process(given_).stored()
    found = world.events.get(stored.key, raw=True)
    assert found is not None
    assert (found.payload, found.raw_payload) == ({"phone": "+5582900000001"}, text)


def test_the_same_event_in_two_spellings_is_a_duplicate() -> None:
    world = World()
    spellings = [{"phone": "82 90000-0001", "currency": "brl"}, {"phone": "558200000001", "currency": "BRL"}]
    drafts = [replace(direct(each)[1], external_event_id="e-1") for each in spellings]
    assert [world.pipeline.process(each).kind for each in drafts] == [OutcomeKind.STORED, OutcomeKind.DUPLICATE]


def test_a_rule_that_enrichment_finds_broken_is_an_outcome_and_nothing_is_written() -> None:
    world = World()
    outcome = world.pipeline.process(draft(occurred_at=START + timedelta(days=2)))
    assert (outcome.kind, outcome.error and outcome.error.code) == (OutcomeKind.REJECTED, "invalid_time")
    assert (len(world.stored), len(world.claims.inner)) == (0, 0)


def test_a_payload_of_a_hundred_thousand_faults_is_refused_in_a_few_words() -> None:
    world = World()
    outcome = world.pipeline.process(
        draft(event_type="form_submitted", payload={"formId": "f", "responses": [1] * 90_000})
    )
    assert outcome.error is not None
    assert len(outcome.error.errors) == 50
