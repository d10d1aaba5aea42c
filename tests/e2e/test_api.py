"""The API over real HTTP: tokens, codes, timelines, CloudEvents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.client import Client, new_lead

pytestmark = pytest.mark.e2e

CLOUD = {"content-type": "application/cloudevents+json"}


def cloud_event(lead: str, event_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "type": "lead.scored",
        "source": "/forms",
        "sourcetype": "INTERNAL",
        "id": event_id,
        "time": "2026-03-20T14:22:00Z",
        "subject": lead,
        "data": {"score": 7},
    } | changes


@pytest.mark.parametrize("path", ["/health", "/docs", "/openapi.json", "/v1/event-types"])
def test_what_anybody_may_read_needs_no_token(client: Client, path: str) -> None:
    assert client.call("GET", path, token=None).status == 200


def test_the_catalogue_has_the_twenty_types(client: Client) -> None:
    assert len(client.call("GET", "/v1/event-types", token=None).json["eventTypes"]) == 20


def test_an_event_comes_back_as_it_went_in(client: Client) -> None:
    lead = new_lead()
    payload = {
        "ticketId": "t1",
        "score": 0.30000000000000004,
        "tiny": 1e-7,
        "text": "Olá 😀 \u0000",
        "list": [],
        "no": None,
    }
    stored = client.append(lead, payload=payload, externalEventId="a/b c#1")
    assert stored.status == 201
    [event] = client.timeline(lead)
    assert event == stored.json
    assert event["payload"] == payload
    assert event["occurredAt"] == "2026-03-20T14:22:00.000000Z"
    path = f"/v1/organizations/{client.organization}/leads/{lead}/events/{event['eventId']}"
    assert client.call("GET", path).json == event


def test_an_event_is_found_by_the_id_that_its_source_gave_it(client: Client) -> None:
    lead = new_lead()
    event = client.append(lead, externalEventId=f"evt-{lead}").json
    path = f"/v1/organizations/{client.organization}/external-events/ticketing_service/evt-{lead}"
    assert client.call("GET", path).json == event
    assert client.call("GET", path + "x").status == 404


def test_no_token_is_401_and_a_token_without_the_scope_is_403(client: Client) -> None:
    path = f"/v1/organizations/{client.organization}/leads/lead_1/events"
    assert client.call("GET", path, token=None).status == 401
    assert client.call("GET", path, token="forged.token.here").status == 401
    assert client.call("POST", "/v1/events", cloud_event("lead_1", "e"), token=None).status == 401


def test_another_organisations_lead_looks_exactly_like_a_missing_one(client: Client) -> None:
    lead = new_lead()
    event = client.append(lead, externalEventId=lead).json
    [other] = [name for name in client.stack["tokens"] if name not in ("platform", client.organization)]
    own, foreign = f"/v1/organizations/{other}", f"/v1/organizations/{client.organization}"
    event_id = event["eventId"]
    missing = client.call("GET", f"{own}/leads/{lead}/events/{event_id}", token=other)
    assert missing.status == 404
    for path in (
        f"leads/{lead}/events/{event_id}",
        f"leads/{lead}/events",
        f"external-events/ticketing_service/{lead}",
    ):
        answer = client.call("GET", f"{foreign}/{path}", token=other)
        assert (answer.status, answer.json) == (404, missing.json)
    assert client.append(lead, token=other).status == 403
    mine = cloud_event(lead, f"e-{lead}", data={"organizationId": client.organization, "leadId": lead})
    assert client.call("POST", "/v1/events", mine, token=other, headers=CLOUD).status == 403
    assert len(client.timeline(lead)) == 1


def test_two_tenants_may_use_one_external_id(client: Client) -> None:
    [other] = [name for name in client.stack["tokens"] if name not in ("platform", client.organization)]
    lead = new_lead()
    first = client.append(lead, token=client.organization, externalEventId=f"same-{lead}")
    second = client.append(
        lead, token=other, organization=other, externalEventId=f"same-{lead}", payload={"ticketId": "t2"}
    )
    assert (first.status, second.status) == (201, 201)


def test_a_token_bound_to_an_organisation_needs_no_organisation_in_the_event(client: Client) -> None:
    lead = new_lead()
    event = cloud_event(lead, f"e-{lead}")
    stored = client.call("POST", "/v1/events", event, token=client.organization, headers=CLOUD)
    assert (stored.status, stored.json["organizationId"]) == (201, client.organization)
    assert client.call("POST", "/v1/events", event, headers=CLOUD).status == 422  # the platform's token names none


def test_a_batch_has_a_result_for_each_event_in_order(client: Client) -> None:
    lead = new_lead()
    batch = [cloud_event(lead, f"{lead}-1"), cloud_event(lead, "2", source=""), cloud_event(lead, f"{lead}-1")]
    headers = {"content-type": "application/cloudevents-batch+json"}
    answer = client.call("POST", "/v1/events", batch, token=client.organization, headers=headers)
    assert answer.status == 200
    assert [each["status"] for each in answer.json["results"]] == [201, 422, 200]
    assert len(client.timeline(lead)) == 1
    assert client.call("POST", "/v1/events", batch, token=client.organization, headers=CLOUD).status == 400
    assert client.call("POST", "/v1/events", [], token=client.organization, headers=headers).json == {"results": []}


def test_binary_mode_reads_its_attributes_from_headers(client: Client) -> None:
    lead = new_lead()
    headers = {"ce-specversion": "1.0", "CE-ID": f"b-{lead}", "ce-source": "/s", "ce-type": "lead.scored",
               "ce-sourcetype": "DIRECT", "Ce-Subject": lead}  # fmt: skip
    stored = client.call("POST", "/v1/events", b"123", token=client.organization, headers=headers)
    assert (stored.status, stored.json["payload"], stored.json["sourceType"]) == (201, 123, "DIRECT")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "malformed_body"),
        (b"", 400, "malformed_body"),
        (b'{"a":1,"a":2}', 400, "duplicate_key"),
        (b'{"payload":{"score":NaN}}', 400, "malformed_body"),
        (b'{"payload":{"name":"Ana \\ud83d"}}', 400, "lone_surrogate"),
        (b"[" * 20_000 + b"]" * 20_000, 400, "malformed_body"),
        (b"\xe9", 400, "malformed_body"),
        (b"[]", 422, "invalid"),
        (b"{}", 422, "invalid"),
        (json.dumps({"pad": "a" * 1_100_000}).encode(), 413, "payload_too_large"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_a_problem_that_names_its_rule(
    client: Client, body: bytes, status: int, code: str
) -> None:
    path = f"/v1/organizations/{client.organization}/leads/lead_bad/events"
    answer = client.call("POST", path, body)
    assert (answer.status, answer.json["code"]) == (status, code)
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_pages_stay_below_lambdas_response_limit_and_cursors_lead_through_all(client: Client) -> None:
    lead = new_lead()
    for index in range(40):
        payload = {"ticketId": f"t{index}", "note": '"' * 100_000}
        assert client.append(lead, payload=payload, occurredAt=f"2026-03-20T14:{index:02d}:00Z").status == 201
    path = f"/v1/organizations/{client.organization}/leads/{lead}/events"
    first = client.call("GET", f"{path}?limit=100")
    assert first.status == 200
    assert len(first.body) < 6_291_556
    assert 0 < len(first.json["items"]) < 40
    assert [each["payload"]["ticketId"] for each in client.timeline(lead, limit=100)] == [f"t{i}" for i in range(40)]


def test_timelines_filter_by_type_and_half_open_range_in_both_orders(client: Client) -> None:
    lead = new_lead()
    for second in range(6):
        kind = "lead.won" if second % 2 else "lead.seen"
        client.append(lead, eventType=kind, occurredAt=f"2026-03-20T14:22:0{second}Z", payload={})
    of = lambda **query: [each["occurredAt"][18] for each in client.timeline(lead, **query)]  # noqa: E731
    assert of() == list("012345")
    assert of(order="desc", limit=2) == list("543210")
    assert of(eventType="lead.won", limit=1) == list("135")
    window = {"from": "2026-03-20T14:22:01Z", "to": "2026-03-20T14:22:05.000Z"}
    assert of(**window) == list("1234")
    assert of(**window, eventType="lead.won", order="desc") == list("31")
    path = f"/v1/organizations/{client.organization}/leads/{lead}/events"
    cursor = client.call("GET", f"{path}?limit=2").json["cursor"]
    for wrong in (f"limit=2&order=desc&cursor={cursor}", f"cursor={cursor[:-2]}xx", "cursor=AAAA"):
        answer = client.call("GET", f"{path}?{wrong}")
        assert (answer.status, answer.json["code"]) == (400, "invalid_cursor")
    assert client.call("GET", f"{path.replace(lead, new_lead())}?limit=2&cursor={cursor}").status == 400
