"""Queues as this service keeps them."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.nag import LOCAL_HTTP, exempt

QUEUE_RETENTION: Final = Duration.days(4)
DLQ_RETENTION: Final = Duration.days(14)
"""Counted from the first arrival in the source queue, so it has to be longer than the source's."""

MAX_RECEIVES: Final = 3
_NO_WINDOW: Final = Duration.seconds(0)


def visibility_timeout(function_timeout: Duration, batching_window: Duration = _NO_WINDOW) -> Duration:
    """Six function time-outs and the batching window: a retry within Lambda never meets a second delivery."""
    return Duration.seconds(6 * function_timeout.to_seconds() + batching_window.to_seconds())


class ServiceQueue(sqs.Queue):
    """A queue as this service keeps it.

    Encrypted with keys that SQS manages: EventBridge and other accounts can send without a grant on a key of ours.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        retention_period: Duration,
        require_tls: bool,
        visibility_timeout: Duration | None = None,
        dead_letter_queue: sqs.DeadLetterQueue | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=require_tls,
            retention_period=retention_period,
            visibility_timeout=visibility_timeout,
            dead_letter_queue=dead_letter_queue,
        )
        if not require_tls:
            exempt(self, "AwsSolutions-SQS4", because=LOCAL_HTTP)


class FedQueue(Construct):
    """A queue that feeds a function, with its dead-letter queue."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        function_timeout: Duration,
        max_concurrency: int,
        batch_size: int,
        batching_window: Duration | None = None,
        require_tls: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self._max_concurrency = max_concurrency
        self._batch_size = batch_size
        self._batching_window = batching_window
        self.dead_letters = ServiceQueue(self, "DeadLetters", retention_period=DLQ_RETENTION, require_tls=require_tls)
        self.queue = ServiceQueue(
            self,
            "Queue",
            retention_period=QUEUE_RETENTION,
            require_tls=require_tls,
            visibility_timeout=visibility_timeout(function_timeout, batching_window or _NO_WINDOW),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=MAX_RECEIVES),
        )

    def feed(self, function: lambda_.IFunction) -> None:
        """Let ``function`` take the messages in batches and report which of them failed."""
        lambda_.EventSourceMapping(
            self,
            "Mapping",
            target=function,
            event_source_arn=self.queue.queue_arn,
            batch_size=self._batch_size,
            max_batching_window=self._batching_window,
            report_batch_item_failures=True,
            max_concurrency=self._max_concurrency,
        )
