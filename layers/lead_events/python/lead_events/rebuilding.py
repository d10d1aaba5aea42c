"""Memories as the work of a reprocessing: a lead's are folded anew, or it is told what that would change."""

from __future__ import annotations

from typing import Any, Final

from lead_events import memories
from lead_events.categories import Category
from lead_events.jobs import Difference, LeadResult, bounded
from lead_events.memory import State
from lead_events.projecting import Projector, Rebuilt

UNFOLDABLE: Final = "unfoldable_event"
"""Of a lead whose memories are without an event that no fold could take."""


class Rebuilding:
    """The two tasks over a projector."""

    def __init__(self, projector: Projector) -> None:
        self._projector = projector

    def rebuild(self, organization_id: str, lead_id: str) -> LeadResult:
        """Fold a lead's events anew and store what differs."""
        done = self._projector.rebuild(organization_id, lead_id)
        return LeadResult(done.events, len(done.changed), failure=_failure(done))

    def preview(self, organization_id: str, lead_id: str) -> LeadResult:
        """Tell what ``rebuild`` would change."""
        done, found = self._projector.preview(organization_id, lead_id)
        differences = [
            Difference(organization_id, lead_id, each.category.value, _fields(each.category, each.before, each.after))
            for each in found
        ]
        return LeadResult(done.events, len(found), differences, _failure(done))


def _fields(category: Category, before: State, after: State) -> dict[str, Any]:
    """The differing fields of a memory as readers see it."""
    is_now, would_be = (memories.view(category, state) if state else {} for state in (before, after))
    return {
        name: {"is": bounded(is_now.get(name)), "wouldBe": bounded(would_be.get(name))}
        for name in sorted(is_now.keys() | would_be.keys())
        if is_now.get(name) != would_be.get(name)
    }


def _failure(done: Rebuilt) -> str | None:
    return UNFOLDABLE if done.unfoldable else None
