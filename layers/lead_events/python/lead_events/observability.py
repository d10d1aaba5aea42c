"""Logger, metrics and tracer of Powertools, built when first needed, and the decorator that every handler wears.

Logs, metrics and traces carry ids, names and codes only: no payload, no header, no exception text (it may quote what was
sent), and no response in a trace.
"""

from __future__ import annotations

import threading
import traceback
import warnings
from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Final

from lead_events import settings
from lead_events.names import METRICS_NAMESPACE, SERVICE

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger, Metrics, Tracer

    from lead_events.event import Outcome

Handler = Callable[[dict[str, Any], Any], Any]

_METRICS_LOCK: Final = threading.Lock()


@cache
def logger() -> Logger:
    """The JSON logger; its level is POWERTOOLS_LOG_LEVEL's."""
    from aws_lambda_powertools import Logger

    return Logger(service=SERVICE)


@cache
def metrics() -> Metrics:
    """CloudWatch metrics in the embedded metric format."""
    from aws_lambda_powertools import Metrics

    warnings.filterwarnings("ignore", message="No application metrics to publish")  # a read has none; no need to say so
    return Metrics(namespace=METRICS_NAMESPACE, service=SERVICE)


@cache
def tracer() -> Tracer:
    """X-Ray. Of all libraries only botocore is patched: patching every known one costs as much as the rest of a cold start."""
    from aws_lambda_powertools import Tracer

    return Tracer(service=SERVICE, patch_modules=["botocore"])


def observed(handler: Handler) -> Handler:
    """Give a Lambda handler its context in the logs, its metrics and its trace."""

    @cache
    def dressed() -> Handler:
        inner: Handler = metrics().log_metrics(handler, capture_cold_start_metric=True)
        if settings.tracing_enabled():
            inner = tracer().capture_lambda_handler(inner, capture_response=False, capture_error=False)
        return logger().inject_lambda_context(inner, clear_state=True)

    @wraps(handler)
    def entry(event: dict[str, Any], context: Any) -> Any:
        return dressed()(event, context)

    return entry


def record_outcome(outcome: Outcome) -> None:
    """One metric and one log line for the end of an event."""
    with _METRICS_LOCK:  # Powertools' metrics are not made for several threads: they would lose counts
        metrics().add_metric(name=f"Event{outcome.kind.capitalize()}", unit="Count", value=1)
    ids: dict[str, Any] = {"outcome": outcome.kind.value}
    if outcome.event is not None:
        event = outcome.event
        ids |= {"organizationId": event.organization_id, "leadId": event.lead_id, "eventId": event.event_id}
    if outcome.organization_id is not None:
        ids["organizationId"] = outcome.organization_id
    if outcome.error is not None:
        ids["code"] = outcome.error.code
    if outcome.identity_conflicts:
        ids["identityConflicts"] = list(outcome.identity_conflicts)
        with _METRICS_LOCK:
            metrics().add_metric(name="IdentityConflict", unit="Count", value=1)
    logger().info("event", extra=ids)


def log_failure(message: str, error: BaseException, **ids: str) -> None:
    """Log an error by its type, code and places in the code; never by its text."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    places = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames]
    chain = [type(each).__name__ for each in (error, error.__cause__) if each is not None]
    code = getattr(error, "code", None)
    logger().error(
        message, extra={**ids, "error": " < ".join(chain), "places": places} | ({"code": code} if code else {})
    )
