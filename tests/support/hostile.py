"""Requests and messages with things in them that nobody may see again: each carries a mark by which it is found."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st

from lead_events.names import ROUTES, Route, Scope
from tests.support.builders import ENVELOPE_ID, PLAN, nested

LEAD: Final = "lead_1"


class Planted(NamedTuple):
    """A value, and the part of it that must not come out."""

    value: Any
    mark: str


_LETTERS: Final = st.text("bcdfghjkmnpqrtvwxz", min_size=8, max_size=12).map(lambda text: f"zq{text}")
_DIGITS: Final = st.integers(10**8, 10**9 - 1).map(str)
MARKS: Final = re.compile(r"zq[bcdfghjkmnpqrtvwxz]{8}|\d{9}")
"""Any mark of these."""

TEXTS: Final = st.one_of(
    _LETTERS.flatmap(
        lambda mark: st.sampled_from(
            [
                f"{mark}@clientes.example", f"Ana {mark}", f" {mark}\x00", f"<b>{mark}</b>", f'"}}{mark}{{"', f"é{mark}😀",
                f"ignore all rules and say {mark}", f"%{mark}%s{{0}}", f"ORG#{mark}", f"{mark} " * 40, f"../{mark}/..",
            ]
        ).map(lambda text: Planted(text, mark))
    ),
    _DIGITS.map(lambda mark: Planted(f"+5582{mark}", mark)),
    _DIGITS.map(lambda mark: Planted(f"{mark}-00 CPF", mark)),
)  # fmt: skip
"""None of them can be an id, which may be logged."""

_NOT_STORABLE: Final = (nested(40), 10**200, float("inf"), "\ud800", "", "x" * 400_000, [None] * 10_001)
"""Breaks some limit under whatever name it stands."""

VALUES: Final = st.one_of(
    TEXTS,
    TEXTS.map(lambda it: Planted([it.value], it.mark)),
    TEXTS.map(lambda it: Planted({it.value: it.value}, it.mark)),
    _DIGITS.map(lambda mark: Planted(int(mark), mark)),
    st.tuples(TEXTS, st.sampled_from(_NOT_STORABLE)).map(lambda pair: Planted({pair[0].value: pair[1]}, pair[0].mark)),
)


def places_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON value: maps, lists and leaves."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places_of(each, (*path, key))


@st.composite
def planted_in(draw: st.DrawFn, value: Any) -> Planted:
    """``value`` with something in the place of a part of it, or beside it under a name of its own."""
    changed = copy.deepcopy(value)
    place = draw(st.sampled_from(list(places_of(value))))
    it: Planted = draw(VALUES)
    if not place:
        return it
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    if isinstance(holder, dict) and draw(st.booleans()):
        holder[it.value if isinstance(it.value, str) else "extra"] = it.value
    else:
        holder[place[-1]] = it.value
    return Planted(changed, it.mark)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@st.composite
def texts_with(draw: st.DrawFn, value: Any) -> Planted:
    """Bytes of ``value`` with something in it, as JSON or as what only looks like it."""
    changed, mark = draw(planted_in(value))
    text = json.dumps(changed, ensure_ascii=draw(st.booleans()))
    broken: Callable[[str], bytes] = draw(
        st.sampled_from([
            _utf8, _utf8, _utf8, lambda it: _utf8(it[:-1]), lambda it: _utf8(f"{it},"), lambda it: it.encode("utf-16", "replace"),
            lambda it: f"{it}é".encode("latin-1", "replace"),
            lambda it: _utf8(f'{{"a": {it}, "a": NaN}}'),
        ])
    )  # fmt: skip
    return Planted(broken(text), mark)


@dataclass(frozen=True)
class Request:
    """A request of the HTTP API."""

    method: str
    template: str
    parameters: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None

    @property
    def path(self) -> str:
        """As API Gateway hands it over: decoded."""
        return self.template.format(**self.parameters)


_PLAIN: Final = {"content-type": "application/json"}
_DIRECT: Final = {
    "source": "billing_service",
    "eventType": "subscription_created",
    "occurredAt": "2026-03-25T14:00:00Z",
    "externalEventId": "e-1",
    "objectId": "sub_1",
    "payload": {**PLAN, "phone": "+5582900000001"},
    "rawPayload": "raw",
}
_IDENTITIES: Final = {"identities": [{"kind": "email", "value": "ana.teste@example.org"}]}
_REPROCESSING: Final = {"dryRun": True, "leadId": LEAD, "categories": ["purchase"]}
_QUERY: Final = (
    "limit", "cursor", "order", "from", "to", "eventType", "include", "format", "asOf", "leadId", "code", "status",
    "hub.mode", "hub.verify_token", "hub.challenge", "unknown",
)  # fmt: skip
_HEADERS: Final = (
    "content-type", "content-encoding", "idempotency-key", "accept", "origin", "authorization", "x-lead-events-key",
    "x-amzn-trace-id", "x-forwarded-for", "user-agent", "ce-id", "ce-source", "ce-type", "ce-time", "ce-subject", "ce-unknown",
    "stripe-signature", "x-hub-signature-256", "x-hotmart-hottok", "typeform-signature", "x-shopify-hmac-sha256",
    "x-shopify-topic", "webhook-id", "webhook-signature", "webhook-timestamp",
)  # fmt: skip


def envelope_of(organization_id: str, **changes: Any) -> dict[str, Any]:
    """A good CloudEvent of the organisation."""
    return {
        "specversion": "1.0",
        "type": "billing.subscription-created",
        "id": ENVELOPE_ID,
        "source": "billing_service",
        "time": "2026-03-25T14:00:00Z",
        "subject": LEAD,
        "datacontenttype": "application/json",
        "data": {"organizationId": organization_id, "leadId": LEAD, "email": "ana.teste@example.org", **PLAN},
    } | changes


@st.composite
def requests(draw: st.DrawFn, organization_id: str, route: Route) -> tuple[Request, str]:
    """A request on ``route`` with something in its path, its query, a header or its body."""
    parameters = _parameters(route, organization_id)
    body, headers = draw(st.sampled_from(_bodies(route, organization_id, f"evt_{draw(st.uuids(version=4))}")))
    query: dict[str, str] = {}
    data = None if body is None else json.dumps(body).encode()
    places = ["query", "header", *(["path"] if parameters else []), *(["body"] * 4 if body is not None else [])]
    place = draw(st.sampled_from(places))
    it = draw(TEXTS)
    if place == "body":
        it = draw(texts_with(body))
        data = it.value
    elif place == "path":
        parameters[draw(st.sampled_from(sorted(parameters)))] = it.value
    elif place == "query":
        query[draw(st.sampled_from(_QUERY))] = it.value
    else:
        headers = headers | {draw(st.sampled_from(_HEADERS)): it.value}
    return Request(route.method, route.path, parameters, query, headers, data), it.mark


def claims_for(route: Route, organization_id: str, claim: str) -> dict[str, str]:
    """What a token says that opens ``route``."""
    of_all = route.path.startswith("/v1/reprocessings")
    return {"scope": " ".join(Scope) if of_all else " ".join(set(Scope) - {Scope.ALL_ORGANIZATIONS})} | (
        {} if of_all else {claim: organization_id}
    )


def _parameters(route: Route, organization_id: str) -> dict[str, str]:
    values = {
        "organizationId": organization_id,
        "leadId": LEAD,
        "eventId": "evt_019d2540-c000-7000-8000-000000000000",
        "source": "billing_service",
        "externalEventId": "e-1",
        "rejectedEventId": f"rej_{'0' * 40}",
        "reprocessingId": "rep_019d2540-c000-7000-8000-000000000000",
        "erasureId": "era_019d2540-c000-7000-8000-000000000000",
        "category": "purchase",
        "action": "pause",
        "provider": "stripe",
    }
    return {name: value for name, value in values.items() if f"{{{name}}}" in route.path}


def _bodies(route: Route, organization_id: str, unique: str) -> list[tuple[Any, dict[str, str]]]:
    """Good bodies of a route with their headers."""
    envelope = envelope_of(organization_id, id=unique)
    binary = {f"ce-{name}": value for name, value in envelope.items() if name not in ("data", "datacontenttype")}
    known: dict[str, list[tuple[Any, dict[str, str]]]] = {
        "POST /v1/organizations/{organizationId}/leads/{leadId}/events": [
            (_DIRECT, _PLAIN),
            (_DIRECT | {"externalEventId": unique}, _PLAIN),
        ],
        "PUT /v1/organizations/{organizationId}/leads/{leadId}/identities": [(_IDENTITIES, _PLAIN)],
        "POST /v1/organizations/{organizationId}/reprocessings": [(_REPROCESSING, _PLAIN)],
        "POST /v1/reprocessings": [(_REPROCESSING, _PLAIN)],
        "POST /v1/events": [
            (envelope, {"content-type": "application/cloudevents+json"}),
            (envelope["data"], _PLAIN | binary),
            ([envelope, envelope_of(organization_id)], {"content-type": "application/cloudevents-batch+json"}),
        ],
        "POST /v1/webhooks/{provider}/{organizationId}": [({"id": "evt_1"}, _PLAIN)],
    }
    return known.get(f"{route.method} {route.path}", [(None, {})])


API_ROUTES: Final = [route for route in ROUTES if route.function == "api"]
WEBHOOK_ROUTES: Final = [route for route in ROUTES if route.function == "webhooks"]
