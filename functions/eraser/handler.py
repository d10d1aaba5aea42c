"""Erases leads and organisations: each message is a slice of an erasure. The only function that may delete."""

from __future__ import annotations

from typing import Any

from lead_events import wiring
from lead_events.batches import take_slices
from lead_events.observability import metrics, observed


def work(message: str, *, redelivered: bool) -> None:
    """Work on one slice; raises where its message must stay on the queue."""
    if wiring.eraser().work(message, redelivered=redelivered) is not None:
        metrics().add_metric(name="ErasureDone", unit="Count", value=1)


@observed
def handler(event: dict[str, Any], context: Any) -> Any:
    """Lambda entry: reports exactly the messages that failed."""
    return take_slices(event, context, work)
