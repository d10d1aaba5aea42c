"""HTTP responses of the functions, and what becomes of an error."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError as NoRouteError

from lead_events.errors import LeadEventsError, NotFoundError, UnavailableError, problem
from lead_events.observability import log_failure
from lead_events.strict_json import dumps

JSON = "application/json"
PROBLEM = "application/problem+json"


def json_response(status: int, body: object) -> Response[str]:
    """A JSON answer with exact numbers; ``body`` may also be JSON text."""
    return Response(status, JSON, body if isinstance(body, str) else dumps(body))


def text_response(status: int, body: str, content_type: str = "text/plain; charset=utf-8") -> Response[str]:
    """A text answer that no browser takes for anything else."""
    return Response(status, content_type, body, headers={"X-Content-Type-Options": "nosniff"})


def error_response(error: LeadEventsError) -> Response[str]:
    """The problem+json answer of an error."""
    headers: dict[str, Any] = {}
    if isinstance(error, UnavailableError):
        headers["Retry-After"] = str(error.retry_after_seconds)
    return Response(error.status, PROBLEM, dumps(problem(error)), headers=headers)


def guard(app: APIGatewayHttpResolver) -> None:
    """Answer every error of ``app``'s routes with a problem; what we did not foresee tells the caller nothing."""

    def known(error: LeadEventsError) -> Response[str]:
        if error.status >= 500:
            log_failure("request failed", error)
        return error_response(error)

    def no_route(_: NoRouteError) -> Response[str]:
        return error_response(NotFoundError())

    def unforeseen(error: Exception) -> Response[str]:
        log_failure("request failed unexpectedly", error)
        return error_response(LeadEventsError("Something went wrong on our side."))

    app.exception_handler(LeadEventsError)(known)
    app.exception_handler(NoRouteError)(no_route)
    app.exception_handler(Exception)(unforeseen)
