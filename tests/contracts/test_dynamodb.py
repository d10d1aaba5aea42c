"""What the DynamoDB adapter does beyond the contract: how items look, what a write costs, what AWS's answers mean."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from lead_events.errors import TooLargeError, UnavailableError
from lead_events.event import SharedFact, StoredEvent
from lead_events.idempotency import Claim, claim_id
from lead_events.names import Attribute
from lead_events.ports import Page, TimelineQuery
from lead_events.store.dynamodb import DynamoDbClaims, DynamoDbEvents
from lead_events.store.items import item_of
from lead_events.store.s3 import S3Objects
from lead_events.store.wire import from_wire, item_from_wire, item_to_wire, to_wire
from tests.contracts.conftest import Aws
from tests.support.aws import BUCKET, create_claims
from tests.support.builders import query, stored_event
from tests.support.clock import START

NOISE = random.Random(3).randbytes(450_000).hex()


def raw_key(event: StoredEvent) -> dict[str, Any]:
    key = event.key
    return item_to_wire(
        {Attribute.LEAD_ORGANIZATION_ID: key.lead_organization_id, Attribute.OCCURRED_AT_ID: key.occurred_at_id}
    )


def raw_item(aws: Aws, event: StoredEvent) -> dict[str, Any]:
    found: dict[str, Any] = aws.dynamodb.get_item(TableName=aws.name, Key=raw_key(event))["Item"]
    return found


def counted(client: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the operations that reach the client from now on."""
    calls: list[str] = []
    original = client._make_api_call
    monkeypatch.setattr(client, "_make_api_call", lambda name, kwargs: (calls.append(name), original(name, kwargs))[1])
    return calls


def test_an_item_has_the_attribute_names_of_the_seeds_and_ours_to_the_letter(
    aws: Aws, aws_events: DynamoDbEvents
) -> None:
    event = stored_event(
        object_id="o", object_id_ref="r", raw_payload="{}", payload={"planId": "p", "amount": Decimal("99.90")}
    )
    aws_events.append(event)
    item = raw_item(aws, event)
    assert abs(int(item.pop("storedAt")["N"]) - time.time()) < 60
    assert item == {
        "leadOrganizationId": {"S": "ORG#org_A#LEAD#lead_1"},
        "occurredAtId": {"S": f"2026-03-25T14:00:00.000000Z#{event.event_id[4:]}"},
        "sourceType": {"S": "INTERNAL"}, "source": {"S": "billing_service"}, "eventType": {"S": "subscription_created"},
        "objectId": {"S": "o"}, "objectIdRef": {"S": "r"}, "payload": {"M": {"planId": {"S": "p"}, "amount": {"N": "99.9"}}},
        "rawPayload": {"S": "{}"}, "externalEventId": {"S": "e-1"}, "receivedAt": {"S": "2026-03-25T14:00:00.000000Z"},
        "occurredAt": {"S": "2026-03-25T14:00:00.000000Z"}, "eventId": {"S": event.event_id},
        "eventType#occurredAt": {"S": "subscription_created#2026-03-25T14:00:00.000000Z"}, "schemaVersion": {"N": "1"},
    }  # fmt: skip


def test_what_is_absent_is_no_attribute_so_the_index_stays_sparse(aws: Aws, aws_events: DynamoDbEvents) -> None:
    event = stored_event(external_event_id=None, payload={"email": "", "phone": None, "tags": []}, event_type="x")
    aws_events.append(event)
    item = raw_item(aws, event)
    assert not {"externalEventId", "objectId", "objectIdRef", "rawPayload", "ttl", "dataContentType"} & set(item)
    assert item["payload"] == {"M": {"email": {"S": ""}, "phone": {"NULL": True}, "tags": {"L": []}}}
    index = aws.dynamodb.scan(TableName=aws.name, IndexName="idempotency-index")
    assert index["Items"] == []


def test_a_time_to_live_is_written_only_where_retention_is_configured(aws: Aws, aws_events: DynamoDbEvents) -> None:
    kept_for = DynamoDbEvents(aws.dynamodb, aws.name, S3Objects(lambda: aws.s3, BUCKET), timedelta(days=30))
    event = stored_event()
    kept_for.append(event)
    assert raw_item(aws, event)["ttl"] == {"N": str(int((START + timedelta(days=30)).timestamp()))}


def test_the_first_event_to_tell_a_fact_leads_to_the_facts_claim_and_others_do_not(
    aws: Aws, aws_events: DynamoDbEvents
) -> None:
    fact = SharedFact("sale:cs_1", "stripe.checkout.session.completed", {"id": "cs_1"})
    first = stored_event(shared_fact=fact, external_event_id="e-1", source="stripe")
    plain = stored_event(external_event_id="e-2", source="stripe")
    for each in (first, plain):
        aws_events.append(each)
    assert raw_item(aws, first)["sharedFactId"] == {"S": "sale:cs_1"}
    assert "cs_1" not in str({**raw_item(aws, first), "sharedFactId": None})
    assert "sharedFactId" not in raw_item(aws, plain)
    assert aws_events.get(first.key) == replace(first, shared_fact=None)
    claim = Claim.of(first)
    assert claim is not None
    assert claim.claim_id == claim_id("org_A", "stripe", "sale:cs_1")


def test_the_id_of_a_fact_counts_towards_an_items_size() -> None:
    event = stored_event(payload={"note": "a" * 408_500}, event_type="x")
    item, _ = item_of(event, None)
    assert Attribute.SHARED_FACT_ID not in item
    with pytest.raises(TooLargeError):
        item_of(replace(event, shared_fact=SharedFact("f" * 1_000, "y", {})), None)


@pytest.mark.parametrize(("raw", "form"), [("{}", "S"), ("a" * 5_000, "B"), (NOISE[:10_000], "B"), (NOISE, "M")])
def test_the_type_of_the_raw_payload_tells_its_form(aws: Aws, aws_events: DynamoDbEvents, raw: str, form: str) -> None:
    event = stored_event(raw_payload=raw)
    aws_events.append(event)
    assert list(raw_item(aws, event)["rawPayload"]) == [form]


def test_a_large_raw_payload_is_an_object_of_its_organisation_and_lead(aws: Aws, aws_events: DynamoDbEvents) -> None:
    event = stored_event(raw_payload=NOISE)
    aws_events.append(event)
    reference = item_from_wire(raw_item(aws, event))["rawPayload"]
    assert reference["key"].startswith("organizations/org_A/leads/lead_1/")
    assert reference["size"] == len(NOISE)
    assert aws.s3.get_object(Bucket=BUCKET, Key=reference["key"])["Body"].read().decode() == NOISE


def test_a_new_event_is_one_write_and_a_taken_key_one_failed_write_and_nothing_is_read(
    aws: Aws, aws_events: DynamoDbEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = stored_event()
    calls = counted(aws.dynamodb, monkeypatch)
    aws_events.append(event)
    aws_events.append(replace(event, received_at=START + timedelta(seconds=1)))
    assert calls == ["PutItem", "PutItem"]


def test_a_claim_is_one_write_and_a_taken_one_too(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    create_claims(aws.dynamodb, aws.name)
    store = DynamoDbClaims(aws.dynamodb, aws.name)
    calls = counted(aws.dynamodb, monkeypatch)
    from tests.contracts.test_claim_store import claim_of

    store.claim(claim_of())
    store.claim(claim_of(lead_id="lead_2"))
    assert calls == ["PutItem", "PutItem"]


def test_nothing_too_large_reaches_aws(aws: Aws, aws_events: DynamoDbEvents, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(aws.dynamodb, monkeypatch), counted(aws.s3, monkeypatch)
    with pytest.raises(TooLargeError):
        aws_events.append(stored_event(payload={"note": "é" * 205_000}, event_type="x", raw_payload=NOISE))
    assert calls == ([], [])


def failing(client: Any, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(client, "_make_api_call", fail)


def client_error(code: str, message: str = "ana.teste@example.org") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "PutItem")


@pytest.mark.parametrize(
    "error",
    [client_error("ProvisionedThroughputExceededException"), client_error("InternalServerError"),
    client_error("AccessDeniedException"),
     client_error("ValidationException"), EndpointConnectionError(endpoint_url="https://x")],
)  # fmt: skip
def test_whatever_aws_answers_is_unavailable_and_quotes_nothing(
    aws: Aws, aws_events: DynamoDbEvents, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(aws.dynamodb, monkeypatch, error)
    failing(aws.s3, monkeypatch, error)
    objects = S3Objects(lambda: aws.s3, BUCKET)
    event = stored_event()
    for attempt in (
        lambda: aws_events.append(event), lambda: aws_events.get(event.key), lambda: aws_events.page(query(), None, 1),
        lambda: aws_events.find("o", "s", "e"), lambda: objects.put("k", "t"), lambda: objects.get("k"),
    ):  # fmt: skip
        with pytest.raises(UnavailableError) as caught:
            attempt()
        assert "ana" not in f"{caught.value} {caught.value.detail}"


def test_aws_has_the_last_word_on_the_size_of_an_item(
    aws: Aws, aws_events: DynamoDbEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(
        aws.dynamodb,
        monkeypatch,
        client_error("ValidationException", "Item size has exceeded the maximum allowed size"),
    )
    with pytest.raises(TooLargeError):
        aws_events.append(stored_event())


def by_type(events: DynamoDbEvents) -> Page:
    asked = TimelineQuery(organization_id="org_A", lead_id="lead_1", event_type="subscription_created")
    return events.page(asked, None, 100, raw=True)


def test_keys_that_a_batch_left_unread_are_read_again_and_at_last_unavailable(
    aws: Aws, aws_events: DynamoDbEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = [
        stored_event(external_event_id=None, raw_payload=f"{n}", occurred_at=START + timedelta(seconds=n))
        for n in range(5)
    ]
    for each in sent:
        aws_events.append(each)
    original = aws.dynamodb.batch_get_item

    def reluctant(*, RequestItems: Any) -> Any:  # boto3's name
        [(table, asked)] = RequestItems.items()
        answer = original(RequestItems={table: asked | {"Keys": asked["Keys"][:2]}})
        rest = asked["Keys"][2:]
        return answer | {"UnprocessedKeys": {table: {"Keys": rest}} if rest else {}}

    monkeypatch.setattr(aws.dynamodb, "batch_get_item", reluctant)
    assert [each.raw_payload for each in by_type(aws_events).events] == ["0", "1", "2", "3", "4"]

    def unwilling(**request: Any) -> Any:
        return {"Responses": {}, "UnprocessedKeys": request["RequestItems"]}

    monkeypatch.setattr(aws.dynamodb, "batch_get_item", unwilling)
    with pytest.raises(UnavailableError):
        by_type(aws_events)


def test_a_search_by_external_id_goes_on_behind_other_tenants_pages(
    aws: Aws, aws_events: DynamoDbEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = stored_event()
    pages = [{"Items": [], "LastEvaluatedKey": {"n": {"N": "1"}}}, {"Items": [raw_key(event)]}]
    starts: list[Any] = []

    def query_index(**request: Any) -> Any:
        starts.append(request.get("ExclusiveStartKey"))
        return pages.pop(0)

    monkeypatch.setattr(aws.dynamodb, "query", query_index)
    assert aws_events.find("org_A", "billing_service", "e-1") == event.key
    assert starts == [None, {"n": {"N": "1"}}]


def test_an_event_that_expired_between_index_and_table_is_left_out(
    aws: Aws, aws_events: DynamoDbEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws_events.append(stored_event())
    monkeypatch.setattr(aws.dynamodb, "batch_get_item", lambda **_: {"Responses": {}, "UnprocessedKeys": {}})
    assert list(by_type(aws_events).events) == []


@pytest.mark.parametrize("event_type", [None, "subscription_created"])
def test_a_timeline_is_read_consistently_from_the_table_and_by_type_from_its_index(
    aws: Aws, aws_events: DynamoDbEvents, event_type: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.setattr(aws.dynamodb, "query", lambda **request: seen.update(request) or {"Items": []})
    aws_events.page(query(event_type=event_type), None, 7)
    assert seen["Limit"] == 7
    assert (seen.get("ConsistentRead"), seen.get("IndexName")) == (
        (True, None) if event_type is None else (None, "event-type-index")
    )


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (Decimal("100.00"), "100"), (10**44, "1E+44"), (Decimal("1E-7"), "0.0000001"), (Decimal("-0.50"), "-0.5"),
        (Decimal("-0"), "0"),
        (Decimal("1E-130"), "1E-130"), (12345678901234567890123456789012345678, "12345678901234567890123456789012345678"),
    ],
)  # fmt: skip
def test_numbers_are_written_without_zeros_that_say_nothing(value: Any, wire: str) -> None:
    assert to_wire(value) == {"N": wire}


def test_numbers_are_read_in_whatever_notation_dynamodb_gives_them_back() -> None:
    assert from_wire({"N": "1" + "0" * 100}) == Decimal("1E+100")
    assert from_wire({"B": b"x"}) == b"x"
