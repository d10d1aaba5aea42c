"""Erasure on the twin: of a person whose events keep arriving while the worker is killed, and of a whole organisation."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.client import Client, eventually, new_lead
from tests.e2e.conftest import RunningTwin
from tests.e2e.searching import places_of
from tests.e2e.tenants import drain
from tests.e2e.test_identities import Organization
from tests.support.contacts import PROVIDERS, Person, hotmart

pytestmark = pytest.mark.e2e

EVENTS = 1_000
PATIENCE = 400.0
SOURCE = "ai_agents_service"


class Somebody:
    """A person with a lead, and something of them wherever something can be."""

    def __init__(self, organization: Organization) -> None:
        self.organization = organization
        self.client = organization.client
        self.lead = new_lead()
        self.person = Person()
        self.canary = f"Zuleica {uuid.uuid4().hex}"
        self.began = datetime.now(UTC)

    @property
    def needles(self) -> list[str]:
        """What is nowhere when the person is erased; the lead's id neither, but in logs."""
        return [self.canary, self.person.name, self.person.digits]

    @property
    def path(self) -> str:
        return f"/v1/organizations/{self.organization.id}/leads/{self.lead}"

    def event(self, number: int, **changes: Any) -> dict[str, Any]:
        """A CloudEvent of the lead that happened before anybody asked for its erasure."""
        data = {
            "organizationId": self.organization.id,
            "leadId": self.lead,
            "ticketId": f"t{number}",
            "subject": self.canary,
            "contact": {"email": self.person.email, "phone": self.person.e164},
        }
        return {
            "specversion": "1.0",
            "type": "ticketing.ticket-opened",
            "id": f"evt_{self.lead}_{number}",
            "source": SOURCE,
            "time": self.began.isoformat().replace("+00:00", "Z"),
            "datacontenttype": "application/json",
            "data": data,
        } | changes

    def settle(self, events: int) -> None:
        """Send something of the person through every entrance, and wait until it is everywhere."""
        for kind, value in (("email", self.person.email), ("phone", self.person.e164)):
            answer = self.client.call(
                "PUT", f"{self.path}/identities", {"identities": [{"kind": kind, "value": value}]}
            )
            assert answer.status == 200, answer.body
        batch = {"content-type": "application/cloudevents-batch+json"}
        for start in range(0, events, 100):
            sent = [self.event(number) for number in range(start, start + 100)]
            assert self.client.call("POST", "/v1/events", sent, headers=batch).status == 200
        for provider, body in PROVIDERS.items():
            self.organization.deliver(provider, body(self.person))
        told = json.loads(hotmart(self.person))
        # Too large for a message, so it waits in the inbox; nothing that could be compressed, so it is stored as an object.
        told["data"]["note"] = self.canary + "".join(uuid.uuid4().hex for _ in range(8_000))
        self.organization.deliver("hotmart", json.dumps(told).encode())
        broken = self.event(-1, sourcetype="NO")
        self.client.send_message(broken)
        self.billing("billing.subscription-created", subscriptionId="s1", planId="p1", planName=self.canary)
        assert eventually(lambda: self.count("events") >= events + 7, 120), self.count("events")
        assert eventually(lambda: self.count("rejectedEvents") == 1)
        drain(self.client)
        self.find_differences()

    def billing(self, kind: str, **data: Any) -> None:
        fields = {"organizationId": self.organization.id, "leadId": self.lead, **data}
        self.client.publish("billing_service", kind, self.event(-2, type=kind, id=f"evt_{uuid.uuid4()}", data=fields))

    def find_differences(self) -> None:
        """A dry run whose findings show values of the person."""
        assert eventually(lambda: self.count("memories") >= 2, 60)
        table = self.client.aws("dynamodb")
        name = self.client.stack["tables"]["memories"]
        key = {"leadOrganizationId": {"S": self.key}, "category": {"S": "support"}}
        eventually(lambda: "Item" in table.get_item(TableName=name, Key=key), 60)
        table.delete_item(TableName=name, Key=key)
        base = f"/v1/organizations/{self.organization.id}/reprocessings"
        job = self.client.call("POST", base, {"dryRun": True}).json
        done = eventually(lambda: self.is_over(f"{base}/{job['reprocessingId']}"), 60)
        assert done, job

    def is_over(self, path: str) -> bool:
        return bool(self.client.call("GET", path).json["status"] == "done")

    @property
    def key(self) -> str:
        return f"ORG#{self.organization.id}#LEAD#{self.lead}"

    def count(self, table: str) -> int:
        """Items of the lead, or of the organisation among the rejected."""
        if table == "rejectedEvents":
            name, value = "organizationId", self.organization.id
        else:
            name, value = "leadOrganizationId", self.key
        condition = {"FilterExpression": f"{name} = :k", "ExpressionAttributeValues": {":k": {"S": value}}}
        return len(self.client.items(table, **condition))


class Killer(threading.Thread):
    """Kills the eraser's worker each time that it has just begun to delete, ``times`` in all."""

    def __init__(self, client: Client, organization: str, erasure_id: str, times: int) -> None:
        super().__init__(daemon=True)
        self.kills = 0
        self._client = client
        self._key = {"organizationId": {"S": organization}, "erasureId": {"S": erasure_id}}
        self._times = times

    def run(self) -> None:
        before = 0
        while self.kills < self._times:
            gone = self.deleted()
            workers = eraser_workers() if gone > before else []
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
            self.kills += bool(workers)
            before = gone

    def deleted(self) -> int:
        table = self._client.stack["tables"]["erasures"]
        found = self._client.aws("dynamodb").get_item(TableName=table, Key=self._key, ConsistentRead=True)
        return int(found["Item"]["counts"]["M"]["events"]["N"])


def eraser_workers() -> list[int]:
    """Processes in which the twin runs the eraser."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and b"EraserFunction" in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # gone since, or somebody else's
            continue
    return found


def receipt(client: Client, organization: str, erasure_id: str) -> dict[str, Any]:
    answer = client.call("GET", f"/v1/organizations/{organization}/erasures/{erasure_id}")
    assert answer.status == 200, answer.body
    return dict(answer.json)


def redrive(client: Client, organization: str) -> int:
    """Put what waits of an organisation in the dead-letter queue of ingest back on its queue, as an operator does."""
    sqs, queues = client.aws("sqs"), client.stack["queues"]
    dead, moved = {"QueueUrl": queues["ingestDlq"]}, 0
    while messages := sqs.receive_message(**dead, MaxNumberOfMessages=10, VisibilityTimeout=20).get("Messages"):
        for each in messages:
            if organization in each["Body"]:
                sqs.send_message(QueueUrl=queues["ingest"], MessageBody=each["Body"])
                sqs.delete_message(**dead, ReceiptHandle=each["ReceiptHandle"])
                moved += 1
    return moved


def timeline(somebody: Somebody) -> list[dict[str, Any]]:
    return list(somebody.client.call("GET", f"{somebody.path}/events").json["items"])


def old_message(somebody: Somebody) -> dict[str, Any]:
    """A message that the person wrote before the erasure, delivered late; it names no lead, only the phone."""
    told = json.loads(PROVIDERS["whatsapp"](somebody.person))
    message = told["entry"][0]["changes"][0]["value"]["messages"][0]
    message["timestamp"] = str(int(somebody.began.timestamp()) - 60)
    return dict(told)


def left_over(somebody: Somebody) -> dict[str, Any]:
    """A webhook delivery of the person that could not be processed; its body waits in the inbox."""
    key = f"inbox/{somebody.organization.id}/evt_{uuid.uuid4()}"
    body = PROVIDERS["whatsapp"](somebody.person)
    somebody.client.aws("s3").put_object(Bucket=somebody.client.stack["buckets"]["raw"], Key=key, Body=body)
    data = {"provider": "whatsapp", "organizationId": somebody.organization.id, "headers": {}, "bodyKey": key}
    data["receivedAt"] = somebody.began.isoformat().replace("+00:00", "Z")
    return somebody.event(-5, type="webhook.received", source="lead_events", id=f"evt_{uuid.uuid4()}", data=data)


def later() -> str:
    return (datetime.now(UTC) + timedelta(seconds=1)).isoformat().replace("+00:00", "Z")


def test_nothing_of_an_erased_person_is_found_anywhere_whatever_happens_meanwhile(
    client: Client, twin: RunningTwin
) -> None:
    organization = Organization(client)
    somebody, neighbour = Somebody(organization), Somebody(organization)
    neighbour.lead = f"{somebody.lead}0"  # a name that begins with the other's
    somebody.settle(EVENTS)
    client.call("POST", "/v1/events", neighbour.event(1), headers={"content-type": "application/cloudevents+json"})
    logs = [twin.folder / "ministack.log"]
    places = places_of(client, somebody.needles)
    assert {"table events", "table memories", "table rejectedEvents", "table reprocessings", "table organizations",
            "bucket raw organizations"} <= set(places), places  # fmt: skip
    sqs, dead_letters = client.aws("sqs"), client.stack["queues"]["ingestDlq"]
    late = somebody.event(-3, id=f"evt_{uuid.uuid4()}")
    sqs.send_message(QueueUrl=dead_letters, MessageBody=json.dumps(late))
    sqs.send_message(QueueUrl=dead_letters, MessageBody=json.dumps(neighbour.event(2)))
    sqs.send_message(QueueUrl=dead_letters, MessageBody=json.dumps(left_over(somebody)))
    assert "bucket raw inbox" in places_of(client, somebody.needles)

    started = client.call("DELETE", somebody.path)
    assert started.status == 202, started.body
    erasure_id = started.json["erasureId"]
    killer = Killer(client, organization.id, erasure_id, times=2)
    killer.start()
    # Longer than a dead worker's dead letters are out of sight, as on AWS, but no minute.
    sqs.set_queue_attributes(QueueUrl=client.stack["queues"]["erasure"], Attributes={"VisibilityTimeout": "35"})
    number, statuses = 0, set()
    ends = time.monotonic() + PATIENCE
    while receipt(client, organization.id, erasure_id)["status"] != "done" and time.monotonic() < ends:
        number += 1
        again = somebody.event(number % 50)
        new = somebody.event(number, id=f"evt_{uuid.uuid4()}")
        client.send_message(again)
        client.publish(SOURCE, "ticketing.ticket-opened", new)
        for each in (again, new):
            statuses.add(client.call("POST", "/v1/events", each, headers={"content-type": "application/cloudevents+json"}).status)  # fmt: skip
        time.sleep(0.3)
    killer.join(1)
    assert killer.kills == 2
    told = receipt(client, organization.id, erasure_id)
    assert told["status"] == "done", told
    assert told["leadId"] is None
    assert told["counts"]["events"] >= EVENTS + 7
    assert told["counts"]["deadLetters"] == 2
    assert all(told["counts"].values()), told["counts"]
    assert 410 in statuses

    sqs.send_message(QueueUrl=dead_letters, MessageBody=json.dumps(late))  # it turns up again only now
    organization.deliver("whatsapp", json.dumps(old_message(somebody)).encode())
    assert redrive(client, organization.id) == 2
    drain(client)
    rebuild = client.call("POST", f"/v1/organizations/{organization.id}/reprocessings", {}).json
    path = f"/v1/organizations/{organization.id}/reprocessings/{rebuild['reprocessingId']}"
    assert eventually(lambda: somebody.is_over(path), 60)
    drain(client)
    time.sleep(3)  # streams
    assert places_of(client, somebody.needles, logs=logs) == {}
    named = places_of(client, [f"{somebody.lead}#", f'{somebody.lead}"', f"{somebody.lead}/"])
    assert [place for place in named if not place.startswith("log")] == []
    assert [each["payload"]["ticketId"] for each in timeline(neighbour)] == ["t1", "t2"]

    back = somebody.event(1, id=f"evt_{uuid.uuid4()}", time=later())
    answer = client.call("POST", "/v1/events", back, headers={"content-type": "application/cloudevents+json"})
    assert answer.status == 201, answer.body
    assert len(timeline(somebody)) == 1


def test_nothing_of_an_organisation_is_found_anywhere_when_its_retention_has_expired(
    client: Client, twin: RunningTwin
) -> None:
    organization, other = Organization(client), Organization(client)
    somebody, neighbour = Somebody(organization), Somebody(other)
    somebody.settle(100)
    client.call("POST", "/v1/events", neighbour.event(1), headers={"content-type": "application/cloudevents+json"})
    expired = {"organizationId": organization.id}
    event = somebody.event(-4, type="offboarding.retention-expired", id=f"evt_{uuid.uuid4()}", data=expired)
    client.publish("offboarding_service", "offboarding.retention-expired", event)
    base = f"/v1/organizations/{organization.id}"
    found = eventually(lambda: client.call("GET", f"{base}/erasures").json["items"], 60)
    assert [each["scope"] for each in found] == ["organization"]
    erasure_id = found[0]["erasureId"]
    for number in range(20):
        client.send_message(somebody.event(number, id=f"evt_{uuid.uuid4()}"))
        organization.deliver("hotmart", hotmart(somebody.person))
    assert eventually(lambda: receipt(client, organization.id, erasure_id)["status"] == "done", PATIENCE)
    client.send_message(somebody.event(1))
    drain(client)
    assert places_of(client, somebody.needles, logs=[twin.folder / "ministack.log"]) == {}
    assert client.call("GET", f"{somebody.path}/events").status == 410
    assert client.call("DELETE", somebody.path).status == 410
    assert client.call("POST", f"{base}/reprocessings", {}).status == 410
    assert client.call("GET", base).json["lifecycle"]["status"] == "retention_expired"
    counts = receipt(client, organization.id, erasure_id)["counts"]
    assert counts["events"] >= 100
    assert counts["identities"] >= 2
    assert len(timeline(neighbour)) == 1
