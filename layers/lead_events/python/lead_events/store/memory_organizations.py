"""The twin of the organizations table in memory: states in a dict, with the same promises."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from lead_events.idempotency import Claim
from lead_events.organizations.state import Organization
from lead_events.ports import ClaimStore
from lead_events.store.organizations import item_of, organization_of
from lead_events.store.wire import item_from_wire, item_to_wire


class InMemoryOrganizations:
    """Organisations in a dict; they pass through the items' codec, so that numbers come back as DynamoDB gives them back."""

    def __init__(self, claims: ClaimStore) -> None:
        self._claims = claims
        self._organizations: dict[str, Organization] = {}
        self._lock = threading.Lock()
        self.reads = 0

    def get(self, organization_id: str, *, consistent: bool = False) -> Organization:  # noqa: ARG002  # always is
        self.reads += 1
        return self._organizations.get(organization_id, Organization(organization_id=organization_id))

    def put(self, organization: Organization, claims: Sequence[Claim]) -> bool:
        written = organization_of(item_from_wire(item_to_wire(item_of(organization))))
        with self._lock:
            known = self._organizations.get(organization.organization_id)
            taken = any(self._claims.get(claim.claim_id) for claim in claims)
            if taken or (known.version if known else 0) != organization.version - 1:
                return False
            for claim in claims:
                self._claims.claim(claim)
            self._organizations[organization.organization_id] = written
            return True
