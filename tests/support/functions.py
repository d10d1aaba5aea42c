"""The functions as Lambda and API Gateway call them, on moto."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import boto3

from lead_events.names import ORGANIZATION_CLAIM, Scope
from tests.support.aws import EVENTS, Context, http_event, sqs_event

FUNCTIONS: Final = Path(__file__).resolve().parents[2] / "functions"
READ_WRITE: Final = f"{Scope.READ} {Scope.WRITE}"


@cache
def handler_of(function: str) -> Any:
    """The entry of a function; each has a module ``handler``, so they are told apart by their folders."""
    spec = importlib.util.spec_from_file_location(f"functions_{function}_handler", FUNCTIONS / function / "handler.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.handler


@dataclass(frozen=True)
class Answer:
    """A response as API Gateway gets it."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        """The ``code`` of a problem."""
        assert self.headers["Content-Type"] == "application/problem+json"
        assert self.json["status"] == self.status
        return str(self.json["code"])


def answered(raw: dict[str, Any]) -> Answer:
    """Read what a handler returned."""
    headers = raw.get("headers") or {name: values[0] for name, values in raw["multiValueHeaders"].items()}
    return Answer(raw["statusCode"], headers, raw["body"])


@dataclass
class Functions:
    """The three functions, called for one organisation."""

    organization_id: str
    queue_url: str
    scope: str = READ_WRITE
    bound: bool = True
    _context: Context = field(default_factory=Context)

    def api(
        self, method: str, path: str, body: Any = None, *, claims: dict[str, str] | None = None, **rest: Any
    ) -> Answer:
        """Call the API with this organisation's token; a body that is no text or bytes is sent as JSON."""
        if claims is None:
            claims = {"scope": self.scope} | ({ORGANIZATION_CLAIM: self.organization_id} if self.bound else {})
        text = body if body is None or isinstance(body, str | bytes) else json.dumps(body)
        return answered(handler_of("api")(http_event(method, path, text, claims=claims, **rest), self._context))

    def lead(self, lead_id: str = "lead_1", organization_id: str | None = None) -> str:
        """Path of a lead's events."""
        return f"/v1/organizations/{organization_id or self.organization_id}/leads/{lead_id}/events"

    def direct(self, lead_id: str = "lead_1", *, headers: dict[str, str] | None = None, **changes: Any) -> Answer:
        """Append one event by a plain body."""
        body: dict[str, Any] = {
            "source": "billing_service",
            "eventType": "subscription_created",
            "occurredAt": "2026-03-25T14:00:00Z",
            "payload": {"planId": "plan_pro"},
        }
        sent = {name: value for name, value in (body | changes).items() if value is not ...}
        return self.api("POST", self.lead(lead_id), sent, headers=headers)

    def timeline(self, lead_id: str = "lead_1", **query: str) -> list[dict[str, Any]]:
        """All events of a lead, page by page."""
        found: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            answer = self.api("GET", self.lead(lead_id), query=query | cursor)
            assert answer.status == 200, answer.text
            found += answer.json["items"]
            if answer.json["cursor"] is None:
                return found
            cursor = {"cursor": answer.json["cursor"]}

    def external(self, source: str, external_event_id: str, **rest: Any) -> Answer:
        """One event by its source's id; API Gateway decodes path parameters."""
        path = f"/v1/organizations/{self.organization_id}/external-events/{source}/{external_event_id}"
        parameters = {"organizationId": self.organization_id, "source": source, "externalEventId": external_event_id}
        return self.api("GET", path, path_parameters=parameters, **rest)

    def ingest(self, *bodies: str) -> list[str]:
        """Give the ingest function a batch; ids of the messages that stay on the queue."""
        return self.ingest_event(sqs_event(*bodies))

    def ingest_event(self, event: dict[str, Any]) -> list[str]:
        """Give the ingest function an event of Lambda."""
        answer = handler_of("ingest")(event, self._context)
        return sorted(each["itemIdentifier"] for each in answer["batchItemFailures"])

    def webhook(
        self,
        provider: str,
        body: str | bytes,
        headers: dict[str, str],
        method: str = "POST",
        query: dict[str, str] | None = None,
    ) -> Answer:
        """Deliver a webhook of this organisation."""
        path = f"/v1/webhooks/{provider}/{self.organization_id}"
        return answered(
            handler_of("webhooks")(http_event(method, path, body, headers=headers, query=query), self._context)
        )

    def drain(self) -> list[str]:
        """Take every message from the ingest queue."""
        sqs = boto3.client("sqs")
        found: list[str] = []
        while messages := sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                found.append(message["Body"])
                sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
        return found

    def items(self) -> list[dict[str, Any]]:
        """The raw items of this organisation in the events table."""
        pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=EVENTS)
        prefix = f"ORG#{self.organization_id}#"
        return [item for page in pages for item in page["Items"] if item["leadOrganizationId"]["S"].startswith(prefix)]
