"""What a response to one of Typeform's forms becomes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lead_events import catalogue
from lead_events.errors import RejectedError
from lead_events.event import SourceType
from lead_events.limits import check_payload
from lead_events.providers import find
from lead_events.providers.typeform import translate
from tests.samples import load
from tests.support import providers
from tests.support.damage import JUNK, damaged
from tests.support.providers import corpus, shared
from tests.support.typeform import NOW, SAMPLES, only

WHOLE = "form_response.all_answers"


def sample(name: str, **changes: Any) -> dict[str, Any]:
    """A sample as JSON; ``changes`` replace fields of its ``form_response``."""
    event: dict[str, Any] = json.loads(load("typeform", name))
    event["form_response"] |= changes
    return event


def payload_of(event: Any) -> dict[str, Any]:
    return providers.payload_of(only(event))


def answered(kind: str, value: Any, **field: Any) -> dict[str, Any]:
    """The response to a form's one question."""
    answer = {"type": kind, kind: value, "field": {"id": "f1", "type": kind} | field}
    [response] = payload_of(sample(WHOLE, answers=[answer]))["responses"]
    assert isinstance(response, dict)
    return response


# What a response becomes

BECOMES = {
    "form_response.all_answers": "form_submitted",
    "form_response.odd": "form_submitted",
    "form_response.test_button": "form_submitted",
    "form_response.without_refs": "form_submitted",
    "form_response_partial": "typeform.form_response_partial",
}


def test_every_sample_has_its_promise() -> None:
    assert sorted(BECOMES) == SAMPLES
    assert find("typeform").translate is translate


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_becomes_its_event_and_its_redelivery_the_same(name: str) -> None:
    draft = only(load("typeform", name).decode())
    assert draft == only(load("typeform", name).decode())
    assert draft.event_type == BECOMES[name]
    catalogue.check(draft.event_type, draft.payload)
    check_payload(draft.payload)
    assert (draft.source, draft.source_type) == ("typeform", SourceType.EXTERNAL)
    assert draft.raw_payload == load("typeform", name).decode()
    assert draft.object_id_ref == sample(name)["form_response"]["token"]
    assert draft.received_at == NOW


def test_an_event_happened_when_it_was_submitted_or_else_when_we_heard_of_it() -> None:
    assert only(sample(WHOLE)).occurred_at == datetime(2026, 1, 8, 13, tzinfo=UTC)
    assert only(sample("form_response_partial")).occurred_at == NOW


@pytest.mark.parametrize("submitted", [1714557600, "1714557600", "2024-05-01", "", True])
def test_a_time_that_typeform_would_not_write_is_refused(submitted: Any) -> None:
    with pytest.raises(RejectedError):
        only(sample(WHOLE, submitted_at=submitted))


def test_answers_of_every_type_are_joined_to_their_questions_though_those_stand_in_another_order() -> None:
    told = {each["field"]: (each["question"], each["answer"]) for each in payload_of(sample(WHOLE))["responses"]}
    assert told == {
        ref: (f"Pergunta sobre {ref}", answer)
        for ref, answer in {
            "nome": "Bia Melo",
            "email": "Bia@Loja.example",
            "telefone": "+5582900000003",
            "site": "https://loja.example",
            "arquivo": "https://files.example/f/contrato.pdf",
            "inicio": "2026-02-01",
            "pessoas": 12,
            "nota": 9,
            "ja_cliente": False,
            "tamanho": "5 a 10",
            "outro": "Feira do livro",
            "canais": ["WhatsApp", "E-mail", "Telefone"],
            "ordem": ["Preço", "Prazo"],
            "sinal": {"amount": Decimal("150.50"), "currency": "BRL"},
            "assinatura": "https://files.example/s/assinatura.png",
            "recado": {"video_url": "https://files.example/v/recado.mp4", "transcript": "Oi"},
            "duvida": "Têm desconto? 😀",
        }.items()
    }


def test_choices_keep_their_refs_and_ids() -> None:
    told = {each["field"]: each for each in payload_of(sample(WHOLE))["responses"]}
    assert (told["tamanho"]["choiceRefs"], told["tamanho"]["choiceIds"]) == (["de_5_a_10"], ["c1"])
    assert (told["canais"]["choiceRefs"], told["canais"]["choiceIds"]) == (["whatsapp", "email"], ["k1", "k2"])


def test_old_answers_without_refs_take_them_from_the_definition() -> None:
    told = payload_of(sample("form_response.without_refs"))["responses"]
    assert [each["field"] for each in told] == ["nome", "email", "telefone", "site", "arquivo"]


def test_a_question_is_found_by_its_ref_where_its_id_has_changed() -> None:
    assert answered("text", "x", id="new", ref="nome")["question"] == "Pergunta sobre nome"


def test_an_answer_to_a_question_that_is_gone_keeps_its_id() -> None:
    gone = payload_of(sample("form_response.odd"))["responses"][-1]
    assert gone == {"field": "gone", "fieldId": "gone", "type": "short_text", "answer": "pergunta apagada"}


def test_empty_answers_are_kept_as_such_and_tell_of_nobody() -> None:
    phone, email, tags, _ = payload_of(sample("form_response.odd"))["responses"]
    assert "answer" not in phone
    assert (email["answer"], tags["answer"]) == ("", [])
    assert only(sample("form_response.odd")).identities == ()


@pytest.mark.parametrize(
    ("choice", "answer"),
    [
        ({"label": "A", "id": "1"}, "A"),
        ({"id": "1", "ref": "a"}, "a"),
        ({"id": "1"}, "1"),
        ({"label": "", "other": "B"}, "B"),
    ],
)
def test_a_choice_is_told_by_its_label_or_what_else_is_known(choice: dict[str, str], answer: str) -> None:
    assert answered("choice", choice)["answer"] == answer


def test_answers_of_types_that_are_new_to_us_are_kept() -> None:
    assert answered("matrix_2030", {"rows": [1, 2]})["answer"] == {"rows": [1, 2]}


def test_a_payment_tells_its_amount_and_nothing_of_the_card() -> None:
    assert answered("payment", {"amount": "10,00", "last4": "4242"}).get("answer") is None
    shown = json.dumps(payload_of(sample(WHOLE)), default=str)
    assert "4242" not in shown
    assert "BIA MELO" not in shown


def test_score_variables_ending_and_hidden_fields_are_kept() -> None:
    payload = payload_of(sample(WHOLE))
    assert (payload["formId"], payload["formName"], payload["score"]) == ("DgnStk01", "Diagnóstico", 9)
    assert payload["variables"] == {"score": Decimal("4.5"), "nome": "Bia"}
    assert (payload["endingId"], payload["endingRef"]) == ("end1", "fim")
    assert payload["landedAt"] == "2026-01-08T12:55:00.000000Z"
    assert payload["hidden"]["plano"] == "pro"


@pytest.mark.parametrize("name", SAMPLES)
def test_no_url_of_the_owners_account_is_shown(name: str) -> None:
    event = sample(name)
    event["form_response"]["answers"][0]["answer_url"] = "https://admin.typeform.example/form/1/results"
    assert "admin.typeform" not in json.dumps(payload_of(event), default=str)


def test_keys_of_hidden_fields_are_kept_to_the_letter() -> None:
    odd = ["utm.source", "lead-score", "name", "ADD", "#x", ":y", "a b", "__proto__", "constructor"]
    hidden = payload_of(sample("form_response.odd"))["hidden"]
    assert hidden.keys() == {*odd, "email", "tags"}
    assert (hidden["utm.source"], hidden["email"], hidden["tags"]) == ("tv", "", [])


def test_600_hidden_fields_are_kept_but_for_those_that_no_item_can_hold() -> None:
    hidden: dict[str, Any] = {f"field {index}": str(index) for index in range(600)}
    unheld = {
        "": "x",
        "k" * 70_000: "x",
        "é" * 513: "x",
        "deep": json.loads("[" * 40 + "]" * 40),
        "number": int("1" * 40),
    }
    draft = only(sample(WHOLE, hidden=hidden | unheld))
    check_payload(draft.payload)
    assert isinstance(draft.payload, dict)
    assert draft.payload["hidden"] == hidden
    assert draft.event_type == "form_submitted"
    assert draft.raw_payload is not None
    assert "k" * 70_000 in draft.raw_payload


def test_what_no_item_can_hold_leaves_the_rest_of_its_answer() -> None:
    for value in (json.loads("[" * 29 + "]" * 29), {"": 1}, {"k" * 1_025: 1}):
        assert "answer" not in answered("multi_format", value, ref="nome")
    assert "answer" in answered("multi_format", json.loads("[" * 28 + "]" * 28), ref="nome")


def test_campaigns_are_told_by_hidden_fields() -> None:
    assert only(sample(WHOLE)).tracking == {"utm_source": "instagram", "utm_campaign": "janeiro"}
    assert only(sample("form_response.odd")).tracking == {"utm.source": "tv"}


def test_a_test_of_the_button_is_flagged_and_each_is_its_own_event() -> None:
    event = sample("form_response.test_button")
    assert payload_of(event)["test"] is True
    assert only(event).external_event_id == event["event_id"]
    assert "test" not in payload_of(sample(WHOLE))


def test_a_submission_that_names_no_form_is_kept_under_typeforms_name() -> None:
    draft = only(sample(WHOLE, form_id=None, definition=None))
    assert (draft.event_type, draft.external_event_id) == ("typeform.form_response", sample(WHOLE)["event_id"])


def test_unknown_kinds_are_kept_under_their_own_name() -> None:
    assert only(sample(WHOLE) | {"event_type": "form_response_deleted"}).event_type == "typeform.form_response_deleted"
    assert only(sample(WHOLE) | {"event_type": "novo tipo"}).event_type == "typeform.unknown"


# Which event, and whose


def test_several_webhooks_on_one_form_tell_of_one_submission() -> None:
    first, second = only(sample(WHOLE)), only(sample(WHOLE) | {"event_id": "01KEFMAOTHER"})
    assert first.external_event_id == second.external_event_id == "DgnStk01:t0k3nbia0000000000000000000001"
    assert first.payload == second.payload


def test_a_partial_response_does_not_stand_in_the_way_of_the_complete_one() -> None:
    partial = only(sample("form_response_partial"))
    assert partial.external_event_id == "DgnStk01:t0k3nbia0000000000000000000001:form_response_partial"
    assert partial.object_id_ref == only(sample(WHOLE)).object_id_ref


def test_ids_fit_however_long_they_come_and_are_there_even_where_nothing_names_the_event() -> None:
    nameless = sample(WHOLE, token=None)
    del nameless["event_id"]
    for event in (sample(WHOLE, token="x" * 300), sample(WHOLE, token=None) | {"event_id": "x" * 300}, nameless):
        name = only(event).external_event_id
        assert name == only(event).external_event_id
        assert name is not None
        assert len(name) <= 255


@pytest.mark.parametrize(
    ("hidden", "lead"),
    [
        ({"lead_id": "lead_bia"}, "lead_bia"),
        ({"leadId": "lead_bia"}, "lead_bia"),
        ({"lead_id": "no id", "leadId": "lead_bia"}, "lead_bia"),
        ({"lead_id": ""}, "lead_url"),
        ({"lead_id": ["lead_bia"]}, "lead_url"),
        (None, "lead_url"),
        ("lead_bia", "lead_url"),
    ],
)
def test_the_lead_is_the_one_in_the_hidden_fields_or_else_in_the_url(hidden: Any, lead: str) -> None:
    assert only(sample(WHOLE, hidden=hidden), lead_id="lead_url").lead_id == lead


def test_people_are_known_by_the_first_phone_and_email_they_answered() -> None:
    event = sample(WHOLE)
    event["form_response"]["answers"].append({"type": "email", "email": "amiga@casa.example", "field": {"id": "x"}})
    told = [(each.kind.value, each.value) for each in only(event).identities]
    assert told == [("phone", "+5582900000003"), ("email", "Bia@Loja.example")]


# Nothing that is verified breaks us


def is_told(event: Any) -> bool:
    """Whether an event has its name, a response and no time but the samples' own."""
    kind, response = (event.get("event_type"), event.get("form_response")) if isinstance(event, dict) else (None, None)
    named = isinstance(kind, str) and kind.strip() != ""
    return named and isinstance(response, dict) and response.get("submitted_at") in (None, "2026-01-08T13:00:00Z")


@settings(max_examples=300, deadline=None)
@given(damaged(sample, SAMPLES) | JUNK)
def test_damaged_events_become_events_or_a_clean_refusal(event: Any) -> None:
    try:
        draft = only(json.dumps(event))
    except RejectedError:
        # Neither answers nor the form are ever a reason to refuse.
        assert not is_told(event)
        return
    catalogue.check(draft.event_type, draft.payload)
    check_payload(draft.payload)
    assert draft.external_event_id
    assert len(draft.external_event_id) <= 255


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", '"x"', "{}", '{"event_type":"form_response"}', '{"event_type":"form_response","form_response":[]}',
     '{"form_response":{}}', '{"event_type":" ","form_response":{}}', '{"a":1,"a":2}'],
)  # fmt: skip
def test_a_body_that_is_no_response_is_refused(body: str) -> None:
    with pytest.raises(RejectedError):
        only(body)


# The shared facts


@corpus
def test_every_shared_sample_is_translated() -> None:
    found = [only(path.read_text()) for path in sorted((Path(shared) / "providers/samples/typeform").glob("*.json"))]
    assert [draft.event_type for draft in found] == ["form_submitted"] * 3
    for draft in found:
        catalogue.check(draft.event_type, draft.payload)
        check_payload(draft.payload)
    answers = [each.payload["responses"] for each in found if isinstance(each.payload, dict)]
    assert sorted(len(each) for each in answers if isinstance(each, list)) == [1, 5, 12]
