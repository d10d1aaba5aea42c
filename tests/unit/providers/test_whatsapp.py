"""What each of WhatsApp's notices becomes, and whose it is."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lead_events.errors import InvalidError, RejectedError
from lead_events.event import EventDraft, OrganizationEvent
from lead_events.providers import find
from lead_events.providers.whatsapp import translate
from tests.samples import load, names
from tests.support import meta
from tests.support.meta import NOW, check, damaged_bodies, shape

shared = os.environ.get("LEAD_EVENTS_SHARED", "")
corpus = pytest.mark.skipif(not shared, reason="LEAD_EVENTS_SHARED names no folder of shared facts")

STARTED = "conversation_started"
SAID = ["message.received", STARTED]
BECOMES = {
    "batch": [*SAID, *SAID, "InvalidError", "InvalidError", "whatsapp.status.delivered", "InvalidError", "InvalidError",
              *SAID, "InvalidError", *SAID],
    "calls": ["whatsapp.calls"],
    "errors": ["whatsapp.errors"],
    "message.audio": SAID,
    "message.button": SAID,
    "message.button_campaign": ["campaign_engaged", STARTED],
    "message.button_reply": SAID,
    "message.contacts_requested": SAID,
    "message.contacts_shared": SAID,
    "message.document": SAID,
    "message.group": ["message.received"],
    "message.image": SAID,
    "message.list_reply": SAID,
    "message.location": SAID,
    "message.new_kind": ["whatsapp.message.hologram"],
    "message.nfm_reply": ["form_submitted", STARTED],
    "message.nfm_reply_no_token": ["whatsapp.message.nfm_reply", STARTED],
    "message.order": ["purchase_abandoned", STARTED],
    "message.product_photo": SAID,
    "message.product_question": ["product_asked", STARTED],
    "message.reaction": ["whatsapp.message.reaction"],
    "message.reaction_removed": ["whatsapp.message.reaction"],
    "message.referral_ad": [SAID[0], "interest_detected", STARTED],
    "message.reply": SAID,
    "message.test_button": SAID,
    "message.text": SAID,
    "message.unsupported": ["whatsapp.message.unsupported", STARTED],
    "message_template_status_update": ["[whatsapp.message-template-status-update]"],
    "smb_message_echoes": ["whatsapp.message_echo"],
    "status.delivered": ["whatsapp.status.delivered"],
    "status.delivered_campaign": ["campaign_delivered"],
    "status.failed": ["whatsapp.status.failed"],
    "status.group": ["whatsapp.status.read"],
    "status.read": ["whatsapp.status.read"],
    "status.read_campaign": ["campaign_engaged"],
    "status.sent": ["whatsapp.status.sent"],
    "system.customer_changed_number_old": ["whatsapp.system.customer_changed_number"],
    "system.user_changed_number": ["whatsapp.system.user_changed_number"],
    "user_preferences.stop": ["whatsapp.user_preferences.stop"],
}  # fmt: skip


def drafts_of(body: Any, lead_id: str | None = None) -> list[EventDraft]:
    return meta.drafts_of("whatsapp", body, lead_id)


def value_of(body: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = body["entry"][0]["changes"][0]["value"]
    return value


def sample(name: str, **changes: Any) -> dict[str, Any]:
    """A sample as JSON; ``changes`` replace fields of its first message, status or preference (``None`` drops them)."""
    body = meta.sample("whatsapp", name)
    lists = ("messages", "statuses", "user_preferences", "message_echoes")
    [first] = [found[0] for each in lists if (found := value_of(body).get(each))] or [{}]
    first.update(changes)
    for field in [field for field, change in changes.items() if change is None]:
        del first[field]
    return body


def main(body: Any, lead_id: str | None = None) -> EventDraft:
    """The event that a message or status is."""
    return drafts_of(body, lead_id)[0]


def payload_of(body: Any) -> dict[str, Any]:
    payload = main(body).payload
    assert isinstance(payload, dict)
    return payload


def identities(body: Any) -> list[str]:
    return [identity.value for identity in main(body).identities]


def test_every_sample_has_its_promise() -> None:
    assert sorted(BECOMES) == names("whatsapp")


@pytest.mark.parametrize("name", BECOMES)
def test_a_sample_becomes_the_events_of_the_table(name: str) -> None:
    found = meta.translated("whatsapp", load("whatsapp", name).decode())
    assert shape(found) == BECOMES[name]
    check([each for each in found if isinstance(each, EventDraft)], "whatsapp")


def test_the_provider_is_found_by_its_name() -> None:
    assert find("whatsapp").translate is translate


# What a message says


def test_a_message_is_known_by_its_id_and_says_its_text() -> None:
    draft = main(sample("message.text"))
    assert draft.external_event_id == draft.object_id_ref == "wamid.HBgNTTEXT=="
    assert draft.payload == {
        "text": "Olá, quero saber mais sobre o curso 😊 <b>100%</b>",
        "mediaType": "text",
        "phoneNumberId": "700000000000001",
    }


def test_media_have_their_id_and_their_caption_is_the_text() -> None:
    image = payload_of(sample("message.image"))
    assert (image["text"], image["mediaType"], image["media"]["id"]) == ("É este?", "image", "900000000000001")
    assert payload_of(sample("message.audio"))["media"]["voice"] is True
    assert payload_of(sample("message.document"))["media"]["filename"] == "proposta.pdf"


def test_answers_say_what_was_chosen_and_to_what() -> None:
    button = payload_of(sample("message.button"))
    assert (button["text"], button["reply"], button["repliesTo"]) == (
        "Sim, quero",
        {"kind": "button", "id": "SIM", "title": "Sim, quero"},
        "wamid.HBgNX==",
    )
    assert payload_of(sample("message.button_reply"))["reply"] == {
        "kind": "button_reply", "id": "opt_1", "title": "Plano Pro"}  # fmt: skip
    assert payload_of(sample("message.list_reply"))["reply"]["description"] == "Mensal"
    reply = payload_of(sample("message.reply"))
    assert (reply["repliesTo"], reply["forwarded"]) == ("wamid.HBgNCAMPAIGN==", True)


def test_a_button_that_names_its_campaign_is_engagement() -> None:
    payload = payload_of(sample("message.button_campaign"))
    assert (payload["campaignId"], payload["engagementType"], payload["text"]) == ("cmp_3", "click", "Sim, quero")


def test_a_question_about_a_product_is_one() -> None:
    payload = payload_of(sample("message.product_question"))
    assert (payload["productId"], payload["question"], payload["channel"]) == (
        "prod_curso_vendas",
        "Tem certificado?",
        "whatsapp",
    )
    assert payload_of(sample("message.product_photo"))["productId"] == "prod_curso_vendas"


def test_an_order_is_an_unpaid_cart_summed_exactly() -> None:
    payload = payload_of(sample("message.order"))
    assert (payload["productIds"], payload["cartValue"], payload["currency"], payload["stageAbandoned"]) == (
        ["prod_a", "prod_b"],
        Decimal("59.8"),  # in floating point it would be 59.79999999999999…
        "BRL",
        "cart",
    )
    assert payload["text"] == "Pode entregar hoje?"


@pytest.mark.parametrize(
    "line",
    [{"item_price": None}, {"item_price": -1}, {"item_price": "a"}, {"item_price": True}, {"quantity": None}, {"quantity": [1]},
     {"currency": "USD"}, {"currency": None}, {"currency": "brl"}, {"item_price": 10**40}],
)  # fmt: skip
def test_a_cart_with_a_line_that_is_not_understood_has_no_value_rather_than_a_wrong_one(line: dict[str, Any]) -> None:
    body = sample("message.order")
    value_of(body)["messages"][0]["order"]["product_items"][1].update(line)
    payload = payload_of(body)
    assert main(body).event_type == "purchase_abandoned"
    assert "cartValue" not in payload
    assert "currency" not in payload
    assert payload["productIds"] == ["prod_a", "prod_b"]


def test_prices_may_be_strings() -> None:
    body = sample("message.order")
    value_of(body)["messages"][0]["order"]["product_items"][1].update({"item_price": "0.10", "quantity": "2"})
    assert payload_of(body)["cartValue"] == Decimal("59.90")


def test_a_form_is_named_by_our_token_which_also_names_the_lead() -> None:
    draft = main(sample("message.nfm_reply"), "lead_url")
    assert (draft.event_type, draft.lead_id) == ("form_submitted", "lead_ana")
    assert isinstance(draft.payload, dict)
    assert draft.payload["formId"] == "form_9"
    assert draft.payload["responses"] == [
        {"field": "team size", "answer": "5 a 10"},
        {"field": "topics", "answer": ["vendas", "ads"]},
    ]


@pytest.mark.parametrize(
    ("token", "form"),
    [("form_9", "form_9"), ("form_9:abc", "form_9"), ('{"formId":"form_9"}', "form_9"), ("x=1", None), ("unused", None),
     ("", None), (None, None), (7, None), ("{broken", None)],
)  # fmt: skip
def test_a_form_without_a_name_of_ours_is_kept_with_its_answers(token: Any, form: str | None) -> None:
    answers = json.dumps({"flow_token": token, "size": 5})
    body = sample("message.nfm_reply")
    value_of(body)["messages"][0]["interactive"]["nfm_reply"]["response_json"] = answers
    draft = main(body)
    assert draft.event_type == ("form_submitted" if form else "whatsapp.message.nfm_reply")
    assert isinstance(draft.payload, dict)
    assert draft.payload.get("formId") == form
    assert draft.payload["responses"] == [{"field": "size", "answer": 5}]


@pytest.mark.parametrize("answers", ["{", "[]", "", '{"a":1,"a":2}', '{"flow_token":"f","x":1e999}', None, {}])
def test_answers_that_cannot_be_read_lose_no_event(answers: Any) -> None:
    body = sample("message.nfm_reply")
    value_of(body)["messages"][0]["interactive"]["nfm_reply"]["response_json"] = answers
    check(drafts_of(body), "whatsapp")


def test_an_answer_that_cannot_be_stored_is_left_to_the_raw_payload() -> None:
    body = sample("message.nfm_reply")
    odd = {"flow_token": "form_9", "long": {"k" * 1025: 1}, "": 1, "number": 10**40 + 1, "good": "x", "__proto__": "y"}
    value_of(body)["messages"][0]["interactive"]["nfm_reply"]["response_json"] = json.dumps(odd)
    assert [each["field"] for each in payload_of(body)["responses"]] == ["good", "__proto__"]


def test_an_advertisement_is_an_interest_context_and_attribution() -> None:
    message, interest, started = drafts_of(sample("message.referral_ad"))
    assert message.tracking == interest.tracking == started.tracking
    assert interest.external_event_id == f"{message.external_event_id}:interest_detected"
    assert isinstance(interest.payload, dict)
    assert (interest.payload["signal"], interest.payload["channel"]) == ("ad", "whatsapp")
    assert message.tracking["ctwa_clid"] == "clid_1"
    assert message.tracking["ad_id"] == "120000000000000001"
    assert isinstance(message.payload, dict)
    assert message.payload["referral"] == started.payload["referral"]  # type: ignore[index,call-overload]


def test_a_reaction_names_its_message_and_starts_no_conversation() -> None:
    reaction, removed = payload_of(sample("message.reaction")), payload_of(sample("message.reaction_removed"))
    assert (reaction["reactsTo"], reaction["emoji"]) == ("wamid.HBgNX==", "👍")
    assert (removed["reactsTo"], removed["removed"]) == ("wamid.HBgNX==", True)


def test_what_whatsapp_cannot_show_is_kept_with_the_reason() -> None:
    assert payload_of(sample("message.unsupported"))["errorCode"] == 131051


def test_the_dashboards_test_is_marked() -> None:
    assert all(draft.payload["test"] is True for draft in drafts_of(sample("message.test_button")))  # type: ignore[index,call-overload]


def test_names_and_phones_of_people_stay_out_of_payloads() -> None:
    for name in names("whatsapp"):
        shown = json.dumps(
            [draft.payload for draft in drafts_of(load("whatsapp", name).decode())], default=str, ensure_ascii=False
        )
        allowed = ("message.nfm_reply_no_token",)  # what somebody answers in a form is the payload
        assert name in allowed or not [
            each for each in ("55119", "55619", "Ana Lima", "Gil Nunes", "Zoe") if each in shown
        ]


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
    try:
        found = meta.translated("whatsapp", body)
    except RejectedError:
        # What an entry holds is never a reason to refuse the whole.
        ours = isinstance(body, dict) and body.get("object") == "whatsapp_business_account"
        assert not ours or not isinstance(body.get("entry"), list) or not body["entry"]
        return
    assert found
    for draft in (each for each in found if isinstance(each, EventDraft)):
        check([draft], "whatsapp")
        assert meta.without_raw(draft) in [meta.without_raw(each) for each in drafts_of(draft.raw_payload)]


@corpus
def test_every_shared_sample_is_translated() -> None:
    expected = {
        "message.contacts_bsuid_only": SAID,
        "message.flow_nfm_reply": ["form_submitted", STARTED],
        "message.interactive_button_reply": SAID,
        "message.interactive_list_reply": SAID,
        "message.order": ["purchase_abandoned", STARTED],
        "message.reaction": ["whatsapp.message.reaction"],
        "message.referral": [SAID[0], "interest_detected", STARTED],
        "message.reply_context": SAID,
        "message.template_quick_reply": SAID,
        "message.text": SAID,
        "message.text_br_bsuid_8digit": SAID,
        "message.unsupported": ["whatsapp.message.unsupported", STARTED],
        "status.delivered": ["whatsapp.status.delivered"],
        "status.failed": ["whatsapp.status.failed"],
        "status.read": ["whatsapp.status.read"],
        "status.sent_pmp_2026": ["whatsapp.status.sent"],
        "status.sent_with_tracker": ["whatsapp.status.sent"],
        "system.user_changed_number": ["whatsapp.system.user_changed_number"],
        "system.user_changed_number_bsuid": ["whatsapp.system.user_changed_number"],
        "user_preferences.marketing_resume": ["whatsapp.user_preferences.resume"],
    }
    files = {path.stem: path.read_text() for path in (Path(shared) / "providers/samples/whatsapp").glob("*.json")}
    assert {name: shape(meta.translated("whatsapp", text)) for name, text in files.items()} == expected
    for text in files.values():
        check(drafts_of(text), "whatsapp")
        assert all(draft.raw_payload == text and draft.identities for draft in drafts_of(text))
