"""What holds on every route alike: bounded bodies, no compression, ids that fit a key, no tenant but the token's."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from typing import Any, Final

import boto3
import pytest

from lead_events.limits import MAX_BODY_BYTES, MAX_WEBHOOK_BYTES
from lead_events.names import ORGANIZATION_CLAIM, ROUTES, Route, Scope
from tests.support.aws import (
    CLAIMS,
    ERASURES,
    EVENTS,
    IDENTITIES,
    MEMORIES,
    ORGANIZATIONS,
    REJECTED,
    REPROCESSINGS,
    Context,
    http_event,
)
from tests.support.functions import Answer, Functions, answered, handler_of

TABLES: Final = (EVENTS, CLAIMS, IDENTITIES, REJECTED, MEMORIES, ORGANIZATIONS, REPROCESSINGS, ERASURES)
EVERYTHING: Final = " ".join(each for each in Scope if each is not Scope.ALL_ORGANIZATIONS)
ALL: Final = [route for route in ROUTES if route.method != "OPTIONS"]
WITH_BODY: Final = [
    each
    for each in ALL
    if each.method in ("POST", "PUT") and not each.path.endswith("{action}")  # its body is not read
]
OF_ORGANIZATIONS: Final = [each for each in ALL if "{organizationId}" in each.path and each.function == "api"]


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


def values(organization: str, **changed: str) -> dict[str, str]:
    """Path parameters that fit every route."""
    return {
        "organizationId": organization,
        "leadId": "lead_1",
        "eventId": "evt_0195f3a2-8c00-7d4e-b800-000000000000",
        "category": "support",
        "source": "s",
        "externalEventId": "e-1",
        "rejectedEventId": f"rej_{'0' * 40}",
        "reprocessingId": "rep_0195f3a2-8c00-7d4e-b800-000000000000",
        "erasureId": "era_0195f3a2-8c00-7d4e-b800-000000000000",
        "action": "pause",
        "provider": "stripe",
    } | changed


def call(
    functions: Functions,
    route: Route,
    body: str | bytes | None = None,
    *,
    path: dict[str, str] | None = None,
    **rest: Any,
) -> Answer:
    """Call a route as an administrator of the functions' organisation."""
    named = path or values(functions.organization_id)
    claims = {"scope": EVERYTHING, ORGANIZATION_CLAIM: functions.organization_id}
    if "{organizationId}" not in route.path:
        claims = {"scope": " ".join(Scope)}  # reprocessings of everything are for who is bound to nobody
    event = http_event(
        route.method, route.path.format(**named), body, claims=claims, path_parameters=named, **{"headers": {}, **rest}
    )
    return answered(handler_of(route.function)(event, Context()))


def stored() -> dict[str, str]:
    """Everything that the tables hold."""
    dynamodb = boto3.client("dynamodb")
    return {table: json.dumps(sorted(map(repr, dynamodb.scan(TableName=table)["Items"]))) for table in TABLES}


@pytest.mark.parametrize("route", WITH_BODY, ids=name_of)
def test_a_body_over_the_limit_is_413_and_stores_nothing(functions: Functions, route: Route) -> None:
    before = stored()
    limit = MAX_WEBHOOK_BYTES if route.function == "webhooks" else MAX_BODY_BYTES
    for body in ("1" * (limit + 1), b"1" * (limit + 1)):
        answer = call(functions, route, body, headers={"content-type": "application/json"})
        assert (answer.status, answer.code) == (413, "payload_too_large")
    assert stored() == before


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "GZIP", "gzip, gzip"])
@pytest.mark.parametrize("route", WITH_BODY, ids=name_of)
def test_c60_no_compressed_body_is_ever_expanded(functions: Functions, route: Route, encoding: str) -> None:
    bomb = gzip.compress(b"\0" * 100_000_000, 9)
    tracemalloc.start()
    answer = call(functions, route, bomb, headers={"content-type": "application/json", "content-encoding": encoding})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (answer.status, answer.code) == (415, "unsupported_encoding")
    assert peak < 32_000_000


@pytest.mark.parametrize(
    "route", [each for each in ALL if each not in WITH_BODY and each.function == "api"], ids=name_of
)
def test_a_body_where_none_is_read_changes_nothing(functions: Functions, route: Route) -> None:
    without = call(functions, route)
    heavy = call(functions, route, b"\xff" * 2_000_000, headers={"content-encoding": "gzip"})
    assert heavy.status == without.status
    assert heavy.status < 500


@pytest.mark.parametrize("spoilt", ["a#b", "#", "acme#LEAD#x", "", " ", "a/b", "a" * 65, "é", "a\x00", "."])
@pytest.mark.parametrize("route", OF_ORGANIZATIONS, ids=name_of)
def test_c56_an_organisation_that_fits_no_key_is_nobody_on_any_route(
    functions: Functions, route: Route, spoilt: str
) -> None:
    """Whoever the token is bound to: such an id never gets as far as a key."""
    before = stored()
    for bound in (functions.organization_id, spoilt):
        named = values(spoilt)
        event = http_event(
            route.method,
            route.path.format(**named),
            "{}",
            claims={"scope": EVERYTHING, ORGANIZATION_CLAIM: bound},
            path_parameters=named,
            headers={"content-type": "application/json"},
        )
        answer = answered(handler_of("api")(event, Context()))
        assert answer.status in (400, 403, 404, 422), answer.text
    assert stored() == before


@pytest.mark.parametrize("spoilt", ["a#b", "LEAD#", "#", "a" * 65, "é"])
@pytest.mark.parametrize("route", [each for each in OF_ORGANIZATIONS if "{leadId}" in each.path], ids=name_of)
def test_c56_a_lead_that_fits_no_key_is_nobody_on_any_route(functions: Functions, route: Route, spoilt: str) -> None:
    before = stored()
    answer = call(functions, route, "{}", path=values(functions.organization_id, leadId=spoilt))
    assert answer.status in (404, 422)
    assert stored() == before


@pytest.mark.parametrize("route", OF_ORGANIZATIONS, ids=name_of)
def test_c57_a_tenant_in_query_header_or_another_claim_changes_no_answer(functions: Functions, route: Route) -> None:
    if route.method in ("POST", "DELETE"):
        pytest.skip("starts something each time: the fuzz of the walls compares those")
    other = f"{functions.organization_id}_other"
    queries = [
        {"organizationId": other},
        {"tenantId": f"{other},{functions.organization_id}"},
        {"organization_id": other},
    ]
    plain = call(functions, route, "{}")
    for query in queries:
        assert call(functions, route, "{}", query=query).text == plain.text
    headers = {"x-organization-id": other, "x-tenant-id": other, "content-type": "application/json"}
    assert call(functions, route, "{}", headers=headers).text == plain.text


@pytest.mark.parametrize("route", OF_ORGANIZATIONS, ids=name_of)
def test_c34_each_request_is_judged_by_its_own_token(functions: Functions, route: Route) -> None:
    """One's own token first, then a stranger's, then one's own: no answer is another's."""
    stranger = Functions(f"{functions.organization_id}_stranger", functions.queue_url)
    named = values(functions.organization_id)

    def ask(who: Functions) -> int:
        claims = {"scope": EVERYTHING, ORGANIZATION_CLAIM: who.organization_id}
        event = http_event(
            route.method,
            route.path.format(**named),
            "[]",
            claims=claims,
            path_parameters=named,
            headers={"content-type": "application/json"},
        )
        return answered(handler_of("api")(event, Context())).status

    first, foreign, again = ask(functions), ask(stranger), ask(functions)
    assert foreign in (403, 404)
    assert 403 not in (first, again)


def test_c02_an_idempotency_key_is_its_tenants_own_and_its_routes_own(functions: Functions) -> None:
    key = {"idempotency-key": "evt-0001", "content-type": "application/json"}
    other = Functions(f"{functions.organization_id}_b", functions.queue_url)
    mine = functions.direct(headers=key, payload={"planId": "p", "email": "ana.teste@example.org"})
    theirs = other.direct(headers=key, payload={"planId": "p", "email": "bob.teste@example.org"})
    assert (mine.status, theirs.status) == (201, 201)
    assert "ana.teste" not in theirs.text
    identities = {"identities": [{"kind": "email", "value": "ana.teste@example.org"}]}
    path = f"/v1/organizations/{functions.organization_id}/leads/lead_1/identities"
    elsewhere = functions.api("PUT", path, identities, headers=key)
    assert elsewhere.status == 200
    assert set(elsewhere.json) == {"identities"}
    assert functions.direct(headers=key, payload={"planId": "p", "email": "ana.teste@example.org"}).status == 200
