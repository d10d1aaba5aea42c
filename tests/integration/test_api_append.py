"""The API's write side: what a caller sends, what it is answered, and what is stored."""

from __future__ import annotations

import base64
import gzip
import json
from decimal import Decimal
from typing import Any

import pytest

from tests.support.builders import envelope, nested
from tests.support.functions import Functions

CLOUD_EVENTS = "/v1/events"
JSON = {"content-type": "application/json"}


def cloud_event(functions: Functions, **changes: Any) -> dict[str, Any]:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "plan_pro"}
    return envelope(**{"data": data} | changes)


def test_a_new_event_is_201_and_the_same_again_200_with_the_first(functions: Functions) -> None:
    first = functions.direct(externalEventId="e-1")
    again = functions.direct(externalEventId="e-1", occurredAt="2026-03-25T14:00:00.003Z")
    assert (first.status, again.status) == (201, 200)
    assert first.headers["Content-Type"] == "application/json"
    assert {name: value for name, value in again.json.items() if name != "receivedAt"} == {
        name: value for name, value in first.json.items() if name != "receivedAt"
    }
    assert [each["eventId"] for each in functions.timeline()] == [first.json["eventId"]]
    assert first.json["organizationId"] == functions.organization_id


def test_other_content_under_a_used_id_is_409_and_the_first_stays(functions: Functions) -> None:
    sent = [{"amount": 100.00, "currency": "BRL"}, {"amount": 900.00, "currency": "BRL"}, {"amount": 900.00, "currency": "BRL"},
            {"amount": 100.00, "currency": "BRL"}, {"currency": "BRL", "amount": 100}]  # fmt: skip
    answers = [functions.direct(eventType="purchase_completed", externalEventId="pay-5", payload=each) for each in sent]
    assert [each.status for each in answers] == [201, 409, 409, 200, 200]
    assert {each.code for each in answers[1:3]} == {"idempotency_conflict"}
    assert [each["payload"]["amount"] for each in functions.timeline()] == [100]


def test_without_any_id_each_request_is_an_event_and_an_idempotency_key_is_an_id(functions: Functions) -> None:
    assert [functions.direct().status for _ in range(2)] == [201, 201]
    keyed = [functions.direct(headers={"Idempotency-KEY": "key-1"}).status for _ in range(2)]
    assert keyed == [201, 200]
    assert functions.external("billing_service", "key-1").status == 200


def test_two_organisations_use_one_id_and_see_nothing_of_each_other(functions: Functions) -> None:
    other = Functions(f"{functions.organization_id}b", functions.queue_url)
    keys = {"Idempotency-Key": "evt-0001"}
    answers = [
        each.direct(eventType="form", payload={"email": email}, headers=keys)
        for each, email in ((functions, "ana.teste@example.org"), (other, "bob.teste@example.org"))
    ]
    assert [each.status for each in answers] == [201, 201]
    assert "ana" not in answers[1].text
    # the same key on another route is judged on its own
    assert functions.api("POST", CLOUD_EVENTS, cloud_event(functions), headers=JSON | keys).status == 201


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("{", 400, "malformed_body"), ("", 400, "malformed_body"), (None, 400, "malformed_body"), (b"", 400, "malformed_body"),
        (b'{"id":"\xe9"}', 400, "malformed_body"), ('{"payload":NaN}', 400, "malformed_body"),
        ('{"a":1,"a":2}', 400, "duplicate_key"),
        ('{"a":"\\ud83d"}', 400, "lone_surrogate"), ("[" * 20_000 + "]" * 20_000, 400, "malformed_body"),
        ("[]", 422, "invalid"),
        ("{}", 422, "invalid"), ("1" * 1_048_577, 413, "payload_too_large"),
    ],
)  # fmt: skip
def test_bodies_that_are_no_event_are_refused_by_both_routes_and_store_nothing(
    functions: Functions, body: Any, status: int, code: str
) -> None:
    direct = functions.api("POST", functions.lead(), body, headers=JSON)
    assert (direct.status, direct.code) == (status, code)
    cloud = functions.api("POST", CLOUD_EVENTS, body, headers=JSON)
    assert (cloud.status, cloud.code) == ((400, "malformed_body") if body == "[]" else (status, code))
    assert functions.items() == []


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"source": ...}, 422, "invalid"), ({"payload": {"planId": 5}}, 422, "invalid"),
        ({"occurredAt": 1714557600}, 422, "invalid_time"),
        ({"occurredAt": "2024-05-01T24:00:00Z"}, 422, "invalid_time"), ({"source": "s#1"}, 422, "invalid_source"),
        ({"source": "crm"}, 422, "invalid"), ({"leadId": "other"}, 422, "unexpected_field"),
        ({"ttl": 1}, 422, "unexpected_field"),
        ({"eventType": "x", "payload": nested(32)}, 422, "too_deep"),
        ({"eventType": "x", "payload": {"": 1}}, 422, "invalid_key"),
        ({"eventType": "x", "payload": {"k" * 70_000: 1}}, 422, "invalid_key"), ({"externalEventId": "a\x00"}, 422, "invalid"),
        ({"eventType": "x", "payload": {"note": "é" * 205_000}}, 413, "payload_too_large"),
        ({"eventType": "x", "payload": {"note": "a" * 409_500}}, 413, "payload_too_large"),
    ],
)  # fmt: skip
def test_readable_bodies_that_break_a_rule_are_refused_and_leave_their_id_free(
    functions: Functions, changes: dict[str, Any], status: int, code: str
) -> None:
    refused = functions.direct(**{"externalEventId": "e-1"} | changes)
    assert (refused.status, refused.code) == (status, code)
    assert functions.items() == []
    assert functions.direct(externalEventId="e-1").status == 201


def test_numbers_beyond_what_is_stored_are_422_and_within_are_exact(functions: Functions) -> None:
    template = '{"source":"web","eventType":"x","occurredAt":"2026-03-25T14:00:00Z","payload":%s}'
    assert functions.api("POST", functions.lead(), template % '{"score":1e400}', headers=JSON).code == "invalid_number"
    payload = '{"score":30.40,"w":[0.1,1e-7],"total":0.30000000000000004,"big":1' + "0" * 44 + ',"zero":0e-400}'
    assert functions.api("POST", functions.lead(), template % payload, headers=JSON).status == 201
    text = functions.api("GET", functions.lead()).text
    for expected in ("30.4,", "0.1,", "0.30000000000000004"):
        assert expected in text
    stored = json.loads(text, parse_float=Decimal)["items"][0]["payload"]
    assert stored == {"channel": "web"} | json.loads(payload, parse_float=Decimal)


@pytest.mark.parametrize(
    "value", [nested(30), {"a\x00b": "a\x00b", "Ana 😀": "João"}, {"utm.source": 1, "__proto__": {}, "a b": ""}]
)
def test_any_other_payload_is_read_back_as_it_was(functions: Functions, value: Any) -> None:
    created = functions.direct(eventType="x", payload=value)
    assert created.status == 201
    [found] = functions.timeline()
    assert found["payload"] == value == created.json["payload"]


@pytest.mark.parametrize(
    "content_type",
    ["application/cloudevents+json", "application/cloudevents+json; charset=UTF-8", "application/json", None],
)
def test_a_structured_cloudevent_comes_under_any_of_its_media_types(
    functions: Functions, content_type: str | None
) -> None:
    headers = {"content-TYPE": content_type} if content_type else {}
    statuses = [functions.api("POST", CLOUD_EVENTS, cloud_event(functions), headers=headers).status for _ in range(2)]
    assert statuses == [201, 200]


@pytest.mark.parametrize("headers", [{"Content-Type": "text/xml"}, {"Content-Type": "application/cloudevents+xml"}])
def test_other_media_types_are_415_on_both_routes(functions: Functions, headers: dict[str, str]) -> None:
    assert functions.api("POST", CLOUD_EVENTS, cloud_event(functions), headers=headers).status == 415
    assert functions.direct(headers=headers).status == 415
    assert functions.direct(headers={"ce-id": "1"}).status == 415


def test_a_body_in_base64_is_the_same_event_as_in_plain(functions: Functions) -> None:
    body = json.dumps(cloud_event(functions))
    answers = [
        functions.api("POST", CLOUD_EVENTS, each, headers=JSON) for each in (body, body.encode(), "\ufeff" + body)
    ]
    assert [each.status for each in answers] == [201, 200, 200]


def test_compressed_bodies_are_415_and_never_expanded(functions: Functions) -> None:
    bomb = gzip.compress(b"\0" * 10_000_000)
    for encoding in ("gzip", "br"):
        answer = functions.api("POST", CLOUD_EVENTS, bomb, headers=JSON | {"Content-Encoding": encoding})
        assert (answer.status, answer.code) == (415, "unsupported_encoding")


def test_a_binary_cloudevent_is_an_event(functions: Functions) -> None:
    headers = {
        "Ce-Id": "b-1",
        "CE-SOURCE": "/s",
        "ce-type": "lead.created",
        "ce-subject": "lead_9",
        "ce-sourcetype": "INTERNAL",
    }
    missing = functions.api("POST", CLOUD_EVENTS, "123", headers=headers)
    assert (missing.status, missing.json["errors"][0]["field"]) == (422, "specversion")
    complete = headers | {"ce-specversion": "1.0"}
    created = functions.api("POST", CLOUD_EVENTS, "123", headers=complete)
    assert (created.status, created.json["payload"], created.json["leadId"]) == (201, 123, "lead_9")
    assert (
        functions.api("POST", CLOUD_EVENTS, "123", headers=complete | {"ce-example-ext": "x"}).code
        == "invalid_attribute_name"
    )


def test_binary_data_is_read_back_as_base64_under_its_own_content_type(functions: Functions) -> None:
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "b-2",
        "ce-source": "billing_service",
        "ce-type": "x",
        "ce-subject": "lead_1",
        "content-type": "image/png",
    }
    assert functions.api("POST", CLOUD_EVENTS, b"\xfb\xef\xbe", headers=headers).status == 201
    [found] = functions.timeline(include="rawPayload")
    assert (found["payload"], found["dataContentType"]) == ({"data_base64": "++++"}, "image/png")
    assert base64.b64decode(found["rawPayload"]) == b"\xfb\xef\xbe"


@pytest.mark.parametrize(
    ("content_type", "data"),
    [
        ("application/json; charset=utf-8", {"a": 1}),
        ("application/vnd.acme+json", [1]),
        ("application/json", '{"a":1}'),
        (None, None),
    ],
)
def test_data_and_its_content_type_are_read_back_as_sent(
    functions: Functions, content_type: str | None, data: Any
) -> None:
    event = cloud_event(functions, datacontenttype=content_type, subject="lead_1", type="billing.x") | {"data": data}
    assert functions.api("POST", CLOUD_EVENTS, event, headers=JSON).status == 201
    [found] = functions.timeline()
    assert (found["payload"], found["dataContentType"]) == (data, content_type or "application/json")


def test_a_batch_gives_each_event_its_result_in_order(functions: Functions) -> None:
    batch = {"content-type": "application/cloudevents-batch+json"}
    good = cloud_event(functions, id="e-1")
    events = [good, cloud_event(functions, id="e-2", type=None), good, cloud_event(functions, id="e-1", type="billing.other"),
              cloud_event(functions, id="e-3", data={"organizationId": "foreign", "leadId": "l"}), 5]  # fmt: skip
    answer = functions.api("POST", CLOUD_EVENTS, events, headers=batch)
    assert answer.status == 200
    results = answer.json["results"]
    assert [each["outcome"] for each in results] == [
        "stored",
        "rejected",
        "duplicate",
        "conflict",
        "rejected",
        "rejected",
    ]
    assert [each["status"] for each in results] == [201, 422, 200, 409, 403, 422]
    assert results[0]["event"]["eventId"] == results[2]["event"]["eventId"]
    assert results[1]["problem"]["errors"][0]["field"] == "type"
    assert len(functions.items()) == 1
    assert functions.api("POST", CLOUD_EVENTS, [], headers=batch).json == {"results": []}
    assert functions.api("POST", CLOUD_EVENTS, events, headers=JSON).status == 400


def test_a_batch_of_a_hundred_is_stored_whole_and_one_more_is_too_large(functions: Functions) -> None:
    batch = {"content-type": "application/cloudevents-batch+json"}
    events = [cloud_event(functions, id=f"e-{number}") for number in range(101)]
    assert functions.api("POST", CLOUD_EVENTS, events, headers=batch).status == 413
    assert functions.items() == []
    results = functions.api("POST", CLOUD_EVENTS, events[:100], headers=batch).json["results"]
    assert {each["status"] for each in results} == {201}
    assert len(functions.items()) == 100


@pytest.mark.parametrize("body", ["{", "{}", {"source": "s#1"}])
def test_what_cannot_be_read_is_counted_and_logged_as_rejected(
    functions: Functions, body: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (functions.lead(), CLOUD_EVENTS):
        answer = functions.api("POST", path, body, headers=JSON)
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [each["code"] for each in lines if each.get("outcome") == "rejected"] == [answer.code]
        assert sum(sum(each["EventRejected"]) for each in lines if "EventRejected" in each) == 1


def test_system_fields_are_never_the_callers(functions: Functions) -> None:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "p", "pk": "x", "sk": "x",
    "gsi1pk": "x", "ttl": 1,
            "receivedat": "x", "receivedAt": "2000-01-01T00:00:00Z", "eventId": "evt_x",
            "leadOrganizationId": "ORG#other#LEAD#x"}  # fmt: skip
    event = cloud_event(functions, data=data, tenantid="B", receivedat="2000-01-01T00:00:00Z")
    assert functions.api("POST", CLOUD_EVENTS, event, headers=JSON).status == 201
    [item] = functions.items()
    assert item["leadOrganizationId"]["S"] == f"ORG#{functions.organization_id}#LEAD#lead_1"
    assert not {"pk", "sk", "gsi1pk", "ttl"} & set(item)
    assert item["receivedAt"]["S"] > "2026-01-01"
    assert item["eventId"]["S"] != "evt_x"
    assert item["payload"]["M"]["ttl"] == {"N": "1"}
