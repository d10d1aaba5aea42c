"""Takes webhook deliveries: verifies the bytes as they came, enqueues them, answers 202."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from lead_events import wiring
from lead_events.http import body_bytes, lower_case
from lead_events.limits import MAX_WEBHOOK_BYTES
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
    body = body_bytes(headers, request.body, is_base64=bool(request.is_base64_encoded), at_most=MAX_WEBHOOK_BYTES)
    wiring.webhooks().receive(provider, organization_id, headers, request.query_string_parameters or {}, body)
    metrics().add_metric(name="WebhookAccepted", unit="Count", value=1)
    return json_response(202, {"accepted": True})


@app.get(URL)
def handshake(provider: str, organization_id: str) -> Response[str]:
    """A provider checks that the URL is ours."""
    query = app.current_event.query_string_parameters or {}
    return text_response(200, wiring.webhooks().handshake(provider, organization_id, query))


@app.route(URL, method="OPTIONS")
def preflight(provider: str, organization_id: str) -> Response[str]:  # noqa: ARG001  # the answer's headers say it
    """A browser asks whether its page may send; whoever is not on the list reads no permission in the answer."""
    return Response(204, headers={"Access-Control-Allow-Methods": "POST", "Access-Control-Max-Age": "600",
                                  "Access-Control-Allow-Headers": "content-type, x-lead-events-key"})  # fmt: skip


@observed
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Lambda entry."""
    answer = app.resolve(event, context)
    path = event.get("pathParameters") or {}
    provider, organization_id = path.get("provider", ""), path.get("organizationId", "")
    extra = wiring.webhooks().response_headers(provider, organization_id, lower_case(event.get("headers")))
    return answer | {"headers": {**answer.get("headers", {}), **extra}}
