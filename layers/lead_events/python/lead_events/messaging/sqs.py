"""Messages to SQS."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lead_events.aws_errors import translated
from lead_events.errors import UnavailableError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class SqsQueue:
    """One queue."""

    def __init__(self, client: Callable[[], SQSClient], queue_url: str) -> None:
        """``client`` is asked for when there is something to send: to some queues there seldom is."""
        self._client = client
        self._url = queue_url

    def send(self, message: str, delay_seconds: int = 0) -> None:
        with translated("SQS"):
            self._client().send_message(QueueUrl=self._url, MessageBody=message, DelaySeconds=delay_seconds)


class NoDeadLetters:
    """For those who give nothing up."""

    def send(self, message: str) -> None:  # noqa: ARG002  # the port's signature
        raise UnavailableError("There is no place for what is given up here.")
