"""Typeform.

Signature: typeform.com/developers/webhooks/secure-your-webhooks. Payload: …/example-payload.

A submission is ``form_submitted``. Everything else, a partial one too, is ``typeform.{their name}`` with the same payload.
Typeform writes no event of two submissions, and its ``event_id`` is one webhook's: several webhooks on one form, and retries of
one, tell of the same ``form_id`` and ``token``, so that these name the event.

An answer is joined to its question by the field's ``id`` or ``ref``, never by position: unanswered questions have no answer.
Keys of hidden fields and variables are the form owner's. They are kept to the letter; what no item can hold (an empty key, one
of more than 1,024 bytes, a number of 40 digits) is left out of the payload and stays in the raw one. So do ``response_url`` and
``answer_url``, which open the owner's account, and what a payment says of the card.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from lead_events.errors import InvalidError
from lead_events.event import Delivery, EventDraft, Identity, IdentityKind, check_event_type
from lead_events.instants import format_instant, parse_instant
from lead_events.limits import check_payload
from lead_events.names import Source
from lead_events.providers._contract import keeps_contract
from lead_events.providers._money import from_major_units
from lead_events.providers._reading import at, external_id, items, known, planted_lead, reference, text
from lead_events.providers._signatures import equal_to_any, sha256, unauthenticated, usable
from lead_events.sources import SOURCE_TYPES
from lead_events.strict_json import Json, loads

_SUBMITTED: Final = "form_response"
_CAMPAIGN: Final = re.compile(
    r"utm[_.][a-z_]{1,40}|src|sck|xcod|ref|referrer|ad_id|ctwa_clid|gclid|fbclid|landing_url", re.ASCII | re.IGNORECASE
)
"""Hidden fields that say where the lead came from."""


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:
    """``Typeform-Signature: sha256=<base64>``: HMAC-SHA256 of the body, padded standard base64, under the secret as text."""
    del now  # the signature has no time
    expected = [f"sha256={b64encode(sha256(key, body)).decode()}" for key in usable(secrets)]
    if not equal_to_any([headers.get("typeform-signature", "")], expected):
        raise unauthenticated()


def translate(delivery: Delivery) -> list[EventDraft]:
    """The one event of a delivery.

    Raises ``RejectedError`` where it is not JSON, names no event, holds no response, or has a time that cannot be read.
    """
    told = loads(delivery.body)
    if not isinstance(told, dict):
        raise InvalidError.of("body", "must be a JSON object")
    kind = text(told, "event_type")
    if kind is None:
        raise InvalidError.of("event_type", "must be the event's name")
    response = told.get("form_response")
    if not isinstance(response, dict):
        raise InvalidError.of("form_response", "must be an object")
    submitted = response.get("submitted_at")
    payload = _payload(response)
    return [
        EventDraft(
            organization_id=delivery.organization_id,
            source_type=SOURCE_TYPES[Source.TYPEFORM],
            source=Source.TYPEFORM.value,
            event_type="form_submitted"
            if kind == _SUBMITTED and keeps_contract("form_submitted", payload)
            else _own_name(kind),
            payload=payload,
            # A partial response may not say when it was given up: known then is when we heard of it.
            occurred_at=delivery.received_at if submitted is None else parse_instant(submitted, "submitted_at"),
            received_at=delivery.received_at,
            lead_id=planted_lead(at(response, "hidden", "lead_id"), at(response, "hidden", "leadId"), delivery.lead_id),
            external_event_id=_external_id(told, kind, delivery.body),
            identities=_identities(response),
            tracking=_tracking(response),
            object_id_ref=reference(response, "token"),
            raw_payload=delivery.body,
        )
    ]


def _external_id(told: Json, kind: str, body: str) -> str:
    """``form_id:token``; of other events than submissions their name too, for one token begins partial and ends complete."""
    form_id, token = _form_id(at(told, "form_response")), text(told, "form_response", "token")
    own = text(told, "event_id")
    if form_id is None or token is None or (own and _is_test(token)):  # tests may share their token
        return external_id(own or f"{kind}:{body}")
    return external_id(form_id, token) if kind == _SUBMITTED else external_id(form_id, token, kind)


def _payload(response: Json) -> dict[str, Json]:
    payload = known(
        formId=_form_id(response),
        formName=text(response, "definition", "title"),
        responses=_responses(response),
        formResponseId=reference(response, "token"),
        landedAt=_instant(response, "landed_at"),
        hidden=_storable(_members(at(response, "hidden"))),
        score=at(response, "calculated", "score"),
        variables=_storable(
            (key, at(each, text(each, "type") or ""))
            for each in items(response, "variables")
            if isinstance(key := at(each, "key"), str)
        ),
        endingId=reference(response, "ending", "id"),
        endingRef=reference(response, "ending", "ref"),
        test=True if _is_test(text(response, "token") or "") else None,
    )
    return {name: value for name, value in payload.items() if value != {} and _is_storable({name: value})}


def _form_id(response: Json) -> str | None:
    return reference(response, "form_id") or reference(response, "definition", "id")


def _responses(response: Json) -> list[Json]:
    """The answers in the order in which they were given, each with its question where the definition has it."""
    by_id, by_ref = _questions(response)
    found: list[Json] = []
    for answer in items(response, "answers"):
        field_id, ref = text(answer, "field", "id"), text(answer, "field", "ref")
        question = by_id.get(field_id or "") or by_ref.get(ref or "")
        value = _answer(answer, question)
        found.append(
            known(
                field=ref or text(question, "ref") or field_id,
                fieldId=field_id or text(question, "id"),
                question=text(question, "title"),
                type=text(answer, "field", "type") or text(question, "type") or text(answer, "type"),
            )
            | ({} if value is None or not _is_storable([[[value]]]) else {"answer": value})
            | known(**_choice_ids(answer))
        )
    return [each for each in found if each and _is_storable([[each]])]


def _questions(response: Json) -> tuple[dict[str, Json], dict[str, Json]]:
    """The form's fields, those inside of groups too, by their ids and by their refs."""
    by_id: dict[str, Json] = {}
    by_ref: dict[str, Json] = {}
    pending = list(items(response, "definition", "fields"))
    for each in pending:
        pending.extend(items(each, "properties", "fields"))
        by_id.setdefault(text(each, "id") or "", each)
        by_ref.setdefault(text(each, "ref") or "", each)
    by_id.pop("", None)
    by_ref.pop("", None)
    return by_id, by_ref


def _answer(answer: Json, question: Json) -> Json:
    """What was answered: text, number, boolean, labels, or what a type of its own holds."""
    kind = text(answer, "type")
    value = at(answer, kind or "")
    if kind == "choice":
        return _label(value)
    if kind == "choices":
        labels = items(value, "labels") or items(value, "refs") or items(value, "ids")
        other = text(value, "other")
        return [*labels, *([other] if other else [])]
    if kind == "payment":
        currency = text(value, "currency") or text(question, "properties", "currency")
        return known(amount=from_major_units(at(value, "amount")), currency=currency) or None
    return value


def _label(choice: Json) -> str | None:
    names = (text(choice, name) for name in ("label", "other", "ref", "id"))
    return next((each for each in names if each), None)


def _choice_ids(answer: Json) -> dict[str, Json]:
    """Refs and ids of what was chosen: unlike labels they survive a rewording."""
    one, several = at(answer, "choice"), at(answer, "choices")
    return {
        "choiceRefs": [text(one, "ref")] if text(one, "ref") else items(several, "refs"),
        "choiceIds": [text(one, "id")] if text(one, "id") else items(several, "ids"),
    }


def _identities(response: Json) -> tuple[Identity, ...]:
    """The first phone and the first e-mail that were answered: later ones may be somebody else's."""
    found = []
    for kind, name in ((IdentityKind.PHONE, "phone_number"), (IdentityKind.EMAIL, "email")):
        given = (text(each, name) for each in items(response, "answers") if at(each, "type") == name)
        found += [Identity(kind, value) for value in given if value][:1]
    return tuple(found)


def _tracking(response: Json) -> dict[str, str]:
    hidden = _members(at(response, "hidden"))
    return {
        name: value for name, value in hidden if _CAMPAIGN.fullmatch(name) and isinstance(value, str) and value.strip()
    }


def _members(value: Json) -> Iterable[tuple[str, Json]]:
    return value.items() if isinstance(value, dict) else ()


def _storable(members: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    return {name: value for name, value in members if value is not None and _is_storable([{name: value}])}


def _is_storable(value: Json) -> bool:
    """Whether an item can hold it; whoever asks puts it as deep as it will stand."""
    try:
        check_payload(value)
    except InvalidError:
        return False
    return True


def _is_test(token: str) -> bool:
    """Whether a response is the synthetic one of the button "Send test request"."""
    return token.lower() == "test" or (token != "" and not token.strip("0"))


def _instant(value: Json, name: str) -> str | None:
    try:
        return format_instant(parse_instant(at(value, name), name))
    except InvalidError:
        return None


def _own_name(kind: str) -> str:
    try:
        return check_event_type(f"typeform.{kind}", "event_type")
    except InvalidError:
        return "typeform.unknown"
