"""The twin of the organizations table in memory: states in a dict, with the same promises."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from lead_events.erasure import Fence
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
        self._closed: set[str] = set()
        self._erasing: dict[str, set[str]] = {}
        self._erased_until: dict[str, datetime] = {}
        self._lock = threading.Lock()
        self.reads = 0

    def get(self, organization_id: str, *, consistent: bool = False) -> Organization:  # noqa: ARG002  # always is
        self.reads += 1
        with self._lock:
            fence = Fence(
                closed=organization_id in self._closed,
                erasing=bool(self._erasing.get(organization_id)),
                until=self._erased_until.get(organization_id),
            )
            return replace(self._stored(organization_id), fence=fence)

    def put(self, organization: Organization, claims: Sequence[Claim]) -> bool:
        written = organization_of(item_from_wire(item_to_wire(item_of(organization))))
        with self._lock:
            taken = any(self._claims.get(claim.claim_id) for claim in claims)
            if taken or self._stored(organization.organization_id).version != organization.version - 1:
                return False
            for claim in claims:
                self._claims.claim(claim)
            self._organizations[organization.organization_id] = written
            return True

    def begin_erasing(self, organization_id: str, erasure_id: str) -> None:
        """Close the fence for as long as the erasure of a lead is under way."""
        with self._lock:
            self._erasing.setdefault(organization_id, set()).add(erasure_id)

    def end_erasing(self, organization_id: str, erasure_id: str, until: datetime) -> None:
        """Open it behind the erasure of a lead. Up to when events are looked at never goes back."""
        with self._lock:
            self._erasing.get(organization_id, set()).discard(erasure_id)
            self._erased_until[organization_id] = max(until, self._erased_until.get(organization_id, until))

    def close(self, organization_id: str) -> None:
        """Close the fence for ever; writes of the state that are under way fail."""
        with self._lock:
            self._closed.add(organization_id)
            known = self._stored(organization_id)
            self._organizations[organization_id] = replace(known, version=known.version + 1)

    def _stored(self, organization_id: str) -> Organization:
        return self._organizations.get(organization_id, Organization(organization_id=organization_id))
