"""The statements that grants are made of, and sets of actions that go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aws_cdk import Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from lead_events.names import Index

Statements = list[iam.PolicyStatement]

TABLE_KEY: Final = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
"""What DynamoDB asks of the caller of an encrypted table; it covers what S3 asks."""

OBJECT_KEY: Final = ("kms:Decrypt", "kms:GenerateDataKey")

CONSUME: Final = (
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ChangeMessageVisibility",
)
"""What Lambda asks of the role of a function that it feeds from a queue; who looks through one by hand needs the same."""

READ_STREAM: Final = (
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
)
"""What Lambda asks of the role of a function that it feeds from a stream."""


def allow(actions: Sequence[str], resource: str) -> iam.PolicyStatement:
    """Allow ``actions`` on one resource."""
    return iam.PolicyStatement(actions=list(actions), resources=[resource])


def allow_listing(bucket: s3.IBucket, *prefixes: str) -> iam.PolicyStatement:
    """Allow to list the objects of a bucket below ``prefixes``, and no others."""
    return iam.PolicyStatement(
        actions=["s3:ListBucket"],
        resources=[bucket.bucket_arn],
        conditions={"StringLike": {"s3:prefix": [f"{prefix}*" for prefix in prefixes]}},
    )


def use_key(key: kms.IKey, actions: Sequence[str], *, services: Sequence[str]) -> iam.PolicyStatement:
    """The key may be used through the services that hold our data, never directly."""
    stack = Stack.of(key)
    return iam.PolicyStatement(
        actions=list(actions),
        resources=[key.key_arn],
        conditions={
            "StringEquals": {"kms:ViaService": [f"{service}.{stack.region}.{stack.url_suffix}" for service in services]}
        },
    )


def index_arn(table: dynamodb.ITable, index: Index) -> str:
    """One index of a table."""
    return f"{table.table_arn}/index/{index}"


def stream_arn(table: dynamodb.ITable) -> str:
    """The stream of a table that has one."""
    arn = table.table_stream_arn
    assert arn is not None
    return arn


def objects(bucket: s3.IBucket, prefix: str) -> str:
    """The objects of a bucket below a prefix."""
    return bucket.arn_for_objects(f"{prefix}*")
