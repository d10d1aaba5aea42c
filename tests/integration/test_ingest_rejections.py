"""What comes by queue and webhook and cannot become an event: kept, shown, counted; and what is handed on."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from lead_events.names import ORGANIZATION_CLAIM, Scope
from tests.integration.conftest import Throttle
from tests.samples import load
from tests.support.aws import BUCKET, BUS, REJECTED, webhook_secret
from tests.support.builders import envelope
from tests.support.contacts import Person, typeform, whatsapp
from tests.support.deliveries import SIGNED, headers_of
from tests.support.functions import Functions

NOISE = random.Random(11).randbytes(60_000).hex()


@pytest.fixture(autouse=True)
def _secrets(functions: Functions) -> None:
    for provider in ("typeform", "whatsapp", "shopify", "stripe"):
        webhook_secret(provider, functions.organization_id, f"secret-{provider}")


def path(functions: Functions, rejected_id: str = "") -> str:
    return f"/v1/organizations/{functions.organization_id}/rejected-events" + (f"/{rejected_id}" if rejected_id else "")


def rejected(functions: Functions) -> list[dict[str, Any]]:
    answer = functions.api("GET", path(functions))
    assert answer.status == 200, answer.text
    return list(answer.json["items"])


def raw_of(functions: Functions, shown: dict[str, Any]) -> str:
    answer = functions.api("GET", path(functions, shown["rejectedEventId"]), query={"include": "rawPayload"})
    assert answer.json == shown | {"rawPayload": answer.json["rawPayload"]}
    return str(answer.json["rawPayload"])


def deliver(functions: Functions, provider: str, body: bytes, sample: str = "") -> None:
    headers = headers_of(provider, sample or SIGNED[provider].sample, body, f"secret-{provider}", datetime.now(UTC))
    assert functions.webhook(provider, body, headers).status == 202
    assert functions.ingest(*functions.drain()) == []


def message(functions: Functions, **changes: Any) -> str:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "plan_pro"}
    return json.dumps(envelope(**{"data": data} | changes), indent=1) + "\r\n"


# ---------------------------------------------------------------------------------------------------------- kept whole


@pytest.mark.parametrize(
    "pad", ["", "é😀\\" * 500, "a" * 17_000, NOISE], ids=["small", "escapes", "large and even", "large"]
)
def test_a_delivery_of_nobody_is_kept_to_the_byte_and_shown(functions: Functions, pad: str) -> None:
    told = json.loads(typeform(Person())) | {"pad": pad}
    told["form_response"]["answers"] = []
    body = json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n"
    deliver(functions, "typeform", body)
    [shown] = rejected(functions)
    assert (shown["code"], shown["source"], shown["eventType"], shown["deliveries"]) == (
        "lead_unresolved",
        "typeform",
        "form_submitted",
        1,
    )
    assert shown["externalEventId"] == f"form1:{told['form_response']['token']}"
    assert shown["firstSeenAt"] == shown["lastSeenAt"]
    assert raw_of(functions, shown).encode() == body
    assert "rawPayload" not in shown
    assert functions.items() == []


def test_more_than_an_item_should_hold_is_in_the_bucket(functions: Functions) -> None:
    text = message(
        functions, data={"organizationId": functions.organization_id, "leadId": "lead_1", "planId": 5, "pad": NOISE}
    )
    assert functions.ingest(text) == []
    [shown] = rejected(functions)
    key = {"organizationId": {"S": functions.organization_id}, "rejectedEventId": {"S": shown["rejectedEventId"]}}
    item = boto3.client("dynamodb").get_item(TableName=REJECTED, Key=key)["Item"]
    where = item["rawPayload"]["M"]["key"]["S"]
    assert where.startswith(f"organizations/{functions.organization_id}/rejected/")
    assert boto3.client("s3").get_object(Bucket=BUCKET, Key=where)["Body"].read().decode() == text
    assert raw_of(functions, shown) == text


def test_the_same_delivery_again_counts_and_moves_to_the_front(functions: Functions) -> None:
    bodies = []
    for _ in range(2):
        told = json.loads(typeform(Person()))
        told["form_response"]["answers"] = []
        bodies.append(json.dumps(told).encode())
    for body in (*bodies, bodies[0], bodies[0]):
        deliver(functions, "typeform", body)
    found = rejected(functions)
    assert [each["deliveries"] for each in found] == [3, 1]
    assert found[0]["firstSeenAt"] < found[1]["firstSeenAt"] < found[0]["lastSeenAt"]


def test_a_conflict_is_kept_and_the_first_event_stays(functions: Functions) -> None:
    first = message(functions)
    other = message(
        functions, data={"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "other"}
    )
    assert (
        functions.ingest(first) == functions.ingest(other) == functions.ingest(other) == functions.ingest(first) == []
    )
    [shown] = rejected(functions)
    assert (shown["code"], shown["deliveries"], shown["externalEventId"]) == (
        "idempotency_conflict",
        2,
        envelope()["id"],
    )
    assert raw_of(functions, shown) == other
    assert [each["payload"] for each in functions.timeline()] == [{"planId": "plan_pro"}]


def test_one_bad_message_of_a_batched_delivery_is_kept_and_the_others_are_stored(functions: Functions) -> None:
    told = json.loads(whatsapp(Person()))
    value = told["entry"][0]["changes"][0]["value"]
    good = value["messages"][0]
    value["messages"] = [
        good | {"timestamp": "no time"},
        good,
        good | {"id": "wamid.late", "timestamp": "99999999999"},
        "no message",
    ]
    deliver(functions, "whatsapp", json.dumps(told).encode())
    assert sorted(item["eventType"]["S"] for item in functions.items()) == ["conversation_started", "message.received"]
    found = rejected(functions)
    assert len(found) >= 3
    assert {each["deliveries"] for each in found} == {1}
    assert len({each["rejectedEventId"] for each in found}) == len(found)


def test_a_message_that_tells_no_organisation_stays_on_the_queue_and_is_kept_by_nobody(functions: Functions) -> None:
    before = boto3.client("dynamodb").scan(TableName=REJECTED, Select="COUNT")["Count"]
    none = [message(functions, data=data) for data in ({"leadId": "lead_1"}, {"organizationId": "a b"}, None, "text")]
    assert functions.ingest(*none, message(functions)) == ["m-0", "m-1", "m-2", "m-3"]
    assert boto3.client("dynamodb").scan(TableName=REJECTED, Select="COUNT")["Count"] == before
    assert len(functions.timeline()) == 1


def test_a_message_with_ninety_thousand_faults_is_kept_too(functions: Functions) -> None:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "formId": "f", "responses": [1] * 90_000}
    text = json.dumps(envelope(type="typeform.form-submitted", source="typeform", data=data))
    assert functions.ingest(text) == []
    [shown] = rejected(functions)
    assert len(shown["errors"]) == 50
    answer = functions.direct(
        eventType="form_submitted", source="typeform", payload={"formId": "f", "responses": [1] * 90_000}
    )
    assert answer.status == 422
    assert len(answer.text) < 10_000


@pytest.mark.parametrize("operation", ["UpdateItem", "BatchGetItem"])
def test_where_a_store_does_not_answer_the_message_stays_and_its_redelivery_is_counted_once(
    functions: Functions, throttle: Throttle, operation: str
) -> None:
    told = json.loads(typeform(Person()))
    if operation == "UpdateItem":
        told["form_response"]["answers"] = []
    body = json.dumps(told).encode()
    headers = headers_of("typeform", "form_response.all_answers", body, "secret-typeform", datetime.now(UTC))
    assert functions.webhook("typeform", body, headers).status == 202
    messages = functions.drain()
    throttle("dynamodb", operation, times=4)
    assert functions.ingest(*messages) == ["m-0"]
    assert functions.items() == []
    assert functions.ingest(*messages) == []
    assert [each["deliveries"] for each in rejected(functions)] == ([1] if operation == "UpdateItem" else [])
    assert len(functions.items()) == (0 if operation == "UpdateItem" else 1)


# ----------------------------------------------------------------------------------------------------------- the route


@pytest.mark.parametrize("limit", ["1", "2", "100"])
def test_pages_lead_through_all_of_them(functions: Functions, limit: str) -> None:
    texts = [
        message(functions, id=f"e-{number}", data={"organizationId": functions.organization_id, "leadId": "!"})
        for number in range(5)
    ]
    for text in texts:
        functions.ingest(text)
    found: list[dict[str, Any]] = []
    query = {"limit": limit}
    while True:
        page = functions.api("GET", path(functions), query=query).json
        found += page["items"]
        if page["cursor"] is None:
            break
        query["cursor"] = page["cursor"]
    assert [each["externalEventId"] for each in found] == [f"e-{number}" for number in reversed(range(5))]
    stranger = {"scope": str(Scope.READ), ORGANIZATION_CLAIM: "org_other"}
    wrong = functions.api(
        "GET",
        "/v1/organizations/org_other/rejected-events",
        claims=stranger,
        query=query | {"cursor": query.get("cursor", "x")},
    )
    assert (wrong.status, wrong.code) == (400, "invalid_cursor")


def test_another_organisation_sees_none_of_it(functions: Functions) -> None:
    functions.ingest(message(functions, data={"organizationId": functions.organization_id, "leadId": "!"}))
    [shown] = rejected(functions)
    stranger = {"scope": f"{Scope.READ} {Scope.WRITE}", ORGANIZATION_CLAIM: "org_other"}
    for each in (path(functions), path(functions, shown["rejectedEventId"])):
        assert functions.api("GET", each, claims=stranger).status == 404
        assert (
            functions.api(
                "GET", each, claims={"scope": str(Scope.WRITE), ORGANIZATION_CLAIM: functions.organization_id}
            ).status
            == 403
        )
    mine = path(functions, shown["rejectedEventId"]).replace(functions.organization_id, "org_other")
    assert functions.api("GET", mine, claims=stranger).status == 404


@pytest.mark.parametrize("rejected_id", ["rej_0", "x", f"rej_{'0' * 40}", f"rej_{'a' * 3_000}"])
def test_an_id_of_nothing_is_404_however_long(functions: Functions, rejected_id: str) -> None:
    assert functions.api("GET", path(functions, rejected_id)).status == 404


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "x"}, {"cursor": "x"}])
def test_a_parameter_that_is_wrong_is_400(functions: Functions, query: dict[str, str]) -> None:
    assert functions.api("GET", path(functions), query=query).status == 400


def test_the_api_tells_its_caller_and_keeps_nothing(functions: Functions) -> None:
    assert functions.direct(payload={"planId": 5}).status == 422
    event = envelope(data={"organizationId": functions.organization_id, "planId": "p"})
    assert functions.api("POST", "/v1/events", event).status == 422
    assert rejected(functions) == []


# ------------------------------------------------------------------------------------------------- handed on to the bus


@pytest.fixture
def published(functions: Functions) -> Any:
    """Reads what the bus was given."""
    events, sqs = boto3.client("events"), boto3.client("sqs")
    name = f"heard-{functions.organization_id}"
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name=name, EventBusName=BUS, EventPattern=json.dumps({"source": ["lead_events"]}))
    events.put_targets(Rule=name, EventBusName=BUS, Targets=[{"Id": "q", "Arn": arn}])

    def read() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for each in messages:
                found.append(json.loads(each["Body"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
        return found

    yield read
    events.remove_targets(Rule=name, EventBusName=BUS, Ids=["q"])
    events.delete_rule(Name=name, EventBusName=BUS)


@pytest.mark.parametrize(
    ("sample", "type_"),
    [("customers.redact", "privacy.customer-redaction-requested"), ("shop.redact", "privacy.shop-redaction-requested"),
     ("customers.data_request", "")],
)  # fmt: skip
def test_what_concerns_the_organisation_is_handed_on_and_is_no_event_and_no_rejection(
    functions: Functions, published: Any, sample: str, type_: str
) -> None:
    body = load("shopify", sample)
    for _ in range(2):
        deliver(functions, "shopify", body, sample)
    first, again = published()
    assert first["detail"] == again["detail"]
    envelope_ = first["detail"]
    assert (first["source"], first["detail-type"]) == ("lead_events", envelope_["type"])
    assert envelope_["type"] == (type_ or envelope_["type"])
    assert envelope_["type"].startswith("privacy.")
    assert envelope_["data"]["organizationId"] == functions.organization_id
    assert (functions.items(), rejected(functions)) == ([], [])


def test_where_the_bus_does_not_take_it_the_message_stays_on_the_queue(
    functions: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lead_events import wiring

    client = wiring.client("events")
    failing = {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "InternalFailure", "ErrorMessage": "…"}]}
    body = load("shopify", "shop.redact")
    headers = headers_of("shopify", "shop.redact", body, "secret-shopify", datetime.now(UTC))
    assert functions.webhook("shopify", body, headers).status == 202
    messages = functions.drain()
    with monkeypatch.context() as patched:
        patched.setattr(client, "put_events", lambda **_: failing)
        assert functions.ingest(*messages) == ["m-0"]
    assert functions.ingest(*messages) == []
