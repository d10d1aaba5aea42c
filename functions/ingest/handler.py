"""Takes CloudEvents and verified webhook deliveries from the ingest queue into the store."""

from __future__ import annotations

from typing import Any

from lead_events import wiring
from lead_events.batches import take_batch
from lead_events.observability import observed


@observed
def handler(event: dict[str, Any], context: Any) -> Any:
    """Lambda entry: reports exactly the messages that failed; a batch of nothing but failures is reported too, not raised."""
    return take_batch(event, context, lambda message: wiring.reception().process_message(message), wiring.executor)
