"""Nobody gets in where they do not belong: a seeded fuzz of every route, and fields that pretend to be the tenant's.

``LEAD_EVENTS_E2E_FUZZ=2000`` sends so many; each is sent twice, naming what is the victim's and what nobody has.
"""

from __future__ import annotations

import base64
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from lead_events.names import ROUTES, Scope
from tests.e2e.attacks import ATTACKER, BOUND, BUILDERS, Attack, Request, attack, kinds_of
from tests.e2e.client import Answer, Client, at_once, eventually, new_lead
from tests.e2e.tickets import TokenDesk, claims_of, forged
from tests.e2e.victim import Victim, seen_by_itself, settle

pytestmark = pytest.mark.e2e

REQUESTS = int(os.environ.get("LEAD_EVENTS_E2E_FUZZ", "300"))
SEED = 20260320
CHANGING = {"date", "apigw-requestid", "x-amzn-requestid", "x-amzn-trace-id", "connection", "server", "keep-alive"}
"""Headers that are another in each answer, by lower-case name."""


class Walls(NamedTuple):
    client: Client
    victim: Victim
    tickets: dict[str, str]

    def send(self, request: Request) -> Answer:
        ticket = None if request.ticket is None else self.tickets[request.ticket]
        return self.client.call(request.method, request.path, request.body, token=ticket, headers=request.headers)


@pytest.fixture(scope="module")
def walls(client: Client) -> Iterator[Walls]:
    """A victim, and all tokens that are not its own."""
    desk, platform, other = TokenDesk(client), client.stack["tokens"]["platform"], client.stack["tokens"][ATTACKER]
    victim = settle(client)
    tickets = {BOUND: desk.widened(other, [Scope.READ, Scope.WRITE, Scope.ADMIN]), "expired": desk.expired(platform)}
    for index, token in enumerate(forged(platform, victim.organization) + forged(other, victim.organization)):
        tickets[f"forged-{index}"] = token
    for scope in (Scope.READ, Scope.WRITE, Scope.ADMIN):
        tickets[f"unscoped-{scope}"] = desk.narrowed(platform, [each for each in Scope if each is not scope])
        tickets[f"unbound-{scope}"] = desk.narrowed(
            platform, [each for each in Scope if each is not Scope.ALL_ORGANIZATIONS]
        )
    assert claims_of(tickets[BOUND])["organization_id"] == ATTACKER
    before = seen_by_itself(client, victim)
    yield Walls(client, victim, tickets)
    assert seen_by_itself(client, victim) == before  # not a byte was added, changed or taken


def attacks(victim: Victim) -> list[Attack]:
    """Every kind on every route in turn, until there are enough."""
    rnd = random.Random(SEED)
    pairs = [(route, kind) for route in ROUTES for kind in kinds_of(route)]
    drawn = pairs * (REQUESTS // len(pairs)) + rnd.sample(pairs, REQUESTS % len(pairs))
    return [attack(route, kind, rnd, victim, victim.missing(), index % 16) for index, (route, kind) in enumerate(drawn)]


def test_every_route_can_be_attacked_in_some_way() -> None:
    assert set(BUILDERS) == {(route.method, route.path) for route in ROUTES}
    assert all(kinds_of(route) for route in ROUTES)


def test_nothing_of_another_organisation_comes_out_and_foreign_looks_like_missing(walls: Walls) -> None:
    tried = attacks(walls.victim)
    answers = at_once(len(tried), lambda index: (walls.send(tried[index].foreign), walls.send(tried[index].missing)), 6)
    faults = [
        fault for each, pair in zip(tried, answers, strict=True) for fault in faults_of(walls.victim, each, *pair)
    ]
    seen = Counter(answer.status for answer, _ in answers)
    assert faults == [], seen
    assert {(each.route.method, each.route.path) for each in tried} == set(BUILDERS)


def faults_of(victim: Victim, tried: Attack, foreign: Answer, missing: Answer) -> list[str]:
    """What is wrong with the answers to an attack."""
    name = f"{tried.kind}: {tried.route.method} {tried.foreign.path} {tried.foreign.body!r}: {foreign.status}"
    told = foreign.body.decode() + json.dumps(dict(foreign.headers))
    found = [f"{name} tells {secret}" for secret in victim.secrets if secret in told]
    if foreign.status not in tried.statuses:
        found.append(f"{name} is none of {sorted(tried.statuses)}: {foreign.body[:200]!r}")
    if tried.route.scope is not None and foreign.status == 200 and not is_nothing(foreign):
        found.append(f"{name} has {foreign.body[:300]!r}")
    if (what := comparable(foreign, victim)) != comparable(missing, victim, tried):
        found.append(f"{name} is not as missing {missing.status}: {what} {missing.body[:200]!r}")
    return found


def is_nothing(answer: Answer) -> bool:
    """Whether a 2xx holds no data: an empty page, no memories, refusals alone."""
    if not answer.headers["Content-Type"].startswith("application/json"):
        return False
    body = answer.json
    if "results" in body:
        return all(each["status"] == 403 and "event" not in each for each in body["results"])
    return not any(body.get(name) for name in ("items", "memories", "identities", "cursor", "eventId"))


def comparable(answer: Answer, victim: Victim, tried: Attack | None = None) -> tuple[int, str, dict[str, str]]:
    """An answer without what differs between any two, nor the lead that was asked for."""
    body = answer.body.decode()
    if answer.headers.get("Content-Type", "").startswith("application/json") and '"leadId"' in body:
        body = json.dumps(answer.json | {"leadId": ""})
    headers = {name.lower(): value for name, value in answer.headers.items() if name.lower() not in CHANGING}
    return answer.status, body, headers


def test_system_fields_and_another_tenant_in_the_data_are_plain_data(walls: Walls) -> None:
    client, victim, lead = walls.client, walls.victim, new_lead()
    data = {
        "pk": f"ORG#{victim.organization}#LEAD#{victim.lead}", "sk": "x", "gsi1pk": "x", "ttl": 1, "receivedat": "x",
        "leadOrganizationId": f"ORG#{victim.organization}#LEAD#{victim.lead}", "occurredAtId": "x", "eventId": victim.event_id,
        "receivedAt": "1999-01-01T00:00:00Z", "storedAt": "1999-01-01T00:00:00Z", "schemaVersion": 99, "tenantId": "x",
    }  # fmt: skip
    envelope = {
        "specversion": "1.0",
        "type": "lead.attacked",
        "id": f"e-{lead}",
        "source": "/forms",
        "sourcetype": "DIRECT",
        "time": "2026-03-20T14:22:00Z",
        "subject": lead,
        "tenantid": victim.organization,
        "organizationid": victim.organization,
        "data": data,
    }
    headers = {"content-type": "application/cloudevents+json"}
    stored = client.call("POST", "/v1/events", envelope, token=ATTACKER, headers=headers)
    assert (stored.status, stored.json["organizationId"], stored.json["leadId"]) == (201, ATTACKER, lead)
    assert stored.json["payload"] | data == stored.json["payload"]
    key = {":k": {"S": f"ORG#{ATTACKER}#LEAD#{lead}"}}
    [item] = client.items("events", FilterExpression="leadOrganizationId = :k", ExpressionAttributeValues=key)
    assert item["eventId"]["S"] == stored.json["eventId"] != victim.event_id
    assert not {"pk", "sk", "gsi1pk", "tenantid", "receivedat"} & set(item)
    assert not item["receivedAt"]["S"].startswith("1999")
    assert item["schemaVersion"]["N"] != "99"
    assert item.get("ttl", {}).get("N") != "1"


@pytest.mark.parametrize(
    "field",
    [
        "pk",
        "leadOrganizationId",
        "occurredAtId",
        "eventId",
        "receivedAt",
        "storedAt",
        "ttl",
        "schemaVersion",
        "tenantId",
    ],
)
def test_a_system_field_in_the_body_of_an_event_is_refused(walls: Walls, field: str) -> None:
    answer = walls.client.append(new_lead(), token=ATTACKER, organization=ATTACKER, **{field: "x"})
    assert (answer.status, answer.json["code"]) == (422, "unexpected_field")


def test_another_lead_or_tenant_in_the_body_than_in_the_path_is_refused(walls: Walls) -> None:
    for wrong in ({"leadId": walls.victim.lead}, {"organizationId": walls.victim.organization}):
        answer = walls.client.append(new_lead(), token=ATTACKER, organization=ATTACKER, **wrong)
        assert (answer.status, answer.json["code"]) == (422, "unexpected_field")


@pytest.mark.parametrize(
    "query",
    [
        "tenantId={o}&tenantId=org_other", "organizationId={o}", "organizationId=org_other&organizationId={o}",
        "leadId={l}", "limit=1&limit=100", "order=asc&order=desc", "include=rawPayload&include=", "cursor={c}&cursor=",
        "cursor=&cursor={c}", "eventType=lead.seen&eventType=", "from=2026-01-01&from=2027-01-01",
    ],
)  # fmt: skip
def test_a_polluted_query_is_ignored_or_refused(walls: Walls, query: str) -> None:
    lead, victim = new_lead(), walls.victim
    own = walls.client.append(lead, token=ATTACKER, organization=ATTACKER, eventType="lead.seen", payload={}).json
    path = f"/v1/organizations/{ATTACKER}/leads/{lead}/events?"
    filled = query.format(o=victim.organization, l=victim.lead, c=victim.cursors["events"])
    answer = walls.client.call("GET", path + filled, token=ATTACKER)
    if answer.status == 200:
        assert [each["eventId"] for each in answer.json["items"]] == [own["eventId"]]
    else:
        assert (answer.status, answer.json["code"]) in [(400, "invalid_parameter"), (400, "invalid_cursor")]


def test_a_cursor_opens_nothing_but_the_pages_that_gave_it(walls: Walls) -> None:
    """Nor does one that was taken apart and put together again."""
    client, victim = walls.client, walls.victim
    paths = {
        "events": f"/v1/organizations/{ATTACKER}/leads/{victim.lead}/events",
        "rejected-events": f"/v1/organizations/{ATTACKER}/rejected-events",
        "reprocessings": f"/v1/organizations/{ATTACKER}/reprocessings",
        "erasures": f"/v1/organizations/{ATTACKER}/erasures",
    }
    for page, path in paths.items():
        for cursor in victim.cursors.values():
            data = base64.urlsafe_b64decode(cursor + "==")
            for changed in (data, data[:-1], data + b"x", bytes([data[0] ^ 1]) + data[1:], data[:-16] + b"\0" * 16):
                text = base64.urlsafe_b64encode(changed).rstrip(b"=").decode()
                answer = client.call("GET", f"{path}?limit=1&cursor={text}", token=walls.tickets[BOUND])
                assert (answer.status, answer.json["code"]) == (400, "invalid_cursor"), page


def test_the_identity_of_anothers_lead_is_free_in_ones_own_organisation(walls: Walls) -> None:
    """Neither refused as taken, which would tell that somebody has it, nor of the other's lead."""
    lead = new_lead()
    body: dict[str, Any] = {"identities": [{"kind": "email", "value": f"{walls.victim.canary}@example.com"}]}
    path = f"/v1/organizations/{ATTACKER}/leads/{lead}/identities"
    assert walls.client.call("PUT", path, body, token=ATTACKER).status == 200
    assert eventually(lambda: walls.client.call("GET", path, token=ATTACKER).json["identities"])
