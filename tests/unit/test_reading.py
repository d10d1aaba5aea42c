"""What arrives becomes drafts: CloudEvents of other domains, and the body of a direct append."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lead_events.envelope import read_message, read_structured
from lead_events.errors import InvalidError
from lead_events.event import EventDraft, SourceType
from lead_events.instants import parse_instant
from lead_events.reading import draft_of_direct, draft_of_envelope, event_type_of
from tests.support.builders import ENVELOPE_ID, LEAD, ORGANIZATION, PLAN, bus_event, envelope, envelope_text
from tests.support.clock import START

DIRECT: dict[str, Any] = {
    "source": "crm",
    "sourceType": "INTERNAL",
    "eventType": "subscription_created",
    "externalEventId": "x-1",
    "occurredAt": "2026-03-25T14:00:00Z",
    "objectId": "sub_1",
    "objectIdRef": "ref_1",
    "payload": PLAN,
    "rawPayload": "raw ✓",
}


def of_envelope(organization_id: str | None = None, **changes: Any) -> EventDraft:
    return draft_of_envelope(read_structured(envelope_text(**changes)), organization_id, START)


def of_direct(idempotency_key: str | None = None, without: str = "", **changes: Any) -> EventDraft:
    body = {name: value for name, value in (DIRECT | changes).items() if name != without}
    return draft_of_direct(json.dumps(body), ORGANIZATION, LEAD, idempotency_key, START)


def test_the_envelope_of_the_seeds_becomes_an_event_of_the_lead_in_its_data() -> None:
    draft = of_envelope()
    assert (draft.organization_id, draft.lead_id) == (ORGANIZATION, LEAD)
    assert (draft.source, draft.source_type) == ("billing_service", SourceType.INTERNAL)
    assert (draft.event_type, draft.external_event_id, draft.payload) == ("subscription_created", ENVELOPE_ID, PLAN)
    assert draft.occurred_at == parse_instant("2026-03-25T14:00:00Z", "time")
    assert (draft.received_at, draft.raw_payload, draft.data_content_type) == (START, envelope_text(), None)


def test_without_a_time_the_event_occurred_when_it_was_received() -> None:
    assert of_envelope(time=None).occurred_at == START


def test_the_lead_may_be_the_subject_and_the_data_anything() -> None:
    draft = of_envelope(ORGANIZATION, data=[1, "two"], subject="lead-1", type="crm.note", sourcetype="internal")
    assert (draft.organization_id, draft.lead_id, draft.payload) == (ORGANIZATION, "lead-1", [1, "two"])


def test_the_lead_in_the_data_wins_over_the_subject() -> None:
    assert of_envelope(subject="order-7").lead_id == LEAD


def test_the_organisation_may_be_the_senders_own() -> None:
    assert of_envelope(ORGANIZATION, data={"leadId": LEAD}).organization_id == ORGANIZATION


def test_the_content_type_of_the_data_is_kept_where_it_is_not_plain_json() -> None:
    assert (
        of_envelope(datacontenttype="application/json; charset=utf-8").data_content_type
        == "application/json; charset=utf-8"
    )


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"data": {"leadId": LEAD}}, "data.organizationId"),
        ({"data": {"organizationId": None, "leadId": LEAD}}, "data.organizationId"),
        ({"data": {"organizationId": "a#b", "leadId": LEAD}}, "data.organizationId"),
        ({"data": {"organizationId": ORGANIZATION, "leadId": "x#LEAD#y"}}, "data.leadId"),
        ({"data": {"organizationId": ORGANIZATION, "leadId": ""}}, "data.leadId"),
        ({"data": {"organizationId": ORGANIZATION}, "subject": "João"}, "subject"),
        ({"source": "s#1"}, "source"),
        ({"type": "billing charge"}, "type"),
        ({"type": "crm.lead-created"}, "sourcetype"),
        ({"sourcetype": "DIRECT"}, "sourcetype"),
        ({"id": "a\x7fb"}, "id"),
    ],
)
def test_an_envelope_that_cannot_be_a_lead_event_is_invalid_and_its_field_named(
    changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidError) as caught:
        of_envelope(**changes)
    assert [each.field for each in caught.value.errors] == [field]


def test_no_lead_at_all_is_left_open() -> None:
    assert of_envelope(data={"organizationId": ORGANIZATION}).lead_id is None


@pytest.mark.parametrize(
    ("cloud_event_type", "event_type"),
    [
        ("billing.subscription-created", "subscription_created"),
        ("purchases.purchase-completed", "purchase_completed"),
        ("billing.invoice-paid", "billing.invoice-paid"),
        ("message.received", "message.received"),
        ("subscription_created", "subscription_created"),
        ("com.acme.subscription-created", "com.acme.subscription-created"),
        ("billing.Subscription-Created", "billing.Subscription-Created"),
        ("billing.subscription_created", "billing.subscription_created"),
    ],
)
def test_only_a_domain_event_of_the_catalogue_takes_the_catalogues_name(cloud_event_type: str, event_type: str) -> None:
    assert event_type_of(cloud_event_type) == event_type


def test_a_bus_event_of_plain_data_is_a_lead_event_under_eventbridges_id() -> None:
    detail = {"organizationId": ORGANIZATION, "leadId": LEAD, **PLAN}
    draft = draft_of_envelope(read_message(json.dumps(bus_event(detail))), None, START)
    assert (draft.external_event_id, draft.source, draft.payload) == (bus_event({})["id"], "billing_service", PLAN)


def test_a_replayed_envelope_has_the_id_it_had() -> None:
    replayed = bus_event(envelope(), id="another", time="2026-04-01T00:00:00Z", **{"replay-name": "r1"})
    assert draft_of_envelope(read_message(json.dumps(replayed)), None, START).external_event_id == ENVELOPE_ID


def test_a_direct_body_says_everything_about_the_event() -> None:
    draft = of_direct()
    assert (draft.organization_id, draft.lead_id, draft.source, draft.source_type) == (
        ORGANIZATION,
        LEAD,
        "crm",
        "INTERNAL",
    )
    assert (draft.event_type, draft.external_event_id, draft.payload) == ("subscription_created", "x-1", PLAN)
    assert (draft.object_id, draft.object_id_ref, draft.raw_payload) == ("sub_1", "ref_1", "raw ✓")
    assert (draft.occurred_at, draft.received_at) == (parse_instant("2026-03-25T14:00:00Z", "t"), START)


@pytest.mark.parametrize("field", ["source", "eventType", "occurredAt", "payload"])
def test_a_direct_body_without_a_required_field_is_invalid(field: str) -> None:
    with pytest.raises(InvalidError) as caught:
        of_direct(without=field)
    assert [(each.field, each.rule) for each in caught.value.errors] == [(field, "is required")]


@pytest.mark.parametrize("field", ["sourceType", "externalEventId", "objectId", "objectIdRef", "rawPayload"])
def test_every_other_field_may_be_missing_or_null(field: str) -> None:
    source = {"source": "billing_service"}
    assert of_direct(without=field, **source) == of_direct(**{field: None}, **source)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"source": 1}, "source"), ({"sourceType": "NONE"}, "sourceType"), ({"eventType": "a#b"}, "eventType"),
        ({"externalEventId": 5}, "externalEventId"), ({"externalEventId": "a\x00"}, "externalEventId"),
        ({"occurredAt": 1714557600}, "occurredAt"), ({"objectId": []}, "objectId"), ({"objectIdRef": "a" * 256}, "objectIdRef"),
        ({"rawPayload": {"a": 1}}, "rawPayload"),
    ],
)  # fmt: skip
def test_a_direct_field_that_breaks_a_rule_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidError) as caught:
        of_direct(**changes)
    assert [each.field for each in caught.value.errors] == [field]


@pytest.mark.parametrize(
    "changes", [{"organizationId": "org_B"}, {"leadId": "lead_2"}, {"leadId": None}, {"leadId": [LEAD]}]
)
def test_a_body_that_names_another_lead_than_its_path_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidError) as caught:
        of_direct(**changes)
    assert (caught.value.code, caught.value.errors[0].field) == ("unexpected_field", next(iter(changes)))


def test_a_body_that_repeats_its_path_is_fine() -> None:
    assert of_direct(organizationId=ORGANIZATION, leadId=LEAD) == of_direct()


@pytest.mark.parametrize("field", ["ttl", "pk", "eventId", "receivedAt", "leadOrganizationId", "ana.teste@example.org"])
def test_fields_that_are_not_the_callers_are_refused_without_naming_them(field: str) -> None:
    with pytest.raises(InvalidError) as caught:
        of_direct(**{field: "x"})
    assert caught.value.code == "unexpected_field"
    assert field not in f"{caught.value} {caught.value.errors}"


@pytest.mark.parametrize("text", ["[]", "null", "5", '"x"'])
def test_a_direct_body_is_an_object(text: str) -> None:
    with pytest.raises(InvalidError):
        draft_of_direct(text, ORGANIZATION, LEAD, None, START)


def test_the_idempotency_key_stands_in_where_there_is_no_external_id() -> None:
    assert of_direct("key-1", without="externalEventId").external_event_id == "key-1"
    assert of_direct("key-1", externalEventId="").external_event_id == "key-1"
    assert of_direct("key-1").external_event_id == "x-1"
    assert of_direct("", without="externalEventId").external_event_id is None


@pytest.mark.parametrize("key", ["k" * 256, "a\x00"])
def test_an_impossible_idempotency_key_is_invalid(key: str) -> None:
    with pytest.raises(InvalidError) as caught:
        of_direct(key, without="externalEventId")
    assert caught.value.errors[0].field == "Idempotency-Key"


def test_an_impossible_idempotency_key_is_invalid_also_beside_an_external_id() -> None:
    with pytest.raises(InvalidError) as caught:
        of_direct("a" * 256, externalEventId="evt-1")
    assert caught.value.errors[0].field == "Idempotency-Key"
