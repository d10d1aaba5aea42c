"""Traces as Lambda and X-Ray's SDK make them, tracer and patched botocore included: names, ids and codes, no content."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import botocore.client
import botocore.endpoint
import pytest
from aws_lambda_powertools import Tracer
from aws_xray_sdk import global_sdk_config
from aws_xray_sdk.core import patcher, xray_recorder
from aws_xray_sdk.core.lambda_launcher import LambdaContext
from botocore.awsrequest import AWSResponse
from moto.core.botocore_stubber import BotocoreStubber, MockRawResponse

from lead_events import observability, wiring
from lead_events.observability import HandlerFailedError
from tests.samples import load
from tests.support import privacy
from tests.support.aws import Context, http_event, sqs_event, stream_event, webhook_secret
from tests.support.builders import envelope
from tests.support.deliveries import SIGNED, delivery
from tests.support.functions import Functions, handler_of

PERSONAL = ("ana.teste@example.org", "+55 82 90000-0001", "000.000.001-91", "Ana Canário de Teste")
EVERYTHING = {f"field {each}": each for each in PERSONAL}
TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


class Traces:
    """What was sent to X-Ray's daemon."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send_entity(self, entity: Any) -> None:
        self.sent.append(json.loads(entity.serialize()))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Of AWS."""
        return [each for each in self.sent if each.get("namespace") == "aws"]


@pytest.fixture
def traces(functions: Functions, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traces]:
    """Tracing as it is in Lambda, from the tracer's own construction on; taken back afterwards."""
    monkeypatch.setenv("LAMBDA_TASK_ROOT", "/var/task")
    monkeypatch.setenv("_X_AMZN_TRACE_ID", TRACE)
    monkeypatch.delenv("POWERTOOLS_TRACE_DISABLED", raising=False)
    made = Traces()
    monkeypatch.setattr(xray_recorder, "_emitter", made)
    monkeypatch.setattr(xray_recorder, "_context", LambdaContext())
    monkeypatch.setattr(
        xray_recorder.streaming, "_threshold", 0
    )  # as the SDK has it in Lambda: each is sent at its end
    for owner, name in (
        (botocore.client.BaseClient, "_make_api_call"),
        (botocore.endpoint.Endpoint, "prepare_request"),
    ):
        monkeypatch.setattr(owner, name, owner.__dict__[name])  # the patches of the SDK go with the test
    monkeypatch.setattr(patcher, "_PATCHED_MODULES", set())
    monkeypatch.setattr(Tracer, "_config", dict(Tracer._default_config))  # shared, and once disabled always so
    enabled = global_sdk_config.sdk_enabled()
    global_sdk_config.set_sdk_enabled(True)
    observability.tracer.cache_clear()
    loop = asyncio.new_event_loop()  # in Lambda, batches are worked on in the loop there is
    asyncio.set_event_loop(loop)
    yield made
    asyncio.set_event_loop(None)
    loop.close()
    observability.tracer.cache_clear()
    global_sdk_config.set_sdk_enabled(enabled)
    vars(botocore.client).pop("_xray_enabled", None)


def call(function: str, event: dict[str, Any]) -> Any:
    """Call a function that was loaded just now, so that it is dressed for tracing."""
    return handler_of.__wrapped__(function)(event, Context())


def append(functions: Functions, **body: Any) -> dict[str, Any]:
    event = {"source": "forms", "sourceType": "DIRECT", "eventType": "x", "occurredAt": "2026-03-25T14:00:00Z"} | body
    claims = {"scope": "lead-events/write", "organization_id": functions.organization_id}
    answer: dict[str, Any] = call("api", http_event("POST", functions.lead(), json.dumps(event), claims=claims))
    return answer


def clean(traces: Traces) -> None:
    text = json.dumps(traces.sent, ensure_ascii=False)
    assert not [each for each in PERSONAL if each in text]
    assert not [match for shape in privacy.SHAPES.values() for match in shape.findall(text)]
    for each in traces.sent:
        assert set(each.get("annotations", {})) <= {"ColdStart", "Service"}
        assert "metadata" not in each


def test_a_trace_names_tables_and_operations_and_nothing_that_was_stored(functions: Functions, traces: Traces) -> None:
    for payload in (EVERYTHING, {"long": " ".join(PERSONAL) * 400}):  # the second one goes to S3 as well
        answer = append(
            functions,
            payload=payload,
            rawPayload=json.dumps(payload) * 3,
            externalEventId=PERSONAL[0] + str(len(payload["long"]) if "long" in payload else 0),
        )
        assert answer["statusCode"] == 201, answer["body"]
    puts = [each["aws"] for each in traces.calls if each["aws"]["operation"] == "PutItem"]
    assert {each["table_name"] for each in puts} == {"claims", "events"}
    assert all(set(each) <= {"operation", "region", "request_id", "table_name"} for each in puts)
    clean(traces)


def test_no_road_of_an_event_leaves_content_in_a_trace(functions: Functions, traces: Traces) -> None:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", **EVERYTHING}
    assert append(functions, payload={"n": 1}, rawPayload=list(PERSONAL))["statusCode"] == 422
    call("ingest", sqs_event(json.dumps(envelope(data=data)), json.dumps(envelope(type=PERSONAL[1])), PERSONAL[0]))
    call("organizations", sqs_event(json.dumps(envelope(type="billing.fee-created", data=data))))
    for provider in SIGNED:
        secret = SIGNED[provider].new_secret()
        webhook_secret(provider, functions.organization_id, secret)
        told = load(provider, SIGNED[provider].sample)
        body, headers = delivery(provider, secret, datetime.now(UTC), body=told)
        path = f"/v1/webhooks/{provider}/{functions.organization_id}"
        assert call("webhooks", http_event("POST", path, body, headers=headers))["statusCode"] == 202
    call("ingest", sqs_event(*functions.drain()))
    stored = stream_event(*functions.items(), keys=("leadOrganizationId", "occurredAtId"))
    call("projector", stored)
    call("publisher", stored)
    seen = {(each["name"], each["aws"]["operation"]) for each in traces.calls}
    assert {
        ("dynamodb", "PutItem"),
        ("sqs", "SendMessage"),
        ("events", "PutEvents"),
        ("secretsmanager", "GetSecretValue"),
    } <= seen
    clean(traces)
    told_by_all = privacy.Privacy(privacy.everything_told())
    assert [found for each in traces.sent for found in told_by_all.found_in(json.dumps(each))] == []


def test_the_text_of_what_a_function_raises_is_neither_traced_nor_raised(
    functions: Functions, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ValueError(" ".join(PERSONAL))

    monkeypatch.setattr(wiring, "projector", fail)
    with pytest.raises(HandlerFailedError) as raised:
        call("projector", stream_event(keys=()))
    assert (str(raised.value), raised.value.__cause__, raised.value.__context__) == ("ValueError", None, None)
    [handled] = [each for each in traces.sent if each["name"] == "## handler"]
    assert handled["fault"]
    assert [each["type"] for each in handled["cause"]["exceptions"]] == ["HandlerFailedError"]
    clean(traces)


def test_what_aws_answers_about_a_value_is_not_traced(
    functions: Functions, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB quotes some of them: a number that it cannot read, for one."""

    def refuse(_: Any, event_name: str, request: Any, **__: Any) -> AWSResponse:
        body = json.dumps(
            {"__type": "x#ValidationException", "message": f"cannot be converted: {PERSONAL[0]}"}
        ).encode()
        headers = {"x-amzn-RequestId": "r", "Content-Type": "application/x-amz-json-1.0"}
        return AWSResponse(request.url, 400, headers, MockRawResponse(body))  # type: ignore[arg-type]

    monkeypatch.setattr(BotocoreStubber, "__call__", refuse)
    answer = append(functions, payload=EVERYTHING)
    assert answer["statusCode"] in (500, 503)
    assert not [each for each in PERSONAL if each in answer["body"]]
    causes = [each["cause"]["exceptions"][0] for each in traces.calls if "cause" in each]
    assert {each["type"] for each in causes} >= {"ClientError"}
    assert not [each for each in causes if "message" in each]
    clean(traces)
