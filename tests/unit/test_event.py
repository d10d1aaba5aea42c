"""Ids lead to events and sort as they do; references, sources and types are what keys can hold."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import ConflictError, InvalidError, LeadEventsError
from lead_events.event import (
    EventKey,
    Outcome,
    OutcomeKind,
    SharedFact,
    StoredEvent,
    check_event_type,
    check_id,
    check_reference,
    check_source,
    new_event_id,
    occurred_at_of,
)
from lead_events.instants import END, EPOCH, format_instant
from lead_events.names import ids_of, lead_key
from tests.support.builders import LEAD, ORGANIZATION, draft, lead_event, stored_event

INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)).map(  # noqa: DTZ001
    lambda each: each.replace(tzinfo=UTC)
)
IDS = st.text("ABCxyz019_-", min_size=1, max_size=64)


@given(INSTANTS)
def test_an_event_id_is_a_uuid_v7_that_carries_its_instant_to_the_microsecond(instant: datetime) -> None:
    event_id = new_event_id(instant)
    uuid = UUID(event_id.removeprefix("evt_"))
    assert (uuid.version, uuid.variant, event_id[:4]) == (7, "specified in RFC 4122", "evt_")
    assert occurred_at_of(event_id) == instant


@given(INSTANTS, INSTANTS)
def test_event_ids_sort_as_their_instants(one: datetime, other: datetime) -> None:
    if one != other:
        assert (new_event_id(one) < new_event_id(other)) == (one < other)


def test_the_bounds_of_time_have_ids_too() -> None:
    assert [occurred_at_of(new_event_id(each)) for each in (EPOCH, END)] == [EPOCH, END]


def test_two_events_of_one_instant_have_different_ids() -> None:
    assert len({new_event_id(EPOCH) for _ in range(1000)}) == 1000


GOOD = "evt_00000000-0000-7000-94ad-f3bb3625bb05"
"""Of 1970."""


@pytest.mark.parametrize(
    "event_id",
    [
        "", "evt_", "evt_123", "evt_2baf48c4-4842-4e2e-b839-4eff74bd379f", GOOD[4:], GOOD.upper(), f"{GOOD}\n",
        "evt_ffffffff-ffff-7000-8000-000000000000", "evt_00000000-0000-7fff-8000-000000000000",
        "evt_0195f3a2-8c00-7d4e-b800-000000000000", "evt_00000000-0000-7000-c000-000000000000",
    ],
)  # fmt: skip
def test_foreign_ids_carry_no_instant_and_have_no_key(event_id: str) -> None:
    assert occurred_at_of(event_id) is None
    assert EventKey.of_event_id(ORGANIZATION, LEAD, event_id) is None


@given(INSTANTS)
def test_an_id_leads_to_its_events_key(instant: datetime) -> None:
    event = stored_event(occurred_at=instant)
    assert EventKey.of_event_id(ORGANIZATION, LEAD, event.event_id) == event.key
    assert event.key.occurred_at_id == f"{format_instant(instant)}#{event.event_id[4:]}"
    assert event.key.lead_organization_id == "ORG#org_A#LEAD#lead_1"


@given(IDS, IDS)
def test_a_partition_key_gives_back_its_two_ids(organization_id: str, lead_id: str) -> None:
    assert check_id(organization_id, "organizationId") == organization_id
    assert ids_of(lead_key(organization_id, lead_id)) == (organization_id, lead_id)


@pytest.mark.parametrize(
    "value", ["", "a#b", "x#LEAD#y", "LEAD#", "a b", "é", "a/b", "a" * 65, "a\n", "a\x00", "１", None, 1, ["a"]]
)
def test_ids_with_anything_but_letters_digits_dash_and_underline_are_invalid(value: object) -> None:
    with pytest.raises(InvalidError) as caught:
        check_id(value, "leadId")
    assert (caught.value.code, caught.value.errors[0].field) == ("invalid_id", "leadId")


def test_a_source_is_lower_cased() -> None:
    assert check_source("WHATSAPP", "source") == "whatsapp"
    assert check_source("/forms", "source") == "/forms"
    assert check_source("https://example.org/a?b=c", "source") == "https://example.org/a?b=c"


@pytest.mark.parametrize("value", ["", "s#1", "a b", "é", "a" * 101, "a\x00", "a\n", None, 1])
def test_a_source_that_could_break_a_key_is_invalid(value: object) -> None:
    with pytest.raises(InvalidError) as caught:
        check_source(value, "source")
    assert caught.value.code == "invalid_source"


@pytest.mark.parametrize("value", ["message.received", "purchase_completed", "A", "com.acme/x:1-2", "a" * 100])
def test_event_types_outside_the_catalogue_are_names_too(value: str) -> None:
    assert check_event_type(value, "eventType") == value


@pytest.mark.parametrize("value", ["", "a#b", "a b", "_a", ".a", "é", "a" * 101, "a\n", None, 1])
def test_an_event_type_that_could_break_a_key_is_invalid(value: object) -> None:
    with pytest.raises(InvalidError):
        check_event_type(value, "eventType")


def test_absent_null_and_empty_references_are_the_same() -> None:
    assert check_reference(None, "objectId") is None
    assert check_reference("", "objectId") is None


@pytest.mark.parametrize("value", ["wamid.HBgN==", "gid://shopify/Order/1", "a b#c", "😀" * 255, "0"])
def test_references_are_any_text_of_255_characters(value: str) -> None:
    assert check_reference(value, "objectId") == value


@pytest.mark.parametrize("value", ["a" * 256, "a\x00b", "\x7f", "a\nb", 1, 0, False, [], {}])
def test_references_longer_or_with_control_characters_are_invalid(value: object) -> None:
    with pytest.raises(InvalidError) as caught:
        check_reference(value, "objectId")
    assert caught.value.errors[0].field == "objectId"


def test_giving_an_event_its_lead_and_its_id_changes_nothing_else() -> None:
    made = draft(raw_payload="{}", object_id="o", object_id_ref="r", data_content_type="text/plain", lead_id=None)
    event = StoredEvent.known(
        lead_event(**{name: getattr(made, name) for name in ("raw_payload", "object_id")}), "evt_x"
    )
    assert (event.raw_payload, event.object_id, event.lead_id, event.event_id) == ("{}", "o", LEAD, "evt_x")


def test_a_fact_told_again_is_an_event_of_its_own_name() -> None:
    event = lead_event(shared_fact=SharedFact("sale:1", "stripe.invoice.paid", {"id": "in_1"}))
    retold = event.retold()
    assert retold is not None
    assert (retold.event_type, retold.payload, retold.shared_fact) == ("stripe.invoice.paid", {"id": "in_1"}, None)
    assert retold.external_event_id == event.external_event_id
    assert retold.retold() is None


def test_an_outcome_gives_its_event_or_raises_what_kept_it_out() -> None:
    event = stored_event()
    assert Outcome(OutcomeKind.STORED, event).stored() is event
    with pytest.raises(ConflictError):
        Outcome.rejected(ConflictError("used before")).stored()
    with pytest.raises(LeadEventsError):
        Outcome(OutcomeKind.STORED).stored()


def test_a_conflict_is_an_outcome_of_its_own() -> None:
    assert Outcome.rejected(ConflictError("used before")).kind is OutcomeKind.CONFLICT
    assert Outcome.rejected(InvalidError.of("a", "rule")).kind is OutcomeKind.REJECTED
