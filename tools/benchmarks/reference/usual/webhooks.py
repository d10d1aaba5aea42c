"""The usual webhook handler: event handler with validation, parameters, parser, stock idempotency, a queue resource."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import time
from http import HTTPStatus
from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response, content_types
from aws_lambda_powertools.event_handler.exceptions import UnauthorizedError
from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.parser import parse
from aws_lambda_powertools.utilities.typing import LambdaContext

from tools.benchmarks.reference.usual.models import StripeEvent

logger = Logger()
tracer = Tracer()
metrics = Metrics()
app = APIGatewayHttpResolver(enable_validation=True)
queue = boto3.resource("sqs").Queue(os.environ["INGEST_QUEUE_URL"])
config = IdempotencyConfig(event_key_jmespath="[organizationId, id]")
persistence = DynamoDBPersistenceLayer(os.environ["IDEMPOTENCY_TABLE_NAME"])

TOLERANCE_SECONDS = 300


@app.post("/v1/webhooks/stripe/<organization_id>")
def receive(organization_id: str) -> Response[str]:
    """A delivery of Stripe."""
    body = app.current_event.decoded_body or ""
    secrets: Any = parameters.get_secret(
        f"{os.environ['WEBHOOK_SECRET_PREFIX']}/stripe/{organization_id}", transform="json", max_age=300
    )
    _verify(app.current_event.headers.get("stripe-signature", ""), body, secrets["secrets"])
    event = parse(event=json.loads(body), model=StripeEvent)
    enqueue(delivery={"organizationId": organization_id, "id": event.id, "body": body})
    metrics.add_metric(name="WebhookAccepted", unit=MetricUnit.Count, value=1)
    return Response(HTTPStatus.ACCEPTED, content_types.APPLICATION_JSON, '{"accepted": true}')


@idempotent_function(data_keyword_argument="delivery", persistence_store=persistence, config=config)  # type: ignore[untyped-decorator]
def enqueue(*, delivery: dict[str, Any]) -> dict[str, Any]:
    """Hand a delivery over once."""
    queue.send_message(MessageBody=delivery["body"])
    return {"accepted": delivery["id"]}


def _verify(header: str, body: str, secrets: list[str]) -> None:
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    signed = f"{parts.get('t')}.{body}".encode()
    expected = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets]
    genuine = any(hmac.compare_digest(each, parts.get("v1", "")) for each in expected)
    if not genuine or abs(time.time() - int(parts["t"])) > TOLERANCE_SECONDS:
        raise UnauthorizedError("wrong signature")


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@tracer.capture_lambda_handler
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Lambda entry."""
    config.register_lambda_context(context)
    return app.resolve(event, context)
