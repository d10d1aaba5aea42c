"""When WhatsApp's notices happened, whose they are, their statuses and batches, and that none breaks us."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from lead_events.errors import InvalidError, RejectedError
from lead_events.event import OrganizationEvent
from tests.samples import load
from tests.support import meta
from tests.support.meta import NOW, damaged_bodies
from tests.support.whatsapp import drafts_of, identities, main, payload_of, sample, value_of

# Times


@pytest.mark.parametrize("name", ["message.text", "status.read", "user_preferences.stop", "smb_message_echoes"])
def test_times_are_unix_seconds(name: str) -> None:
    told = 1714557600 if name == "user_preferences.stop" else "1714557600"
    assert main(sample(name, timestamp=told)).occurred_at == datetime(2024, 5, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "timestamp", ["1714557600000", "ontem", "", None, True, [], -1, "1" * 40, "2024-05-01T10:00:00Z"]
)
def test_a_time_that_whatsapp_would_not_write_is_refused_never_guessed(timestamp: Any) -> None:
    [refused] = meta.translated("whatsapp", sample("message.text", timestamp=timestamp))
    assert isinstance(refused, InvalidError)
    assert refused.code == "invalid_time"


# Statuses


def test_a_status_is_one_event_for_each_state_of_a_message() -> None:
    ids = [main(sample(name)).external_event_id for name in ("status.delivered", "status.read")]
    assert ids == ["wamid.HBgNS2==:delivered", "wamid.HBgNS2==:read"]


def test_a_delivered_message_of_a_campaign_is_the_campaigns_delivery() -> None:
    draft = main(sample("status.delivered_campaign"), "lead_url")
    assert draft.lead_id == "lead_ana"
    assert draft.payload == {
        "campaignId": "cmp_3",
        "campaignName": "Volta às aulas",
        "productId": "prod_42",
        "channel": "whatsapp",
        "phoneNumberId": "700000000000001",
    }


def test_a_read_message_of_a_campaign_is_engagement() -> None:
    payload = payload_of(sample("status.read_campaign"))
    assert (payload["campaignId"], payload["engagementType"]) == ("cmp_3", "read")


def test_a_failed_message_says_why() -> None:
    payload = payload_of(sample("status.failed"))
    assert (payload["errorCode"], payload["errorTitle"]) == (131049, "Frequency capped")


def test_each_reader_in_a_group_is_told_and_the_group_is_nobodys_phone() -> None:
    first = main(sample("status.group"))
    other = main(sample("status.group", recipient_participant_id="5511900000012"))
    assert first.external_event_id != other.external_event_id
    assert first.identities == ()


# Whose event it is


def test_a_person_is_the_business_scoped_id_first_and_then_the_phone_as_written() -> None:
    assert identities(sample("message.text")) == ["whatsapp:BR.2000000000000011", "+5511900000011"]


def test_contacts_are_found_by_id_never_by_position() -> None:
    drafts = {draft.object_id_ref: draft for draft in drafts_of(load("whatsapp", "batch").decode())}
    people = {name: [identity.value for identity in draft.identities] for name, draft in drafts.items()}
    bia = ["whatsapp:BR.2000000000000022", "+556190000022"]  # without its ninth digit, as WhatsApp has it
    assert people == {
        "wamid.HBgNTB1==": ["whatsapp:BR.2000000000000011", "+5511900000011"],
        "wamid.HBgNTB2==": bia,  # named by the phone alone
        "wamid.HBgNB3==": bia,
        "wamid.HBgNTB4==": ["whatsapp:BR.2000000000000011", "+5511900000011"],  # named by the id alone
        "wamid.HBgNTB5==": bia,
    }


def test_a_contact_of_somebody_else_is_nobodys_identity() -> None:
    assert identities(sample("user_preferences.stop")) == ["+5511900000011"]
    assert identities(sample("message.contacts_shared")) == ["whatsapp:BR.2000000000000011", "+5511900000011"]


def test_a_phone_given_on_request_is_the_persons_own() -> None:
    assert identities(sample("message.contacts_requested")) == ["whatsapp:BR.2000000000000033", "+5511900000033"]
    assert identities(sample("message.contacts_requested", origin="other")) == ["whatsapp:BR.2000000000000033"]


def test_a_change_of_number_knows_the_person_by_the_old_and_the_new() -> None:
    assert identities(sample("system.user_changed_number")) == [
        "whatsapp:BR.2000000000000011",
        "whatsapp:BR.2000000000000099",
        "+5511900000011",
        "+5511900000012",
    ]
    assert identities(sample("system.customer_changed_number_old")) == ["+5511900000011", "+5511900000012"]


def test_who_a_business_writes_to_is_the_lead_of_its_echo() -> None:
    assert identities(sample("smb_message_echoes")) == ["+5511900000011"]


@pytest.mark.parametrize("sender", ["", "abc", "123", "0" * 12, "5" * 16, "+5511900000011x", 5511900000011, None, []])
def test_what_is_no_phone_is_no_identity(sender: Any) -> None:
    body = sample("message.text", **{"from": sender, "from_user_id": None})
    value_of(body)["contacts"] = []
    assert main(body).identities == ()


def test_a_message_of_nobody_is_kept_without_a_conversation() -> None:
    body = sample("message.text", **{"from": None, "from_user_id": None})
    del value_of(body)["contacts"]
    [draft] = drafts_of(body)
    assert (draft.event_type, draft.identities, draft.lead_id) == ("message.received", (), None)


# Batches and what is about no lead


def test_one_bad_element_keeps_none_of_the_others_out() -> None:
    found = meta.translated("whatsapp", load("whatsapp", "batch").decode())
    refused = [each.errors[0].field for each in found if isinstance(each, RejectedError)]
    assert refused == [
        "entry[0].changes[0].value.messages[2].timestamp",
        "entry[0].changes[0].value.messages[3].timestamp",
        "entry[0].changes[0].value.statuses[1].id",
        "entry[0].changes[1].field",
        "entry[1]",
    ]


def test_an_event_of_a_batch_keeps_nobody_elses_data() -> None:
    drafts = {draft.object_id_ref: draft.raw_payload or "" for draft in drafts_of(load("whatsapp", "batch").decode())}
    assert "Bia Melo" not in drafts["wamid.HBgNTB1=="]
    assert "Ana Lima" in drafts["wamid.HBgNTB1=="]
    assert "wamid.HBgNTB1" not in drafts["wamid.HBgNB3=="]


def test_what_the_account_is_told_is_the_organisations() -> None:
    [event] = meta.translated("whatsapp", sample("message_template_status_update"))
    assert isinstance(event, OrganizationEvent)
    assert event.payload["value"]["event"] == "APPROVED"  # type: ignore[index,call-overload]
    [again] = meta.translated("whatsapp", sample("message_template_status_update"))
    assert event == again


def test_an_error_of_the_account_happened_when_it_was_sent() -> None:
    body = sample("errors")
    assert main(body).occurred_at == datetime(2026, 1, 8, 13, 0, tzinfo=UTC)
    del body["entry"][0]["time"]
    assert main(body).occurred_at == NOW


# Nothing that is verified breaks us


@settings(max_examples=400, deadline=None)
@given(damaged_bodies("whatsapp"))
def test_damaged_deliveries_become_events_or_a_clean_refusal(body: Any) -> None:
    meta.check_damaged("whatsapp", "whatsapp_business_account", body)
