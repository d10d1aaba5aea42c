"""A caller of the deployed twin: plain HTTP and AWS clients, nothing of the library."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import boto3
from botocore.config import Config

T = TypeVar("T")

PATIENCE = 240.0
"""Seconds: as long as a message has three deliveries to events' functions, or one more to the reprocessor."""

TELLS_NOTHING = (502, 503, 504)
"""Whether it was stored: whoever gets one sends again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; ``json`` is its body where that is JSON."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Client:
    """Calls the API and the services of a twin."""

    stack: dict[str, Any]

    @property
    def organization(self) -> str:
        """The demo organisation."""
        return str(self.stack["organizationId"])

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = "platform",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request; ``body`` is JSON unless it is bytes."""
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json"} | dict(headers or {})
        if token is not None:
            sent["authorization"] = f"Bearer {self.stack['tokens'].get(token, token)}"
        request = urllib.request.Request(self.stack["apiUrl"].rstrip("/") + path, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return Answer(response.status, response.read(), dict(response.headers))
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read(), dict(error.headers))

    def append(self, lead: str, *, token: str = "platform", organization: str | None = None, **fields: Any) -> Answer:
        """Append one event; ``fields`` replace those of a plain one."""
        event = {
            "source": "ticketing_service",
            "eventType": "ticket_opened",
            "occurredAt": "2026-03-20T14:22:00Z",
            "payload": {"ticketId": "t1"},
        } | fields
        path = f"/v1/organizations/{organization or self.organization}/leads/{lead}/events"
        return self.call("POST", path, event, token=token)

    def timeline(self, lead: str, **query: str | int) -> list[dict[str, Any]]:
        """All pages of a lead's timeline."""
        found: list[dict[str, Any]] = []
        cursor = None
        while True:
            parameters = urllib.parse.urlencode(query | ({"cursor": cursor} if cursor else {}))
            answer = self.call("GET", f"/v1/organizations/{self.organization}/leads/{lead}/events?{parameters}")
            assert answer.status == 200, answer.body
            found += answer.json["items"]
            cursor = answer.json["cursor"]
            if cursor is None:
                return found

    def aws(self, service: str, **credentials: str) -> Any:
        """A client of the twin, as its administrator unless ``credentials`` are given."""
        who = credentials or {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        make: Any = boto3.client
        return make(
            service,
            endpoint_url=self.stack["endpointUrl"],
            region_name=self.stack["region"],
            config=Config(max_pool_connections=50, retries={"max_attempts": 1}),
            **who,
        )

    def items(self, table: str, **condition: Any) -> list[dict[str, Any]]:
        """Everything a table holds that meets a scan's condition."""
        pages = self.aws("dynamodb").get_paginator("scan").paginate(TableName=self.stack["tables"][table], **condition)
        return [item for page in pages for item in page["Items"]]

    def stored(self, lead: str) -> list[dict[str, Any]]:
        """A lead's items in the events table."""
        key = f"ORG#{self.organization}#LEAD#{lead}"
        condition = {"FilterExpression": "leadOrganizationId = :k", "ExpressionAttributeValues": {":k": {"S": key}}}
        return self.items("events", **condition)

    def send_message(self, body: object) -> None:
        """Put a message on the ingest queue."""
        text = body if isinstance(body, str) else json.dumps(body)
        self.aws("sqs").send_message(QueueUrl=self.stack["queues"]["ingest"], MessageBody=text)

    def publish(self, source: str, detail_type: str, detail: object) -> None:
        """Put an event on the bus."""
        entry = {"EventBusName": self.stack["eventBusName"], "Source": source, "DetailType": detail_type}
        answer = self.aws("events").put_events(Entries=[entry | {"Detail": json.dumps(detail)}])
        assert answer["FailedEntryCount"] == 0


def answered(send: Callable[[], Answer]) -> Answer:
    """What is sent until it is answered, as every sender has to; a burst may start more functions than have the time."""
    for _ in range(5):
        answer = send()
        if answer.status not in TELLS_NOTHING:
            break
    return answer


def new_lead() -> str:
    """A lead that nobody has used."""
    return f"lead_{uuid.uuid4().hex[:12]}"


def at_once(count: int, action: Callable[[int], T], threads: int = 25) -> list[T]:
    """Call ``action`` with 0 to ``count`` - 1, many at a time."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(action, range(count)))


def eventually(check: Callable[[], T], seconds: float = PATIENCE) -> T:
    """The first true value of ``check``, or its last. A message whose function timed out comes back after a minute."""
    end = time.monotonic() + seconds
    while True:
        value = check()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.25)


@contextmanager
def impatient(client: Client) -> Iterator[None]:
    """Let the ingest queue give a failed message back after two seconds instead of a minute."""
    sqs, url = client.aws("sqs"), client.stack["queues"]["ingest"]
    before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])["Attributes"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "2"})
    try:
        yield
    finally:
        sqs.set_queue_attributes(QueueUrl=url, Attributes=before)
