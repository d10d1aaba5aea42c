"""The read side of organisations."""

from __future__ import annotations

from typing import Any

from lead_events.errors import NotFoundError
from lead_events.organizations.showing import organization_json
from lead_events.ports import OrganizationStore


class OrganizationQueries:
    """Answers readers. Whose state they may read is settled before."""

    def __init__(self, organizations: OrganizationStore) -> None:
        self._organizations = organizations

    def one(self, organization_id: str) -> dict[str, Any]:
        """The state of an organisation, also of one that has left. Raises ``NotFoundError`` where nothing was ever told."""
        found = self._organizations.get(organization_id, consistent=True)
        if found.version == 0:
            raise NotFoundError
        return organization_json(found)
