"""Keeps the lead memories: folds each event that the events table's stream tells of into its memory."""

from __future__ import annotations

from typing import Any

from lead_events import settings, wiring
from lead_events.observability import metrics, observed


@observed
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001  # Lambda's signature
    """Lambda entry: reports exactly the records that are to be delivered again."""
    from lead_events.store import streams

    done = wiring.projector().project(streams.stored_events(event))
    metrics().add_metric(name="EventProjected", unit="Count", value=done.applied)
    if done.poison:
        metrics().add_metric(name="StreamRecordGivenUp", unit="Count", value=done.poison)
    return streams.failures(done.failed, whole_batches=settings.is_local())
