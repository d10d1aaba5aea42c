"""A function fed from the streams of tables, and the queue of what it gives up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from constructs import Construct

from stacks.constructs.nag import exempt
from stacks.constructs.service_queue import DLQ_RETENTION, ServiceQueue

BATCH_SIZE: Final = 100
BATCHING_WINDOW: Final = Duration.seconds(1)
PARALLELIZATION: Final = 4
"""Batches of one shard at once. The records of a lead stay in order: they have one partition key."""
RETRIES: Final = 30
"""Some 25 minutes with Lambda's growing pauses: an outage of a service passes, a crash does not hold up a shard for a day."""
MAX_AGE: Final = Duration.hours(6)
LOCAL_MAX_AGE: Final = Duration.minutes(2)
"""The local twin counts no retries, only the age."""


class StreamConsumer(Construct):
    """What makes a function hear of changes: a mapping for each table, and one queue behind them.

    The function sends records there that no retry can help. Lambda sends there which part of a shard it gave up, after
    halving the batch until the record that fails is alone.
    """

    def __init__(self, scope: Construct, construct_id: str, *, local: bool) -> None:
        super().__init__(scope, construct_id)
        self._local = local
        self.dead_letters = ServiceQueue(self, "DeadLetters", retention_period=DLQ_RETENTION, require_tls=not local)
        exempt(
            self.dead_letters,
            "AwsSolutions-SQS3",
            because="It is itself the dead-letter queue, of event source mappings; cdk-nag knows those of queues only.",
        )

    def feed(self, function: lambda_.IFunction, name: str, table: dynamodb.ITable, changes: Sequence[str]) -> None:
        """Let ``function`` hear of ``changes`` (INSERT, MODIFY) of ``table``, from the oldest that the stream still has."""
        arn = table.table_stream_arn
        assert arn is not None
        lambda_.EventSourceMapping(
            self,
            name,
            target=function,
            event_source_arn=arn,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=BATCH_SIZE,
            max_batching_window=BATCHING_WINDOW,
            parallelization_factor=PARALLELIZATION,
            report_batch_item_failures=True,
            bisect_batch_on_error=True,
            retry_attempts=RETRIES,
            max_record_age=LOCAL_MAX_AGE if self._local else MAX_AGE,
            on_failure=sources.SqsDlq(self.dead_letters),
            filters=[{"pattern": json.dumps({"eventName": list(changes)})}],
        )
