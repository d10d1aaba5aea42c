"""The usual queue handler: batch with partial failures, one record after the other, parser, stock idempotency."""

from __future__ import annotations

import os
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
from aws_lambda_powertools.utilities.parser.types import Json
from aws_lambda_powertools.utilities.typing import LambdaContext

from tools.benchmarks.reference.usual.models import CloudEvent
from tools.benchmarks.reference.usual.store import LiteralStore, of_cloud_event


class Record(SqsRecordModel):
    """A message whose body is a CloudEvent."""

    body: Json[CloudEvent]


logger = Logger()
tracer = Tracer()
metrics = Metrics()
store = LiteralStore(os.environ["EVENTS_TABLE_NAME"], os.environ["IDEMPOTENCY_TABLE_NAME"])
processor = BatchProcessor(EventType.SQS, model=Record)


def process_record(record: Record) -> None:
    """Store one message."""
    first = store.append(of_cloud_event(record.body))
    metrics.add_metric(name="EventStored", unit=MetricUnit.Count, value=1)
    logger.info("event", extra={"eventId": first["eventId"]})


@logger.inject_lambda_context
@tracer.capture_lambda_handler
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Lambda entry."""
    store.register(context)
    return process_partial_response(event, process_record, processor, context)
