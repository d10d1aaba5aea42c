"""What each function may do, on one page. Hand-written: no wildcard action, resources as exact as IAM allows.

No statement here allows ``DeleteItem`` or ``BatchWriteItem``, and none allows to delete an object. ``UpdateItem`` is
allowed on rejected events, where it counts deliveries, and on reprocessings, where it keeps their progress; nothing but the
projector and the reprocessor writes memories. ``TransactWriteItems`` is no action of IAM: what it asks
for are the actions of the items in it, here ``PutItem``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

from lead_events.names import INBOX_PREFIX, ORGANIZATIONS_PREFIX, Index
from stacks.stateful import StatefulStack

_TABLE_KEY_ACTIONS: Final = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
"""What DynamoDB asks of the caller of an encrypted table; it covers what S3 asks."""

_STREAM_KEY_ACTIONS: Final = ("kms:Decrypt", "kms:DescribeKey")
_OBJECT_KEY_ACTIONS: Final = ("kms:Decrypt", "kms:GenerateDataKey")

_CONSUME_ACTIONS: Final = (
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ChangeMessageVisibility",
)

_STREAM_ACTIONS: Final = (
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
)
"""What Lambda asks of the role of a function that it feeds from a stream."""

_MEMORY_ACTIONS: Final = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
_REPROCESSING_ACTIONS: Final = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Query")

Statements = list[iam.PolicyStatement]


def api_grants(stateful: StatefulStack, reprocessing_queue: sqs.IQueue) -> Statements:
    """The API appends events and reads them back, gives leads identities, shows memories and what was rejected, and starts
    reprocessings."""
    events_table, identities = stateful.events_table, stateful.identities_table
    return [
        _allow(
            ("dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"), events_table.table_arn
        ),
        _allow(
            ("dynamodb:DescribeTable",), events_table.table_arn
        ),  # about how many events a reprocessing has before it
        _allow(("dynamodb:Query",), _index_arn(events_table, Index.EVENT_TYPE)),
        _allow(("dynamodb:Query",), _index_arn(events_table, Index.IDEMPOTENCY)),
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.claims_table.table_arn),
        _allow(("dynamodb:PutItem", "dynamodb:BatchGetItem"), identities.table_arn),
        _allow(("dynamodb:Query",), _index_arn(identities, Index.LEAD)),
        _allow(("dynamodb:GetItem",), stateful.rejected_events_table.table_arn),
        _allow(("dynamodb:Query",), _index_arn(stateful.rejected_events_table, Index.LAST_SEEN)),
        _allow(("dynamodb:GetItem", "dynamodb:Query"), stateful.memories_table.table_arn),
        _allow(("dynamodb:GetItem",), stateful.organizations_table.table_arn),
        _allow(_REPROCESSING_ACTIONS, stateful.reprocessings_table.table_arn),
        _allow(("sqs:SendMessage",), reprocessing_queue.queue_arn),
        _allow(("s3:PutObject", "s3:GetObject"), _objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        _allow(("secretsmanager:GetSecretValue",), stateful.cursor_secret_arn),
        _allow(("secretsmanager:GetSecretValue",), stateful.identity_secret_arn),
        _use_key(stateful.key, _TABLE_KEY_ACTIONS, services=("dynamodb", "s3")),
    ]


def ingest_grants(stateful: StatefulStack, queue: sqs.IQueue, bus: events.IEventBus) -> Statements:
    """The ingest function takes messages off the queue, finds whose they are, appends events and keeps the rejected. An
    event about an organisation that somebody puts on this queue is not lost: it keeps the organisation's state from here."""
    return [
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.events_table.table_arn),
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.claims_table.table_arn),
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.organizations_table.table_arn),
        _allow(("dynamodb:PutItem", "dynamodb:BatchGetItem"), stateful.identities_table.table_arn),
        _allow(("dynamodb:UpdateItem",), stateful.rejected_events_table.table_arn),
        _allow(("s3:PutObject",), _objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        _allow(("s3:GetObject",), _objects(stateful.raw_bucket, INBOX_PREFIX)),
        _allow(("secretsmanager:GetSecretValue",), stateful.identity_secret_arn),
        _allow(_CONSUME_ACTIONS, queue.queue_arn),
        _allow(("events:PutEvents",), bus.event_bus_arn),
        _use_key(stateful.key, _TABLE_KEY_ACTIONS, services=("dynamodb", "s3")),
    ]


def organizations_grants(stateful: StatefulStack, queues: Sequence[sqs.IQueue]) -> Statements:
    """The organizations function takes messages off its queues, keeps organisations' states, appends the events among them
    that name their lead, and keeps the rejected. It resolves no identities and publishes nothing."""
    return [
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.organizations_table.table_arn),
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.claims_table.table_arn),
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.events_table.table_arn),
        _allow(("dynamodb:UpdateItem",), stateful.rejected_events_table.table_arn),
        _allow(("s3:PutObject",), _objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        *(_allow(_CONSUME_ACTIONS, queue.queue_arn) for queue in queues),
        _use_key(stateful.key, _TABLE_KEY_ACTIONS, services=("dynamodb", "s3")),
    ]


def webhooks_grants(stateful: StatefulStack, queue: sqs.IQueue, *, secret_prefix: str) -> Statements:
    """The webhook entrance verifies a delivery and puts it on the queue."""
    secrets = Stack.of(queue).format_arn(
        service="secretsmanager",
        resource="secret",
        resource_name=f"{secret_prefix}/*",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    return [
        _allow(("sqs:SendMessage",), queue.queue_arn),
        _allow(("s3:PutObject",), _objects(stateful.raw_bucket, INBOX_PREFIX)),
        _allow(("secretsmanager:GetSecretValue",), secrets),
        _use_key(stateful.key, _OBJECT_KEY_ACTIONS, services=("s3",)),
    ]


def projector_grants(stateful: StatefulStack, dead_letters: sqs.IQueue) -> Statements:
    """The projector hears of new events and folds them into memories; where it must, it reads all events of a lead."""
    return [
        _allow(_STREAM_ACTIONS, _stream_arn(stateful.events_table)),
        _allow(("dynamodb:Query",), stateful.events_table.table_arn),
        _allow(_MEMORY_ACTIONS, stateful.memories_table.table_arn),
        _allow(("sqs:SendMessage",), dead_letters.queue_arn),
        _use_key(stateful.key, _TABLE_KEY_ACTIONS, services=("dynamodb",)),
    ]


def publisher_grants(stateful: StatefulStack, dead_letters: sqs.IQueue, bus: events.IEventBus) -> Statements:
    """The publisher hears of new events and changed memories, and puts them on the bus."""
    return [
        _allow(_STREAM_ACTIONS, _stream_arn(stateful.events_table)),
        _allow(_STREAM_ACTIONS, _stream_arn(stateful.memories_table)),
        _allow(("events:PutEvents",), bus.event_bus_arn),
        _allow(("sqs:SendMessage",), dead_letters.queue_arn),
        _use_key(stateful.key, _STREAM_KEY_ACTIONS, services=("dynamodb",)),
    ]


def reprocessor_grants(stateful: StatefulStack, queue: sqs.IQueue) -> Statements:
    """The reprocessor goes through the leads there are, folds their events or reads their raw payloads, and keeps its own
    progress."""
    return [
        _allow(("dynamodb:Scan", "dynamodb:Query"), stateful.events_table.table_arn),
        _allow(_MEMORY_ACTIONS, stateful.memories_table.table_arn),
        _allow(_REPROCESSING_ACTIONS, stateful.reprocessings_table.table_arn),
        _allow(("s3:GetObject",), _objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        _allow(("sqs:SendMessage", *_CONSUME_ACTIONS), queue.queue_arn),
        _use_key(stateful.key, _TABLE_KEY_ACTIONS, services=("dynamodb", "s3")),
    ]


def tokens_grants(parameters_arn: str) -> Statements:
    """The token trigger looks up the organisation of a client."""
    return [_allow(("ssm:GetParameter",), parameters_arn)]


def runtime_grants(log_group: logs.ILogGroup) -> Statements:
    """What every function needs to run: its own log group, and X-Ray, which knows no resources."""
    return [
        _allow(("logs:CreateLogStream", "logs:PutLogEvents"), log_group.log_group_arn),
        _allow(("xray:PutTraceSegments", "xray:PutTelemetryRecords"), "*"),
    ]


def _allow(actions: Sequence[str], resource: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=[resource])


def _index_arn(table: dynamodb.ITable, index: Index) -> str:
    return f"{table.table_arn}/index/{index}"


def _stream_arn(table: dynamodb.ITable) -> str:
    arn = table.table_stream_arn
    assert arn is not None
    return arn


def _objects(bucket: s3.IBucket, prefix: str) -> str:
    return bucket.arn_for_objects(f"{prefix}*")


def _use_key(key: kms.IKey, actions: Sequence[str], *, services: Sequence[str]) -> iam.PolicyStatement:
    """The key may be used through the services that hold our data, never directly."""
    stack = Stack.of(key)
    return iam.PolicyStatement(
        actions=list(actions),
        resources=[key.key_arn],
        conditions={
            "StringEquals": {"kms:ViaService": [f"{service}.{stack.region}.{stack.url_suffix}" for service in services]}
        },
    )
