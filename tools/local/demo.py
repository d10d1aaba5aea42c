"""Sends the story through every entrance as real callers do, and reads timeline and memories back from the API.

Nothing of the library is used: whoever wants to know how to call Lead Events can copy from here.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from tools.local import aws
from tools.local.config import Twin
from tools.local.console import TwinError, say
from tools.local.deliveries import PROVIDERS, deliveries
from tools.local.describe import Description
from tools.local.story import Entrance, Person, Step, steps

Json = dict[str, Any]

VISIBLE_SECONDS: Final = 90.0
HTTP_SECONDS: Final = 60.0


@dataclass(slots=True)
class Demo:
    """One run of the story for one new lead."""

    twin: Twin
    stack: Description
    person: Person = field(default_factory=Person.invented)
    sent: dict[tuple[str, str], Entrance] = field(default_factory=dict)
    """By source and event type, the entrance that each event took; the story tells no type twice from one source."""

    def play(self) -> None:
        """Sends every step of the story.

        Raises:
            TwinError: an entrance refused an event.
        """
        self._introduce()
        send: dict[Entrance, Callable[[list[Step]], None]] = {
            Entrance.API: self._to_api,
            Entrance.CLOUDEVENTS: self._to_cloudevents,
            Entrance.BUS: self._to_bus,
            Entrance.QUEUE: self._to_queue,
        }
        now = datetime.now(UTC)
        story = list(steps(now))
        for entrance, way in send.items():
            mine = [step for step in story if step.entrance is entrance]
            way(mine)
            self.sent |= {(step.source, step.event_type): entrance for step in mine}
            say(f"  {len(mine)} by {entrance}")
        self._to_webhooks(now)

    def identities(self) -> list[Json]:
        """What the lead is known by: kinds and times, for values are not kept."""
        known: list[Json] = self._call("GET", f"{self.lead_path}/identities")["identities"]
        return known

    def timeline(self) -> list[Json]:
        """The lead's whole timeline, oldest first, page by page."""
        items: list[Json] = []
        cursor = None
        while True:
            query = {"order": "asc", "limit": "5"} | ({"cursor": cursor} if cursor else {})
            page = self._call("GET", f"{self.lead_path}/events?{urllib.parse.urlencode(query)}")
            items += page["items"]
            cursor = page["cursor"]
            if not cursor:
                return items

    def wait(self) -> list[Json]:
        """The timeline as soon as it holds all that was sent.

        Raises:
            TwinError: some of it does not show up in time.
        """
        deadline = time.monotonic() + VISIBLE_SECONDS
        while True:
            items = self.timeline()
            missing = set(self.sent) - {(item["source"], item["eventType"]) for item in items}
            if not missing:
                return items
            if time.monotonic() > deadline:
                named = ", ".join(sorted(f"{source} {event_type}" for source, event_type in missing))
                raise TwinError(
                    f"{len(missing)} of {len(self.sent)} events did not show up in {VISIBLE_SECONDS:.0f} s: {named}."
                    f" See {self.twin.log}."
                )
            time.sleep(0.3)

    def memories(self) -> str:
        """What is known about the lead, as a text, as soon as the projector has caught up with what is stored.

        Raises:
            TwinError: it does not catch up in time.
        """
        known = {each["name"] for each in self._call("GET", "/v1/event-types", token=False)["eventTypes"]}
        deadline = time.monotonic() + VISIBLE_SECONDS
        while True:
            # The timeline first: it may have grown by the time that the memories are read. Other types touch no memory.
            stored = sum(item["eventType"] in known for item in self.timeline())
            memories = self._call("GET", f"{self.lead_path}/memories")["memories"]
            held = sum(memory["eventCount"] for memory in memories.values())
            if held >= stored:
                return self._send("GET", f"{self.lead_path}/memories?format=text").decode()
            if time.monotonic() > deadline:
                raise TwinError(
                    f"The memories hold {held} of {stored} events after {VISIBLE_SECONDS:.0f} s. See {self.twin.log}."
                )
            time.sleep(0.3)

    @property
    def lead_path(self) -> str:
        """The lead in the API."""
        return f"/v1/organizations/{self.stack['organizationId']}/leads/{self.person.lead}"

    def _introduce(self) -> None:
        """As the CRM tells by what a lead is known. From then on providers that name no lead of ours find her."""
        identities = [
            {"kind": "phone", "value": self.person.phone},
            {"kind": "email", "value": self.person.email},
            {"kind": "customer", "value": f"instagram:{self.person.instagram}"},
        ]
        self._call("PUT", f"{self.lead_path}/identities", json.dumps({"identities": identities}).encode())
        say("  her phone, e-mail and Instagram id by API")

    def _to_api(self, mine: list[Step]) -> None:
        """One event a request, in our own words."""
        for step in mine:
            event = {
                "source": step.source,
                "eventType": step.event_type,
                "externalEventId": f"evt_{uuid.uuid4()}",
                "occurredAt": step.occurred_at.isoformat(),
                "payload": step.payload,
            }
            self._call("POST", f"{self.lead_path}/events", json.dumps(event).encode())

    def _to_cloudevents(self, mine: list[Step]) -> None:
        """Several events in one request."""
        batch = json.dumps([self._envelope(step) for step in mine]).encode()
        self._call("POST", "/v1/events", batch, {"content-type": "application/cloudevents-batch+json"})

    def _to_bus(self, mine: list[Step]) -> None:
        """As a service of another domain publishes on the event bus."""
        answer = aws.events(self.twin).put_events(
            Entries=[
                {
                    "EventBusName": self.stack["eventBusName"],
                    "Source": step.source,
                    "DetailType": (envelope := self._envelope(step))["type"],
                    "Detail": json.dumps(envelope),
                }
                for step in mine
            ]
        )
        if answer["FailedEntryCount"]:
            raise TwinError(f"The event bus refused events: {answer['Entries']}")

    def _to_queue(self, mine: list[Step]) -> None:
        """As a service of another domain that has been granted the queue."""
        for step in mine:
            aws.sqs(self.twin).send_message(
                QueueUrl=self.stack["queues"]["ingest"], MessageBody=json.dumps(self._envelope(step))
            )

    def _to_webhooks(self, now: datetime) -> None:
        """As the providers do, each with its own signature; none of them has a token of ours."""
        secrets = self.stack["webhookSecrets"]
        for each in deliveries(self.person, secrets, now):
            path = f"/v1/webhooks/{each.provider}/{self.stack['organizationId']}"
            self._call("POST", path, each.body, each.headers, token=False)
            self.sent |= {(each.provider, event_type): Entrance.WEBHOOK for event_type in each.becomes}
            say(f"  1 by webhook of {each.provider}: {', '.join(each.becomes)}")
        if untold := sorted(set(secrets) - set(PROVIDERS)):
            say(f"  no part of the story: {', '.join(untold)}")

    def _envelope(self, step: Step) -> Json:
        """The CloudEvents envelope that all domains speak."""
        domain = step.source.removesuffix("_service").replace("_", "-")
        return {
            "specversion": "1.0",
            "type": f"{domain}.{step.event_type.replace('_', '-')}",
            "source": step.source,
            "id": f"evt_{uuid.uuid4()}",
            "time": step.occurred_at.isoformat(),
            "datacontenttype": "application/json",
            "data": {"organizationId": self.stack["organizationId"], "leadId": self.person.lead, **step.payload},
        }

    def _call(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        *,
        token: bool = True,
    ) -> Any:
        """As ``_send``; answers the JSON of the response."""
        return json.loads(self._send(method, path, body, headers, token=token))

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        *,
        token: bool = True,
    ) -> bytes:
        """One request, with the organisation's token unless told otherwise; answers the body of its response."""
        ticket = {"authorization": f"Bearer {self.stack['tokens'][self.stack['organizationId']]}"} if token else {}
        request = urllib.request.Request(
            self.stack["apiUrl"] + path,
            data=body,
            method=method,
            headers={**ticket, "content-type": "application/json", **(headers or {})},
        )
        try:
            with urllib.request.urlopen(request, timeout=HTTP_SECONDS) as response:
                answered: bytes = response.read()
                return answered
        except urllib.error.HTTPError as error:
            raise TwinError(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from None
