"""What each of WhatsApp's notices becomes, and what its messages say."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lead_events.event import EventDraft
from lead_events.providers import find
from lead_events.providers.whatsapp import translate
from tests.samples import load, names
from tests.support import meta
from tests.support.meta import check, shape
from tests.support.providers import corpus, shared
from tests.support.whatsapp import drafts_of, main, payload_of, sample, value_of

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


# The shared facts


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
