"""What each of Instagram's notices becomes, and whose it is."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lead_events.errors import InvalidError, RejectedError
from lead_events.event import EventDraft, OrganizationEvent
from lead_events.providers import find
from lead_events.providers.instagram import translate
from tests.samples import load, names
from tests.support import meta
from tests.support.meta import NOW, check, damaged_bodies, shape
from tests.support.providers import corpus, shared

SENT = datetime(2026, 1, 8, 13, 0, tzinfo=UTC)
ANA = "instagram:1790000000000011"
STARTED = "conversation_started"
SAID = ["message.received", STARTED]
BECOMES = {
    "batch": [*SAID, "InvalidError", "InvalidError", *SAID, "InvalidError", "instagram.read"],
    "comments": ["interest_detected"],
    "comments.ad_in_milliseconds": ["interest_detected"],
    "comments.entry_is_the_change": ["interest_detected"],
    "comments.own": ["instagram.comments"],
    "mentions": ["instagram.mentions"],
    "message.ad_referral": ["message.received", "interest_detected", STARTED],
    "message.deleted": ["instagram.message_deleted"],
    "message.echo": ["instagram.message_echo"],
    "message.ephemeral": SAID,
    "message.image": SAID,
    "message.product_question": ["product_asked", STARTED],
    "message.product_without_words": SAID,
    "message.quick_reply": SAID,
    "message.quick_reply_campaign": ["campaign_engaged", STARTED],
    "message.reply": SAID,
    "message.story_mention": SAID,
    "message.story_reply": ["message.received", "interest_detected", STARTED],
    "message.text": SAID,
    "message.unsupported": ["instagram.message.unsupported", STARTED],
    "message_edit": ["instagram.message_edit"],
    "message_edit.no_sender": ["instagram.message_edit"],
    "messages.test_button": SAID,
    "pass_thread_control": ["instagram.pass_thread_control"],
    "postback": ["instagram.postback", STARTED],
    "postback.campaign": ["campaign_engaged", STARTED],
    "reaction": ["instagram.reaction"],
    "reaction.removed": ["instagram.reaction"],
    "read": ["instagram.read"],
    "referral.ad": ["interest_detected", STARTED],
    "referral.empty": ["instagram.referral", STARTED],
    "referral.link": ["campaign_engaged", STARTED],
    "standby": SAID,
    "story_insights": ["[instagram.story-insights]"],
}


drafts_of = partial(meta.drafts_of, "instagram")
main = partial(meta.main, "instagram")
payload_of = partial(meta.payload_of, "instagram")
identities = partial(meta.identities, "instagram")


def sample(name: str, **changes: Any) -> dict[str, Any]:
    """A sample as JSON; ``changes`` replace fields of its first item (``None`` drops them)."""
    body = meta.sample("instagram", name)
    entry = body["entry"][0]
    item = (
        entry["changes"][0]["value"]
        if "changes" in entry
        else (entry.get("messaging") or entry.get("standby") or [entry])[0]
    )
    item.update(changes)
    for field in [field for field, change in changes.items() if change is None]:
        del item[field]
    return body


def test_every_sample_has_its_promise() -> None:
    assert sorted(BECOMES) == names("instagram")


@pytest.mark.parametrize("name", BECOMES)
def test_a_sample_becomes_the_events_of_the_table(name: str) -> None:
    found = meta.translated("instagram", load("instagram", name).decode())
    assert shape(found) == BECOMES[name]
    check([each for each in found if isinstance(each, EventDraft)], "instagram")


def test_the_provider_is_found_by_its_name() -> None:
    assert find("instagram").translate is translate


# What happened


def test_a_message_is_known_by_its_id_and_says_its_text() -> None:
    draft = main(sample("message.text"))
    assert draft.external_event_id == draft.object_id_ref == "m_TEXT"
    assert draft.payload == {"text": "Olá, qual o preço? 😊", "mediaType": "text", "accountId": "17841499900000001"}


def test_media_are_named_by_kind_and_their_expiring_addresses_are_left_to_the_raw_payload() -> None:
    draft = main(sample("message.image"))
    assert isinstance(draft.payload, dict)
    assert (draft.payload["mediaType"], draft.payload["mediaTypes"]) == ("image", ["image", "video"])
    for name in names("instagram"):
        assert "cdn.example" not in json.dumps([each.payload for each in drafts_of(sample(name))], default=str)
    assert "cdn.example" in (draft.raw_payload or "")


def test_a_question_about_a_product_is_one() -> None:
    payload = payload_of(sample("message.product_question"))
    assert (payload["productId"], payload["question"], payload["channel"]) == (
        "100000000000009",
        "Tem certificado?",
        "instagram",
    )
    assert payload_of(sample("message.product_without_words"))["productId"] == "100000000000009"


def test_an_answered_advertisement_is_an_interest_beside_the_message_and_its_attribution() -> None:
    message, interest, started = drafts_of(sample("message.ad_referral"))
    assert interest.external_event_id == "m_AD:interest_detected"
    assert interest.payload["adId"] == "120000000000000009"  # type: ignore[index,call-overload]
    assert message.tracking == interest.tracking == started.tracking
    assert message.tracking == {
        "ref": "verao", "ad_id": "120000000000000009", "source": "ADS", "ad_title": "Curso de Vendas"}  # fmt: skip


def test_an_answered_story_is_an_interest() -> None:
    message, interest, _ = drafts_of(sample("message.story_reply"))
    assert message.payload["text"] == "Amei"  # type: ignore[index,call-overload]
    assert (interest.payload["signal"], interest.payload["storyId"]) == ("story_reply", "17900000000000009")  # type: ignore[index,call-overload]


@pytest.mark.parametrize("name", ["message.quick_reply_campaign", "postback.campaign"])
def test_an_answer_that_names_its_campaign_is_engagement(name: str) -> None:
    assert payload_of(sample(name))["campaignId"] == "cmp_3"


def test_other_answers_are_kept_as_they_are() -> None:
    assert payload_of(sample("postback"))["payload"] == "TALK_TO_HUMAN"
    assert payload_of(sample("message.quick_reply"))["reply"] == {"kind": "quick_reply", "id": "YES"}


def test_a_link_names_its_campaign() -> None:
    payload = payload_of(sample("referral.link"))
    assert (payload["campaignId"], payload["engagementType"]) == ("campanha-2026-01", "link")
    named = payload_of(sample("referral.link", referral={"ref": "campaignId=cmp_3&x=1"}))
    assert named["campaignId"] == "cmp_3"


def test_nobody_can_choose_a_lead_by_a_link() -> None:
    assert main(sample("referral.link", referral={"ref": "leadId=lead_other"})).lead_id is None


def test_a_reaction_may_come_again() -> None:
    first, later = main(sample("reaction")), main(sample("reaction", timestamp=1767877200105))
    assert first.external_event_id != later.external_event_id != main(sample("reaction.removed")).external_event_id
    assert payload_of(sample("reaction"))["emoji"] == "❤️"


def test_an_echo_is_about_who_it_went_to_and_starts_no_conversation() -> None:
    assert identities(sample("message.echo")) == [ANA]


@pytest.mark.parametrize("name", ["message.text", "postback", "referral.link", "reaction"])
def test_what_the_business_does_itself_is_an_echo_too(name: str) -> None:
    body = sample(name, sender={"id": "17841499900000001"}, recipient={"id": "1790000000000011"})
    [draft] = drafts_of(body)
    assert identities(body) == [ANA]
    assert draft.event_type != "message.received"


def test_a_deleted_message_is_told_beside_the_message() -> None:
    draft = main(sample("message.deleted"))
    assert (draft.external_event_id, draft.object_id_ref) == ("m_TEXT:deleted", "m_TEXT")


def test_an_edit_is_told_each_time() -> None:
    assert main(sample("message_edit")).external_event_id == "m_TEXT:edit:1"


def test_an_edit_of_nobody_is_kept_without_a_lead() -> None:
    [draft] = drafts_of(sample("message_edit.no_sender"))
    assert (draft.identities, draft.lead_id, draft.external_event_id) == ((), None, "m_NEW:edit:0")


def test_a_comment_is_an_interest_unless_the_business_wrote_it() -> None:
    draft, own = main(sample("comments")), main(sample("comments.own"))
    assert (draft.payload["signal"], draft.payload["text"]) == ("comment", "Quero!")  # type: ignore[index,call-overload]
    assert draft.external_event_id == "17865799348089039"
    assert [identity.value for identity in draft.identities] == [ANA]
    assert own.identities == ()
    assert main(sample("comments.ad_in_milliseconds")).tracking == {"ad_id": "120000000000000009"}


def test_no_payload_holds_who_commented() -> None:
    for name in names("instagram"):
        shown = json.dumps([draft.payload for draft in drafts_of(load("instagram", name).decode())], default=str)
        assert "ana.lima" not in shown
        assert "1790000000000011" not in shown


def test_messages_of_a_conversation_that_another_app_handles_are_read_too() -> None:
    assert payload_of(sample("standby"))["text"] == "Oi"


def test_the_dashboards_test_is_marked() -> None:
    assert all(draft.payload["test"] is True for draft in drafts_of(sample("messages.test_button")))  # type: ignore[index,call-overload]


def test_what_the_account_is_told_is_the_organisations() -> None:
    [event] = meta.translated("instagram", sample("story_insights"))
    assert isinstance(event, OrganizationEvent)


# Times


def test_the_place_decides_the_unit_of_a_time() -> None:
    told = datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert main(sample("message.text", timestamp=1714557600000)).occurred_at == told
    assert main(sample("standby", timestamp=1714557600000)).occurred_at == told
    assert main(sample("messages.test_button", timestamp="1714557600")).occurred_at == told


def test_small_milliseconds_stay_milliseconds() -> None:
    assert main(sample("message.text", timestamp=20_000_000_000)).occurred_at == datetime(
        1970, 8, 20, 11, 33, 20, tzinfo=UTC
    )


@pytest.mark.parametrize("timestamp", ["ontem", "", None, True, [], -1, 10**40])
def test_a_time_that_instagram_would_not_write_is_refused(timestamp: Any) -> None:
    [refused] = meta.translated("instagram", sample("message.text", timestamp=timestamp))
    assert isinstance(refused, InvalidError)
    assert refused.code == "invalid_time"


def test_milliseconds_where_seconds_stand_are_refused_never_guessed() -> None:
    [refused] = meta.translated("instagram", sample("messages.test_button", timestamp="1714557600000"))
    assert isinstance(refused, InvalidError)


def test_a_comment_happened_when_it_was_sent_or_else_when_it_came() -> None:
    assert main(sample("comments")).occurred_at == SENT
    assert main(sample("comments.ad_in_milliseconds")).occurred_at == SENT.replace(microsecond=567_000)
    body = sample("comments")
    del body["entry"][0]["time"]
    assert main(body).occurred_at == NOW


# Batches, and nothing that is verified breaks us


def test_one_bad_item_keeps_none_of_the_others_out() -> None:
    found = meta.translated("instagram", load("instagram", "batch").decode())
    refused = [each.errors[0].field for each in found if isinstance(each, RejectedError)]
    assert refused == ["entry[0].messaging[1]", "entry[0].messaging[2].timestamp", "entry[1]"]


def test_items_of_all_lists_are_read_and_each_keeps_its_own_text() -> None:
    body = sample("message.text")
    body["entry"][0] |= {
        "standby": sample("standby")["entry"][0]["standby"],
        "changes": sample("comments")["entry"][0]["changes"],
    }
    found = drafts_of(body)
    assert [draft.event_type for draft in found] == [*SAID, *SAID, "interest_detected"]
    for draft in found:
        assert meta.without_raw(draft) in [meta.without_raw(each) for each in drafts_of(draft.raw_payload)]
    assert "17865799348089039" not in (found[0].raw_payload or "")


@settings(max_examples=400, deadline=None)
@given(damaged_bodies("instagram"))
def test_damaged_deliveries_become_events_or_a_clean_refusal(body: Any) -> None:
    meta.check_damaged("instagram", "instagram", body)


@corpus
def test_every_shared_sample_is_translated() -> None:
    expected = {
        "message.ad_referral": ["message.received", "interest_detected", STARTED],
        "message.echo": ["instagram.message_echo"],
        "message.ephemeral": SAID,
        "message.shop_product_referral": ["product_asked", STARTED],
        "message.story_reply": ["message.received", "interest_detected", STARTED],
        "message.text": SAID,
        "message_edit.num_edit_0_no_sender": ["instagram.message_edit"],
        "message_reaction": ["instagram.reaction"],
        "messaging_postback": ["instagram.postback", STARTED],
        "messaging_referral": ["campaign_engaged", STARTED],
        "messaging_seen": ["instagram.read"],
    }
    files = {path.stem: path.read_text() for path in (Path(shared) / "providers/samples/instagram").glob("*.json")}
    assert {name: shape(meta.translated("instagram", text)) for name, text in files.items()} == expected
    for text in files.values():
        check(drafts_of(text), "instagram")
        assert all(draft.raw_payload == text for draft in drafts_of(text))
