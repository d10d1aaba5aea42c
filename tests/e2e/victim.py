"""An organisation that has something of everything, for others to try to reach."""

from __future__ import annotations

import json
import urllib.parse
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.e2e.client import Client, eventually, new_lead
from tests.e2e.tenants import drain, rejected_of

SOURCE = "ai_agents_service"


@dataclass(frozen=True, slots=True)
class Victim:
    """What belongs to the organisation, as whoever attacks it may have learned."""

    organization: str
    lead: str
    event_id: str
    external_id: str
    rejected_id: str
    reprocessing_id: str
    erasure_id: str
    cursors: Mapping[str, str]
    """Of its pages: events, rejected-events, reprocessings, erasures."""
    canary: str
    """In every text that it stored."""

    @property
    def secrets(self) -> list[str]:
        """What no answer to anybody else may hold; the lead's id comes back in answers about one's own lead so named."""
        return [
            self.canary, self.event_id, self.external_id, self.rejected_id, self.reprocessing_id, self.erasure_id,
            self.event_id.removeprefix("evt_"), self.reprocessing_id.removeprefix("rep_"),
            self.erasure_id.removeprefix("era_"), *self.cursors.values(),
        ]  # fmt: skip

    def missing(self) -> Victim:
        """The same of an organisation that is not there."""
        unique = uuid.uuid4().hex
        return Victim(
            organization=f"org_{unique[:12]}",
            lead=f"lead_{unique[12:24]}",
            event_id=_other(self.event_id),
            external_id=f"ext-{unique}",
            rejected_id=f"rej_{(unique * 2)[:40]}",
            reprocessing_id=_other(self.reprocessing_id),
            erasure_id=_other(self.erasure_id),
            cursors={name: "A" * len(cursor) for name, cursor in self.cursors.items()},
            canary=f"canary-{unique}",
        )


def settle(client: Client) -> Victim:
    """Make one: events, memories, identities, a rejected event, reprocessings, a state."""
    organization, lead = f"org_{uuid.uuid4().hex[:12]}", new_lead()
    canary = f"canary-{uuid.uuid4().hex}"
    base = f"/v1/organizations/{organization}"
    for number in range(2):
        stored = client.append(
            lead,
            organization=organization,
            source=SOURCE,
            eventType="ticket_opened",
            payload={"ticketId": f"t{number}", "subject": canary},
            rawPayload=f"raw {canary}",
            externalEventId=f"ext-{canary}-{number}",
        )
        assert stored.status == 201, stored.body
    identities = {"identities": [{"kind": "email", "value": f"{canary}@example.com"}]}
    assert client.call("PUT", f"{base}/leads/{lead}/identities", identities).status == 200
    for number in range(2):
        client.send_message(
            _envelope(organization, "lead.scored", {"leadId": lead, "n": number}, sourcetype="NO", subject=canary)
        )
    client.publish("billing_service", "billing.fee-created",
                   _envelope(organization, "billing.fee-created", {"amount": 1, "currency": "BRL", "feeId": canary}))  # fmt: skip
    assert eventually(lambda: len(rejected_of(client, organization)) == 2)
    assert eventually(lambda: client.call("GET", base).status == 200)
    assert eventually(lambda: canary.encode() in client.call("GET", f"{base}/leads/{lead}/memories").body)
    for _ in range(2):
        started = client.call("POST", f"{base}/reprocessings", {"dryRun": True})
        assert started.status == 202, started.body
        running = f"{base}/reprocessings/{started.json['reprocessingId']}"
        assert eventually(lambda path=running: client.call("GET", path).json["status"] == "done")  # type: ignore[misc]
    drain(client)
    erasure_id = [_erased(client, organization) for _ in range(2)][-1]
    cursors = {}
    for name, path in _PAGES.items():
        page = client.call("GET", f"{base}/{path.format(lead=lead)}?limit=1")
        assert page.status == 200, page.body
        cursors[name] = page.json["cursor"]
        assert cursors[name], name
    return Victim(
        organization=organization,
        lead=lead,
        event_id=stored.json["eventId"],
        external_id=stored.json["externalEventId"],
        rejected_id=rejected_of(client, organization)[0]["rejectedEventId"]["S"],
        reprocessing_id=started.json["reprocessingId"],
        erasure_id=erasure_id,
        cursors=cursors,
        canary=canary,
    )


def seen_by_itself(client: Client, victim: Victim) -> dict[str, Any]:
    """All that the platform reads of the victim: what has to be the same before and after."""
    base = f"/v1/organizations/{victim.organization}"
    lead = f"{base}/leads/{victim.lead}"
    external = urllib.parse.quote(victim.external_id, safe="")
    paths = [
        base, f"{lead}/events?include=rawPayload", f"{lead}/events/{victim.event_id}", f"{lead}/memories",
        f"{lead}/identities", f"{base}/external-events/{SOURCE}/{external}", f"{base}/rejected-events",
        f"{base}/rejected-events/{victim.rejected_id}?include=rawPayload", f"{base}/reprocessings",
        f"{base}/erasures", f"{base}/erasures/{victim.erasure_id}",
    ]  # fmt: skip
    found: dict[str, Any] = {}
    for path in paths:
        answer = client.call("GET", path)
        assert answer.status == 200, (path, answer.body)
        found[path] = answer.json
    for table in set(client.stack["tables"]) - {
        "memories"
    }:  # these may be rebuilt meanwhile: as they are read is enough
        items = [item for item in client.items(table) if _is_of(item, victim.organization)]
        found[table] = sorted(json.dumps(item, sort_keys=True, default=repr) for item in items)
    return found


_PAGES = {"events": "leads/{lead}/events", "rejected-events": "rejected-events", "reprocessings": "reprocessings",
          "erasures": "erasures"}  # fmt: skip


def _erased(client: Client, organization: str) -> str:
    """The receipt of an erasure that is done, as the eraser leaves it: waiting for one takes most of a minute."""
    erasure_id = f"era_{uuid.uuid4()}"
    instants = {key: {"S": "2026-03-20T14:22:00.000000Z"} for key in ("requestedAt", "until", "completedAt")}
    counts = ("events", "claims", "memories", "identities", "rejectedEvents", "objects", "reprocessings", "organization",
              "deadLetters")  # fmt: skip
    item = {
        "organizationId": {"S": organization},
        "erasureId": {"S": erasure_id},
        "requestedBy": {"S": "operations"},
        "status": {"S": "done"},
        "leadHash": {"S": uuid.uuid4().hex},
        "slices": {"N": "4"},
        "found": {"BOOL": False},
        "stage": {"N": "0"},
        "counts": {"M": {key: {"N": "1"} for key in counts}},
    }
    client.aws("dynamodb").put_item(TableName=client.stack["tables"]["erasures"], Item=item | instants)
    return erasure_id


def _envelope(organization: str, kind: str, data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "type": kind,
        "id": f"evt_{uuid.uuid4()}",
        "source": SOURCE,
        "time": "2026-03-20T14:22:00Z",
        "data": {"organizationId": organization, **data},
    } | changes


def _is_of(item: Mapping[str, Any], organization: str) -> bool:
    """Whether a key says so: data of others may name the organisation as well."""
    texts = [value["S"] for value in item.values() if "S" in value]
    return any(text.removeprefix("ORG#").partition("#")[0] == organization for text in texts)


def _other(own_id: str) -> str:
    """An id of the same form: only its random end differs."""
    return own_id[:-12] + uuid.uuid4().hex[:12]
