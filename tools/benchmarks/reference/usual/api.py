"""The usual API handler: event handler with validation, parser models, stock idempotency, boto3 resource."""

from __future__ import annotations

import os
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response, content_types
from aws_lambda_powertools.event_handler.exceptions import ForbiddenError
from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyValidationError
from aws_lambda_powertools.utilities.typing import LambdaContext

from tools.benchmarks.reference.usual.models import NewEvent
from tools.benchmarks.reference.usual.store import LiteralStore, of_new_event

logger = Logger()
tracer = Tracer()
metrics = Metrics()
app = APIGatewayHttpResolver(enable_validation=True)
store = LiteralStore(os.environ["EVENTS_TABLE_NAME"], os.environ["IDEMPOTENCY_TABLE_NAME"])

LEAD = "/v1/organizations/<organization_id>/leads/<lead_id>"


@app.post(f"{LEAD}/events")
def append_event(organization_id: str, lead_id: str, event: NewEvent) -> dict[str, Any]:
    """Append one event."""
    _authorize("lead-events/write")
    first = store.append(of_new_event(organization_id, lead_id, event))
    metrics.add_metric(name="EventStored", unit=MetricUnit.Count, value=1)
    logger.info("event", extra={"eventId": first["eventId"]})
    return first


@app.get(f"{LEAD}/events")
def timeline(organization_id: str, lead_id: str, limit: int = 50, order: str = "asc") -> Response[str]:
    """A page of events."""
    _authorize("lead-events/read")
    page = store.timeline(organization_id, lead_id, limit=limit, descending=order == "desc")
    return Response(HTTPStatus.OK, content_types.APPLICATION_JSON, page)


@app.exception_handler(IdempotencyValidationError)  # type: ignore[untyped-decorator]
def conflict(_: IdempotencyValidationError) -> Response[str]:
    """The id was used for other content."""
    return Response(HTTPStatus.CONFLICT, content_types.APPLICATION_JSON, '{"message": "conflict"}')


def _authorize(scope: str) -> None:
    authorizer = app.current_event.request_context.authorizer
    claims = (authorizer.jwt_claim if authorizer else None) or {}
    if scope not in str(claims.get("scope", "")).split():
        raise ForbiddenError("insufficient scope")


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@tracer.capture_lambda_handler
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Lambda entry."""
    store.register(context)
    return app.resolve(event, context)
