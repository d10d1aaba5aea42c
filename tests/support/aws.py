"""AWS as the functions see it: tables, buckets, queues and secrets on moto, and the events that Lambda is called with."""

from __future__ import annotations

import base64
import json
import logging
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

import boto3
import pytest
from moto.core.botocore_stubber import BotocoreStubber

from lead_events import observability
from lead_events.names import (
    EVENT_TYPE_INDEX_PROJECTION,
    LAST_SEEN_INDEX_PROJECTION,
    Attribute,
    ClaimAttribute,
    Env,
    ErasureAttribute,
    IdentityAttribute,
    Index,
    MemoryAttribute,
    OrganizationAttribute,
    RejectionAttribute,
    ReprocessingAttribute,
)

REGION: Final = "us-east-1"
EVENTS, CLAIMS, IDENTITIES, REJECTED = "events", "claims", "identities", "rejected-events"
MEMORIES: Final = "memories"
BUCKET, QUEUE, BUS = "raw-bucket", "ingest", "lead-events-test"
DEAD_LETTERS: Final = "stream-dead-letters"
ORGANIZATIONS: Final = "organizations"
REPROCESSINGS, REPROCESSING_QUEUE = "reprocessings", "reprocessing"
ERASURES, ERASURE_QUEUE = "erasures", "erasure"
SECRET_PREFIX: Final = "lead-events/test/webhooks"
CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_SESSION_TOKEN": "test",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Context:
    """A Lambda context."""

    function_name = "test-function"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:test-function"
    aws_request_id = "request-1"

    def get_remaining_time_in_millis(self) -> int:
        return 30_000


class _Stdout:
    """Standard output, whatever it is when something is written."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)

    def flush(self) -> None:
        sys.stdout.flush()


def fresh_observability(monkeypatch: pytest.MonkeyPatch, level: str = "INFO") -> None:
    """Logger and metrics as a new process has them, writing to where pytest captures now."""
    from aws_lambda_powertools.metrics.provider import cold_start

    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", level)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "lead-events")
    monkeypatch.setattr(cold_start, "is_cold_start", False)
    observability.metrics().clear_metrics()
    logger = observability.logger()
    logger.setLevel(level)
    for handler in logging.getLogger("lead-events").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(_Stdout())


def one_call_at_a_time(patched: pytest.MonkeyPatch) -> None:
    """DynamoDB evaluates a condition and writes in one step; moto does only where no two threads are in it."""
    lock, process = threading.RLock(), BotocoreStubber.process_request

    def locked(stubber: BotocoreStubber, request: Any) -> Any:
        with lock:
            return process(stubber, request)

    patched.setattr(BotocoreStubber, "process_request", locked)


def create_stores(dynamodb: Any, s3: Any) -> None:
    """The tables with their indexes and the raw bucket, as the stacks build them."""
    create_events(dynamodb, EVENTS)
    create_claims(dynamodb, CLAIMS)
    create_identities(dynamodb, IDENTITIES)
    create_rejected(dynamodb, REJECTED)
    create_memories(dynamodb, MEMORIES)
    create_reprocessings(dynamodb, REPROCESSINGS)
    create_organizations(dynamodb, ORGANIZATIONS)
    create_erasures(dynamodb, ERASURES)
    s3.create_bucket(Bucket=BUCKET)


def create_events(dynamodb: Any, name: str) -> None:
    """The events table with both indexes."""
    by_lead = Attribute.LEAD_ORGANIZATION_ID
    indexes = {
        Index.IDEMPOTENCY: ((Attribute.SOURCE, Attribute.EXTERNAL_EVENT_ID), ()),
        Index.EVENT_TYPE: ((by_lead, Attribute.EVENT_TYPE_OCCURRED_AT), EVENT_TYPE_INDEX_PROJECTION),
    }
    _table(dynamodb, name, (by_lead, Attribute.OCCURRED_AT_ID), indexes)


def create_claims(dynamodb: Any, name: str) -> None:
    """The claims table."""
    _table(dynamodb, name, (ClaimAttribute.CLAIM_ID,), {})


def create_identities(dynamodb: Any, name: str) -> None:
    """The identities table with its index."""
    lead_index = ((IdentityAttribute.LEAD_ORGANIZATION_ID, IdentityAttribute.SINCE), (IdentityAttribute.KIND,))
    _table(dynamodb, name, (IdentityAttribute.IDENTITY_ID,), {Index.LEAD: lead_index})


def create_rejected(dynamodb: Any, name: str) -> None:
    """The rejected events table with its index."""
    organization = RejectionAttribute.ORGANIZATION_ID
    last_seen = ((organization, RejectionAttribute.LAST_SEEN_AT), LAST_SEEN_INDEX_PROJECTION)
    _table(dynamodb, name, (organization, RejectionAttribute.REJECTED_EVENT_ID), {Index.LAST_SEEN: last_seen})


def create_memories(dynamodb: Any, name: str) -> None:
    """The memories table."""
    _table(dynamodb, name, (MemoryAttribute.LEAD_ORGANIZATION_ID, MemoryAttribute.CATEGORY), {})


def create_reprocessings(dynamodb: Any, name: str) -> None:
    """The reprocessings table."""
    _table(dynamodb, name, (ReprocessingAttribute.SCOPE, ReprocessingAttribute.JOB_ID), {})


def create_organizations(dynamodb: Any, name: str) -> None:
    """The organizations table."""
    _table(dynamodb, name, (OrganizationAttribute.ORGANIZATION_ID,), {})


def create_erasures(dynamodb: Any, name: str) -> None:
    """The erasures table."""
    _table(dynamodb, name, (ErasureAttribute.ORGANIZATION_ID, ErasureAttribute.ERASURE_ID), {})


def _table(
    dynamodb: Any, name: str, keys: Sequence[str], indexes: Mapping[Index, tuple[Sequence[str], Sequence[str]]]
) -> None:
    named = dict.fromkeys([*keys, *(each for index_keys, _ in indexes.values() for each in index_keys)])
    secondary = [
        {
            "IndexName": index,
            "KeySchema": _schema(index_keys),
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": [str(each) for each in projected]}
            if projected
            else {"ProjectionType": "KEYS_ONLY"},
        }
        for index, (index_keys, projected) in indexes.items()
    ]
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in named],
        KeySchema=_schema(keys),
        **({"GlobalSecondaryIndexes": secondary} if secondary else {}),
    )


def _schema(keys: Sequence[str]) -> list[Any]:
    return [{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)]


def create_world() -> dict[str, str]:
    """Everything the functions need; the environment variables that the stacks would set."""
    create_stores(boto3.client("dynamodb"), boto3.client("s3"))
    queue_url = boto3.client("sqs").create_queue(QueueName=QUEUE)["QueueUrl"]
    dead_letters_url = boto3.client("sqs").create_queue(QueueName=DEAD_LETTERS)["QueueUrl"]
    reprocessing_queue_url = boto3.client("sqs").create_queue(QueueName=REPROCESSING_QUEUE)["QueueUrl"]
    erasure_queue_url = boto3.client("sqs").create_queue(QueueName=ERASURE_QUEUE)["QueueUrl"]
    secrets = boto3.client("secretsmanager")
    secrets.create_secret(Name="cursor-secret", SecretString="cursor secret")
    secrets.create_secret(Name="identity-secret", SecretString="identity secret")
    boto3.client("events").create_event_bus(Name=BUS)
    return {
        Env.STAGE: "test",
        Env.EVENTS_TABLE: EVENTS,
        Env.CLAIMS_TABLE: CLAIMS,
        Env.IDENTITIES_TABLE: IDENTITIES,
        Env.REJECTED_EVENTS_TABLE: REJECTED,
        Env.MEMORIES_TABLE: MEMORIES,
        Env.ORGANIZATIONS_TABLE: ORGANIZATIONS,
        Env.STREAM_DEAD_LETTERS_URL: dead_letters_url,
        Env.REPROCESSINGS_TABLE: REPROCESSINGS,
        Env.REPROCESSING_QUEUE_URL: reprocessing_queue_url,
        Env.ERASURES_TABLE: ERASURES,
        Env.ERASURE_QUEUE_URL: erasure_queue_url,
        Env.ERASURE_QUIET_SECONDS: "1200",
        Env.DEAD_LETTER_URLS: dead_letters_url,
        Env.RAW_BUCKET: BUCKET,
        Env.INGEST_QUEUE_URL: queue_url,
        Env.WEBHOOK_SECRET_PREFIX: SECRET_PREFIX,
        Env.CURSOR_SECRET: "cursor-secret",
        Env.IDENTITY_SECRET: "identity-secret",
        Env.EVENT_BUS: BUS,
    }


def http_event(
    method: str,
    path: str,
    body: str | bytes | None = None,
    *,
    claims: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
    query: dict[str, str] | None = None,
    path_parameters: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A request in API Gateway's payload format 2.0; bytes are sent in Base64, as for media types that are no text."""
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": f"{method} {path}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers or {},
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "api",
            "domainName": "api.example.org",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "test",
            },
            "requestId": "gateway-1",
            "routeKey": f"{method} {path}",
            "stage": "$default",
            "time": "25/Mar/2026:14:00:00 +0000",
            "timeEpoch": 1774447200000,
        },
        "isBase64Encoded": isinstance(body, bytes),
    }
    if claims is not None:
        event["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    if query is not None:
        event["queryStringParameters"] = query
    if path_parameters is not None:
        event["pathParameters"] = path_parameters
    if body is not None:
        event["body"] = base64.b64encode(body).decode() if isinstance(body, bytes) else body
    return event


def sqs_event(*bodies: str) -> dict[str, Any]:
    """A batch of an SQS event source; message ids are ``m-0``, ``m-1`` …"""
    return {"Records": [sqs_record(f"m-{number}", body) for number, body in enumerate(bodies)]}


def sqs_record(message_id: str, body: str) -> dict[str, Any]:
    """One message of a batch."""
    return {
        "messageId": message_id,
        "receiptHandle": f"receipt of {message_id}",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1774447200000",
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "ApproximateFirstReceiveTimestamp": "1774447200001",
        },
        "messageAttributes": {},
        "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:ingest",
        "awsRegion": REGION,
    }


def stream_event(*items: Mapping[str, Any], name: str = "INSERT", keys: Sequence[str]) -> dict[str, Any]:
    """A batch of a table's stream, of items as DynamoDB holds them; sequence numbers are ``0``, ``1`` … as text."""
    return {"Records": [stream_record(str(number), item, name, keys) for number, item in enumerate(items)]}


def stream_record(number: str, item: Mapping[str, Any], name: str, keys: Sequence[str]) -> dict[str, Any]:
    """One record; Lambda hands over JSON, and with it binary values as Base64."""
    image = json.loads(json.dumps(item, default=lambda binary: base64.b64encode(binary).decode()))
    return {
        "eventID": f"id of {number}",
        "eventName": name,
        "eventSource": "aws:dynamodb",
        "eventSourceARN": f"arn:aws:dynamodb:{REGION}:123456789012:table/t/stream/2026-03-25T14:00:00.000",
        "awsRegion": REGION,
        "dynamodb": {
            "ApproximateCreationDateTime": 1774447200,
            "Keys": {key: image[key] for key in keys},
            "NewImage": image,
            "SequenceNumber": number,
            "SizeBytes": 100,
            "StreamViewType": "NEW_IMAGE",
        },
    }


def webhook_secret(provider: str, organization_id: str, *secrets: str) -> None:
    """Keep the secrets of a provider as operators do."""
    value = json.dumps({"secrets": list(secrets)})
    boto3.client("secretsmanager").create_secret(
        Name=f"{SECRET_PREFIX}/{provider}/{organization_id}", SecretString=value
    )
