"""Messages to SQS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lead_events.aws_errors import translated

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class SqsQueue:
    """One queue."""

    def __init__(self, client: SQSClient, queue_url: str) -> None:
        self._client = client
        self._url = queue_url

    def send(self, message: str) -> None:
        with translated("SQS"):
            self._client.send_message(QueueUrl=self._url, MessageBody=message)
