"""Projector and publisher as Lambda calls them, with AWS as moto plays it: stored events become memories and messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import boto3
import pytest

from lead_events import wiring
from lead_events.categories import Category
from lead_events.errors import UnavailableError
from lead_events.names import Env
from lead_events.observability import HandlerFailedError
from lead_events.store.memories import DynamoDbMemories
from tests.support.aws import BUS, MEMORIES, Context, stream_event, stream_record
from tests.support.functions import Functions, handler_of

EVENT_KEYS = ("leadOrganizationId", "occurredAtId")
MEMORY_KEYS = ("leadOrganizationId", "category")


def call(function: str, batch: dict[str, Any]) -> list[str]:
    """Call a function; the sequence numbers of what it wants again."""
    return [each["itemIdentifier"] for each in handler_of(function)(batch, Context())["batchItemFailures"]]


def stored(functions: Functions) -> dict[str, Any]:
    """The batch of all events of the organisation."""
    return stream_event(*functions.items(), keys=EVENT_KEYS)


def memories_of(functions: Functions) -> list[dict[str, Any]]:
    """The items of the organisation's memories."""
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=MEMORIES)
    items = [item for page in pages for item in page["Items"]]
    return [each for each in items if each["leadOrganizationId"]["S"].startswith(f"ORG#{functions.organization_id}#")]


def messages(queue_url: str) -> list[dict[str, Any]]:
    sqs, found = boto3.client("sqs"), []
    while received := sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10).get("Messages"):
        for each in received:
            found.append(json.loads(each["Body"]))
            sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=each["ReceiptHandle"])
    return found


@pytest.fixture
def heard(environment: dict[str, str]) -> Iterator[str]:
    """A subscriber: the URL of a queue to which a rule brings all that the service tells."""
    sqs, events = boto3.client("sqs"), boto3.client("events")
    url = sqs.create_queue(QueueName="subscriber")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name="own", EventBusName=BUS, EventPattern=json.dumps({"source": ["lead_events"]}))
    events.put_targets(Rule="own", EventBusName=BUS, Targets=[{"Id": "queue", "Arn": arn}])
    yield url
    sqs.delete_queue(QueueUrl=url)
    events.remove_targets(Rule="own", EventBusName=BUS, Ids=["queue"])
    events.delete_rule(Name="own", EventBusName=BUS)


@pytest.fixture
def dead_letters(environment: dict[str, str]) -> str:
    url = environment[Env.STREAM_DEAD_LETTERS_URL]
    messages(url)
    return url


def appended(functions: Functions, count: int = 3, lead_id: str = "lead_1", prefix: str = "p") -> None:
    for number in range(count):
        payload = {"productId": "p1", "amount": 10 + number, "currency": "BRL"}
        answer = functions.direct(lead_id, eventType="purchase_completed", payload=payload,
                                  externalEventId=f"{prefix}{number}")  # fmt: skip
        assert answer.status == 201


def shown(functions: Functions, lead_id: str = "lead_1", **query: str) -> Any:
    path = functions.lead(lead_id).removesuffix("/events") + "/memories"
    answer = functions.api("GET", path, query=query)
    assert answer.status == 200, answer.text
    return answer.json if "format" not in query else answer.text


def test_appended_events_become_a_memory_that_the_api_shows(functions: Functions) -> None:
    appended(functions)
    assert shown(functions)["memories"] == {}
    assert call("projector", stored(functions)) == []
    purchase = shown(functions)["memories"]["purchase"]
    assert (purchase["eventCount"], purchase["totals"][0]["total"]) == (3, 33)
    assert shown(functions, asOf="2026-03-25")["memories"]["purchase"] == purchase
    assert shown(functions, asOf="2026-03-24")["memories"] == {}
    assert "Purchases" in shown(functions, format="text")


def test_a_memory_is_shown_alone_and_one_of_another_tenant_is_not_found(functions: Functions) -> None:
    appended(functions)
    call("projector", stored(functions))
    path = functions.lead().removesuffix("/events") + "/memories"
    assert functions.api("GET", f"{path}/purchase").json["memory"]["count"] == 3
    assert functions.api("GET", f"{path}/form").code == "not_found"
    assert functions.api("GET", f"{path}/nothing").code == "not_found"
    stranger = {"scope": functions.scope, "organization_id": "org_stranger"}
    for each in (path, f"{path}/purchase"):
        assert functions.api("GET", each, claims=stranger).status == 404
        assert functions.api("GET", each, claims={"scope": "lead-events/write"}).status == 403


@pytest.mark.parametrize("query", [{"asOf": "soon"}, {"format": "xml"}])
def test_an_impossible_parameter_is_named(functions: Functions, query: dict[str, str]) -> None:
    path = functions.lead().removesuffix("/events") + "/memories"
    answer = functions.api("GET", path, query=query)
    assert (answer.status, answer.code) == (400, "invalid_parameter")
    assert [each["field"] for each in answer.json["errors"]] == list(query)


def test_a_batch_that_comes_again_counts_nothing_twice(functions: Functions) -> None:
    appended(functions)
    for _ in range(2):
        assert call("projector", stored(functions)) == []
    assert shown(functions)["memories"]["purchase"]["eventCount"] == 3
    [item] = memories_of(functions)
    assert item["version"] == {"N": "1"}


def test_a_record_that_cannot_be_read_goes_to_the_dead_letters(functions: Functions, dead_letters: str) -> None:
    appended(functions)
    batch = stored(functions)
    del batch["Records"][1]["dynamodb"]["NewImage"]["occurredAt"]
    assert call("projector", batch) == []
    assert shown(functions)["memories"]["purchase"]["eventCount"] == 2
    [letter] = messages(dead_letters)
    assert (letter["condition"], letter["sequenceNumber"]) == ("RecordCannotBeProjected", "1")
    assert call("publisher", batch) == []
    [letter] = messages(dead_letters)
    assert letter["condition"] == "RecordCannotBePublished"


def failing_puts(monkeypatch: pytest.MonkeyPatch, lead_id: str) -> None:
    put = DynamoDbMemories.put

    def failing(self: DynamoDbMemories, memory: Any) -> bool:
        if memory.lead_id == lead_id:
            raise UnavailableError("DynamoDB did not answer.")
        return put(self, memory)

    monkeypatch.setattr(DynamoDbMemories, "put", failing)


def test_exactly_the_records_of_the_failing_memory_are_wanted_again(
    functions: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    appended(functions, 2)
    appended(functions, 2, "lead_2", "q")
    batch = stored(functions)
    with monkeypatch.context() as patched:
        failing_puts(patched, "lead_1")
        wanted = call("projector", batch)
    ours = [each["dynamodb"]["SequenceNumber"] for each in batch["Records"]
            if each["dynamodb"]["Keys"]["leadOrganizationId"]["S"].endswith("#lead_1")]  # fmt: skip
    assert wanted == ours
    assert shown(functions, "lead_2")["memories"]["purchase"]["eventCount"] == 2
    assert call("projector", batch) == []
    assert shown(functions)["memories"]["purchase"]["eventCount"] == 2


def test_on_the_twin_the_whole_batch_fails(functions: Functions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mappings do not read which records failed: they would be lost."""
    appended(functions)
    monkeypatch.setenv(Env.STAGE, "local")
    failing_puts(monkeypatch, "lead_1")
    with pytest.raises(HandlerFailedError, match="UnfinishedBatchError"):
        call("projector", stored(functions))


def test_stored_events_and_changed_memories_are_heard_of(functions: Functions, heard: str) -> None:
    appended(functions)
    call("projector", stored(functions))
    assert call("publisher", stored(functions)) == []
    assert call("publisher", stream_event(*memories_of(functions), keys=MEMORY_KEYS)) == []
    told = messages(heard)
    events = {each["detail"]["id"]: each["detail"] for each in told if each["detail-type"] == "lead.event-recorded"}
    assert set(events) == {each["eventId"] for each in functions.timeline()}
    assert all("rawPayload" not in each["data"] for each in events.values())
    [update] = [each["detail"] for each in told if each["detail-type"] == "lead.memory-updated"]
    assert update["data"]["memory"] == shown(functions)["memories"]["purchase"]


def test_what_is_told_again_has_the_same_id(functions: Functions, heard: str) -> None:
    appended(functions, 1)
    for _ in range(2):
        assert call("publisher", stored(functions)) == []
    first, second = messages(heard)
    assert first["detail"] == second["detail"]
    assert first["id"] != second["id"]  # EventBridge's own


def test_a_rebuild_and_an_expiry_are_not_heard_of(functions: Functions, heard: str) -> None:
    appended(functions, 1)
    wiring.projector().rebuild(functions.organization_id, "lead_1")
    assert call("publisher", stream_event(*memories_of(functions), name="MODIFY", keys=MEMORY_KEYS)) == []
    assert call("publisher", stream_event(*functions.items(), name="REMOVE", keys=EVENT_KEYS)) == []
    assert messages(heard) == []


def test_a_rebuild_restores_a_deleted_memory_to_the_byte(functions: Functions) -> None:
    appended(functions)
    call("projector", stored(functions))
    before = functions.api("GET", functions.lead().removesuffix("/events") + "/memories").text
    [item] = memories_of(functions)
    boto3.client("dynamodb").delete_item(TableName=MEMORIES, Key={each: item[each] for each in MEMORY_KEYS})
    assert wiring.projector().rebuild(functions.organization_id, "lead_1").changed == (Category.PURCHASE,)
    assert functions.api("GET", functions.lead().removesuffix("/events") + "/memories").text == before


def test_many_more_events_than_a_page_of_the_store_are_folded(functions: Functions) -> None:
    """Past the 1 MB that DynamoDB gives at once."""
    text = "x" * 390_000
    for number in range(8):
        functions.direct(eventType="agent_insight", payload={"insightType": "budget", "content": f"{number}{text}"})
    rebuilt = wiring.projector().rebuild(functions.organization_id, "lead_1")
    assert (rebuilt.events, rebuilt.changed) == (8, (Category.AGENT,))
    assert shown(functions)["memories"]["agent"]["eventCount"] == 8


def test_an_event_too_large_for_the_bus_is_told_with_its_path(functions: Functions, heard: str) -> None:
    payload = {"insightType": "budget", "content": "x" * 300_000}
    event = functions.direct(eventType="agent_insight", payload=payload).json
    assert call("publisher", stored(functions)) == []
    [told] = messages(heard)
    data = told["detail"]["data"]
    assert "payload" not in data
    assert functions.api("GET", data["reference"]).json == event


@pytest.mark.parametrize("function", ["projector", "publisher"])
def test_an_empty_batch_is_nothing_to_do(functions: Functions, function: str) -> None:
    assert call(function, {"Records": []}) == []


def records(numbers: Sequence[str], items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    pairs = zip(numbers, items, strict=True)
    return {"Records": [stream_record(number, item, "INSERT", EVENT_KEYS) for number, item in pairs]}


def test_what_follows_a_failure_and_the_whole_batch_come_again(
    functions: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sequence numbers 10, 20, 30 of one lead; the function fails once; [20, 30] come again, then all three."""
    appended(functions)
    items = functions.items()
    assert call("projector", records(["10"], items[:1])) == []
    with monkeypatch.context() as patched:
        failing_puts(patched, "lead_1")
        assert call("projector", records(["20", "30"], items[1:])) == ["20", "30"]
    assert call("projector", records(["20", "30"], items[1:])) == []
    assert call("projector", records(["10", "20", "30"], items)) == []
    purchase = shown(functions)["memories"]["purchase"]
    assert (purchase["eventCount"], purchase["totals"][0]["total"]) == (3, 33)
