"""Erases leads and organisations: each message is a slice of an erasure. The only function that may delete."""

from __future__ import annotations

from typing import Any

from lead_events import wiring
from lead_events.observability import log_failure, metrics, observed


def process(record: Any) -> None:
    """Work on one slice; raises where its message must stay on the queue."""
    redelivered = int(record.attributes.ApproximateReceiveCount) > 1
    try:
        done = wiring.eraser().work(record.body, redelivered=redelivered)
    except Exception as error:
        log_failure("slice kept on the queue", error, messageId=record.messageId)
        raise
    if done is not None:
        metrics().add_metric(name="ErasureDone", unit="Count", value=1)


@observed
def handler(event: dict[str, Any], context: Any) -> Any:
    """Lambda entry: reports exactly the messages that failed."""
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
    from aws_lambda_powertools.utilities.parser.models import SqsRecordModel

    if not event.get("Records"):
        return {"batchItemFailures": []}
    processor = BatchProcessor(EventType.SQS, model=SqsRecordModel, raise_on_entire_batch_failure=False)
    return process_partial_response(event, process, processor, context)
