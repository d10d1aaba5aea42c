"""What WhatsApp and Instagram share: signature, handshake, cutting a batch, and when a conversation starts."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import ForbiddenError, RejectedError, UnauthenticatedError, UnreadableError
from lead_events.event import EventDraft, LeadEvent, StoredEvent
from lead_events.idempotency import Claim
from lead_events.providers import find, instagram, whatsapp
from lead_events.providers._excerpts import Cuttable
from lead_events.providers._meta import campaign_of, event_id
from tests.samples import load, names
from tests.support.meta import NOW, drafts_of, sample, translated, without_raw
from tests.support.providers import accepts, corpus, shared
from tests.support.signing import meta_headers

SECRET, OLD_SECRET, TOKEN = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210", "let-me-in"
SECRETS = [SECRET, OLD_SECRET, f"verify:{TOKEN}"]
PROVIDERS = [whatsapp, instagram]
BOTH = pytest.mark.parametrize("provider", ["whatsapp", "instagram"])


# The signature


def signed(headers: dict[str, str], body: bytes = b"{}", secrets: list[str] | None = None) -> bool:
    return accepts(whatsapp.verify, headers, body, SECRETS if secrets is None else secrets, NOW)


def test_both_have_one_signature_and_one_handshake() -> None:
    assert whatsapp.verify is instagram.verify
    assert whatsapp.handshake is instagram.handshake
    assert find("whatsapp").verify is find("instagram").verify


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
def test_while_a_secret_is_rotated_either_is_accepted(secret: str) -> None:
    assert signed(meta_headers(b"{}", secret))


@BOTH
def test_the_bytes_are_signed_as_they_came(provider: str) -> None:
    body = load(provider, "message.reply")
    assert signed(meta_headers(body, SECRET), body)
    assert not signed(meta_headers(body, SECRET), json.dumps(json.loads(body)).encode())
    assert not signed(meta_headers(body, SECRET), body + b"\n")


def test_an_escaped_body_is_not_the_same_as_its_text() -> None:
    escaped = rb'{"note":"R\u0026D caf\u00e9 \ud83d\ude00","url":"https:\/\/example.org","total":10.00 }' + b"\n"
    assert signed(meta_headers(escaped, SECRET), escaped)
    assert not signed(meta_headers(escaped, SECRET), json.dumps(json.loads(escaped)).encode())


def test_the_token_of_the_handshake_never_signs() -> None:
    for key in (TOKEN, f"verify:{TOKEN}", ""):
        assert not signed(meta_headers(b"{}", key))
        assert not signed(meta_headers(b"{}", key), secrets=[f" verify:{TOKEN}"])


@pytest.mark.parametrize("secrets", [[], [""], [" ", "\t\n"], [f"verify:{TOKEN}"], ["verify:"]])
def test_without_a_secret_everything_is_refused_even_what_the_empty_key_signed(secrets: list[str]) -> None:
    for key in ["", " ", SECRET, "verify:"]:
        assert not signed(meta_headers(b"{}", key), secrets=secrets)


def test_the_old_sha1_header_and_a_digest_of_another_form_never_count() -> None:
    digest = meta_headers(b"{}", SECRET)["x-hub-signature-256"].removeprefix("sha256=")
    for headers in (
        {"x-hub-signature": f"sha1={digest[:40]}"},
        {"x-hub-signature": f"sha256={digest}"},
        {"x-hub-signature-256": digest},
        {"x-hub-signature-256": f"sha1={digest}"},
        {"x-hub-signature-256": f"sha256={digest.upper()}"},
        {"x-hub-signature-256": f"sha256={digest[:-1]}"},
        {},
    ):
        assert not signed(headers)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_header_is_refused_with_the_same_words(header: str) -> None:
    with pytest.raises(UnauthenticatedError) as refused:
        whatsapp.verify({"x-hub-signature-256": header}, b"{}", SECRETS, NOW)
    with pytest.raises(UnauthenticatedError) as missing:
        whatsapp.verify({}, b"{}", [], NOW)
    assert str(refused.value) == str(missing.value)


@corpus
def test_every_shared_vector_is_judged_as_marked() -> None:
    vectors = json.loads((Path(shared) / "providers" / "vectors.json").read_text())["vectors"]
    ours = [vector for vector in vectors if vector["scheme"] == "meta"]
    assert ours
    for vector in ours:
        headers = {name.lower(): value for name, value in vector["header"].items()}
        judged = "accept" if signed(headers, vector["body"].encode(), [vector["secret"]]) else "reject"
        assert judged == vector["expect"], vector["id"]


# The handshake


def asked(token: str = TOKEN, challenge: str | None = "1158201444", mode: str = "subscribe") -> dict[str, str]:
    query = {"hub.mode": mode, "hub.verify_token": token}
    return query if challenge is None else query | {"hub.challenge": challenge}


def test_the_challenge_is_given_back_to_the_letter() -> None:
    assert whatsapp.handshake(asked(), SECRETS) == "1158201444"
    assert whatsapp.handshake(asked("second"), [*SECRETS, "verify:second"]) == "1158201444"


@pytest.mark.parametrize("token", ["", " ", "wrong", SECRET, f"verify:{TOKEN}", "\ud83d"])
def test_a_wrong_token_is_forbidden_and_a_secret_is_none(token: str) -> None:
    for secrets in (SECRETS, [*SECRETS, "verify:", "verify: "], [], [SECRET]):
        with pytest.raises(ForbiddenError):
            whatsapp.handshake(asked(token), secrets)


def test_another_mode_and_a_missing_token_are_forbidden() -> None:
    for query in (asked(mode="unsubscribe"), {"hub.challenge": "1"}, {}, {"hub_mode": "subscribe"}):
        with pytest.raises(ForbiddenError):
            whatsapp.handshake(query, SECRETS)


@pytest.mark.parametrize("challenge", [None, "", "<b>x</b>", "a b", "1\n", "é", "1" * 257])
def test_a_challenge_that_could_be_more_than_a_word_is_refused(challenge: str | None) -> None:
    with pytest.raises(UnreadableError) as refused:
        whatsapp.handshake(asked(challenge=challenge), SECRETS)
    assert refused.value.status == 400


# Cutting


@given(st.data())
def test_what_is_cut_out_reads_as_the_same_json_without_the_rest(data: Any) -> None:
    scalars = st.none() | st.booleans() | st.integers() | st.text()
    values = st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    )
    document = data.draw(st.dictionaries(st.text(max_size=3), values, max_size=4)) | {
        "list": data.draw(st.lists(values))
    }
    indent, ascii_ = data.draw(st.sampled_from([None, 2])), data.draw(st.booleans())
    text = "\ufeff" * data.draw(st.integers(0, 1)) + json.dumps(document, indent=indent, ensure_ascii=ascii_)
    cuttable = Cuttable(text)
    assert [json.loads(each) for each in cuttable.elements("list")] == document["list"]
    assert cuttable.keeping({"list": cuttable.elements("list"), "absent": []}) == text
    for index, element in enumerate(cuttable.elements("list")):
        kept = cuttable.keeping({"list": [element]}).removeprefix("\ufeff")
        assert json.loads(kept) == document | {"list": [document["list"][index]]}


@BOTH
def test_an_only_update_keeps_the_body_to_the_letter(provider: str) -> None:
    for name in names(provider):
        text = load(provider, name).decode()
        if name != "batch":
            spaced = json.dumps(json.loads(text), indent=1) + "\n"
            assert {draft.raw_payload for draft in drafts_of(provider, text)} <= {text}
            assert {draft.raw_payload for draft in drafts_of(provider, spaced)} <= {spaced}


@BOTH
def test_each_event_of_a_batch_keeps_a_text_that_tells_it_alone(provider: str) -> None:
    body = load(provider, "batch").decode()
    found = drafts_of(provider, body)
    assert len({draft.raw_payload for draft in found}) > 2
    for draft in found:
        assert draft.raw_payload is not None
        again = [without_raw(each) for each in drafts_of(provider, draft.raw_payload)]
        assert without_raw(draft) in again
        assert {each["object_id_ref"] for each in again} == {draft.object_id_ref}
        assert len(translated(provider, draft.raw_payload)) == len(again)


@BOTH
def test_what_a_batch_keeps_is_cut_from_its_own_text(provider: str) -> None:
    raws = [draft.raw_payload or "" for draft in drafts_of(provider, load(provider, "batch").decode())]
    assert any("/ \\u00fcnf".replace("/", "\\/") in raw for raw in raws)  # escapes as Meta wrote them


@BOTH
def test_a_thousand_updates_are_read_and_stored_in_their_own_size(provider: str) -> None:
    body = sample(provider, "message.text")
    at = (
        body["entry"][0]["messaging"]
        if provider == "instagram"
        else body["entry"][0]["changes"][0]["value"]["messages"]
    )
    for index in range(999):
        again = json.loads(json.dumps(at[0]))
        (again["message"] if provider == "instagram" else again).update({"mid": f"m_{index}", "id": f"wamid.{index}"})
        at.append(again)
    found = drafts_of(provider, body)
    assert [draft.event_type for draft in found].count("message.received") == 1000
    assert max(len(draft.raw_payload or "") for draft in found) < 1000


# A conversation


def conversations(provider: str, *bodies: Any) -> list[EventDraft]:
    return [
        draft for body in bodies for draft in drafts_of(provider, body) if draft.event_type == "conversation_started"
    ]


def at_time(provider: str, name: str, at: datetime) -> dict[str, Any]:
    body = sample(provider, name)
    if provider == "instagram":
        body["entry"][0]["messaging"][0]["timestamp"] = int(at.timestamp() * 1000)
    else:
        body["entry"][0]["changes"][0]["value"]["messages"][0]["timestamp"] = str(int(at.timestamp()))
    return body


def claim(draft: EventDraft) -> Claim:
    found = Claim.of(StoredEvent.first(LeadEvent.of(draft, "lead_1")))
    assert found is not None
    return found


@BOTH
def test_all_messages_of_a_day_tell_of_one_conversation_whatever_else_they_say(provider: str) -> None:
    advertisement = "message.ad_referral" if provider == "instagram" else "message.referral_ad"
    bodies = [sample(provider, name) for name in (advertisement, "message.text", "message.image")]
    claims = [claim(draft) for draft in conversations(provider, *bodies)]
    assert len(claims) == 3
    assert len({each.claim_id for each in claims}) == 1
    assert not any(each.contradicts(other) for each in claims for other in claims)  # duplicates, never conflicts


@BOTH
def test_a_conversations_day_begins_at_six_in_the_morning(provider: str) -> None:
    begin = datetime(2026, 1, 8, 6, 0, tzinfo=UTC)
    times = [begin - timedelta(seconds=1), begin, begin + timedelta(hours=24, seconds=-1), begin + timedelta(hours=24)]
    found = conversations(provider, *(at_time(provider, "message.text", each) for each in times))
    ids = [draft.external_event_id for draft in found]
    assert ids[0] != ids[1] == ids[2] != ids[3]


@BOTH
def test_a_conversation_says_what_led_to_it_but_not_what_was_written(provider: str) -> None:
    advertisement = "message.ad_referral" if provider == "instagram" else "message.referral_ad"
    [draft] = conversations(provider, sample(provider, advertisement))
    assert isinstance(draft.payload, dict)
    assert (draft.payload["channel"], draft.payload["context"]) == (provider, "Curso de Vendas")
    [plain] = conversations(provider, sample(provider, "message.text"))
    assert plain.payload == {"channel": provider}


@BOTH
def test_people_and_accounts_have_their_own_conversations(provider: str) -> None:
    found = conversations(provider, sample(provider, "batch"))
    people = {(draft.identities[0].value, draft.external_event_id) for draft in found}
    assert len(people) == len({draft.identities[0].value for draft in found}) == 2
    other = json.loads(
        load(provider, "message.text").replace(b"17841499900000001", b"1").replace(b"700000000000001", b"1")
    )
    ids = {draft.external_event_id for draft in conversations(provider, other, sample(provider, "message.text"))}
    assert len(ids) == 2


# Ids and texts


@BOTH
def test_no_id_holds_a_phone_or_what_somebody_wrote(provider: str) -> None:
    for name in names(provider):
        for draft in drafts_of(provider, load(provider, name).decode()):
            shown = f"{draft.external_event_id} {draft.object_id} {draft.object_id_ref}"
            assert not [each for each in ("55119", "55619", "17900000000000011", "Olá") if each in shown]


def test_an_id_that_is_too_long_or_no_text_is_hashed_the_same_each_time() -> None:
    assert event_id("wamid.1", "read") == "wamid.1:read"
    for odd in ("x" * 256, "a\nb"):
        assert event_id(odd) == event_id(odd) != event_id(odd + "y")
        assert len(event_id(odd)) < 50


@pytest.mark.parametrize(
    ("text", "bare", "campaign"),
    [
        ("cmp_3", True, "cmp_3"),
        ("cmp_3", False, None),
        ("campaignId=cmp_3&x=1", False, "cmp_3"),
        ('{"campaignId": "cmp_3"}', False, "cmp_3"),
        ('{"campaign_id": "cmp_3"}', True, "cmp_3"),
        ("x=1", True, None),
        ('{"x": 1}', True, None),
        ("{broken", True, None),
        ("Y21wXzM=", True, "Y21wXzM="),
        ("x" * 300, True, None),
        (" ", True, None),
        (None, True, None),
    ],
)
def test_a_campaign_is_read_from_what_we_wrote(text: str | None, bare: bool, campaign: str | None) -> None:
    assert campaign_of(text, bare=bare) == campaign


@BOTH
@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", "{}", '{"object":"page","entry":[{}]}', '{"object":"instagram"}', '{"object":1,"object":2}',
     '{"object":"instagram","entry":{}}', '{"object":"whatsapp_business_account","entry":[]}', "1e999999999"],
)  # fmt: skip
def test_a_body_that_is_no_delivery_is_refused(provider: str, body: str) -> None:
    with pytest.raises(RejectedError):
        translated(provider, body)


@BOTH
def test_the_lead_of_the_url_is_the_lead_where_none_is_planted(provider: str) -> None:
    assert {draft.lead_id for draft in drafts_of(provider, sample(provider, "message.text"), "lead_url")} == {
        "lead_url"
    }
    assert {draft.lead_id for draft in drafts_of(provider, sample(provider, "message.text"))} == {None}


@BOTH
def test_a_redelivery_tells_the_same_under_the_same_ids(provider: str) -> None:
    for name in names(provider):
        first, again = (drafts_of(provider, load(provider, name).decode()) for _ in range(2))
        assert first == [replace(draft) for draft in again]
