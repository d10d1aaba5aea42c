"""Organisations on the twin: each category over its rule and its queue, one state, lead events once, and leaving."""

from __future__ import annotations

import json
import random
import time
import uuid
from functools import partial
from typing import Any

import pytest

from tests.e2e.client import Client, eventually, new_lead

pytestmark = pytest.mark.e2e


def told(organization: str, kind: str, time: str = "14:00:00", **data: Any) -> dict[str, Any]:
    """An envelope; its id follows from the rest."""
    data = {"organizationId": organization, **data}
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([kind, time, data], sort_keys=True))
    return {
        "specversion": "1.0",
        "type": kind,
        "id": f"evt_{unique}",
        "time": f"2026-03-25T{time}Z",
        "datacontenttype": "application/json",
        "data": data,
    }


def new_organization() -> str:
    return f"org_{uuid.uuid4().hex[:12]}"


def publish(client: Client, *events: dict[str, Any]) -> None:
    for event in events:
        client.publish(f"{event['type'].partition('.')[0]}_service", event["type"], event)


def send(client: Client, *events: dict[str, Any]) -> None:
    """To the queue of the category itself."""
    for event in events:
        queue = client.stack["queues"][event["type"].partition(".")[0]]
        client.aws("sqs").send_message(QueueUrl=queue, MessageBody=json.dumps(event))


def state(client: Client, organization: str) -> dict[str, Any]:
    answer = client.call("GET", f"/v1/organizations/{organization}")
    return dict(answer.json) if answer.status == 200 else {}


def all_applied(client: Client, organization: str, count: int) -> bool:
    """Whether so many events have their claim."""
    key = {":o": {"S": f"ORG#{organization}"}}
    found = client.items("claims", FilterExpression="leadOrganizationId = :o", ExpressionAttributeValues=key)
    return len(found) == count


def rejected(client: Client, organization: str) -> list[str]:
    key = {":o": {"S": organization}}
    found = client.items("rejectedEvents", FilterExpression="organizationId = :o", ExpressionAttributeValues=key)
    return [each["code"]["S"] for each in found]


def test_both_categories_come_to_one_state_over_bus_and_queue_in_any_order_with_duplicates(client: Client) -> None:
    states = set()
    for seed in range(3):
        organization = new_organization()
        events = [
            told(organization, "billing.subscription-created", "10:00:00", subscriptionId="s", planId="pro", amount=10),
            told(
                organization, "billing.subscription-changed", "10:00:01", subscriptionId="s", status="active", amount=20
            ),
            told(organization, "billing.invoice-overdue", "10:00:02", invoiceId="i1", amount=20, currency="BRL"),
            told(organization, "billing.invoice-paid", "10:00:03", invoiceId="i1"),
            *(
                told(organization, "billing.cost-recorded", f"11:00:{n:02d}", amount=0.1, currency="USD")
                for n in range(20)
            ),
            told(organization, "billing.fee-created", "12:00:00", amount=5, currency="BRL"),
            told(organization, "billing.provider-webhook-processed", "12:00:01", provider="stripe"),
            told(organization, "offboarding.cancellation-requested", "13:00:00", reason="price"),
            told(organization, "offboarding.cancellation-reverted", "13:00:01"),
        ]
        shuffled = random.Random(seed).sample(events, len(events))
        publish(client, *shuffled)
        send(client, *reversed(shuffled))

        # Every event has its claim once it is applied; a second later the duplicates have come too.
        assert eventually(partial(all_applied, client, organization, len(events)))
        time.sleep(1)
        states.add(json.dumps(state(client, organization), sort_keys=True).replace(organization, "O"))
        assert rejected(client, organization) == []
    [one] = states
    found = json.loads(one)
    assert (found["subscription"]["status"], found["subscription"]["amount"]) == ("active", 20)
    assert (found["costs"], found["fees"]["BRL"]["total"]) == ({"USD": {"count": 20, "total": 2}}, 5)
    assert (found["lifecycle"]["status"], found["invoices"]["overdue"]) == ("active", [])


def test_an_event_that_names_a_lead_becomes_its_event_once_and_keeps_the_state(client: Client) -> None:
    lead = new_lead()
    event = told(client.organization, "billing.subscription-created", leadId=lead, planId="p", subscriptionId=lead)
    publish(client, event, event)
    send(client, event)
    client.send_message(event)
    assert eventually(lambda: client.timeline(lead))
    time.sleep(3)
    [stored] = client.timeline(lead)
    assert (stored["eventType"], stored["source"]) == ("subscription_created", "billing_service")
    subscriptions = [each["leadId"] for each in state(client, client.organization)["subscriptions"]]
    assert subscriptions.count(lead) == 1


def test_a_tenant_reads_its_own_state_alone(client: Client) -> None:
    send(client, told("org_demo", "billing.fee-created", amount=1, currency="BRL", feeId=new_lead()))
    assert eventually(lambda: client.call("GET", "/v1/organizations/org_demo", token="org_demo").status == 200)
    foreign = client.call("GET", "/v1/organizations/org_demo", token="org_other")
    missing = client.call("GET", f"/v1/organizations/{new_organization()}", token="org_other")
    assert (foreign.status, foreign.body) == (missing.status, missing.body)
    assert foreign.status == 404
    assert client.call("GET", "/v1/organizations/org_demo", token=None).status == 401


def test_an_organisation_that_has_left_is_gone_within_half_a_minute_and_what_comes_for_it_is_kept(
    client: Client,
) -> None:
    """Until its retention expires: then it is erased, see there."""
    organization, lead = new_organization(), new_lead()
    path = f"/v1/organizations/{organization}/leads/{lead}/events"
    assert client.append(lead, organization=organization).status == 201
    publish(client, told(organization, "offboarding.cancellation-requested", "10:00:00"))
    assert eventually(lambda: state(client, organization))
    assert client.call("GET", path).status == 200
    publish(client, told(organization, "offboarding.cancellation-confirmed", "10:00:01"))
    assert eventually(lambda: client.call("GET", path).status == 410)
    assert eventually(lambda: client.append(lead, organization=organization).status == 410)

    def kept() -> bool:
        ticket = told(organization, "ticketing.ticket-opened", leadId=lead, ticketId=uuid.uuid4().hex)
        client.send_message(ticket)
        time.sleep(2)
        return "organization_gone" in rejected(client, organization)

    assert eventually(kept)
    assert state(client, organization)["lifecycle"]["status"] == "leaving"


def test_a_message_without_an_organisation_reaches_the_dead_letters_of_its_category(client: Client) -> None:
    sqs, queues = client.aws("sqs"), client.stack["queues"]
    url = queues["offboarding"]
    before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])["Attributes"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
    try:
        lost = json.dumps(told("#", "offboarding.retention-expired", mark=uuid.uuid4().hex))
        sqs.send_message(QueueUrl=url, MessageBody=lost)

        def found() -> bool:
            dead = sqs.receive_message(QueueUrl=queues["offboardingDlq"], MaxNumberOfMessages=10, VisibilityTimeout=1)
            return any(each["Body"] == lost for each in dead.get("Messages", []))

        assert eventually(found)
    finally:
        sqs.set_queue_attributes(QueueUrl=url, Attributes=before)
