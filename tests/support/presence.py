"""Whether something was erased, as the functions behind the streams ask it."""

from __future__ import annotations

from lead_events.lifecycles import Lifecycles
from lead_events.presence import Presence
from lead_events.store.memory import InMemoryClaims
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_organizations import InMemoryOrganizations
from tests.support.clock import START


def nobody_erased() -> Presence:
    """Everything is there."""
    organizations = InMemoryOrganizations(InMemoryClaims())
    return Presence(Lifecycles(organizations, lambda: START), InMemoryErasures(organizations))
