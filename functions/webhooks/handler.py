"""Takes webhook deliveries: verifies the bytes as they came, enqueues them, answers 202."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from lead_events import wiring
from lead_events.http import body_bytes, lower_case
from lead_events.observability import metrics, observed
from lead_events.responses import guard, json_response, text_response

app = APIGatewayHttpResolver()
guard(app)

URL = "/v1/webhooks/<provider>/<organization_id>"


@app.post(URL)
def receive(provider: str, organization_id: str) -> Response[str]:
    """A delivery. The signature is its only ticket."""
    request = app.current_event
    headers = lower_case(request.headers)
    body = body_bytes(headers, request.body, is_base64=bool(request.is_base64_encoded))
    wiring.webhooks().receive(provider, organization_id, headers, request.query_string_parameters or {}, body)
    metrics().add_metric(name="WebhookAccepted", unit="Count", value=1)
    return json_response(202, {"accepted": True})


@app.get(URL)
def handshake(provider: str, organization_id: str) -> Response[str]:
    """A provider checks that the URL is ours."""
    query = app.current_event.query_string_parameters or {}
    return text_response(200, wiring.webhooks().handshake(provider, organization_id, query))


@observed
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Lambda entry."""
    return app.resolve(event, context)
