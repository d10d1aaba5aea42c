"""The consumer of docs/subscribing.md works once on each envelope, however often it comes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from lead_events.publishing import event_recorded
from lead_events.strict_json import dumps
from tests.support.aws import Context, sqs_event
from tools.benchmarks import lambda_events

PAGE = Path(__file__).resolve().parents[2] / "docs" / "subscribing.md"


@pytest.fixture
def consumer(monkeypatch: pytest.MonkeyPatch) -> Any:
    settings = {"SEEN_TABLE": "seen", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in settings.items() | {("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")}:
        monkeypatch.setenv(name, value)
    with mock_aws():
        boto3.client("dynamodb").create_table(
            TableName="seen",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )
        code = PAGE.read_text(encoding="utf-8").split("<!-- sample: consumer -->\n```python\n")[1].split("```")[0]
        module: dict[str, Any] = {"__name__": "consumer"}
        exec(compile(code, str(PAGE), "exec"), module)
        yield module


def recorded() -> dict[str, Any]:
    """What is told of a purchase."""
    return event_recorded(lambda_events.stored(1)[0])


def delivered(*envelopes: dict[str, Any]) -> dict[str, Any]:
    """As a rule brings them to a queue."""
    return sqs_event(*(dumps({"source": "lead_events", "detail": each}) for each in envelopes))


def test_the_consumer_works_once_on_each_envelope_however_often_it_comes(consumer: Any) -> None:
    worked: list[str] = []
    consumer["welcome"] = lambda lead_id, purchase: worked.append(f"{lead_id} {purchase['amount']}")
    envelope = recorded()
    for _ in range(2):
        assert consumer["handler"](delivered(envelope, envelope), Context()) == {"batchItemFailures": []}
    assert len(worked) == 1


def test_the_consumer_reads_what_was_too_large_and_gives_back_what_fails(consumer: Any) -> None:
    asked: list[str] = []
    envelope = json.loads(dumps(recorded()))
    consumer["read_from_api"] = lambda path: (asked.append(path), envelope["data"])[1]
    large = envelope | {"data": {key: value for key, value in envelope["data"].items() if key != "payload"}}
    large["data"]["reference"] = "/v1/large"
    broken = envelope | {"id": "evt_broken", "data": {}}
    answer = consumer["handler"](delivered(large, broken), Context())
    assert asked == ["/v1/large"]
    assert len(answer["batchItemFailures"]) == 1
