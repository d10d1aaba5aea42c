"""Whether what a stream tells of is still there: a record outlives its item by up to a day, and must not bring it back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from lead_events.instants import EPOCH
from lead_events.lifecycles import Lifecycles
from lead_events.ports import ErasureStore

_SECOND: Final = timedelta(seconds=1)


class Presence:
    """Asks only where something may have been erased; see ``Fence``."""

    def __init__(self, lifecycles: Lifecycles, erasures: ErasureStore) -> None:
        self._lifecycles = lifecycles
        self._erasures = erasures

    def has(self, organization_id: str, lead_id: str, stored_at: datetime | None) -> bool:
        """Whether what was stored of a lead at that time, told to the second, was not erased since."""
        # Nothing of the lead is stored in the seconds before its erasure ends, but much may be in the second in which it ends.
        at = (stored_at or EPOCH) + _SECOND
        fence = self._lifecycles.fence(organization_id)
        if fence.closed:
            return False
        if fence.passes(at):
            return True
        tombstone = self._erasures.tombstone(organization_id, lead_id)
        return tombstone is None or not tombstone.covers(at)
