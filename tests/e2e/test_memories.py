"""Memories on the deployed twin: events become knowledge, other domains hear of it, a rebuild changes nothing."""

from __future__ import annotations

import json
import os
import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.e2e.client import Client, at_once, eventually, new_lead

pytestmark = pytest.mark.e2e

EVENTS = int(os.environ.get("LEAD_EVENTS_E2E_EVENTS", "1000"))
LEADS = 50
ALL = "9999-12-31T23:59:59.999999Z"
PAYLOADS: tuple[tuple[str, Callable[[int], dict[str, Any]]], ...] = (
    ("purchase_completed", lambda n: {"productId": f"p{n % 3}", "amount": 10 + n / 4, "currency": "BRL"}),
    ("sentiment_detected", lambda n: {"score": (n % 21 - 10) / 10, "label": "ok"}),
    ("interest_detected", lambda n: {"category": f"c{n % 4}", "confidence": n % 100 / 100}),
    ("form_submitted", lambda n: {"formId": "f", "responses": [{"field": f"x{n % 40}", "answer": f"a{n}"}]}),
    ("ticket_opened", lambda n: {"ticketId": f"t{n % 5}", "priority": "high"}),
    ("ticket_resolved", lambda n: {"ticketId": f"t{n % 5}", "satisfactionScore": n % 6}),
)


class Subscriber:
    """A domain with a rule of its own for what the service tells, and a queue behind it."""

    def __init__(self, client: Client) -> None:
        self._client, self._name = client, f"subscriber-{uuid.uuid4().hex[:8]}"
        self._sqs, self._events = client.aws("sqs"), client.aws("events")
        self._url = self._sqs.create_queue(QueueName=self._name)["QueueUrl"]
        attributes = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])["Attributes"]
        bus = {"EventBusName": client.stack["eventBusName"]}
        pattern = {"source": ["lead_events"], "detail-type": [{"prefix": "lead."}]}
        self._events.put_rule(Name=self._name, EventPattern=json.dumps(pattern), **bus)
        self._events.put_targets(Rule=self._name, Targets=[{"Id": "q", "Arn": attributes["QueueArn"]}], **bus)
        self.heard: list[dict[str, Any]] = []

    def close(self) -> None:
        bus = {"EventBusName": self._client.stack["eventBusName"]}
        self._events.remove_targets(Rule=self._name, Ids=["q"], **bus)
        self._events.delete_rule(Name=self._name, **bus)
        self._sqs.delete_queue(QueueUrl=self._url)

    def of(self, leads: set[str], kind: str) -> list[dict[str, Any]]:
        """The envelopes of these leads heard so far."""
        while received := self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages"):
            self.heard += [json.loads(each["Body"])["detail"] for each in received]
            entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(received)]
            self._sqs.delete_message_batch(QueueUrl=self._url, Entries=entries)
        return [each for each in self.heard if each["type"] == kind and each["data"]["leadId"] in leads]


@pytest.fixture
def subscriber(client: Client) -> Iterator[Subscriber]:
    made = Subscriber(client)
    yield made
    made.close()


def memories(client: Client, lead: str, query: str = "") -> dict[str, Any]:
    answer = client.call("GET", f"/v1/organizations/{client.organization}/leads/{lead}/memories{query}")
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json["memories"]
    return found


def is_up_to_date(client: Client, lead: str) -> bool:
    """Whether the memories are what a fold of all the lead's events gives now."""
    return json.dumps(memories(client, lead)) == json.dumps(memories(client, lead, f"?asOf={ALL}"))


def test_an_appended_event_becomes_a_memory_and_is_heard_of(client: Client, subscriber: Subscriber) -> None:
    lead = new_lead()
    event = client.append(lead, eventType="purchase_completed", payload=PAYLOADS[0][1](1)).json
    found = eventually(lambda: memories(client, lead).get("purchase"))
    assert (found["count"], found["totals"][0]["total"]) == (1, 10.25)
    [told] = eventually(lambda: subscriber.of({lead}, "lead.event-recorded"))
    assert (told["id"], told["source"]) == (event["eventId"], "lead_events")
    assert told["data"] == event
    [update] = eventually(lambda: subscriber.of({lead}, "lead.memory-updated"))
    assert update["data"]["memory"] == found
    path = f"/v1/organizations/{client.organization}/leads/{lead}/memories"
    assert client.call("GET", f"{path}/purchase").json["memory"] == found
    assert client.call("GET", f"{path}/form").status == 404
    text = client.call("GET", f"{path}?format=text")
    assert text.headers["Content-Type"].startswith("text/plain")
    assert event["eventId"] in text.body.decode()


def test_as_of_a_day_what_had_occurred_by_then_is_known(client: Client) -> None:
    lead = new_lead()
    for day in (10, 20, 30):
        occurred = f"2026-03-{day}T10:00:00Z"
        client.append(lead, eventType="purchase_completed", payload=PAYLOADS[0][1](day), occurredAt=occurred)
    counts = [
        memories(client, lead, f"?asOf=2026-03-{day:02}").get("purchase", {}).get("count") for day in (9, 10, 25, 30)
    ]
    assert counts == [None, 1, 2, 3]


def test_memories_are_no_other_tenants_business(client: Client) -> None:
    lead = new_lead()
    client.append(lead)
    path = f"/v1/organizations/{client.organization}/leads/{lead}/memories"
    tenants = [name for name in client.stack["tokens"] if name not in ("platform", client.organization)]
    assert client.call("GET", path, token=tenants[0]).status == 404
    assert client.call("GET", path, token=None).status == 401


def envelopes(client: Client, leads: list[str], count: int) -> list[dict[str, Any]]:
    """Events of several leads, in the order in which they occurred."""
    found = []
    for number in range(count):
        kind, payload = PAYLOADS[number % len(PAYLOADS)]
        data = {"organizationId": client.organization, "leadId": leads[number % len(leads)], **payload(number)}
        occurred = f"2026-03-{1 + number % 28:02}T10:{number % 60:02}:00Z"
        found.append({"specversion": "1.0", "type": f"ai-agents.{kind.replace('_', '-')}", "id": f"evt_{uuid.uuid4()}",
                      "time": occurred, "source": "ai_agents_service", "data": data})  # fmt: skip
    return found


def send(client: Client, messages: list[dict[str, Any]]) -> None:
    sqs, url = client.aws("sqs"), client.stack["queues"]["ingest"]
    batches = [messages[start : start + 10] for start in range(0, len(messages), 10)]

    def batch(number: int) -> None:
        entries = [{"Id": str(n), "MessageBody": json.dumps(each)} for n, each in enumerate(batches[number])]
        assert not sqs.send_message_batch(QueueUrl=url, Entries=entries).get("Failed")

    at_once(len(batches), batch, threads=4)


def test_shuffled_events_sent_twice_while_everything_is_rebuilt_are_known_and_told_once(
    client: Client, subscriber: Subscriber
) -> None:
    leads = [new_lead() for _ in range(LEADS)]
    sent = envelopes(client, leads, EVENTS)
    shuffled = sent * 2
    random.Random(4).shuffle(shuffled)
    waiting = len(dead_letters(client))
    half = len(shuffled) // 2
    send(client, shuffled[:half])
    jobs = [start_rebuild(client)]
    send(client, shuffled[half:])
    expected = {lead: EVENTS // LEADS + (number < EVENTS % LEADS) for number, lead in enumerate(leads)}

    def all_are_known() -> bool:
        if is_done(client, jobs[-1]):
            jobs.append(start_rebuild(client))
        return all(
            sum(each["eventCount"] for each in memories(client, lead).values()) == expected[lead] for lead in leads
        )

    assert eventually(all_are_known, seconds=60 + EVENTS / 5)
    assert eventually(lambda: is_done(client, jobs[-1]))
    assert all(is_up_to_date(client, lead) for lead in leads)
    told = eventually(lambda: heard_all(subscriber, set(leads)))
    assert set(Counter(each["id"] for each in told).values()) == {1}
    assert len(dead_letters(client)) == waiting


def start_rebuild(client: Client) -> str:
    """Begin to rebuild everything."""
    job = client.call("POST", "/v1/reprocessings", {})
    assert job.status == 202, job.body
    return str(job.json["reprocessingId"])


def is_done(client: Client, job: str) -> bool:
    return bool(client.call("GET", f"/v1/reprocessings/{job}").json["status"] == "done")


def heard_all(subscriber: Subscriber, leads: set[str]) -> list[dict[str, Any]]:
    found = subscriber.of(leads, "lead.event-recorded")
    return found if len(found) >= EVENTS else []


def dead_letters(client: Client) -> list[str]:
    """A name for each message that was given up."""
    sqs, found = client.aws("sqs"), []
    for name, url in client.stack["queues"].items():
        if name.endswith("Dlq"):
            attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
            found += [name] * int(attributes["Attributes"]["ApproximateNumberOfMessages"])
    return found


def test_a_rebuild_after_the_memories_were_deleted_restores_them_to_the_byte(client: Client) -> None:
    lead = new_lead()
    messages = envelopes(client, [lead], 30)
    send(client, messages)
    path = f"/v1/organizations/{client.organization}/leads/{lead}/memories"
    assert eventually(lambda: sum(each["eventCount"] for each in memories(client, lead).values()) == len(messages))
    before = client.call("GET", path).body
    dynamodb, table = client.aws("dynamodb"), client.stack["tables"]["memories"]
    partition = {"S": f"ORG#{client.organization}#LEAD#{lead}"}
    for category in json.loads(before)["memories"]:
        dynamodb.delete_item(TableName=table, Key={"leadOrganizationId": partition, "category": {"S": category}})
    assert memories(client, lead) == {}
    job = client.call("POST", f"/v1/organizations/{client.organization}/reprocessings", {"leadId": lead})
    assert job.status == 202, job.body
    assert eventually(lambda: client.call("GET", path).body == before)


@pytest.fixture
def broken_item(client: Client) -> Iterator[Callable[[str], None]]:
    """Stores an item that nobody of us writes, without the time at which it occurred; it is gone in the end."""
    dynamodb, table, keys = client.aws("dynamodb"), client.stack["tables"]["events"], []

    def store(lead: str) -> None:
        key = {
            "leadOrganizationId": {"S": f"ORG#{client.organization}#LEAD#{lead}"},
            "occurredAtId": {"S": f"2026-03-20T14:22:00.000000Z#{uuid.uuid4()}"},
        }
        dynamodb.put_item(TableName=table, Item={**key, "eventType": {"S": "purchase_completed"}})
        keys.append(key)

    yield store
    for key in keys:
        dynamodb.delete_item(TableName=table, Key=key)
    for name in ("projectorDlq", "publisherDlq"):
        client.aws("sqs").purge_queue(QueueUrl=client.stack["queues"][name])


def test_a_record_that_cannot_be_read_is_given_up_and_holds_up_nobody(
    client: Client, broken_item: Callable[[str], None]
) -> None:
    other = new_lead()
    broken_item(new_lead())
    client.append(other, eventType="purchase_completed", payload=PAYLOADS[0][1](1))
    assert eventually(lambda: memories(client, other).get("purchase"))
    assert eventually(lambda: {"projectorDlq", "publisherDlq"} <= set(dead_letters(client)))
