"""The usual stream handler that keeps a view: batch with partial failures, parser models, stock idempotency, boto3 resource."""

from __future__ import annotations

import os
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from tools.benchmarks.reference.usual.memory import LiteralMemories, Record, StoredEvent

logger = Logger()
tracer = Tracer()
metrics = Metrics()
memories = LiteralMemories(os.environ["MEMORIES_TABLE_NAME"], os.environ["EVENTS_TABLE_NAME"])
config = IdempotencyConfig(event_key_jmespath="eventId", expires_after_seconds=25 * 3600)
persistence = DynamoDBPersistenceLayer(os.environ["IDEMPOTENCY_TABLE_NAME"])
processor = BatchProcessor(EventType.DynamoDBStreams, model=Record)


def process_record(record: Record) -> None:
    """Fold one event, once however often its record comes."""
    event = record.dynamodb.NewImage
    project(key={"eventId": event.event_id}, event=event)
    metrics.add_metric(name="EventProjected", unit=MetricUnit.Count, value=1)
    logger.info("projected", extra={"eventId": event.event_id})


@idempotent_function(data_keyword_argument="key", persistence_store=persistence, config=config)  # type: ignore[untyped-decorator]
def project(*, key: dict[str, str], event: StoredEvent) -> dict[str, str]:
    """Fold one event."""
    memories.add(event)
    return key


@logger.inject_lambda_context
@tracer.capture_lambda_handler
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Lambda entry."""
    config.register_lambda_context(context)
    return process_partial_response(event, process_record, processor, context)
