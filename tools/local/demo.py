"""Sends the story through every entrance as real callers do, and reads the timeline back from the API.

Nothing of the library is used: whoever wants to know how to call Lead Events can copy from here.
"""

from __future__ import annotations

import hashlib
import hmac
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
from tools.local.describe import Description
from tools.local.story import Entrance, Step, steps

Json = dict[str, Any]

VISIBLE_SECONDS: Final = 90.0
HTTP_SECONDS: Final = 60.0


@dataclass(slots=True)
class Demo:
    """One run of the story for one new lead."""

    twin: Twin
    stack: Description
    lead: str = field(default_factory=lambda: f"lead_{uuid.uuid4().hex[:8]}")
    sent: dict[str, Entrance] = field(default_factory=dict)
    """By external id, the entrance that each event took."""

    def play(self) -> None:
        """Sends every step of the story.

        Raises:
            TwinError: an entrance refused an event.
        """
        send: dict[Entrance, Callable[[list[Step]], None]] = {
            Entrance.API: self._to_api,
            Entrance.CLOUDEVENTS: self._to_cloudevents,
            Entrance.BUS: self._to_bus,
            Entrance.QUEUE: self._to_queue,
            Entrance.WEBHOOK: self._to_webhook,
        }
        story = list(steps(datetime.now(UTC)))
        for entrance in Entrance:
            mine = [step for step in story if step.entrance is entrance]
            send[entrance](mine)
            say(f"  {len(mine)} by {entrance}")

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
            missing = set(self.sent) - {item.get("externalEventId") for item in items}
            if not missing:
                return items
            if time.monotonic() > deadline:
                entrances = sorted({str(self.sent[each]) for each in missing})
                raise TwinError(
                    f"{len(missing)} of {len(self.sent)} events did not show up in {VISIBLE_SECONDS:.0f} s"
                    f" ({', '.join(entrances)}). See {self.twin.log}."
                )
            time.sleep(0.3)

    @property
    def lead_path(self) -> str:
        """The lead in the API."""
        return f"/v1/organizations/{self.stack['organizationId']}/leads/{self.lead}"

    def _to_api(self, mine: list[Step]) -> None:
        """One event a request, in our own words."""
        for step in mine:
            event = {
                "source": step.source,
                "eventType": step.event_type,
                "externalEventId": self._sent(step),
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

    def _to_webhook(self, mine: list[Step]) -> None:
        """As Stripe does: the raw body, signed with the endpoint's secret."""
        for step in mine:
            body = json.dumps(self._stripe_event(step), indent=2, ensure_ascii=False).encode()
            sent_at = str(int(time.time()))
            secret = self.stack["webhookSecrets"]["stripe"].encode()
            signature = hmac.new(secret, f"{sent_at}.".encode() + body, hashlib.sha256).hexdigest()
            self._call(
                "POST",
                f"/v1/webhooks/stripe/{self.stack['organizationId']}",
                body,
                {"stripe-signature": f"t={sent_at},v1={signature}"},
            )

    def _stripe_event(self, step: Step) -> Json:
        """A finished checkout. Our lead id travels in ``metadata``, where the shop's page planted it."""
        sale = step.payload
        return {
            "id": self._sent(step),
            "object": "event",
            "api_version": "2025-03-31.basil",
            "created": int(step.occurred_at.timestamp()),
            "livemode": False,
            "type": "checkout.session.completed",
            "data": {
                "object": {
                    "id": f"cs_test_{uuid.uuid4().hex}",
                    "object": "checkout.session",
                    "mode": "payment",
                    "payment_status": "paid",
                    "amount_total": sale["amount_total"],
                    "currency": sale["currency"],
                    "payment_method_types": sale["payment_method_types"],
                    "client_reference_id": self.lead,
                    "metadata": {
                        "leadId": self.lead,
                        **{key: sale[key] for key in ("productId", "productName", "category")},
                    },
                }
            },
        }

    def _envelope(self, step: Step) -> Json:
        """The CloudEvents envelope that all domains speak."""
        domain = step.source.removesuffix("_service").replace("_", "-")
        return {
            "specversion": "1.0",
            "type": f"{domain}.{step.event_type.replace('_', '-')}",
            "source": step.source,
            "id": self._sent(step),
            "time": step.occurred_at.isoformat(),
            "datacontenttype": "application/json",
            "data": {"organizationId": self.stack["organizationId"], "leadId": self.lead, **step.payload},
        }

    def _sent(self, step: Step) -> str:
        """A new external id, written down with the entrance that the event takes."""
        external_id = f"evt_{uuid.uuid4()}"
        self.sent[external_id] = step.entrance
        return external_id

    def _call(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Any:
        """One request with the organisation's token; answers the JSON of its response."""
        token = self.stack["tokens"][self.stack["organizationId"]]
        request = urllib.request.Request(
            self.stack["apiUrl"] + path,
            data=body,
            method=method,
            headers={"authorization": f"Bearer {token}", "content-type": "application/json", **(headers or {})},
        )
        try:
            with urllib.request.urlopen(request, timeout=HTTP_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise TwinError(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from None
