"""A lead erased over the API: from the request to the receipt, through the functions as they are deployed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from lead_events import wiring
from lead_events.instants import format_instant, now
from lead_events.names import ORGANIZATION_CLAIM, Env, Scope
from tests.support.aws import BUCKET, CLAIMS, ERASURES, EVENTS, IDENTITIES, Context, sqs_record
from tests.support.builders import envelope
from tests.support.functions import Answer, Functions, handler_of

LEAD = "lead_ana"
EMAIL = "ana.teste@example.org"


@pytest.fixture
def admin(functions: Functions, monkeypatch: pytest.MonkeyPatch) -> Iterator[Functions]:
    """The functions with a token that may erase, and an eraser that waits for nobody."""
    monkeypatch.setenv(Env.ERASURE_QUIET_SECONDS, "0")
    wiring.reset()
    functions.scope = f"{Scope.READ} {Scope.WRITE} {Scope.ADMIN}"
    yield functions
    wiring.reset()


def lead(functions: Functions, lead_id: str = LEAD, organization_id: str | None = None) -> str:
    return f"/v1/organizations/{organization_id or functions.organization_id}/leads/{lead_id}"


def erase(functions: Functions, lead_id: str = LEAD) -> Answer:
    return functions.api("DELETE", lead(functions, lead_id))


def work(environment: dict[str, str]) -> None:
    """Let the eraser take what is on its queue until that is empty."""
    sqs, queue = boto3.client("sqs"), environment[Env.ERASURE_QUEUE_URL]
    while messages := sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages"):
        records = [sqs_record(each["MessageId"], each["Body"]) for each in messages]
        assert handler_of("eraser")({"Records": records}, Context()) == {"batchItemFailures": []}
        for each in messages:
            sqs.delete_message(QueueUrl=queue, ReceiptHandle=each["ReceiptHandle"])


def settle(functions: Functions, lead_id: str = LEAD) -> None:
    identities = {"identities": [{"kind": "email", "value": f"{lead_id}-{EMAIL}"}]}
    assert functions.api("PUT", f"{lead(functions, lead_id)}/identities", identities).status == 200
    for number in range(3):
        stored = functions.direct(
            lead_id, externalEventId=f"{lead_id}-{number}", payload={"planId": "p", "email": EMAIL}
        )
        assert stored.status == 201, stored.text


def items(table: str, text: str) -> list[Any]:
    found = boto3.client("dynamodb").scan(TableName=table)["Items"]
    return [each for each in found if text in json.dumps(each, default=repr)]


def test_a_lead_is_erased_and_the_receipt_tells_what_went(admin: Functions, environment: dict[str, str]) -> None:
    settle(admin)
    settle(admin, "lead_bob")
    accepted = erase(admin)
    assert accepted.status == 202
    path = f"/v1/organizations/{admin.organization_id}/erasures/{accepted.json['erasureId']}"
    assert admin.api("GET", path).json["status"] == "running"
    work(environment)
    receipt = admin.api("GET", path).json
    assert (receipt["status"], receipt["leadId"]) == ("done", None)
    assert {name: number for name, number in receipt["counts"].items() if number} == {
        "events": 3,
        "claims": 3,
        "identities": 1,
    }
    assert admin.timeline(LEAD) == []
    assert len(admin.timeline("lead_bob")) == 3
    assert admin.api("GET", f"{lead(admin)}/identities").json == {"identities": []}
    for table in (EVENTS, CLAIMS, IDENTITIES, ERASURES):
        assert items(table, f"{admin.organization_id}#LEAD#{LEAD}") == [], table
    assert (
        not boto3.client("s3")
        .list_objects_v2(Bucket=BUCKET, Prefix=f"organizations/{admin.organization_id}/")
        .get("Contents")
    )


def test_what_was_erased_is_gone_for_redeliveries_and_free_for_what_happens_later(
    admin: Functions, environment: dict[str, str]
) -> None:
    settle(admin)
    erase(admin)
    work(environment)
    again = admin.direct(LEAD, externalEventId=f"{LEAD}-0", payload={"planId": "p", "email": EMAIL})
    assert (again.status, again.code) == (410, "erased")
    old = admin.direct(LEAD, externalEventId="never-seen")
    assert (old.status, old.code) == (410, "erased")
    assert admin.external("billing_service", f"{LEAD}-0").status == 404
    new = admin.direct(LEAD, externalEventId="new", occurredAt=format_instant(now()))
    assert new.status == 201, new.text
    identities = {"identities": [{"kind": "email", "value": EMAIL}]}
    assert admin.api("PUT", f"{lead(admin)}/identities", identities).status == 200


def test_while_it_runs_nothing_of_the_lead_is_taken(admin: Functions, environment: dict[str, str]) -> None:
    settle(admin)
    erasure_id = erase(admin).json["erasureId"]
    assert admin.direct(LEAD, occurredAt=format_instant(now())).code == "erased"
    data = {"organizationId": admin.organization_id, "leadId": LEAD, "ticketId": "t"}
    batch = [envelope(type="ticketing.ticket-opened", id="b", data=data)]
    told = admin.api("POST", "/v1/events", batch, headers={"content-type": "application/cloudevents-batch+json"})
    assert [(each["status"], each["problem"]["code"]) for each in told.json["results"]] == [(410, "erased")]
    identities = {"identities": [{"kind": "email", "value": EMAIL}]}
    assert admin.api("PUT", f"{lead(admin)}/identities", identities).code == "erased"
    assert erase(admin).json["erasureId"] == erasure_id
    work(environment)


def test_a_lead_that_nobody_knows_gets_a_receipt_of_nothing(admin: Functions, environment: dict[str, str]) -> None:
    accepted = erase(admin, "lead_nobody")
    assert accepted.status == 202
    work(environment)
    [receipt] = admin.api(
        "GET", f"/v1/organizations/{admin.organization_id}/erasures", query={"leadId": "lead_nobody"}
    ).json["items"]
    assert (receipt["status"], set(receipt["counts"].values())) == ("done", {0})


@pytest.mark.parametrize("scope", [Scope.READ, Scope.WRITE])
def test_only_administrators_erase_or_read_receipts(functions: Functions, scope: Scope) -> None:
    functions.scope = str(scope)
    base = f"/v1/organizations/{functions.organization_id}"
    for method, path in (("DELETE", lead(functions)), ("GET", f"{base}/erasures"), ("GET", f"{base}/erasures/era_1")):
        assert functions.api(method, path).code == "insufficient_scope"


def test_leads_and_receipts_of_others_are_missing(admin: Functions, environment: dict[str, str]) -> None:
    settle(admin)
    erasure_id = erase(admin).json["erasureId"]
    stranger = {ORGANIZATION_CLAIM: "org_stranger", "scope": admin.scope}
    base = f"/v1/organizations/{admin.organization_id}"
    paths = [("DELETE", lead(admin)), ("GET", f"{base}/erasures"), ("GET", f"{base}/erasures/{erasure_id}")]
    answers = [admin.api(method, path, claims=stranger) for method, path in paths]
    assert {each.status for each in answers} == {404}
    missing = admin.api("GET", f"{base}/erasures/era_{'0' * 8}-0000-7000-8000-{'0' * 12}")
    assert {each.text for each in answers} == {missing.text}
    work(environment)


@pytest.mark.parametrize("lead_id", ["a%23b", "a" * 65, "ção"])
def test_an_impossible_lead_is_missing(admin: Functions, lead_id: str) -> None:
    assert erase(admin, lead_id).status == 404


def test_the_audit_log_tells_who_asked_for_what_and_no_more(
    admin: Functions, environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    settle(admin)
    capfd.readouterr()
    claims = {ORGANIZATION_CLAIM: admin.organization_id, "scope": admin.scope, "client_id": "operations-client"}
    erasure_id = admin.api("DELETE", lead(admin), claims=claims).json["erasureId"]
    work(environment)
    lines = [json.loads(each) for each in capfd.readouterr().out.splitlines() if each.startswith("{")]
    told = {each["message"]: each for each in lines if each.get("erasureId") == erasure_id}
    assert told["erasure requested"]["requestedBy"] == "operations-client"
    assert set(told) == {"erasure requested", "erasure done"}
    assert LEAD not in json.dumps(list(told.values()))
