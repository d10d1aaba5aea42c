"""Requests with which one organisation reaches for what another has: a builder for every route."""

from __future__ import annotations

import json
import random
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from lead_events.names import ROUTES, Route, Scope
from tests.e2e.victim import SOURCE, Victim
from tests.support.deliveries import SIGNED, delivery

ATTACKER: Final = "org_other"
"""Whose tokens the attacker has."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``ticket`` names a token."""

    method: str
    path: str
    ticket: str | None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attack:
    """A request that names what is the victim's, and the same with names that nobody has."""

    route: Route
    kind: str
    foreign: Request
    missing: Request
    statuses: frozenset[int]
    """What it may be answered."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What a request names."""

    organization: str
    things: Victim
    query: str = ""
    disguise: Callable[[str], str] = str
    """How ids are spelled in the path."""


BOUND: Final = "bound"
WEAK: Final = ("none", "expired", "unscoped", "unbound", "forged")
DISGUISES: Final[tuple[Callable[[str], str], ...]] = (
    lambda name: f"{ATTACKER}%23LEAD%23x/../../{name}",
    lambda name: f"{ATTACKER}%2F..%2F{name}",
    lambda name: f"ORG%23{name}",
    lambda name: f"{name}%23LEAD",
    lambda name: f"{name}%00",
    lambda name: f"%20{name}",
    lambda name: f"{ATTACKER},{name}",
    lambda name: f"..%2F{name}",
)


def attack(route: Route, kind: str, rnd: random.Random, victim: Victim, missing: Victim, forged: int) -> Attack:
    """An attack of ``kind`` on ``route``; what is drawn is the same for both of its requests."""
    seed = rnd.random()
    ticket = {BOUND: BOUND, "own": BOUND, "disguised": BOUND, "none": None, "forged": f"forged-{forged}"}.get(
        kind, kind
    )
    if kind in ("unscoped", "unbound"):
        ticket = f"{kind}-{route.scope}"

    def request(things: Victim) -> Request:
        drawn = random.Random(seed)
        organization = ATTACKER if kind == "own" else things.organization
        aim = Aim(organization, things, _pollution(drawn, things))
        if kind == "disguised":
            aim = replace(aim, disguise=drawn.choice(DISGUISES))
        return replace(_build(route, aim, drawn), ticket=ticket)

    return Attack(route, kind, request(victim), request(missing), _allowed(route, kind))


def kinds_of(route: Route) -> tuple[str, ...]:
    """Kinds of attack that a route can be the aim of. What anybody may read has only strange queries and tokens to fear."""
    if route.scope is None:
        return ("none", BOUND, "forged", "expired")
    own = ("own",) if route.method == "GET" or "{reprocessingId}" in route.path else ()
    everywhere = route.path.startswith("/v1/reprocessings") or route.path == "/v1/events"
    return (BOUND, BOUND, *WEAK, *(() if everywhere else ("disguised", *own)))


def _allowed(route: Route, kind: str) -> frozenset[int]:
    if route.function == "webhooks":
        # MiniStack answers a preflight itself, 403; on AWS the route's function does, 204 for whomever it is about.
        expected = {"POST": {401}, "GET": {400, 401, 403, 404}, "OPTIONS": {204, 403}}
        return frozenset(expected[route.method])
    if route.scope is None:
        return frozenset({200})
    if kind in ("none", "expired", "forged"):
        return frozenset({401})
    if kind == "unscoped" or (kind == "unbound" and route.path != "/v1/events"):
        return frozenset({403})
    if kind == "own":  # nothing of one's own is found under a foreign name; a page of nothing is no data
        return frozenset({200, 400, 404})
    if kind == "disguised":
        return frozenset({400, 403, 404, 422})
    if route.path == "/v1/events":
        return frozenset({200, 403})  # a batch is answered 200: with a 403 for each event
    if route.path.startswith("/v1/reprocessings") or route.scope is Scope.WRITE:
        return frozenset({403})
    return frozenset({404})


def _build(route: Route, aim: Aim, rnd: random.Random) -> Request:
    builder = BUILDERS[route.method, route.path]
    body, headers = builder(aim, rnd)
    things = aim.things
    external = urllib.parse.quote(things.external_id, safe="")
    values = {
        "organizationId": aim.disguise(aim.organization),
        "leadId": things.lead,
        "eventId": things.event_id,
        "source": SOURCE,
        "externalEventId": external,
        "rejectedEventId": things.rejected_id,
        "reprocessingId": things.reprocessing_id,
        "erasureId": things.erasure_id,
        "category": rnd.choice(["support", "purchase", "campaign"]),
        "action": rnd.choice(["pause", "resume", "cancel"]),
        "provider": headers.pop("x-provider", "web"),
    }
    query = aim.query
    if (
        route.method == "GET"
        and route.path.endswith(("/events", "/rejected-events", "/reprocessings", "/erasures"))
        and rnd.random() < 0.5
    ):
        cursor = things.cursors[route.path.rpartition("/")[2]]
        query += f"&cursor={cursor}"
        if rnd.random() < 0.7:  # as it was given
            query += "&limit=1"
    return Request(
        route.method, route.path.format(**values) + (f"?{query.lstrip('&')}" if query else ""), None, body, headers
    )


def _pollution(rnd: random.Random, things: Victim) -> str:
    pairs = [
        f"organizationId={things.organization}", f"tenantId={things.organization}&tenantId={ATTACKER}",
        f"organizationId={ATTACKER}&organizationId={things.organization}", f"leadId={things.lead}",
        "include=rawPayload", f"eventId={things.event_id}", f"scope=lead-events%2Fadmin&organization_id={things.organization}",
        "limit=100", "order=desc", f"externalEventId={urllib.parse.quote(things.external_id)}",
    ]  # fmt: skip
    return "&".join(rnd.sample(pairs, rnd.choice([0, 0, 1, 2])))


Sent = tuple[bytes | None, dict[str, str]]


def _nothing(aim: Aim, rnd: random.Random) -> Sent:
    tenant = {"x-organization-id": aim.organization, "x-tenant-id": aim.organization, "x-amzn-organization": "*"}
    return None, tenant if rnd.random() < 0.3 else {}


def _direct(aim: Aim, rnd: random.Random) -> Sent:
    body = {"source": SOURCE, "eventType": "lead.attacked", "occurredAt": "2026-03-20T14:22:00Z", "payload": {"x": 1}}
    named: list[dict[str, Any]] = [
        {}, {"organizationId": ATTACKER}, {"organizationId": aim.organization}, {"leadId": aim.things.lead},
        {"externalEventId": aim.things.external_id},
    ]  # fmt: skip
    return _json(body | rnd.choice(named)), {"content-type": "application/json"}


def _cloud(aim: Aim, rnd: random.Random) -> Sent:
    things = aim.things
    envelope = {
        "specversion": "1.0",
        "type": "lead.attacked",
        "id": things.external_id,
        "source": SOURCE,
        "time": "2026-03-20T14:22:00Z",
        "data": {"organizationId": things.organization, "leadId": things.lead, "x": 1},
    }
    mode = rnd.choice(["structured", "binary", "batch"])
    if mode == "structured":
        return _json(envelope), {"content-type": "application/cloudevents+json"}
    if mode == "batch":
        return _json([envelope] * rnd.randint(1, 3)), {"content-type": "application/cloudevents-batch+json"}
    headers = {f"ce-{name}": str(envelope[name]) for name in ("specversion", "type", "id", "source", "time")}
    return _json(envelope["data"]), headers | {"content-type": "application/json", "ce-subject": things.lead}


def _identities(aim: Aim, rnd: random.Random) -> Sent:
    email = f"{aim.things.canary}@example.com"
    return _json({"identities": [{"kind": "email", "value": email}]}), {"content-type": "application/json"}


def _reprocessing(aim: Aim, rnd: random.Random) -> Sent:
    bodies: list[dict[str, Any] | None] = [
        None,
        {},
        {"dryRun": True},
        {"leadId": aim.things.lead},
        {"organizationId": "x"},
    ]
    body = rnd.choice(bodies)
    return (None if body is None else _json(body)), {"content-type": "application/json"}


def _webhook(aim: Aim, rnd: random.Random) -> Sent:
    """Signed with a good secret of nobody's, or not at all."""
    provider = rnd.choice(sorted(SIGNED))
    body, headers = delivery(provider, SIGNED[provider].new_secret(), datetime.now(UTC))
    return body, {"x-provider": provider, **(headers if rnd.random() < 0.7 else {"content-type": "application/json"})}


def _handshake(aim: Aim, rnd: random.Random) -> Sent:
    return None, {"x-provider": rnd.choice(["whatsapp", "instagram", "stripe", "web"])}


BUILDERS: Final[dict[tuple[str, str], Callable[[Aim, random.Random], Sent]]] = {
    (route.method, route.path): _nothing for route in ROUTES if route.method == "GET" and route.function == "api"
} | {
    ("POST", "/v1/organizations/{organizationId}/leads/{leadId}/events"): _direct,
    ("PUT", "/v1/organizations/{organizationId}/leads/{leadId}/identities"): _identities,
    ("DELETE", "/v1/organizations/{organizationId}/leads/{leadId}"): _nothing,
    ("POST", "/v1/events"): _cloud,
    ("POST", "/v1/organizations/{organizationId}/reprocessings"): _reprocessing,
    ("POST", "/v1/organizations/{organizationId}/reprocessings/{reprocessingId}/{action}"): _nothing,
    ("POST", "/v1/reprocessings"): _reprocessing,
    ("POST", "/v1/reprocessings/{reprocessingId}/{action}"): _nothing,
    ("POST", "/v1/webhooks/{provider}/{organizationId}"): _webhook,
    ("GET", "/v1/webhooks/{provider}/{organizationId}"): _handshake,
    ("OPTIONS", "/v1/webhooks/{provider}/{organizationId}"): _handshake,
}
"""Body and headers by route; a new route that is not read alone has to be added here, or a test says so."""


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
