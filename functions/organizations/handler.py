"""Takes what billing and offboarding tell about organisations from their queues into the organisations' state."""

from __future__ import annotations

from typing import Any

from lead_events import wiring
from lead_events.batches import take_batch
from lead_events.observability import observed


@observed
def handler(event: dict[str, Any], context: Any) -> Any:
    """Lambda entry: reports exactly the messages that failed."""
    return take_batch(event, context, lambda message: wiring.reception().process_message(message), wiring.executor)
