"""Whether an event may still come in, or is of somebody who was erased.

Almost every event is let pass without asking anybody: its organisation's fence, remembered for seconds with the life cycle,
says that no erasure is under way and that it happened after the last one. Only the others cost a reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lead_events.errors import ErasedError
from lead_events.event import EventDraft, Identity
from lead_events.identity import Resolver
from lead_events.lifecycles import Lifecycles
from lead_events.presence import Presence


class Admission:
    """Keeps out what belongs to the erased. Safe to use from several threads."""

    def __init__(self, lifecycles: Lifecycles, presence: Presence, resolver: Resolver) -> None:
        self._lifecycles = lifecycles
        self._presence = presence
        self._resolver = resolver

    def check(self, draft: EventDraft) -> None:
        """Raise ``ErasedError`` where the event is of a lead, named or to be found by its identities, that was erased.

        Raises ``GoneError`` where the organisation has left.
        """
        self._lifecycles.check(draft.organization_id)
        self.check_erased(draft)

    def check_erased(self, draft: EventDraft) -> None:
        """The same of the lead alone, whether or not the organisation is there."""
        if draft.lead_id is not None:
            self.check_lead(draft.organization_id, draft.lead_id, draft.occurred_at)
        else:
            self._check_identities(draft.organization_id, draft.identities, draft.occurred_at)

    def check_lead(self, organization_id: str, lead_id: str, occurred_at: datetime) -> None:
        """Raise ``ErasedError`` where what happened to the lead then is erased, or is being erased."""
        if self._presence.is_erased(organization_id, lead_id, occurred_at):
            raise ErasedError

    def is_closed(self, organization_id: str) -> bool:
        """Whether nothing of the organisation is kept any more, not even what is refused."""
        return not self._lifecycles.is_retained(organization_id)

    def _check_identities(self, organization_id: str, identities: Sequence[Identity], occurred_at: datetime) -> None:
        if not identities or self._lifecycles.fence(organization_id).passes(occurred_at):
            return
        known = self._resolver.records(organization_id, identities)
        if any(each.erased_until is not None and occurred_at <= each.erased_until for each in known):
            raise ErasedError
        for lead_id in {each.lead_id for each in known if each.lead_id is not None}:
            self.check_lead(organization_id, lead_id, occurred_at)
