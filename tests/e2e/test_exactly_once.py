"""One external id, one stored event: through every entrance, at once, after crashes, with other times."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from typing import Any

import pytest

from tests.e2e.client import Client, answered, at_once, eventually, impatient, new_lead

pytestmark = pytest.mark.e2e


def envelope(client: Client, lead: str, external_id: str, time: str) -> dict[str, Any]:
    data = {"organizationId": client.organization, "leadId": lead, "planId": "pro", "amount": 99.9, "currency": "BRL"}
    return {
        "specversion": "1.0",
        "type": "billing.subscription-created",
        "source": "billing_service",
        "id": external_id,
        "time": time,
        "datacontenttype": "application/json",
        "data": data,
    }


def claims_of(client: Client, lead: str) -> list[dict[str, Any]]:
    key = f"ORG#{client.organization}#LEAD#{lead}"
    condition = {"FilterExpression": "leadOrganizationId = :k", "ExpressionAttributeValues": {":k": {"S": key}}}
    return client.items("claims", **condition)


def test_a_hundred_deliveries_at_once_through_api_bus_and_queue_store_one_event(client: Client) -> None:
    lead, external_id = new_lead(), f"evt_{uuid.uuid4()}"

    def deliver(index: int) -> int:
        time = "2026-03-20T14:22:00Z" if index % 3 else f"2026-03-20T14:22:{index % 60:02d}.5Z"
        event = envelope(client, lead, external_id, time)
        if index % 4 == 1:
            client.publish("billing_service", event["type"], {k: v for k, v in event.items() if k != "source"})
            return 0
        if index % 4 == 3:
            client.send_message(event)
            return 0
        headers = {"content-type": "application/cloudevents+json"}
        return answered(lambda: client.call("POST", "/v1/events", event, headers=headers)).status

    statuses = Counter(at_once(100, deliver))
    assert statuses[0] == 50
    assert statuses[201] <= 1
    assert statuses[200] + statuses[201] == 50
    queue = client.stack["queues"]["ingest"]
    attributes = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    sqs = client.aws("sqs")

    def drained() -> bool:
        found = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=attributes)["Attributes"]
        return all(value == "0" for value in found.values())

    assert eventually(drained)
    assert len(client.stored(lead)) == 1
    assert len(claims_of(client, lead)) == 1
    assert len(client.timeline(lead)) == 1


@pytest.mark.parametrize("redelivered_by", ["api", "queue"])
def test_a_claim_whose_writer_died_is_completed_by_the_next_delivery(client: Client, redelivered_by: str) -> None:
    """The dead writer's claim is made by storing an event and taking the item away again, as a crash would have left it."""
    lead, external_id = new_lead(), f"evt_{uuid.uuid4()}"
    first = client.append(lead, externalEventId=external_id).json
    key = {"leadOrganizationId": {"S": first["leadOrganizationId"]}, "occurredAtId": {"S": first["occurredAtId"]}}
    client.aws("dynamodb").delete_item(TableName=client.stack["tables"]["events"], Key=key)
    assert client.stored(lead) == []

    if redelivered_by == "api":
        again = client.append(lead, externalEventId=external_id, occurredAt="2026-03-20T15:00:00Z")
        assert again.status == 201
        assert again.json["eventId"] == first["eventId"]
    else:
        data = {"organizationId": client.organization, "leadId": lead, "ticketId": "t1"}
        client.send_message(
            {
                "specversion": "1.0",
                "type": "ticketing.ticket-opened",
                "source": "ticketing_service",
                "id": external_id,
                "time": "2026-03-20T15:00:00Z",
                "data": data,
            }
        )
    assert eventually(lambda: client.stored(lead))
    [item] = client.stored(lead)
    assert item["occurredAtId"]["S"] == first["occurredAtId"]
    assert len(claims_of(client, lead)) == 1


def test_the_same_id_with_other_content_is_a_conflict_and_the_first_stays(client: Client) -> None:
    lead, external_id = new_lead(), f"evt_{uuid.uuid4()}"
    payload = {"amount": 100.00, "currency": "BRL"}
    sale = {"eventType": "purchase_completed", "source": "billing_service", "externalEventId": external_id}
    assert client.append(lead, **sale, payload=payload).status == 201
    for _ in range(2):
        refused = client.append(lead, **sale, payload=payload | {"amount": 900.00})
        assert (refused.status, refused.json["code"]) == (409, "idempotency_conflict")
    reordered = json.loads('{"currency": "BRL", "amount": 100}')
    assert client.append(lead, **sale, payload=reordered).status == 200
    [event] = client.timeline(lead)
    assert event["payload"]["amount"] == 100


def test_an_unreadable_message_reaches_the_dead_letter_queue_with_its_body_unchanged(client: Client) -> None:
    lead, poison = new_lead(), f'{{"not json": {uuid.uuid4()}'
    sqs, dead = client.aws("sqs"), client.stack["queues"]["ingestDlq"]

    def found() -> bool:
        messages = sqs.receive_message(QueueUrl=dead, MaxNumberOfMessages=10, VisibilityTimeout=1).get("Messages", [])
        return any(message["Body"] == poison for message in messages)

    with impatient(client):
        client.send_message(envelope(client, lead, f"evt_{uuid.uuid4()}", "2026-03-20T14:22:00Z"))
        client.send_message(poison)
        client.send_message(envelope(client, lead, f"evt_{uuid.uuid4()}", "2026-03-20T14:23:00Z"))
        assert eventually(found)
    assert eventually(lambda: len(client.timeline(lead)) == 2)
