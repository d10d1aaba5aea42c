"""The ingest queue: every event that does not come through the API waits here."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.nag import LOCAL_HTTP, exempt

QUEUE_RETENTION: Final = Duration.days(4)
DLQ_RETENTION: Final = Duration.days(14)
"""Counted from the first arrival in the source queue, so it has to be longer than the source's."""

BATCHING_WINDOW: Final = Duration.seconds(1)
BATCH_SIZE: Final = 100
MAX_RECEIVES: Final = 3
MAX_CONCURRENCY: Final = 20


def visibility_timeout(function_timeout: Duration) -> Duration:
    """Six function time-outs and the batching window: a retry within Lambda never meets a second delivery."""
    return Duration.seconds(6 * function_timeout.to_seconds() + BATCHING_WINDOW.to_seconds())


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


class IngestQueue(Construct):
    """The queue with its dead-letter queue, open to the named accounts."""

    max_concurrency = MAX_CONCURRENCY

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        function_timeout: Duration,
        senders: tuple[str, ...],
        require_tls: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead_letters = ServiceQueue(self, "DeadLetters", retention_period=DLQ_RETENTION, require_tls=require_tls)
        self.queue = ServiceQueue(
            self,
            "Queue",
            retention_period=QUEUE_RETENTION,
            require_tls=require_tls,
            visibility_timeout=visibility_timeout(function_timeout),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=MAX_RECEIVES),
        )
        for account in senders:
            self.queue.add_to_resource_policy(
                iam.PolicyStatement(
                    sid=f"Sender{account}",
                    principals=[iam.AccountPrincipal(account)],
                    actions=["sqs:SendMessage", "sqs:GetQueueUrl"],
                    resources=[self.queue.queue_arn],
                )
            )

    def feed(self, function: lambda_.IFunction) -> None:
        """Let ``function`` take the messages in batches and report which of them failed."""
        lambda_.EventSourceMapping(
            self,
            "Mapping",
            target=function,
            event_source_arn=self.queue.queue_arn,
            batch_size=BATCH_SIZE,
            max_batching_window=BATCHING_WINDOW,
            report_batch_item_failures=True,
            max_concurrency=self.max_concurrency,
        )
