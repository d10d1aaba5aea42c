"""The API's read side: timelines, single events, and that nobody reads another's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lead_events.names import Scope
from tests.support.functions import READ_WRITE, Functions

PLATFORM = f"{READ_WRITE} {Scope.ALL_ORGANIZATIONS}"


def test_a_timeline_is_read_by_pages_in_both_orders(functions: Functions) -> None:
    for second in range(5):
        functions.direct(occurredAt=f"2026-03-25T14:00:0{second}Z")
    times = [each["occurredAt"][17:19] for each in functions.timeline(limit="2")]
    assert times == ["00", "01", "02", "03", "04"]
    assert [each["occurredAt"][17:19] for each in functions.timeline(limit="3", order="desc")] == times[::-1]
    assert len(functions.timeline(**{"from": "2026-03-25T14:00:01Z", "to": "2026-03-25T14:00:03Z"})) == 2
    assert len(functions.timeline(to="2026-03-25", eventType="subscription_created", limit="1")) == 5


def test_a_page_is_json_with_items_and_cursor(functions: Functions) -> None:
    answer = functions.api("GET", functions.lead())
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json == {"items": [], "cursor": None}


@pytest.mark.parametrize(
    "query",
    [{"limit": "0"}, {"order": "up"}, {"from": "yesterday"}, {"to": "2024-05-01T10:00:00 02:00"},
    {"from": "2026-01-02", "to": "2026-01-01T00:00:00Z"},
     {"include": "all"}, {"eventType": "a b"}, {"limit": "2,3"}],
)  # fmt: skip
def test_a_parameter_that_cannot_be_read_is_400(functions: Functions, query: dict[str, str]) -> None:
    answer = functions.api("GET", functions.lead(), query=query)
    assert (answer.status, answer.code) == (400, "invalid_parameter")


def test_a_cursor_of_another_lead_tenant_or_query_is_400(functions: Functions) -> None:
    for second in range(3):
        functions.direct(occurredAt=f"2026-03-25T14:00:0{second}Z")
    cursor = functions.api("GET", functions.lead(), query={"limit": "1"}).json["cursor"]
    other = Functions(f"{functions.organization_id}b", functions.queue_url)
    flipped = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    for caller, path, query in (
        (functions, functions.lead("lead_2"), {"cursor": cursor}),
        (functions, functions.lead(), {"cursor": cursor, "order": "desc"}),
        (functions, functions.lead(), {"cursor": flipped}),
        (functions, functions.lead(), {"cursor": "AAAA"}),
        (other, other.lead(), {"cursor": cursor}),
    ):
        answer = caller.api("GET", path, query=query)
        assert (answer.status, answer.code) == (400, "invalid_cursor")
    assert functions.api("GET", functions.lead(), query={"cursor": ""}).status == 200


def test_one_event_is_read_by_its_id_and_by_its_sources_id(functions: Functions) -> None:
    created = functions.direct(externalEventId="a/b #1?", rawPayload="raw ✓").json
    path = f"{functions.lead()}/{created['eventId']}"
    assert functions.api("GET", path).json == created
    assert functions.api("GET", path, query={"include": "rawPayload"}).json == created | {"rawPayload": "raw ✓"}
    assert functions.external("BILLING_SERVICE", "a/b #1?").json == created
    assert (
        functions.external("billing_service", "a/b #1?", query={"include": "rawPayload"}).json["rawPayload"] == "raw ✓"
    )
    assert functions.external("billing_service", "a/b #1?", query={"include": "x"}).status == 400


def test_raw_payloads_come_back_byte_for_byte_whatever_their_size(functions: Functions) -> None:
    import random

    texts = ["{ }", "é" * 50_000, random.Random(5).randbytes(200_000).hex(), '"\\\n' * 100_000]
    for number, text in enumerate(texts):
        assert functions.direct(occurredAt=f"2026-03-25T14:00:0{number}Z", rawPayload=text).status == 201
    assert [each["rawPayload"] for each in functions.timeline(include="rawPayload")] == texts
    by_type = functions.timeline(include="rawPayload", eventType="subscription_created", limit="3")
    assert [each["rawPayload"] for each in by_type] == texts


def test_large_pages_stay_below_the_limit_of_lambda_and_lose_nothing(functions: Functions) -> None:
    for number in range(30):
        assert functions.direct(eventType="x", payload={"n": number, "note": "a" * 200_000}).status == 201
    found, query = [], {"limit": "100"}
    while True:
        answer = functions.api("GET", functions.lead(), query=query)
        assert len(json.dumps({"statusCode": 200, "body": answer.text})) < 6_291_556
        found += [each["payload"]["n"] for each in answer.json["items"]]
        if answer.json["cursor"] is None:
            break
        query["cursor"] = answer.json["cursor"]
    assert sorted(found) == list(range(30))


def test_what_is_foreign_is_answered_as_what_does_not_exist(functions: Functions) -> None:
    owner = Functions(f"{functions.organization_id}b", functions.queue_url)
    created = owner.direct(externalEventId="e-1").json
    missing = functions.api("GET", f"{functions.lead('nobody')}/{created['eventId']}")
    assert missing.status == 404
    foreign = owner.lead(organization_id=owner.organization_id)
    for path in (foreign, f"{foreign}/{created['eventId']}", functions.lead("a", "a" * 65), functions.lead("x" * 65)):
        answer = functions.api("GET", path)
        assert (answer.status, answer.json) == (404, missing.json)
    assert (
        functions.api("GET", functions.lead(), query={"organizationId": owner.organization_id, "tenantId": "x"}).json[
            "items"
        ]
        == []
    )
    assert functions.external("billing_service", "e-1").json == missing.json
    path = f"/v1/organizations/{owner.organization_id}/external-events/billing_service/e-1"
    parameters = {"organizationId": owner.organization_id, "source": "billing_service", "externalEventId": "e-1"}
    assert functions.api("GET", path, path_parameters=parameters).json == missing.json


def test_nobody_writes_for_another_organisation(functions: Functions) -> None:
    path = functions.lead(organization_id="another")
    answer = functions.api("POST", path, {"source": "web"}, headers={"content-type": "application/json"})
    assert (answer.status, answer.code) == (403, "other_organization")


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({}, "insufficient_scope"),
        ({"scope": "lead-events/admin", "organization_id": "org"}, "insufficient_scope"),
        ({"scope": READ_WRITE}, "no_organization"),
    ],
)
def test_a_token_without_scope_or_organisation_is_403_on_every_route(
    functions: Functions, claims: dict[str, str], code: str
) -> None:
    lead = functions.lead(organization_id="org")
    event = {"specversion": "1.0", "id": "1", "type": "billing.x", "data": {"organizationId": "org", "leadId": "l"}}
    parameters = {"organizationId": "org", "source": "s", "externalEventId": "e"}
    for method, path, body in (
        ("POST", lead, {}), ("POST", "/v1/events", event), ("GET", lead, None), ("GET", f"{lead}/evt_1", None),
        ("GET", "/v1/organizations/org/external-events/s/e", None),
    ):  # fmt: skip
        answer = functions.api(method, path, body, claims=claims, path_parameters=parameters)
        assert (method, path, answer.status, answer.code) == (method, path, 403, code)


def test_a_request_without_authorizer_is_403_not_500(functions: Functions) -> None:
    from tests.support.aws import Context, http_event
    from tests.support.functions import answered, handler_of

    answer = answered(handler_of("api")(http_event("GET", functions.lead()), Context()))
    assert (answer.status, answer.code) == (403, "insufficient_scope")


def test_a_platform_service_acts_for_every_organisation(functions: Functions) -> None:
    platform = Functions(functions.organization_id, functions.queue_url, scope=PLATFORM, bound=False)
    assert platform.direct().status == 201
    assert len(platform.timeline()) == 1
    nameless: dict[str, Any] = {"specversion": "1.0", "id": "1", "type": "billing.x", "data": {"leadId": "l"}}
    assert platform.api("POST", "/v1/events", nameless).status == 422


def test_unknown_routes_and_methods_are_404_problems(functions: Functions) -> None:
    for method, path in (("GET", "/"), ("GET", "/v1/leads"), ("DELETE", functions.lead()), ("PUT", f"{functions.lead()}/evt_1"),
                         ("GET", f"{functions.lead()}/a/b"), ("GET", "/v1/organizations/é😀/leads/l/events")):  # fmt: skip
        answer = functions.api(method, path)
        assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize(
    ("path", "content_type"),
    [("/health", "application/json"), ("/v1/event-types", "application/json"), ("/openapi.json", "application/json"),
     ("/docs", "text/html; charset=utf-8")],
)  # fmt: skip
def test_contract_and_health_need_no_token(functions: Functions, path: str, content_type: str) -> None:
    answer = functions.api("GET", path, claims={})
    assert (answer.status, answer.headers["Content-Type"]) == (200, content_type)
    assert answer.text
