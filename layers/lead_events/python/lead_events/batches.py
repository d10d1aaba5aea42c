"""Batches of queue messages: exactly those that failed stay on the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from datetime import datetime
from typing import Any

from lead_events.envelope import Envelope, read_message
from lead_events.event import Outcome
from lead_events.observability import log_failure, record_outcome


def take_batch(
    event: dict[str, Any], context: Any, take: Callable[[Envelope], Iterable[Outcome]], executor: Callable[[], Executor]
) -> Any:
    """Answer Lambda for a batch of events, each in a thread of its own; one of nothing but failures is reported, not raised."""
    from aws_lambda_powertools.utilities.batch import AsyncBatchProcessor, EventType, async_process_partial_response
    from aws_lambda_powertools.utilities.parser.models import SqsRecordModel

    if not event.get("Records"):
        return {"batchItemFailures": []}

    def process(message_id: str, body: str, sent_at: datetime) -> None:
        try:
            for outcome in take(read_message(body, sent_at)):
                record_outcome(outcome)
        except Exception as error:
            log_failure("message kept on the queue", error, messageId=message_id)
            raise

    async def process_record(record: Any) -> None:  # in threads, so that the writes of a batch overlap
        told = (record.messageId, record.body, record.attributes.SentTimestamp)
        await asyncio.get_running_loop().run_in_executor(executor(), process, *told)

    processor = AsyncBatchProcessor(EventType.SQS, model=SqsRecordModel, raise_on_entire_batch_failure=False)
    return async_process_partial_response(event, process_record, processor, context)


def take_slices(event: dict[str, Any], context: Any, work: Callable[..., None]) -> Any:
    """Answer Lambda for slices of long work, one after the other; ``work`` takes the message and ``redelivered``."""
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
    from aws_lambda_powertools.utilities.parser.models import SqsRecordModel

    if not event.get("Records"):
        return {"batchItemFailures": []}

    def process(record: Any) -> None:
        try:
            work(record.body, redelivered=int(record.attributes.ApproximateReceiveCount) > 1)
        except Exception as error:
            log_failure("slice kept on the queue", error, messageId=record.messageId)
            raise

    processor = BatchProcessor(EventType.SQS, model=SqsRecordModel, raise_on_entire_batch_failure=False)
    return process_partial_response(event, process, processor, context)
