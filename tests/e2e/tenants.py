"""Organisations of a test's own, with webhook secrets as an operator makes them, and what is stored of them."""

from __future__ import annotations

import json
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.e2e.client import Answer, Client, eventually
from tests.support.deliveries import SIGNED, headers_of

QUEUE = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")


@dataclass(frozen=True, slots=True)
class Tenant:
    """An organisation that no other test knows, and its secrets of one provider; the first signs."""

    client: Client
    provider: str
    secrets: Sequence[str]
    organization: str = field(default_factory=lambda: f"org_{uuid.uuid4().hex[:12]}")

    @classmethod
    def of(cls, client: Client, provider: str, *secrets: str) -> Tenant:
        """A new one, with these secrets or else one in the provider's form."""
        tenant = cls(client, provider, secrets or [SIGNED[provider].new_secret()])
        tenant.store()
        return tenant

    @property
    def path(self) -> str:
        """Of its webhook."""
        return f"/v1/webhooks/{self.provider}/{self.organization}"

    def store(self) -> None:
        """Make its secret."""
        name = f"{self.client.stack['webhookSecretPrefix']}/{self.provider}/{self.organization}"
        secret = json.dumps({"secrets": list(self.secrets)})
        self.client.aws("secretsmanager").create_secret(Name=name, SecretString=secret)

    def headers(
        self, body: bytes, sample: str = "", *, secret: str | None = None, at: datetime | None = None
    ) -> dict[str, str]:
        """All that the provider sends beside ``body``."""
        name = sample or SIGNED[self.provider].sample
        used = self.secrets[0] if secret is None else secret
        return headers_of(self.provider, name, body, used, at or datetime.now(UTC))

    def post(self, body: bytes, headers: Mapping[str, str], lead: str | None = None) -> Answer:
        """Deliver ``body`` under these headers."""
        path = self.path if lead is None else f"{self.path}?leadId={lead}"
        return self.client.call("POST", path, body, token=None, headers=headers)

    def send(self, body: bytes, sample: str = "", lead: str | None = None) -> None:
        """Deliver ``body`` signed; it is accepted."""
        answer = self.post(body, self.headers(body, sample), lead)
        assert answer.status == 202, answer.body


def drain(client: Client) -> None:
    """Wait until the ingest queue is empty and nothing of it is being processed."""
    sqs, queue = client.aws("sqs"), client.stack["queues"]["ingest"]

    def empty() -> bool:
        found = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=list(QUEUE))["Attributes"]
        return all(found[name] == "0" for name in QUEUE)

    for _ in range(2):  # a message may be between the two for a moment
        assert eventually(empty), "the ingest queue does not drain"
        time.sleep(0.3)


def events_of(client: Client, organizations: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Items of the events table by organisation."""
    wanted, found = set(organizations), defaultdict(list)
    for item in client.items("events"):
        organization = item["leadOrganizationId"]["S"].split("#")[1]
        if organization in wanted:
            found[organization].append(item)
    return found


def types_of(items: Iterable[Mapping[str, Any]]) -> list[str]:
    """Event types of items, sorted."""
    return sorted(item["eventType"]["S"] for item in items)


def rejected_of(client: Client, organization: str) -> list[dict[str, Any]]:
    """Items of the rejected events table of an organisation."""
    condition = {"FilterExpression": "organizationId = :o", "ExpressionAttributeValues": {":o": {"S": organization}}}
    return client.items("rejectedEvents", **condition)


def raw_of(client: Client, organization: str) -> list[str]:
    """The raw payloads of all events of an organisation, through the API."""
    found = []
    for item in events_of(client, [organization])[organization]:
        lead = item["leadOrganizationId"]["S"].split("#LEAD#")[1]
        path = f"/v1/organizations/{organization}/leads/{lead}/events/{item['eventId']['S']}?include=rawPayload"
        found.append(client.call("GET", path).json["rawPayload"])
    return found
