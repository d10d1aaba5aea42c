"""Queues of work: each message is a slice of it that ends by sending the next one."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.ingest_queue import DLQ_RETENTION, MAX_RECEIVES, QUEUE_RETENTION, ServiceQueue


class WorkQueue(Construct):
    """A queue with its dead-letter queue, whose messages are taken one by one.

    Workers are never more than ``max_concurrency`` at once, of all jobs: the tables' capacity belongs to live traffic.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        function_timeout: Duration,
        max_concurrency: int,
        require_tls: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self._max_concurrency = max_concurrency
        self.dead_letters = ServiceQueue(self, "DeadLetters", retention_period=DLQ_RETENTION, require_tls=require_tls)
        self.queue = ServiceQueue(
            self,
            "Queue",
            retention_period=QUEUE_RETENTION,
            require_tls=require_tls,
            visibility_timeout=Duration.seconds(6 * function_timeout.to_seconds()),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=MAX_RECEIVES),
        )

    def feed(self, function: lambda_.IFunction) -> None:
        """Let ``function`` take the messages one by one."""
        lambda_.EventSourceMapping(
            self,
            "Mapping",
            target=function,
            event_source_arn=self.queue.queue_arn,
            batch_size=1,
            report_batch_item_failures=True,
            max_concurrency=self._max_concurrency,
        )
