"""Logger, metrics and tracer of Powertools, built when first needed, and the decorator that every handler wears.

Logs, metrics and traces carry ids, names and codes only: no payload, no header, no exception text (it may quote what was
sent), and no response in a trace. Others write too: Lambda logs what a handler raises, and X-Ray records the texts of
errors whatever it is told, so neither is ever given one.
"""

from __future__ import annotations

import threading
import traceback
import warnings
from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Final

from lead_events import settings
from lead_events.errors import LeadEventsError
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

    made = Tracer(service=SERVICE, patch_modules=["botocore"])
    recorder: Any = made.provider
    recorder.emitter = _DiscreetEmitter(recorder.emitter)
    return made


class HandlerFailedError(RuntimeError):
    """Stands for what a handler raised, by its type alone."""


class _DiscreetEmitter:
    """Sends traces without the texts of errors: AWS quotes what it was sent in some of them."""

    def __init__(self, emitter: Any) -> None:
        self._emitter = emitter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._emitter, name)

    def send_entity(self, entity: Any) -> None:
        """Send a segment or subsegment with all that it holds."""
        _forget_texts(entity)
        self._emitter.send_entity(entity)


def _forget_texts(entity: Any) -> None:
    if isinstance(entity.cause, dict):  # else the id of an error that is told elsewhere
        for error in entity.cause.get("exceptions", ()):
            error.message = None
    for each in entity.subsegments:
        _forget_texts(each)


def observed(handler: Handler) -> Handler:
    """Give a Lambda handler its context in the logs, its metrics and its trace; what it raises loses its text."""

    @wraps(handler)
    def discreet(event: dict[str, Any], context: Any) -> Any:
        try:
            return handler(event, context)
        except Exception as error:  # noqa: BLE001  # whatever it is, nobody may read its text
            log_failure("function failed", error)
            failure = HandlerFailedError(type(error).__name__)
        raise failure  # out here it has no context, which would be written down with it

    @cache
    def dressed() -> Handler:
        inner: Handler = metrics().log_metrics(discreet, capture_cold_start_metric=True)
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
    code = error.code if isinstance(error, LeadEventsError) else None  # another's could be anything
    logger().error(
        message, extra={**ids, "error": " < ".join(chain), "places": places} | ({"code": code} if code else {})
    )
