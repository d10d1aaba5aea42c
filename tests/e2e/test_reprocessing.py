"""Reprocessing over real HTTP: memories that were deleted come back as they were, beside traffic, with progress."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.client import Answer, Client, at_once, eventually
from tests.e2e.conftest import ROOT

pytestmark = pytest.mark.e2e

LEADS, EVENTS = 20, 300
PURCHASE = {
    "productId": "p1",
    "productName": "Course",
    "category": "courses",
    "currency": "BRL",
    "paymentMethod": "pix",
}


class Organization:
    """An organisation of a test's own, with leads that have events."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.id = f"org_{uuid.uuid4().hex[:12]}"
        self.path = f"/v1/organizations/{self.id}/reprocessings"
        self.leads = [f"lead_{number}" for number in range(LEADS)]

    def append(self, number: int, lead: str | None = None) -> None:
        rnd = random.Random(number)
        kinds: list[tuple[str, dict[str, Any]]] = [
            ("purchase_completed", PURCHASE | {"amount": 10 + number}),
            ("sentiment_detected", {"score": rnd.randint(-10, 10) / 10, "label": "positive", "context": "chat"}),
            ("interest_detected", {"category": "courses", "productId": f"p{number % 5}", "confidence": 0.5}),
            ("ticket_opened", {"ticketId": f"t{number % 7}", "subject": "s", "productId": "p1", "priority": "high"}),
        ]
        kind, payload = kinds[(number + number // LEADS) % len(kinds)]
        answer = self.client.append(
            lead or self.leads[number % LEADS],
            organization=self.id,
            source="ai_agents_service",
            eventType=kind,
            externalEventId=f"e-{number}",
            occurredAt=f"2026-03-{1 + rnd.randrange(28):02d}T10:00:{number % 60:02d}Z",
            payload=payload,
        )
        assert answer.status == 201, answer.body

    def memory(self, lead: str) -> bytes:
        answer = self.client.call("GET", f"/v1/organizations/{self.id}/leads/{lead}/memories")
        assert answer.status == 200, answer.body
        return answer.body

    def memories(self) -> dict[str, bytes]:
        return dict(
            zip(self.leads, at_once(LEADS, lambda number: self.memory(self.leads[number]), threads=4), strict=True)
        )

    def counted(self) -> int:
        """Events that the memories hold."""
        found = [json.loads(body)["memories"] for body in self.memories().values()]
        return sum(memory["eventCount"] for each in found for memory in each.values())

    def forget(self) -> None:
        """Delete every memory of this organisation, as an administrator of the account may."""
        table = self.client.stack["tables"]["memories"]
        dynamodb = self.client.aws("dynamodb")
        prefix = {":p": {"S": f"ORG#{self.id}#"}}
        condition = {"FilterExpression": "begins_with(leadOrganizationId, :p)", "ExpressionAttributeValues": prefix}
        for item in self.client.items("memories", **condition):
            key = {name: item[name] for name in ("leadOrganizationId", "category")}
            dynamodb.delete_item(TableName=table, Key=key)

    def call(self, method: str, rest: str = "", body: Any = None) -> Answer:
        return self.client.call(method, self.path + rest, body)

    def start(self, **body: Any) -> str:
        answer = self.call("POST", "", body)
        assert answer.status == 202, answer.body
        return str(answer.json["reprocessingId"])

    def shown(self, job_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/{job_id}").json
        return found

    def finish(self, job_id: str) -> dict[str, Any]:
        eventually(lambda: self.shown(job_id)["status"] == "done")
        found = self.shown(job_id)
        assert found["status"] == "done", found
        assert found["progress"]["failed"] == 0, found
        return found


def dead_letters(client: Client) -> dict[str, int]:
    """How many messages wait in each dead-letter queue."""
    return {name: messages(client, name) for name in client.stack["queues"] if name.endswith("Dlq")}


@pytest.fixture(scope="module", autouse=True)
def dead_before(client: Client) -> dict[str, int]:
    """The dead letters before the first test of this file."""
    return dead_letters(client)


@pytest.fixture(scope="module")
def organization(client: Client) -> Organization:
    """With 300 events of 20 leads, all projected."""
    made = Organization(client)
    at_once(EVENTS, made.append, threads=8)
    assert eventually(lambda: made.counted() == EVENTS)
    return made


def messages(client: Client, queue: str) -> int:
    """Messages of a queue, those included that somebody has received and not deleted."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    answer = client.aws("sqs").get_queue_attributes(QueueUrl=client.stack["queues"][queue], AttributeNames=names)
    return sum(int(answer["Attributes"][name]) for name in names)


def test_deleted_memories_come_back_byte_by_byte_and_a_dry_run_then_finds_nothing(organization: Organization) -> None:
    before = organization.memories()
    organization.forget()
    assert organization.counted() == 0
    dry = organization.finish(organization.start(dryRun=True))
    assert dry["progress"]["changed"] > LEADS
    assert 0 < len(dry["samples"]) <= 10
    assert organization.counted() == 0
    progress = organization.finish(organization.start())["progress"]
    assert (progress["leads"], progress["events"], progress["percent"]) == (LEADS, EVENTS, 100)
    assert organization.memories() == before
    dry = organization.finish(organization.start(dryRun=True))
    assert (dry["progress"]["changed"], dry["samples"]) == (0, [])
    assert dry["progress"]["events"] == EVENTS


def test_a_second_start_is_409_and_pause_and_resume_do_what_they_say(organization: Organization) -> None:
    for _ in range(5):
        job_id = organization.start()
        paused = organization.call("POST", f"/{job_id}/pause")
        if paused.status == 200:  # else the workers were faster than this test
            break
        assert paused.json["code"] == "reprocessing_over"
    assert paused.json["status"] == "paused"
    second = organization.call("POST", "", {})
    assert (second.status, second.json["code"]) == (409, "reprocessing_running")
    assert job_id in second.json["detail"]
    assert organization.shown(job_id)["status"] == "paused"
    assert organization.call("POST", f"/{job_id}/resume").json["status"] in ("running", "done")
    assert organization.finish(job_id)["progress"]["leads"] == LEADS
    assert organization.call("POST", f"/{job_id}/cancel").json["code"] == "reprocessing_over"
    assert organization.call("GET").json["items"][0]["reprocessingId"] == job_id


def test_one_lead_and_everything_are_scopes_of_their_own(organization: Organization, client: Client) -> None:
    before = organization.memories()
    organization.forget()
    one = organization.finish(organization.start(leadId=organization.leads[3]))
    assert one["progress"]["leads"] == 1
    assert [lead for lead, body in organization.memories().items() if body == before[lead]] == [organization.leads[3]]
    everything = client.call("POST", "/v1/reprocessings", {})
    assert everything.status == 202, everything.body
    path = f"/v1/reprocessings/{everything.json['reprocessingId']}"
    assert eventually(lambda: client.call("GET", path).json["status"] == "done"), client.call("GET", path).body
    assert client.call("GET", path).json["progress"]["leads"] >= LEADS
    assert organization.memories() == before


def test_events_that_arrive_during_a_rebuild_are_in_the_memories_once(client: Client) -> None:
    made = Organization(client)
    at_once(120, made.append, threads=8)
    organization_job = made.start()
    at_once(60, lambda number: made.append(1_000 + number), threads=4)
    lead_job = made.start(leadId=made.leads[0])
    made.finish(organization_job)
    made.finish(lead_job)
    assert eventually(lambda: made.counted() == 180), made.counted()
    dry = made.finish(made.start(dryRun=True))
    assert (dry["progress"]["changed"], dry["progress"]["events"]) == (0, 180), dry["samples"]


def test_reprocessing_leaves_nothing_among_the_dead_letters(
    client: Client, dead_before: dict[str, int], organization: Organization
) -> None:
    """Other tests leave there on purpose what nobody can read."""
    assert dead_letters(client) == dead_before


def test_only_administrators_may(client: Client, organization: Organization) -> None:
    [bound] = [name for name in client.stack["tokens"] if name == client.organization]
    assert client.call("POST", f"/v1/organizations/{bound}/reprocessings", {}, token=bound).status == 403
    assert client.call("POST", "/v1/reprocessings", {}, token=bound).status == 403
    assert organization.client.call("GET", organization.path, token=None).status == 401


def test_a_retranslation_of_what_was_stored_finds_no_difference(client: Client) -> None:
    from tests.e2e.tenants import Tenant, drain
    from tests.samples import load

    tenant = Tenant.of(client, "stripe")
    tenant.send(load("stripe", "checkout.session.completed.paid"), lead="lead_1")
    drain(client)
    made = Organization(client)
    made.id, made.path = tenant.organization, f"/v1/organizations/{tenant.organization}/reprocessings"
    found = made.finish(made.start(kind="retranslation"))
    assert found["progress"]["events"] > 0
    assert (found["progress"]["changed"], found["samples"]) == (0, [])


def test_the_terminal_command_rebuilds_and_shows_the_way(client: Client, organization: Organization) -> None:
    done = _tool(client)("--scope", "organization", "--organization", organization.id)
    assert done.returncode == 0, done.stderr
    assert f"leads {LEADS} · events {EVENTS}" in done.stdout
    assert "done" in done.stdout


def _tool(client: Client) -> Callable[..., subprocess.CompletedProcess[str]]:
    environment = {
        "LEAD_EVENTS_API": client.stack["apiUrl"],
        "LEAD_EVENTS_TOKEN": client.stack["tokens"]["platform"],
        "COLUMNS": "200",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tools.reprocess", *arguments]
        return subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
