"""Nothing that was sent stands in the functions' logs: neither of these tests, nor of all that the run sent before them.

``conftest.py`` puts this module at the end of a run.
"""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.client import Client, eventually, impatient, new_lead
from tests.e2e.conftest import RunningTwin
from tests.e2e.searching import log_lines
from tests.e2e.tenants import Tenant, drain, events_of, rejected_of
from tests.e2e.tickets import forged
from tests.samples import load
from tests.support import privacy
from tests.support.contacts import Person
from tests.support.deliveries import SIGNED

pytestmark = pytest.mark.e2e

FUNCTIONS = ("Api", "Ingest", "Organizations", "Webhooks", "Projector", "Publisher", "Tokens")
"""Those that this module keeps busy, by the beginnings of their names."""


class Sender:
    """Sends what a person would not like to see in a log, through every entrance, also where it is refused."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.organization = f"org_{uuid.uuid4().hex[:12]}"
        self.lead = new_lead()
        self.person = Person()
        self.canary = f"Zuleica {uuid.uuid4().hex[:10]} Canário"
        self.tenants = {provider: Tenant.of(client, provider) for provider in SIGNED}

    @property
    def told(self) -> set[str]:
        """All of it."""
        document = f"{self.person.digits[:3]}.000.000-00"
        secrets = {secret for tenant in self.tenants.values() for secret in tenant.secrets}
        return {self.canary, self.person.name, self.person.digits, document, *secrets}

    @property
    def data(self) -> dict[str, Any]:
        contact = {"email": self.person.email, "phone": self.person.e164, "name": self.canary}
        return {"subject": self.canary, "contact": contact, self.person.email: self.canary, "ticketId": "t1"}

    def envelope(self, kind: str = "ticketing.ticket-opened", **changes: Any) -> dict[str, Any]:
        return {
            "specversion": "1.0",
            "type": kind,
            "id": f"evt_{uuid.uuid4()}",
            "source": "ticketing_service",
            "time": "2026-03-20T14:22:00Z",
            "datacontenttype": "application/json",
            "data": {"organizationId": self.organization, "leadId": self.lead, **self.data},
        } | changes

    def over_the_api(self) -> list[int]:
        """Statuses of good and bad requests."""
        client, base = self.client, f"/v1/organizations/{self.organization}"
        path = f"{base}/leads/{self.lead}"
        query = f"limit={self.person.email}&cursor={self.person.e164}&eventType={uuid.uuid4()}"
        direct = {"source": "ticketing_service", "eventType": "ticket_opened", "occurredAt": "2026-03-20T14:22:00Z"}
        event = {"payload": self.data, "externalEventId": self.person.email, "rawPayload": self.canary}
        structured = {"content-type": "application/cloudevents+json"}
        batch = {"content-type": "application/cloudevents-batch+json"}
        binary = {f"ce-{name}": str(value) for name, value in self.envelope().items() if name != "data"}
        answers = [
            client.call("POST", f"{path}/events", direct | event),
            client.call("POST", f"{path}/events", direct | event | {"payload": {"ticketId": self.canary}}),
            client.call("POST", f"{path}/events", direct | event | {"occurredAt": self.person.email}),
            client.call("POST", f"{path}/events", f'{{"{self.person.email}": }}'.encode()),
            client.call("POST", "/v1/events", self.envelope(), headers=structured),
            client.call("POST", "/v1/events", self.envelope(sourcetype=self.person.e164), headers=structured),
            client.call("POST", "/v1/events", self.envelope()["data"], headers=binary),
            client.call("POST", "/v1/events", [self.envelope(), self.envelope(time=self.canary)], headers=batch),
            client.call("PUT", f"{path}/identities", {"identities": [{"kind": "email", "value": self.person.email}]}),
            client.call("PUT", f"{path}/identities", {"identities": [{"kind": "phone", "value": self.person.email}]}),
            client.call("POST", f"{base}/reprocessings", {self.person.email: self.canary}),
            client.call("GET", f"{path}/events?{query}"),
            client.call("GET", f"{base}/external-events/ticketing_service/{self.person.email}"),
            client.call("GET", f"{base}/leads/{self.person.email}/events"),
        ]
        answers += [
            client.call("GET", f"{path}/events", token=each)
            for each in forged(client.stack["tokens"]["platform"], self.canary)
        ]
        return [each.status for each in answers]

    def over_bus_and_queues(self) -> None:
        """Good messages, bad ones, and one that tells no organisation."""
        queues, sqs = self.client.stack["queues"], self.client.aws("sqs")
        self.client.publish("ticketing_service", "ticketing.ticket-opened", self.envelope())
        self.client.publish("ticketing_service", "ticketing.ticket-opened", self.envelope(sourcetype=self.person.e164))
        self.client.publish("billing_service", "billing.fee-created", self.envelope("billing.fee-created"))
        self.client.send_message(self.envelope())
        for category in ("billing", "offboarding"):
            wrong = self.envelope(f"{category}.unknown", source=self.person.email)
            sqs.send_message(QueueUrl=queues[category], MessageBody=json.dumps(wrong))

    def in_vain(self) -> None:
        """What can never be read, and comes three times."""
        self.client.send_message(self.envelope(time=self.person.email))
        self.client.send_message(f"{self.canary} {self.person.email}")

    def over_webhooks(self) -> set[int]:
        """Of every provider: its sample with the canary in it, the same unsigned, and signed nonsense."""
        refused = set()
        for provider, tenant in self.tenants.items():
            sample = json.loads(load(provider, SIGNED[provider].sample))
            body = json.dumps(sample | {"canary": self.canary, self.person.email: self.person.e164}).encode()
            tenant.send(body, lead=self.lead)
            refused.add(tenant.post(body, {"content-type": "application/json", "x-note": self.person.email}).status)
            broken = body[:-1] + f', "{self.person.email}": 1}}}}'.encode()
            refused.add(tenant.post(broken, tenant.headers(broken)).status)
            if SIGNED[provider].timed:
                old = tenant.headers(body, at=datetime.now(UTC) - timedelta(hours=1))
                refused.add(tenant.post(body, old).status)
        return refused


@pytest.fixture(scope="module")
def sender(client: Client) -> Sender:
    """Everything is sent, and what became of it is seen."""
    made = Sender(client)
    assert {201, 200, 400, 401, 404, 422} <= set(made.over_the_api())
    made.over_bus_and_queues()
    assert made.over_webhooks() <= {400, 401}
    organizations = [made.organization, *(tenant.organization for tenant in made.tenants.values())]
    assert eventually(lambda: len(events_of(client, organizations)) == len(organizations))
    assert eventually(lambda: rejected_of(client, made.organization))
    drain(client)
    with impatient(client):
        made.in_vain()
        drain(client)
    return made


@pytest.fixture(scope="module")
def logged(client: Client, sender: Sender) -> list[tuple[str, str]]:
    """Every line of every function's log with its group, once those of the last events are there."""
    assert eventually(lambda: any(sender.lead in line for _, line in log_lines(client)))
    return list(log_lines(client))


def secrets_of(client: Client) -> set[str]:
    """Tokens and secrets with which the run works."""
    hooks = client.stack["webhookSecrets"].values()
    found = {
        *client.stack["tokens"].values(),
        *(text for each in hooks for text in ([each] if isinstance(each, str) else each)),
    }
    secrets = client.aws("secretsmanager")
    for page in secrets.get_paginator("list_secrets").paginate():
        for secret in page["SecretList"]:
            value = secrets.get_secret_value(SecretId=secret["ARN"])["SecretString"]
            of_webhook = secret["Name"].startswith(client.stack["webhookSecretPrefix"])
            found.update(json.loads(value)["secrets"] if of_webhook else [value])
    return {each for each in found if len(each) >= privacy.START}  # other tests have blank ones


def test_the_logs_tell_what_became_of_each_event(sender: Sender, logged: list[tuple[str, str]]) -> None:
    """Else there would be nothing to be found in them."""
    of_lead = [json.loads(line) for _, line in logged if sender.lead in line and line.startswith("{")]
    assert {"stored"} <= {line.get("outcome") for line in of_lead}
    assert {line["organizationId"] for line in of_lead if "organizationId" in line} >= {sender.organization}
    assert {"rejected", "stored", "conflict"} <= {
        json.loads(line).get("outcome") for _, line in logged if line.startswith('{"level')
    }
    for function in FUNCTIONS:
        assert [name for name, _ in logged if function in name], function


def test_no_log_of_a_function_holds_anything_that_was_sent(
    client: Client, sender: Sender, logged: list[tuple[str, str]]
) -> None:
    told = privacy.Privacy({*privacy.everything_told(), *sender.told, *secrets_of(client)})
    distinct = {privacy.CHANGING.sub("", line): (group, line) for group, line in logged}
    found = [(group, what, line[:500]) for group, line in distinct.values() if (what := told.found_in(line))]
    assert found == []


def test_no_line_of_a_function_is_below_the_level_of_all_stages(logged: list[tuple[str, str]]) -> None:
    levels = {json.loads(line)["level"] for _, line in logged if line.startswith('{"level"')}
    assert levels <= {"INFO", "WARNING", "ERROR"}


def test_what_the_twin_itself_writes_down_holds_none_of_it_either(
    client: Client, twin: RunningTwin, sender: Sender
) -> None:
    """What functions print without a logger, and tracebacks of those that crashed, end there."""
    text = (twin.folder / "ministack.log").read_text(encoding="utf-8", errors="replace")
    assert [each for each in {*sender.told, *secrets_of(client)} if each in text] == []
