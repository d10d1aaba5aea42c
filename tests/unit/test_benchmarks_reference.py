"""The benchmarks measure against references that work, and show what they measured."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from typing import Any

import boto3
import pytest
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyValidationError
from moto import mock_aws
from rich.console import Console

from tools.benchmarks import approximations, cold, lambda_events, tables, units
from tools.benchmarks.cli import write
from tools.benchmarks.figures import Bar, Figure, show
from tools.benchmarks.reference.usual.models import CloudEvent
from tools.benchmarks.reference.usual.store import LiteralStore, of_cloud_event
from tools.benchmarks.sides import Context
from tools.benchmarks.stub import ORGANIZATION, SECRET, Stub

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")  # of requests that were refused


@pytest.fixture
def literal(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiteralStore]:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "EVENTS_TABLE_NAME": tables.LITERAL_EVENTS,
        "IDEMPOTENCY_TABLE_NAME": tables.IDEMPOTENCY,
        "INGEST_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/ingest",
        "WEBHOOK_SECRET_PREFIX": "prefix",
        "MEMORIES_TABLE_NAME": tables.LITERAL_MEMORIES,
        "REPROCESSINGS_TABLE_NAME": tables.REPROCESSINGS,
        "EVENT_BUS_NAME": "default",
        "POWERTOOLS_SERVICE_NAME": "bench",
        "POWERTOOLS_METRICS_NAMESPACE": "Bench",
        "POWERTOOLS_TRACE_DISABLED": "1",
    }.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        client = boto3.client("dynamodb")
        for definition in (*tables.literal(), *tables.others()):
            client.create_table(**definition)
        boto3.client("secretsmanager").create_secret(
            Name=f"prefix/stripe/{ORGANIZATION}", SecretString=json.dumps({"secrets": [SECRET]})
        )
        boto3.client("sqs").create_queue(QueueName="ingest")
        store = LiteralStore(tables.LITERAL_EVENTS, tables.IDEMPOTENCY, boto3.Session())
        store.register(Context())
        yield store


def stored() -> list[dict[str, Any]]:
    return boto3.resource("dynamodb").Table(tables.LITERAL_EVENTS).scan()["Items"]


def event(**changes: Any) -> dict[str, Any]:
    message = json.loads(lambda_events.message("1"))
    return of_cloud_event(CloudEvent.model_validate(message)) | changes


def test_the_literal_design_stores_an_event_once_and_answers_its_duplicate_with_the_first(
    literal: LiteralStore,
) -> None:
    first = literal.append(event())
    assert literal.append(event()) == first
    (item,) = stored()
    assert item["eventId"] == first["eventId"]
    assert item["payload"]["amount"] == Decimal("199.9")
    assert item["rawPayload"]["data"]["productId"] == "prod_42"


def test_the_literal_design_tells_a_conflict(literal: LiteralStore) -> None:
    literal.append(event())
    with pytest.raises(IdempotencyValidationError):
        literal.append(event(payload={"productId": "another"}))
    assert len(stored()) == 1


def test_the_literal_design_reads_a_page_without_raw_payloads(literal: LiteralStore) -> None:
    for number in range(3):
        literal.append(event(externalEventId=f"e{number}", occurredAt=f"2026-03-25T14:00:0{number}Z"))
    page = json.loads(literal.timeline(ORGANIZATION, lambda_events.LEAD, limit=2, descending=True))
    assert [each["occurredAt"] for each in page["items"]] == ["2026-03-25T14:00:02Z", "2026-03-25T14:00:01Z"]
    assert page["items"][0]["payload"]["amount"] == 199.9
    assert "rawPayload" not in page["items"][0]
    assert page["cursor"]


def usual(name: str) -> Any:
    """A usual handler, imported anew: it makes its clients at import, as usual handlers do."""
    return importlib.reload(importlib.import_module(f"tools.benchmarks.reference.usual.{name}"))


class LambdaContext(Context):
    function_name = "bench"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:bench"
    aws_request_id = "request"


def test_the_usual_api_appends_once_and_reads_back(literal: LiteralStore) -> None:
    api = usual("api")
    for _ in range(2):
        answer = api.handler(json.loads(lambda_events.append()), LambdaContext())
        assert answer["statusCode"] == 200, answer
    assert len(stored()) == 1
    request = json.loads(lambda_events.append())
    request["requestContext"]["http"]["method"] = "GET"
    page = json.loads(api.handler(request, LambdaContext())["body"])
    assert [each["externalEventId"] for each in page["items"]] == ["ext_@RUN@"]


def test_the_usual_api_refuses_what_is_invalid(literal: LiteralStore) -> None:
    request = json.loads(lambda_events.append())
    assert usual("api").handler(request | {"body": '{"source": ""}'}, LambdaContext())["statusCode"] == 422
    assert stored() == []


def test_the_usual_ingest_stores_a_batch_once_and_reports_what_failed(literal: LiteralStore) -> None:
    ingest = usual("ingest")
    batch = json.loads(lambda_events.messages(5))
    for _ in range(2):
        assert ingest.handler(batch, LambdaContext()) == {"batchItemFailures": []}
    assert len(stored()) == 5
    broken = batch["Records"][0] | {"body": "{}", "messageId": "broken"}
    answer = ingest.handler({"Records": [*batch["Records"], broken]}, LambdaContext())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "broken"}]}


def test_the_usual_webhook_takes_what_is_signed_once_and_nothing_else(literal: LiteralStore) -> None:
    webhooks = usual("webhooks")
    request = json.loads(lambda_events.webhook('{"id": "evt_1", "type": "t", "created": 1, "data": {}}'))
    for _ in range(2):
        assert webhooks.handler(request, LambdaContext())["statusCode"] == 202
    queue = boto3.resource("sqs").Queue("https://sqs.us-east-1.amazonaws.com/123456789012/ingest")
    assert len(queue.receive_messages(MaxNumberOfMessages=10)) == 1
    assert webhooks.handler(request | {"body": "{}"}, LambdaContext())["statusCode"] == 401


def remembered() -> list[dict[str, Any]]:
    return boto3.resource("dynamodb").Table(tables.LITERAL_MEMORIES).scan()["Items"]


def test_the_usual_projector_folds_each_event_once(literal: LiteralStore) -> None:
    projector, batch = usual("projector"), json.loads(lambda_events.stream(3))
    for _ in range(2):
        assert projector.handler(batch, LambdaContext()) == {"batchItemFailures": []}
    (memory,) = remembered()
    assert (memory["category"], memory["eventCount"], memory["total"]) == ("purchase", 3, Decimal("599.7"))


def test_the_usual_publisher_tells_of_an_event(literal: LiteralStore) -> None:
    batch = json.loads(lambda_events.stream(2))
    assert usual("publisher").handler(batch, LambdaContext()) == {"batchItemFailures": []}


def test_the_usual_reprocessor_rebuilds_a_lead_of_a_running_job(literal: LiteralStore) -> None:
    batch = json.loads(lambda_events.slice_of(cold.reprocessing(boto3.client("dynamodb"), [tables.LITERAL_EVENTS])))
    assert usual("reprocessor").handler(batch, LambdaContext()) == {"batchItemFailures": []}
    (memory,) = remembered()
    assert memory["eventCount"] == cold.HISTORY


def test_the_tables_are_those_that_are_deployed() -> None:
    events, claims = tables.ours()
    assert [each["AttributeName"] for each in events["KeySchema"]] == ["leadOrganizationId", "occurredAtId"]
    projections = {each["IndexName"]: each["Projection"] for each in events["GlobalSecondaryIndexes"]}
    assert projections["idempotency-index"]["ProjectionType"] == "KEYS_ONLY"
    assert "rawPayload" not in projections["event-type-index"]["NonKeyAttributes"]
    assert [each["AttributeName"] for each in claims["KeySchema"]] == ["claimId"]


def test_write_units_follow_the_rule_of_aws() -> None:
    definition = tables.table("t", ("id",), {"i": ("kind", "id", {"ProjectionType": "KEYS_ONLY"})})
    padding = 1024 - len("idx") - len("kindk") - len("text")
    item = {"id": {"S": "x"}, "kind": {"S": "k"}, "text": {"S": "y" * padding}}
    assert units.size(item) == 1024
    assert units.put_units(item, definition) == (1, {"i": 1})
    assert units.put_units(item | {"more": {"BOOL": True}}, definition) == (2, {"i": 1})
    assert units.put_units({"id": {"S": "x"}}, definition) == (1, {})
    assert units.refused_units(item) == 1


def test_the_stub_refuses_a_put_whose_key_is_taken_and_gives_the_first() -> None:
    stub = Stub()
    stub.answer("DynamoDB_20120810.CreateTable", {"TableName": "t", "KeySchema": [{"AttributeName": "id"}]})
    put = {
        "TableName": "t",
        "Item": {"id": {"S": "1"}},
        "ConditionExpression": "attribute_not_exists(#k)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    assert stub.answer("DynamoDB_20120810.PutItem", put) == (200, {})
    status, answer = stub.answer("DynamoDB_20120810.PutItem", put)
    assert status == 400
    assert isinstance(answer, dict)
    assert answer["Item"] == put["Item"]


def test_an_approximated_payload_has_the_leaves_that_the_sample_has() -> None:
    body = {"id": "1", "event": "PURCHASE_APPROVED", "data": {"product": {"id": 7}, "purchase": {"price": {}}}}
    told = approximations.approximate("hotmart", "file", body)
    assert told == ("hotmart.PURCHASE_APPROVED", "1", {"productId": 7})


def test_figures_are_shown_with_their_bars_and_written_down(tmp_path: Any) -> None:
    figures = [
        Figure("writes", "total", "units", 50, 100, Bar(0.52), note="two samples"),
        Figure("calls", "new event", "calls", 3, 4, Bar(2, "value")),
        Figure("page", "time", "ms", 0.5),
    ]
    assert [each.holds for each in figures] == [True, False, None]
    out = StringIO()
    show(figures, Console(file=out, width=120))
    text = out.getvalue()
    for expected in ("0.50", "≤ 0.52 ×", "yes", "NO", "two samples"):
        assert expected in text
    write(figures, tmp_path / "deep" / "b.json", quick=True, seconds=1.0)
    written = json.loads((tmp_path / "deep" / "b.json").read_text())
    assert [each["holds"] for each in written["figures"]] == [True, False, None]
    assert written["figures"][0]["ratio"] == 0.5


def test_a_figure_without_a_reference_has_no_ratio_and_holds_no_ratio_bar() -> None:
    assert Figure("x", "y", "ms", 1).ratio is None
    assert Figure("x", "y", "ms", 1, None, Bar(1)).holds is False


def test_lambda_events_are_json_and_signed_now() -> None:
    for text in (lambda_events.append(), lambda_events.messages(2), lambda_events.token()):
        assert json.loads(text)
    signature = json.loads(lambda_events.webhook("{}"))["headers"]["stripe-signature"]
    assert abs(int(signature[2:].partition(",")[0]) - datetime.now(UTC).timestamp()) < 5
