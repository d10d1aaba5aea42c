"""Whether what happened to a lead is erased: the one question behind all that keeps the erased out."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from lead_events.instants import EPOCH
from lead_events.lifecycles import Lifecycles
from lead_events.ports import ErasureStore

_SECOND: Final = timedelta(seconds=1)


class Presence:
    """Asks only where something may have been erased; see ``Fence``. Safe to use from several threads."""

    def __init__(self, lifecycles: Lifecycles, erasures: ErasureStore) -> None:
        self._lifecycles = lifecycles
        self._erasures = erasures

    def is_erased(self, organization_id: str, lead_id: str, instant: datetime) -> bool:
        """Whether what happened to the lead then is erased, or is being erased."""
        fence = self._lifecycles.fence(organization_id)
        if fence.closed or fence.passes(instant):
            return fence.closed
        tombstone = self._erasures.tombstone(organization_id, lead_id)
        return tombstone is not None and tombstone.covers(instant)

    def has(self, organization_id: str, lead_id: str, stored_at: datetime | None) -> bool:
        """Whether what was stored of a lead at that time, told to the second, was not erased since.

        For what a stream tells of: a record outlives its item by up to a day, and must not bring it back.
        """
        # Nothing of the lead is stored in the seconds before its erasure ends, but much may be in the second in which it ends.
        return not self.is_erased(organization_id, lead_id, (stored_at or EPOCH) + _SECOND)
