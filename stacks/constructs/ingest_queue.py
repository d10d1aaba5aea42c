"""The ingest queue: every event that does not come through the API waits here."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.service_queue import FedQueue

BATCHING_WINDOW: Final = Duration.seconds(1)
BATCH_SIZE: Final = 100
MAX_CONCURRENCY: Final = 20


class IngestQueue(FedQueue):
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
        super().__init__(
            scope,
            construct_id,
            function_timeout=function_timeout,
            max_concurrency=self.max_concurrency,
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
