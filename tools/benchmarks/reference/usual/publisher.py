"""The usual stream handler that publishes: batch with partial failures, parser models, a client of the bus."""

from __future__ import annotations

import json
import os
from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.typing import LambdaContext

from tools.benchmarks.reference.usual.memory import Record
from tools.benchmarks.reference.usual.store import number

logger = Logger()
tracer = Tracer()
metrics = Metrics()
events = boto3.client("events")
processor = BatchProcessor(EventType.DynamoDBStreams, model=Record)


def process_record(record: Record) -> None:
    """Tell of one event."""
    event = record.dynamodb.NewImage
    envelope = {
        "specversion": "1.0",
        "type": "lead.event-recorded",
        "source": "lead_events",
        "id": event.event_id,
        "time": event.occurred_at.isoformat(),
        "datacontenttype": "application/json",
        "data": event.model_dump(by_alias=True, exclude_none=True, exclude={"occurred_at"}),
    }
    answer = events.put_events(
        Entries=[
            {
                "EventBusName": os.environ["EVENT_BUS_NAME"],
                "Source": "lead_events",
                "DetailType": "lead.event-recorded",
                "Detail": json.dumps(envelope, default=number),
            }
        ]
    )
    if answer["FailedEntryCount"]:
        raise RuntimeError("the bus refused an event")
    metrics.add_metric(name="EnvelopePublished", unit=MetricUnit.Count, value=1)
    logger.info("published", extra={"eventId": event.event_id})


@logger.inject_lambda_context
@tracer.capture_lambda_handler
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Lambda entry."""
    return process_partial_response(event, process_record, processor, context)
