"""Identities through the functions: what the CRM tells, what deliveries teach, and whose their events become."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lead_events.names import ORGANIZATION_CLAIM, Scope
from tests.support.aws import webhook_secret
from tests.support.contacts import PROVIDERS, Person, hotmart, shopify, typeform, whatsapp
from tests.support.deliveries import SIGNED, headers_of
from tests.support.functions import Answer, Functions

ANA: list[dict[str, Any]] = [
    {"kind": "email", "value": "Ana.Teste@example.org"},
    {"kind": "phone", "value": "82 90000-0001", "region": "BR"},
    {"kind": "customer", "value": "stripe:cus_ana"},
]


@pytest.fixture(autouse=True)
def _secrets(functions: Functions) -> None:
    for provider in PROVIDERS:
        webhook_secret(provider, functions.organization_id, f"secret-{provider}")


def path(functions: Functions, lead: str = "lead_1", organization: str | None = None) -> str:
    return functions.lead(lead, organization).replace("/events", "/identities")


def put(functions: Functions, *identities: Any, lead: str = "lead_1", **rest: Any) -> Answer:
    return functions.api("PUT", path(functions, lead), {"identities": list(identities)}, **rest)


def kinds(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.text
    return sorted(each["kind"] for each in answer.json["identities"])


def deliver(functions: Functions, provider: str, body: bytes, query: dict[str, str] | None = None) -> None:
    from datetime import UTC, datetime

    headers = headers_of(provider, SIGNED[provider].sample, body, f"secret-{provider}", datetime.now(UTC))
    headers |= {"x-shopify-event-id": f"e-{hash(body)}"} if provider == "shopify" else {}
    assert functions.webhook(provider, body, headers, query=query).status == 202
    assert functions.ingest(*functions.drain()) == []


def leads(functions: Functions) -> dict[str, list[str]]:
    """Sources of stored events by lead."""
    found: dict[str, list[str]] = {}
    for item in functions.items():
        found.setdefault(item["leadOrganizationId"]["S"].partition("#LEAD#")[2], []).append(item["source"]["S"])
    return {lead: sorted(set(sources)) for lead, sources in found.items()}


# ----------------------------------------------------------------------------------------------------------- the route


def test_identities_are_put_and_read_by_kind_and_never_by_value(functions: Functions) -> None:
    assert kinds(functions.api("GET", path(functions))) == []
    assert kinds(put(functions, *ANA)) == ["customer", "email", "phone"]
    assert kinds(put(functions, *ANA)) == ["customer", "email", "phone"]
    answer = functions.api("GET", path(functions))
    assert kinds(answer) == ["customer", "email", "phone"]
    assert not any(text in answer.text for text in ("ana", "Ana", "90000", "example"))


def test_an_identity_of_another_lead_is_409_by_its_place_and_nothing_is_changed(functions: Functions) -> None:
    put(functions, ANA[1], lead="lead_2")
    answer = put(functions, *ANA)
    assert (answer.status, answer.code) == (409, "identity_conflict")
    assert answer.json["errors"] == [{"field": "identities.1", "rule": "is another lead's"}]
    assert kinds(functions.api("GET", path(functions))) == []


@pytest.mark.parametrize("value", ["", None, "n/a", " "])
@pytest.mark.parametrize("kind", ["email", "phone", "customer"])
def test_c13_an_empty_identity_is_422_and_matches_nobody(functions: Functions, kind: str, value: Any) -> None:
    answer = put(functions, {"kind": kind, "value": value})
    assert (answer.status, answer.code) == (422, "invalid")
    assert kinds(functions.api("GET", path(functions))) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [("", 400), ("{", 400), (b"\xff\xfe", 400), ('{"identities":[],"identities":[]}', 400),
     ("[]", 422), ("{}", 422), ("null", 422), ({"identities": [ANA[0]] * 21}, 422),
     ({"identities": [ANA[0]], "leadId": "lead_1"}, 422)],
)  # fmt: skip
def test_what_cannot_be_read_is_400_and_what_breaks_a_rule_is_422(functions: Functions, body: Any, status: int) -> None:
    assert functions.api("PUT", path(functions), body).status == status


def test_who_may_not_gets_what_they_get_everywhere(functions: Functions) -> None:
    put(functions, *ANA)
    organization = functions.organization_id
    reader = {"scope": str(Scope.READ), ORGANIZATION_CLAIM: organization}
    writer = {"scope": str(Scope.WRITE), ORGANIZATION_CLAIM: organization}
    stranger = {"scope": f"{Scope.READ} {Scope.WRITE}", ORGANIZATION_CLAIM: "org_other"}
    assert put(functions, *ANA, claims=reader).status == 403
    assert put(functions, *ANA, claims=writer).status == 200
    assert put(functions, *ANA, claims=stranger).status == 403
    assert put(functions, *ANA, claims={"scope": str(Scope.WRITE)}).status == 403
    assert functions.api("GET", path(functions), claims=writer).status == 403
    assert functions.api("GET", path(functions), claims=stranger).status == 404
    assert kinds(functions.api("GET", path(functions), claims=reader)) == ["customer", "email", "phone"]


@pytest.mark.parametrize("lead", ["a b", "a%23b", "x" * 65])
def test_a_lead_is_named_by_an_id(functions: Functions, lead: str) -> None:
    assert put(functions, *ANA, lead=lead).status in (404, 422)


def test_two_organisations_may_know_one_person(functions: Functions) -> None:
    other = Functions(f"{functions.organization_id}b", functions.queue_url)
    assert kinds(put(functions, *ANA)) == kinds(put(other, *ANA, lead="lead_2")) == ["customer", "email", "phone"]


# ----------------------------------------------------------------------------------------------------- whose events are


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_delivery_of_whom_the_crm_told_is_that_leads(functions: Functions, provider: str) -> None:
    person = Person()
    put(functions, {"kind": "phone", "value": person.e164})
    deliver(functions, provider, PROVIDERS[provider](person))
    assert leads(functions) == {"lead_1": [provider]}


def test_one_person_through_every_provider_is_one_lead_however_their_phone_is_written(functions: Functions) -> None:
    person, stranger = Person(), Person()
    for provider, contact in PROVIDERS.items():
        deliver(functions, provider, contact(person))
        deliver(functions, provider, contact(stranger))
    found = leads(functions)
    assert [*found.values()] == [sorted(PROVIDERS)] * 2
    assert all(lead.startswith("lead_") for lead in found)


def test_c54_a_buyer_and_a_whatsapp_account_without_the_ninth_digit_are_one_lead(
    functions: Functions,
) -> None:
    person = Person()
    bought, wrote = hotmart(person), whatsapp(person)
    deliver(functions, "hotmart", bought)
    deliver(functions, "whatsapp", wrote)
    [lead] = leads(functions)
    raws = {event["rawPayload"] for event in functions.timeline(lead, include="rawPayload")}
    assert {bought.decode(), wrote.decode()} <= raws
    for wa_id in (f"55823{person.digits[1:]}", "12025550123"):
        deliver(
            functions,
            "whatsapp",
            wrote.replace(person.wa_id.encode(), wa_id.encode()).replace(b"wamid.", f"wamid.{wa_id}".encode()),
        )
    assert sorted(leads(functions).values()) == sorted([["hotmart", "whatsapp"], ["whatsapp"], ["whatsapp"]])


def test_a_lead_found_by_one_identity_learns_the_others(functions: Functions) -> None:
    person = Person()
    deliver(functions, "whatsapp", whatsapp(person))
    deliver(functions, "typeform", typeform(person))  # phone known, e-mail learnt
    deliver(functions, "hotmart", hotmart(Person(name=person.name)))  # another phone, the same e-mail
    [lead] = leads(functions)
    assert kinds(functions.api("GET", path(functions, lead))) == ["email", "phone", "phone"]


def test_a_planted_lead_wins_its_identities_are_learnt_and_a_conflict_is_counted(
    functions: Functions, capsys: pytest.CaptureFixture[str]
) -> None:
    person = Person()
    deliver(functions, "typeform", typeform(person), query={"leadId": "lead_planted"})
    deliver(functions, "shopify", shopify(person))
    assert leads(functions) == {"lead_planted": ["shopify", "typeform"]}
    capsys.readouterr()
    deliver(functions, "hotmart", hotmart(person), query={"leadId": "lead_other"})
    assert leads(functions) == {"lead_planted": ["shopify", "typeform"], "lead_other": ["hotmart"]}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [line] = [each for each in lines if each.get("identityConflicts") and each["outcome"] == "stored"]
    assert (line["identityConflicts"], line["leadId"]) == (["phone", "email"], "lead_other")
    assert any("IdentityConflict" in each for each in lines if "_aws" in each)


def test_twenty_five_first_contacts_in_one_batch_are_one_lead(functions: Functions) -> None:
    from datetime import UTC, datetime

    person = Person()
    chosen = [list(PROVIDERS)[number % len(PROVIDERS)] for number in range(25)]
    for provider in chosen:
        body = PROVIDERS[provider](person)
        headers = headers_of(provider, SIGNED[provider].sample, body, f"secret-{provider}", datetime.now(UTC))
        if provider == "shopify":
            headers["x-shopify-event-id"] = f"e-{hash(body)}"
        assert functions.webhook(provider, body, headers).status == 202
    messages = functions.drain()
    assert len(messages) == 25
    with ThreadPoolExecutor(5) as threads:  # five invocations of five
        assert list(threads.map(lambda start: functions.ingest(*messages[start::5]), range(5))) == [[]] * 5
    assert [*leads(functions).values()] == [sorted(PROVIDERS)]


# ------------------------------------------------------------------------------------------------------------- privacy


@pytest.mark.parametrize("level", ["DEBUG", "INFO"])
def test_c58_no_line_of_the_log_holds_a_phone_an_email_or_a_document(
    functions: Functions,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    level: str,
) -> None:
    from tests.support.aws import fresh_observability

    fresh_observability(monkeypatch, level=level)
    caplog.set_level("INFO")
    person = Person()
    private = [
        person.email,
        person.email.upper(),
        person.name,
        person.digits,
        "00000000191",
        "000.000.001-91",
        "ana.teste",
    ]
    for provider, contact in PROVIDERS.items():
        body = contact(person)
        deliver(functions, provider, body)
        deliver(functions, provider, body)
        deliver(
            functions, provider, body.replace(b"1767877200", b"9767877200").replace(b"1767877201000", b"9767877201000")
        )
    deliver(functions, "hotmart", hotmart(person), query={"leadId": "lead_conflict"})
    broken = {"email": person.email, "phone": person.e164, "document": "000.000.001-91"}
    assert functions.direct(payload={"planId": broken}).status == 422
    assert functions.direct(eventType=person.email + " ").status == 422
    assert functions.api("POST", functions.lead(), {"externalEventId": [person.email]}).status == 422
    answer = put(functions, {"kind": "phone", "value": f"{person.email}"}, {"kind": person.email, "value": "x"})
    assert answer.status == 422
    assert not any(text in answer.text for text in private)
    put(functions, {"kind": "phone", "value": person.e164}, lead="lead_conflict")
    monkeypatch.setattr("lead_events.pipeline.Pipeline.append", _burst)
    assert functions.direct(payload={"planId": person.email}).status == 500
    data = {"organizationId": functions.organization_id, "leadId": "l", **broken}
    note = {
        "specversion": "1.0",
        "id": "e",
        "type": "crm.note",
        "source": "crm",
        "sourcetype": "INTERNAL",
        "data": data,
    }
    assert functions.ingest(json.dumps(note)) == ["m-0"]
    out = capsys.readouterr()
    everything = out.out + out.err + caplog.text
    assert "outcome" in everything
    assert [text for text in private if text in everything] == []


def _burst(_: Any, event: Any) -> Any:
    raise ValueError(f"cannot store {event.payload} of {event.identities}")
