"""Erasure on the twin: of a person whose events keep arriving while the worker is killed, and of a whole organisation.

Both at once, as they take the better part of two minutes: a message of a worker that died comes again after half of one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.client import Client, at_once, eventually, new_lead
from tests.e2e.conftest import RunningTwin
from tests.e2e.searching import places_of
from tests.e2e.tenants import drain
from tests.e2e.test_identities import Organization
from tests.support.contacts import PROVIDERS, Person, hotmart

pytestmark = pytest.mark.e2e

EVENTS = 1_000
CLOUD_EVENT = {"content-type": "application/cloudevents+json"}
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
        assert eventually(lambda: self.count("events") >= events + 7), self.count("events")
        assert eventually(lambda: self.count("rejectedEvents") == 1)
        drain(self.client)
        self.find_differences(events)

    def billing(self, kind: str, **data: Any) -> None:
        fields = {"organizationId": self.organization.id, "leadId": self.lead, **data}
        self.client.publish("billing_service", kind, self.event(-2, type=kind, id=f"evt_{uuid.uuid4()}", data=fields))

    def find_differences(self, events: int) -> None:
        """A dry run whose findings show values of the person."""
        assert eventually(lambda: self.tickets_known() >= events)  # later nothing writes it again
        key = {"leadOrganizationId": {"S": self.key}, "category": {"S": "support"}}
        self.client.aws("dynamodb").delete_item(TableName=self.client.stack["tables"]["memories"], Key=key)
        base = f"/v1/organizations/{self.organization.id}/reprocessings"
        job = self.client.call("POST", base, {"dryRun": True}).json
        done = eventually(lambda: self.is_over(f"{base}/{job['reprocessingId']}"))
        assert done, job

    def tickets_known(self) -> int:
        memory = self.client.call("GET", f"{self.path}/memories/support").json.get("memory")
        return int(memory["eventCount"]) if memory else 0

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

    def __init__(self, twin: RunningTwin, client: Client, organization: str, erasure_id: str, times: int) -> None:
        super().__init__(daemon=True)
        self.kills = 0
        self._twin = twin
        self._client = client
        self._key = {"organizationId": {"S": organization}, "erasureId": {"S": erasure_id}}
        self._times = times

    def run(self) -> None:
        table, before = self._client.aws("dynamodb"), 0
        while self.kills < self._times:
            gone = self.deleted(table)
            workers = eraser_workers(self._twin) if gone > before else []
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
            self.kills += bool(workers)
            before = gone
            time.sleep(0.02)

    def deleted(self, table: Any) -> int:
        name = self._client.stack["tables"]["erasures"]
        found = table.get_item(TableName=name, Key=self._key, ConsistentRead=True)
        return int(found["Item"]["counts"]["M"]["events"]["N"])


def eraser_workers(twin: RunningTwin) -> list[int]:
    """Processes in which this twin, and no other on the machine, runs the eraser; where no /proc tells, any function."""
    emulator = json.loads((twin.folder / "ministack.json").read_text(encoding="utf-8"))["pid"]
    told = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children = [int(pid) for pid, parent in map(str.split, told.splitlines()) if int(parent) == emulator]
    return [pid for pid in children if b"EraserFunction" in _environment(pid)]


def _environment(pid: int) -> bytes:
    if not Path("/proc").is_dir():
        return b"EraserFunction"
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended since
        return b""


def receipt(client: Client, organization: str, erasure_id: str) -> dict[str, Any]:
    answer = client.call("GET", f"/v1/organizations/{organization}/erasures/{erasure_id}")
    assert answer.status == 200, answer.body
    return dict(answer.json)


def redrive(client: Client, organization: str, messages: int) -> None:
    """Put what waits of an organisation in the dead-letter queue of ingest back on its queue, as an operator does."""
    sqs, queues = client.aws("sqs"), client.stack["queues"]
    dead, moved = {"QueueUrl": queues["ingestDlq"]}, []

    def all_moved() -> bool:  # some may be out of sight for half a minute, since the eraser looked at them
        found = sqs.receive_message(**dead, MaxNumberOfMessages=10, VisibilityTimeout=5).get("Messages", [])
        for each in (each for each in found if organization in each["Body"]):
            sqs.send_message(QueueUrl=queues["ingest"], MessageBody=each["Body"])
            sqs.delete_message(**dead, ReceiptHandle=each["ReceiptHandle"])
            moved.append(each["MessageId"])
        return len(moved) >= messages

    assert eventually(all_moved), moved
    assert len(moved) == messages


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


@dataclass
class Story:
    """A person and an organisation that were erased while the world went on, and what was seen on the way."""

    person: Somebody
    neighbour: Somebody
    """Of the same organisation, with an id that begins with the person's."""
    client_of_leaver: Somebody
    """Of the organisation whose retention has expired."""
    bystander: Somebody
    """Of a third organisation."""
    kills: int
    statuses: set[int]
    """Of the person's events while the erasure ran."""
    of_person: dict[str, Any]
    of_organization: dict[str, Any]
    """The receipts."""
    logs: list[Path]

    @property
    def client(self) -> Client:
        return self.person.client


@pytest.fixture(scope="module")
def story(client: Client, twin: RunningTwin) -> Story:
    """All of it, to the search at the end."""
    home, leaving, third = (Organization(client) for _ in range(3))
    person, neighbour, leaver, bystander = Somebody(home), Somebody(home), Somebody(leaving), Somebody(third)
    neighbour.lead = f"{person.lead}0"
    at_once(2, lambda number: person.settle(EVENTS) if number else leaver.settle(100))
    for each in (neighbour, bystander):
        assert client.call("POST", "/v1/events", each.event(1), headers=CLOUD_EVENT).status == 201
    places = places_of(client, person.needles)
    assert {"table events", "table memories", "table rejectedEvents", "table reprocessings", "table organizations",
            "bucket raw organizations"} <= set(places), places  # fmt: skip
    late = person.event(-3, id=f"evt_{uuid.uuid4()}")
    for letter in (late, neighbour.event(2), left_over(person), leaver.event(-3)):
        bury(client, letter)

    # Longer than a slice takes, but no minute.
    queue = {"QueueUrl": client.stack["queues"]["erasure"]}
    client.aws("sqs").set_queue_attributes(**queue, Attributes={"VisibilityTimeout": "20"})
    started = client.call("DELETE", person.path)
    assert started.status == 202, started.body
    killer = Killer(twin, client, home.id, started.json["erasureId"], times=2)
    killer.start()
    leave(leaver)
    base = f"/v1/organizations/{leaving.id}/erasures"
    [other] = eventually(lambda: client.call("GET", base).json["items"])
    statuses: set[int] = set()
    number, ends = 0, time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        receipts = receipt(client, home.id, started.json["erasureId"]), receipt(client, leaving.id, other["erasureId"])
        if all(each["status"] == "done" for each in receipts):
            break
        number += 1
        statuses |= keep_sending(person, number)
        keep_sending(leaver, number)
        time.sleep(0.3)
    killer.join(1)

    bury(client, late)  # it turns up again only now
    redrive(client, home.id, messages=2)  # that, and the neighbour's
    for each in (person, leaver):
        each.organization.deliver("whatsapp", json.dumps(old_message(each)).encode())
        client.send_message(each.event(2))
    drain(client)
    rebuild = client.call("POST", f"/v1/organizations/{home.id}/reprocessings", {}).json
    path = f"/v1/organizations/{home.id}/reprocessings/{rebuild['reprocessingId']}"
    assert eventually(lambda: person.is_over(path))
    drain(client)
    time.sleep(3)  # streams
    return Story(
        person, neighbour, leaver, bystander, killer.kills, statuses, *receipts, [twin.folder / "ministack.log"]
    )


def bury(client: Client, message: dict[str, Any]) -> None:
    """Put a message among the dead letters of ingest."""
    client.aws("sqs").send_message(QueueUrl=client.stack["queues"]["ingestDlq"], MessageBody=json.dumps(message))


def leave(somebody: Somebody) -> None:
    """Let the retention of somebody's organisation expire."""
    data = {"organizationId": somebody.organization.id}
    kind = "offboarding.retention-expired"
    told = somebody.event(-4, type=kind, id=f"evt_{uuid.uuid4()}", data=data)
    somebody.client.publish("offboarding_service", kind, told)


def keep_sending(somebody: Somebody, number: int) -> set[int]:
    """Send again what is known and something new, which happened before, through queue, bus and API; the API's answers."""
    again, new = somebody.event(number % 50), somebody.event(number, id=f"evt_{uuid.uuid4()}")
    somebody.client.send_message(again)
    somebody.client.publish(SOURCE, "ticketing.ticket-opened", new)
    return {somebody.client.call("POST", "/v1/events", each, headers=CLOUD_EVENT).status for each in (again, new)}


def test_the_erasures_come_to_their_end_though_the_worker_was_killed_twice_in_the_middle(story: Story) -> None:
    assert story.kills == 2
    assert (story.of_person["status"], story.of_organization["status"]) == ("done", "done")


def test_nothing_of_the_person_is_found_anywhere_after_a_redrive_and_a_rebuild(story: Story) -> None:
    lead = story.person.lead
    assert places_of(story.client, story.person.needles, logs=story.logs) == {}
    named = places_of(story.client, [f"{lead}#", f'{lead}"', f"{lead}/"])
    assert [place for place in named if not place.startswith("log")] == []  # logs hold ids


def test_nothing_of_the_organisation_is_found_anywhere(story: Story) -> None:
    assert places_of(story.client, story.client_of_leaver.needles, logs=story.logs) == {}


def test_the_receipts_count_what_was_in_every_store_and_name_no_lead(story: Story) -> None:
    counts = story.of_person["counts"]
    assert all(counts.values()), counts
    assert counts["events"] >= EVENTS + 7
    assert counts["deadLetters"] == 2
    assert story.of_person["leadId"] is None
    whole = story.of_organization["counts"]
    assert whole["events"] >= 107
    assert whole["claims"] >= 107
    assert min(whole[each] for each in ("identities", "memories", "rejectedEvents", "objects", "reprocessings")) >= 1
    assert whole["deadLetters"] == 1


def test_events_of_the_erased_are_refused_as_gone(story: Story) -> None:
    assert 410 in story.statuses
    old = story.client.call("POST", "/v1/events", story.person.event(1), headers=CLOUD_EVENT)
    assert (old.status, old.json["code"]) == (410, "erased")


def test_neighbours_keep_what_is_theirs(story: Story) -> None:
    assert {each["payload"]["ticketId"] for each in timeline(story.neighbour)} == {"t1", "t2"}
    assert [each["payload"]["ticketId"] for each in timeline(story.bystander)] == ["t1"]


def test_of_an_erased_organisation_only_its_life_cycle_and_its_receipt_are_read(story: Story) -> None:
    leaver, client = story.client_of_leaver, story.client
    base = f"/v1/organizations/{leaver.organization.id}"
    for method, path in (("GET", f"{leaver.path}/events"), ("DELETE", leaver.path), ("GET", f"{base}/reprocessings")):
        assert client.call(method, path).status == 410, path
    assert client.call("GET", base).json["lifecycle"]["status"] == "retention_expired"
    assert [each["scope"] for each in client.call("GET", f"{base}/erasures").json["items"]] == ["organization"]


def test_a_lead_that_returns_is_taken(story: Story) -> None:
    """The last: what is sent here is found again."""
    back = story.person.event(1, id=f"evt_{uuid.uuid4()}", time=later())
    assert story.client.call("POST", "/v1/events", back, headers=CLOUD_EVENT).status == 201
    assert len(timeline(story.person)) == 1
