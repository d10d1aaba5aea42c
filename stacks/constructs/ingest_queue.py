"""Queues in which events wait: all that do not come through the API, and each category of what organisations are told."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.service_queue import FedQueue

BATCHING_WINDOW: Final = Duration.seconds(1)
BATCH_SIZE: Final = 100


class IngestQueue(FedQueue):
    """A queue of events with its dead-letter queue, open to the named accounts."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        function_timeout: Duration,
        max_concurrency: int,
        senders: tuple[str, ...],
        require_tls: bool,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            function_timeout=function_timeout,
            max_concurrency=max_concurrency,
            batch_size=BATCH_SIZE,
            batching_window=BATCHING_WINDOW,
            require_tls=require_tls,
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
