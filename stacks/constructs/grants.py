"""What each function may do, on one page. Hand-written: no wildcard action, resources as exact as IAM allows.

No statement here allows ``DeleteItem`` or ``BatchWriteItem``, and none allows to delete an object. ``UpdateItem`` is
allowed on rejected events alone, where it counts deliveries. ``TransactWriteItems`` is no action of IAM: what it asks
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

_OBJECT_KEY_ACTIONS: Final = ("kms:Decrypt", "kms:GenerateDataKey")

Statements = list[iam.PolicyStatement]


def api_grants(stateful: StatefulStack) -> Statements:
    """The API appends events and reads them back, gives leads identities, and shows what was rejected."""
    events_table, identities = stateful.events_table, stateful.identities_table
    return [
        _allow(
            ("dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"), events_table.table_arn
        ),
        _allow(("dynamodb:Query",), _index_arn(events_table, Index.EVENT_TYPE)),
        _allow(("dynamodb:Query",), _index_arn(events_table, Index.IDEMPOTENCY)),
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.claims_table.table_arn),
        _allow(("dynamodb:PutItem", "dynamodb:BatchGetItem"), identities.table_arn),
        _allow(("dynamodb:Query",), _index_arn(identities, Index.LEAD)),
        _allow(("dynamodb:GetItem",), stateful.rejected_events_table.table_arn),
        _allow(("dynamodb:Query",), _index_arn(stateful.rejected_events_table, Index.LAST_SEEN)),
        _allow(("s3:PutObject", "s3:GetObject"), _objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        _allow(("secretsmanager:GetSecretValue",), stateful.cursor_secret_arn),
        _allow(("secretsmanager:GetSecretValue",), stateful.identity_secret_arn),
        _use_key(stateful.key, _TABLE_KEY_ACTIONS, services=("dynamodb", "s3")),
    ]


def ingest_grants(stateful: StatefulStack, queue: sqs.IQueue, bus: events.IEventBus) -> Statements:
    """The ingest function takes messages off the queue, finds whose they are, appends events and keeps the rejected."""
    return [
        _allow(("dynamodb:PutItem", "dynamodb:GetItem"), stateful.events_table.table_arn),
        _allow(("dynamodb:PutItem",), stateful.claims_table.table_arn),
        _allow(("dynamodb:PutItem", "dynamodb:BatchGetItem"), stateful.identities_table.table_arn),
        _allow(("dynamodb:UpdateItem",), stateful.rejected_events_table.table_arn),
        _allow(("s3:PutObject",), _objects(stateful.raw_bucket, ORGANIZATIONS_PREFIX)),
        _allow(("s3:GetObject",), _objects(stateful.raw_bucket, INBOX_PREFIX)),
        _allow(("secretsmanager:GetSecretValue",), stateful.identity_secret_arn),
        _allow(
            (
                "sqs:ReceiveMessage",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ChangeMessageVisibility",
            ),
            queue.queue_arn,
        ),
        _allow(("events:PutEvents",), bus.event_bus_arn),
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
