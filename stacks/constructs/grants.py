"""What each function may do, on one page. Hand-written: no wildcard action, resources as exact as IAM allows.

The eraser alone may delete, items and objects; it may write no event, no memory and no object. No statement at all allows
``BatchWriteItem``. ``UpdateItem`` is allowed nowhere on events, claims and memories; elsewhere it counts deliveries, keeps
progress, gives a lead an identity once and for all, or changes what is known of an organisation. Nothing but the projector
and the reprocessor writes memories. ``TransactWriteItems`` is no action of IAM: what it asks for are the actions of the
items in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs

from lead_events.names import INBOX_PREFIX, ORGANIZATIONS_PREFIX, Index
from stacks.constructs.statements import (
    CONSUME,
    OBJECT_KEY,
    READ_STREAM,
    TABLE_KEY,
    Statements,
    allow,
    allow_listing,
    index_arn,
    objects,
    stream_arn,
    use_key,
)
from stacks.stateful import StatefulStack

_MEMORY_ACTIONS: Final = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
_REPROCESSING_ACTIONS: Final = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Query")


def api_grants(stateful: StatefulStack, reprocessing_queue: sqs.IQueue, erasure_queue: sqs.IQueue) -> Statements:
    """The API appends events and reads them back, gives leads identities, shows memories and what was rejected, and starts
    reprocessings and erasures."""
    events_table, identities = stateful.events_table, stateful.identities_table
    return [
        allow(
            ("dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"), events_table.table_arn
        ),
        allow(
            ("dynamodb:DescribeTable",), events_table.table_arn
        ),  # about how many events a reprocessing has before it
        allow(("dynamodb:Query",), index_arn(events_table, Index.EVENT_TYPE)),
        allow(("dynamodb:Query",), index_arn(events_table, Index.IDEMPOTENCY)),
        allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.claims_table.table_arn),
        allow(("dynamodb:UpdateItem", "dynamodb:BatchGetItem"), identities.table_arn),
        allow(("dynamodb:Query",), index_arn(identities, Index.LEAD)),
        allow(("dynamodb:GetItem",), stateful.rejected_events_table.table_arn),
        allow(("dynamodb:Query",), index_arn(stateful.rejected_events_table, Index.LAST_SEEN)),
        allow(("dynamodb:GetItem", "dynamodb:Query"), stateful.memories_table.table_arn),
        allow(_REPROCESSING_ACTIONS, stateful.reprocessings_table.table_arn),
        allow(("sqs:SendMessage",), reprocessing_queue.queue_arn),
        *_start_erasures(stateful, erasure_queue),
        allow(("dynamodb:Query",), stateful.erasures_table.table_arn),
        allow(("s3:PutObject", "s3:GetObject"), objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        allow(("secretsmanager:GetSecretValue",), stateful.cursor_secret_arn),
        allow(("secretsmanager:GetSecretValue",), stateful.identity_secret_arn),
        use_key(stateful.key, TABLE_KEY, services=("dynamodb", "s3")),
    ]


def ingest_grants(
    stateful: StatefulStack, queue: sqs.IQueue, bus: events.IEventBus, erasure_queue: sqs.IQueue
) -> Statements:
    """The ingest function takes messages off the queue, finds whose they are, appends events and keeps the rejected. An
    event about an organisation that somebody puts on this queue is not lost: it keeps the organisation's state from here."""
    return [
        allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.events_table.table_arn),
        allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.claims_table.table_arn),
        allow(("dynamodb:UpdateItem", "dynamodb:BatchGetItem"), stateful.identities_table.table_arn),
        allow(("dynamodb:GetItem", "dynamodb:UpdateItem"), stateful.rejected_events_table.table_arn),
        *_start_erasures(stateful, erasure_queue),
        allow(("s3:PutObject",), objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        allow(("s3:GetObject",), objects(stateful.raw_bucket, INBOX_PREFIX)),
        # S3 says of an object that it is missing, and not that access is denied, only to who may list the whole bucket.
        allow(("s3:ListBucket",), stateful.raw_bucket.bucket_arn),
        allow(("secretsmanager:GetSecretValue",), stateful.identity_secret_arn),
        allow(CONSUME, queue.queue_arn),
        allow(("events:PutEvents",), bus.event_bus_arn),
        use_key(stateful.key, TABLE_KEY, services=("dynamodb", "s3")),
    ]


def organizations_grants(
    stateful: StatefulStack, queues: Sequence[sqs.IQueue], erasure_queue: sqs.IQueue
) -> Statements:
    """The organizations function takes messages off its queues, keeps organisations' states, appends the events among them
    that name their lead, and keeps the rejected. It resolves no identities and publishes nothing."""
    return [
        allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.claims_table.table_arn),
        allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.events_table.table_arn),
        allow(("dynamodb:GetItem", "dynamodb:UpdateItem"), stateful.rejected_events_table.table_arn),
        *_start_erasures(stateful, erasure_queue),
        allow(("s3:PutObject",), objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        *(allow(CONSUME, queue.queue_arn) for queue in queues),
        use_key(stateful.key, TABLE_KEY, services=("dynamodb", "s3")),
    ]


def _start_erasures(stateful: StatefulStack, queue: sqs.IQueue) -> Statements:
    """Whoever takes events knows of the organisations' states and of what was erased; whoever is told to erase starts it.

    What starts an erasure changes the organisation's item too: it closes the fence.
    """
    return [
        allow(("dynamodb:GetItem", "dynamodb:UpdateItem"), stateful.organizations_table.table_arn),
        allow(("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"), stateful.erasures_table.table_arn),
        allow(("sqs:SendMessage",), queue.queue_arn),
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
        allow(("sqs:SendMessage",), queue.queue_arn),
        allow(("s3:PutObject",), objects(stateful.raw_bucket, INBOX_PREFIX)),
        allow(("secretsmanager:GetSecretValue",), secrets),
        use_key(stateful.key, OBJECT_KEY, services=("s3",)),
    ]


def projector_grants(stateful: StatefulStack, dead_letters: sqs.IQueue) -> Statements:
    """The projector hears of new events and folds those that were not erased since into memories; where it must, it reads
    all events of a lead."""
    return [
        allow(READ_STREAM, stream_arn(stateful.events_table)),
        *_know_of_erasures(stateful),
        allow(("dynamodb:Query",), stateful.events_table.table_arn),
        allow(_MEMORY_ACTIONS, stateful.memories_table.table_arn),
        allow(("sqs:SendMessage",), dead_letters.queue_arn),
        use_key(stateful.key, TABLE_KEY, services=("dynamodb",)),
    ]


def publisher_grants(stateful: StatefulStack, dead_letters: sqs.IQueue, bus: events.IEventBus) -> Statements:
    """The publisher hears of new events and changed memories, and puts those that were not erased since on the bus."""
    return [
        allow(READ_STREAM, stream_arn(stateful.events_table)),
        allow(READ_STREAM, stream_arn(stateful.memories_table)),
        *_know_of_erasures(stateful),
        allow(("events:PutEvents",), bus.event_bus_arn),
        allow(("sqs:SendMessage",), dead_letters.queue_arn),
        use_key(stateful.key, TABLE_KEY, services=("dynamodb",)),
    ]


def _know_of_erasures(stateful: StatefulStack) -> Statements:
    """Whoever reads a stream asks of what it tells whether that was erased: a record outlives its item by a day."""
    return [
        allow(("dynamodb:GetItem",), stateful.organizations_table.table_arn),
        allow(("dynamodb:GetItem",), stateful.erasures_table.table_arn),
    ]


def reprocessor_grants(stateful: StatefulStack, queue: sqs.IQueue) -> Statements:
    """The reprocessor goes through the leads there are, folds their events or reads their raw payloads, and keeps its own
    progress."""
    return [
        allow(("dynamodb:Scan", "dynamodb:Query"), stateful.events_table.table_arn),
        allow(_MEMORY_ACTIONS, stateful.memories_table.table_arn),
        allow(_REPROCESSING_ACTIONS, stateful.reprocessings_table.table_arn),
        allow(("s3:GetObject",), objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        allow(("sqs:SendMessage", *CONSUME), queue.queue_arn),
        use_key(stateful.key, TABLE_KEY, services=("dynamodb", "s3")),
    ]


def eraser_grants(
    stateful: StatefulStack, queue: sqs.IQueue, bus: events.IEventBus, dead_letters: Sequence[sqs.IQueue]
) -> Statements:
    """The eraser finds and deletes what there is of a lead or an organisation, wherever it is. What it puts are the
    tombstones of claims, identities and rejected events; it publishes that somebody was erased."""
    bucket = stateful.raw_bucket
    return [
        allow(("dynamodb:Query", "dynamodb:Scan", "dynamodb:DeleteItem"), stateful.events_table.table_arn),
        allow(("dynamodb:Scan", "dynamodb:PutItem", "dynamodb:DeleteItem"), stateful.claims_table.table_arn),
        allow(("dynamodb:Query", "dynamodb:Scan", "dynamodb:DeleteItem"), stateful.memories_table.table_arn),
        allow(("dynamodb:Query",), index_arn(stateful.identities_table, Index.LEAD)),
        allow(("dynamodb:Scan", "dynamodb:PutItem", "dynamodb:DeleteItem"), stateful.identities_table.table_arn),
        allow(("dynamodb:Query", "dynamodb:PutItem", "dynamodb:DeleteItem"), stateful.rejected_events_table.table_arn),
        allow(("dynamodb:GetItem", "dynamodb:UpdateItem"), stateful.organizations_table.table_arn),
        allow(("dynamodb:Query", "dynamodb:UpdateItem", "dynamodb:DeleteItem"), stateful.reprocessings_table.table_arn),
        allow(("dynamodb:GetItem", "dynamodb:UpdateItem"), stateful.erasures_table.table_arn),
        allow_listing(bucket, ORGANIZATIONS_PREFIX, INBOX_PREFIX),
        allow(("s3:GetObject", "s3:DeleteObject"), objects(bucket, ORGANIZATIONS_PREFIX)),
        allow(("s3:GetObject", "s3:DeleteObject"), objects(bucket, INBOX_PREFIX)),
        allow(("sqs:SendMessage", *CONSUME), queue.queue_arn),
        *(allow(CONSUME, each.queue_arn) for each in dead_letters),
        allow(("events:PutEvents",), bus.event_bus_arn),
        allow(("secretsmanager:GetSecretValue",), stateful.identity_secret_arn),
        use_key(stateful.key, TABLE_KEY, services=("dynamodb", "s3")),
    ]


def tokens_grants(parameters_arn: str) -> Statements:
    """The token trigger looks up the organisation of a client."""
    return [allow(("ssm:GetParameter",), parameters_arn)]


def runtime_grants(log_group: logs.ILogGroup) -> Statements:
    """What every function needs to run: its own log group, and X-Ray, which knows no resources."""
    return [
        allow(("logs:CreateLogStream", "logs:PutLogEvents"), log_group.log_group_arn),
        allow(("xray:PutTraceSegments", "xray:PutTelemetryRecords"), "*"),
    ]
