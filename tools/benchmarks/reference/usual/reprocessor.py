"""The usual worker that rebuilds: batch with partial failures, parser models, a boto3 resource. One message is one lead.

It counts what is done in its job by an update.
"""

from __future__ import annotations

import os
from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.parser import BaseModel, Field
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
from aws_lambda_powertools.utilities.parser.types import Json
from aws_lambda_powertools.utilities.typing import LambdaContext

from tools.benchmarks.reference.usual.memory import LiteralMemories


class LeadOfJob(BaseModel):
    """What is to be done."""

    owner: str = Field(min_length=1)
    job_id: str = Field(alias="jobId", min_length=1)
    lead_id: str = Field(alias="leadId", min_length=1)


class Record(SqsRecordModel):
    """A message whose body names a lead."""

    body: Json[LeadOfJob]


logger = Logger()
tracer = Tracer()
metrics = Metrics()
memories = LiteralMemories(os.environ["MEMORIES_TABLE_NAME"], os.environ["EVENTS_TABLE_NAME"])
jobs = boto3.resource("dynamodb").Table(os.environ["REPROCESSINGS_TABLE_NAME"])
processor = BatchProcessor(EventType.SQS, model=Record)


def process_record(record: Record) -> None:
    """Rebuild one lead."""
    job = {"scope": record.body.owner, "jobId": record.body.job_id}
    if jobs.get_item(Key=job, ConsistentRead=True).get("Item", {}).get("status") != "running":
        return
    events = memories.rebuild(f"{record.body.owner}#LEAD#{record.body.lead_id}")
    jobs.update_item(
        Key={**job, "jobId": f"progress#{record.body.job_id}"},
        UpdateExpression="ADD leads :one, events :events",
        ExpressionAttributeValues={":one": 1, ":events": events},
    )
    metrics.add_metric(name="LeadReprocessed", unit=MetricUnit.Count, value=1)
    logger.info("rebuilt", extra={"leadId": record.body.lead_id, "events": events})


@logger.inject_lambda_context
@tracer.capture_lambda_handler
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Lambda entry."""
    return process_partial_response(event, process_record, processor, context)
