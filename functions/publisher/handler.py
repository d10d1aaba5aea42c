"""Tells other domains what was stored: new events and changed memories, from the streams of both tables to the bus."""

from __future__ import annotations

from typing import Any

from lead_events import settings, wiring
from lead_events.observability import metrics, observed


@observed
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001  # Lambda's signature
    """Lambda entry: reports exactly the records that are to be delivered again."""
    from lead_events.store import streams

    published, failed = wiring.publisher().publish([*streams.stored_events(event), *streams.changed_memories(event)])
    metrics().add_metric(name="EnvelopePublished", unit="Count", value=published)
    return streams.failures(failed, whole_batches=settings.is_local())
