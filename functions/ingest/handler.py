"""Takes CloudEvents and verified webhook deliveries from the ingest queue into the store."""

from __future__ import annotations

import asyncio
from typing import Any

from lead_events import wiring
from lead_events.envelope import read_message
from lead_events.observability import log_failure, observed, record_outcome


def process(message_id: str, body: str) -> None:
    """Store what one message holds; raises where it must stay on the queue."""
    try:
        for outcome in wiring.pipeline().process_message(read_message(body)):
            record_outcome(outcome)
    except Exception as error:
        log_failure("message kept on the queue", error, messageId=message_id)
        raise


async def process_record(record: Any) -> None:
    """Process one record in a thread of its own, so that the writes of a batch overlap."""
    await asyncio.get_running_loop().run_in_executor(wiring.executor(), process, record.messageId, record.body)


@observed
def handler(event: dict[str, Any], context: Any) -> Any:
    """Lambda entry: reports exactly the messages that failed; a batch of nothing but failures is reported too, not raised."""
    from aws_lambda_powertools.utilities.batch import AsyncBatchProcessor, EventType, async_process_partial_response
    from aws_lambda_powertools.utilities.parser.models import SqsRecordModel

    if not event.get("Records"):
        return {"batchItemFailures": []}
    processor = AsyncBatchProcessor(EventType.SQS, model=SqsRecordModel, raise_on_entire_batch_failure=False)
    return async_process_partial_response(event, process_record, processor, context)
