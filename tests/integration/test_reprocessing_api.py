"""Reprocessings through the deployed functions: started by the API, worked on by the reprocessor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from lead_events import wiring
from lead_events.names import ORGANIZATION_CLAIM, Env, Scope
from tests.support.aws import BUS, MEMORIES, REPROCESSINGS, Context, http_event, sqs_record
from tests.support.functions import Answer, Functions, answered, handler_of

ADMIN = {"scope": f"{Scope.READ} {Scope.WRITE} {Scope.ADMIN}"}
PLATFORM = {"scope": f"{Scope.ADMIN} {Scope.ALL_ORGANIZATIONS}"}


class Administrator:
    """Of the organisation of these functions, or of all."""

    def __init__(self, functions: Functions, queue_url: str, *, everything: bool = False) -> None:
        self.functions = functions
        self.queue_url = queue_url
        self.path = (
            "/v1/reprocessings" if everything else f"/v1/organizations/{functions.organization_id}/reprocessings"
        )
        self.claims = PLATFORM if everything else ADMIN | {ORGANIZATION_CLAIM: functions.organization_id}

    def call(self, method: str, rest: str = "", body: Any = None, **query: str) -> Answer:
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        event = http_event(method, self.path + rest, text, claims=self.claims, query=query or None)
        return answered(handler_of("api")(event, Context()))

    def start(self, **body: Any) -> str:
        answer = self.call("POST", "", body)
        assert answer.status == 202, answer.text
        job_id: str = answer.json["reprocessingId"]
        return job_id

    def shown(self, job_id: str) -> dict[str, Any]:
        answer = self.call("GET", f"/{job_id}")
        assert answer.status == 200, answer.text
        found: dict[str, Any] = answer.json
        return found

    def messages(self) -> list[Any]:
        return boto3.client("sqs").receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get("Messages", [])

    def work(self, *, copies: int = 1) -> None:
        """Let the reprocessor have everything on the queue, each message so many times."""
        while messages := self.messages():
            for message in messages:
                for time in range(copies):
                    record = sqs_record(message["MessageId"], message["Body"])
                    record["attributes"]["ApproximateReceiveCount"] = str(time + 1)
                    assert handler_of("reprocessor")({"Records": [record]}, Context()) == {"batchItemFailures": []}
                boto3.client("sqs").delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])


@pytest.fixture
def admin(functions: Functions, environment: dict[str, str]) -> Iterator[Administrator]:
    administrator = Administrator(functions, environment[Env.REPROCESSING_QUEUE_URL])
    yield administrator
    administrator.work()


@pytest.fixture
def platform(functions: Functions, environment: dict[str, str]) -> Administrator:
    return Administrator(functions, environment[Env.REPROCESSING_QUEUE_URL], everything=True)


def fill(functions: Functions, leads: int = 5, events: int = 3) -> None:
    for lead in range(leads):
        for number in range(events):
            answer = functions.direct(f"lead_{lead}", occurredAt=f"2026-03-2{number}T10:00:00Z")
            assert answer.status == 201, answer.text


def memories(functions: Functions, leads: int = 5) -> list[str]:
    path = f"/v1/organizations/{functions.organization_id}/leads"
    return [functions.api("GET", f"{path}/lead_{lead}/memories").text for lead in range(leads)]


@pytest.mark.parametrize("copies", [1, 2])
def test_an_organisations_memories_are_rebuilt_and_counted_once_however_often_a_message_comes(
    admin: Administrator, functions: Functions, copies: int
) -> None:
    fill(functions)
    job_id = admin.start()
    admin.work(copies=copies)
    shown = admin.shown(job_id)
    assert (shown["status"], shown["organizationId"]) == ("done", functions.organization_id)
    assert shown["progress"] | {"eventsPerSecond": 0, "lastProgressAt": ""} == {
        "segments": {"done": 8, "total": 8}, "leads": 5, "events": 15, "changed": 5, "failed": 0, "percent": 100,
        "eventsPerSecond": 0, "estimatedEndAt": None, "lastProgressAt": "", "stalled": False,
    }  # fmt: skip
    for text in memories(functions):
        assert json.loads(text)["memories"]["subscription"]["eventCount"] == 3


def test_memories_that_were_deleted_come_back_byte_by_byte(admin: Administrator, functions: Functions) -> None:
    fill(functions)
    admin.start()
    admin.work()
    before = memories(functions)
    dynamodb = boto3.client("dynamodb")
    for item in dynamodb.scan(TableName=MEMORIES)["Items"]:
        dynamodb.delete_item(TableName=MEMORIES, Key={name: item[name] for name in ("leadOrganizationId", "category")})
    assert memories(functions) != before
    job_id = admin.start(dryRun=True)
    admin.work()
    dry = admin.shown(job_id)
    assert (dry["progress"]["changed"], len(dry["samples"])) == (5, 5)
    assert {each["subject"] for each in dry["samples"]} == {"subscription"}
    assert dry["samples"][0]["fields"]["eventCount"] == {"is": None, "wouldBe": 3}
    assert memories(functions) != before
    admin.start()
    admin.work()
    assert memories(functions) == before
    job_id = admin.start(dryRun=True)
    admin.work()
    assert (admin.shown(job_id)["progress"]["changed"], admin.shown(job_id)["samples"]) == (0, [])


def test_a_lead_alone_is_rebuilt(admin: Administrator, functions: Functions) -> None:
    fill(functions)
    job_id = admin.start(leadId="lead_2")
    admin.work()
    assert admin.shown(job_id)["progress"]["leads"] == 1
    assert [bool(json.loads(text)["memories"]) for text in memories(functions)] == [False, False, True, False, False]


def test_everything_is_rebuilt_for_the_platform(platform: Administrator, functions: Functions) -> None:
    fill(functions)
    job_id = platform.start()
    platform.work()
    shown = platform.shown(job_id)
    assert (shown["status"], shown["organizationId"]) == ("done", None)
    assert shown["progress"]["leads"] >= 5
    assert all(json.loads(text)["memories"] for text in memories(functions))
    assert platform.call("GET").json["items"][0]["reprocessingId"] == job_id


def test_a_retranslation_tells_what_would_be_and_changes_nothing(admin: Administrator, functions: Functions) -> None:
    answer = functions.direct(
        "lead_1", source="stripe", eventType="purchase_completed", rawPayload="{}", externalEventId="e-1",
        payload={"productId": "p", "productName": "P", "amount": 1, "currency": "BRL", "category": "c", "paymentMethod": "pix"},
    )  # fmt: skip
    assert answer.status == 201, answer.text
    job_id = admin.start(kind="retranslation")
    admin.work()
    shown = admin.shown(job_id)
    assert (shown["dryRun"], shown["progress"]["events"], shown["progress"]["changed"]) == (True, 1, 1)
    assert shown["samples"][0]["subject"] == answer.json["eventId"]
    assert shown["samples"][0]["fields"]["translation"]["is"] == "purchase_completed"
    assert not json.loads(memories(functions)[1])["memories"]


def test_a_second_of_the_same_scope_is_refused_and_names_the_first(admin: Administrator) -> None:
    job_id = admin.start()
    refused = admin.call("POST", "", {})
    assert (refused.status, refused.code) == (409, "reprocessing_running")
    assert job_id in refused.json["detail"]
    for action, status in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        assert admin.call("POST", f"/{job_id}/{action}").json["status"] == status
    over = admin.call("POST", f"/{job_id}/resume")
    assert (over.status, over.code) == (409, "reprocessing_over")
    assert admin.call("POST", f"/{job_id}/forget").status == 404


def test_a_start_without_a_body_rebuilds_all_and_a_bad_one_is_refused(admin: Administrator) -> None:
    assert admin.call("POST").status == 202
    assert admin.call("POST", "", "{").status == 400
    assert admin.call("POST", "", {"kind": "x"}).status == 422
    assert admin.call("GET", "", limit="0").status == 400
    assert admin.call("GET", "/rep_1").status == 404


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_only_administrators_may_and_only_their_own(admin: Administrator, platform: Administrator, method: str) -> None:
    admin.claims = {"scope": f"{Scope.READ} {Scope.WRITE}", ORGANIZATION_CLAIM: admin.functions.organization_id}
    assert admin.call(method).code == "insufficient_scope"
    admin.claims = ADMIN | {ORGANIZATION_CLAIM: "org_other"}
    assert admin.call(method).status == 404
    platform.claims = ADMIN | {ORGANIZATION_CLAIM: admin.functions.organization_id}
    assert platform.call(method).code == "other_organization"
    platform.claims = ADMIN
    assert platform.call(method).code == "no_organization"


def test_the_failing_message_alone_stays_on_the_queue_and_an_empty_batch_is_no_work(functions: Functions) -> None:
    records = [
        sqs_record("m-0", "no slice"),
        sqs_record("m-1", '{"owner":"ALL","jobId":"rep_1","segment":0,"slice":0,"attempt":0}'),
    ]
    answer = handler_of("reprocessor")({"Records": records}, Context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m-0"}]}
    assert handler_of("reprocessor")({"Records": []}, Context()) == {"batchItemFailures": []}


def test_logs_and_the_table_of_jobs_hold_ids_and_nothing_of_a_payload_unless_a_dry_run_shows_it(
    admin: Administrator, functions: Functions, capsys: pytest.CaptureFixture[str]
) -> None:
    functions.direct(payload={"planId": "plan_pro", "planName": "Very Private Plan"})
    admin.start()
    admin.work()
    assert "Very Private Plan" not in json.dumps(boto3.client("dynamodb").scan(TableName=REPROCESSINGS)["Items"])
    admin.start(dryRun=True)
    admin.work()
    assert "Very Private Plan" not in capsys.readouterr().out


def test_a_reprocessing_publishes_nothing(
    admin: Administrator, functions: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(functions, leads=1)

    def refuse() -> Any:
        raise AssertionError(BUS)

    monkeypatch.setattr(wiring, "bus", refuse)
    wiring.reprocessor.cache_clear()
    job_id = admin.start()
    admin.work()
    assert admin.shown(job_id)["status"] == "done"
