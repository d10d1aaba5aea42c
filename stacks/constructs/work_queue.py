"""Queues of work: each message is a slice of it that ends by sending the next one."""

from __future__ import annotations

from aws_cdk import Duration
from constructs import Construct

from stacks.constructs.service_queue import FedQueue


class WorkQueue(FedQueue):
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
        super().__init__(
            scope,
            construct_id,
            function_timeout=function_timeout,
            max_concurrency=max_concurrency,
            batch_size=1,
            require_tls=require_tls,
        )
