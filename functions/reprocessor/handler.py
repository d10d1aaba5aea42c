"""Works on reprocessings: each message is a slice of a segment. Publishes nothing."""

from __future__ import annotations

from typing import Any

from lead_events import wiring
from lead_events.batches import take_slices
from lead_events.observability import metrics, observed


def work(message: str, *, redelivered: bool) -> None:
    """Work on one slice; raises where its message must stay on the queue."""
    came = wiring.reprocessor().work(message, redelivered=redelivered)
    metrics().add_metric(name="LeadReprocessed", unit="Count", value=came.leads - came.failed)
    metrics().add_metric(name="LeadReprocessingFailed", unit="Count", value=came.failed)


@observed
def handler(event: dict[str, Any], context: Any) -> Any:
    """Lambda entry: reports exactly the messages that failed."""
    return take_slices(event, context, work)
