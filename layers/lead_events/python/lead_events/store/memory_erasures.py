"""The twin of the erasures table in memory: erasures in a dict, with the same promises."""

from __future__ import annotations

import threading
from dataclasses import replace

from lead_events.erasure import Erasure, Status, Store, Tombstone, lead_hash_of
from lead_events.ports import ErasurePage
from lead_events.store.erasures import FIRST_ID, looked_at_until
from lead_events.store.memory_organizations import InMemoryOrganizations


class InMemoryErasures:
    """Erasures in a dict, and the fence that they close in the organisations."""

    def __init__(self, organizations: InMemoryOrganizations) -> None:
        self._organizations = organizations
        self._erasures: dict[tuple[str, str], Erasure] = {}
        self._holders: dict[tuple[str, str | None], str] = {}
        """By organisation and the lead's hash: which erasure is, or was last, of the same."""
        self._lock = threading.Lock()

    def start(self, erasure: Erasure) -> Erasure:
        owner = erasure.organization_id
        with self._lock:
            known = self._erasures.get((owner, erasure.erasure_id))
            if known is None and (owner, erasure.lead_hash) in self._holders:
                held = self._erasures[owner, self._holders[owner, erasure.lead_hash]]
                known = held if held.status is Status.RUNNING or not held.of_lead else None
            if known is not None:
                return known
            self._erasures[owner, erasure.erasure_id] = erasure
            self._holders[owner, erasure.lead_hash] = erasure.erasure_id
            if erasure.of_lead:
                self._organizations.begin_erasing(owner, erasure.erasure_id)
            else:
                self._organizations.close(owner)
            return erasure

    def get(self, organization_id: str, erasure_id: str) -> Erasure | None:
        with self._lock:
            return self._erasures.get((organization_id, erasure_id)) if erasure_id.startswith(FIRST_ID) else None

    def page(self, organization_id: str, after: str | None, limit: int) -> ErasurePage:
        with self._lock:
            ids = sorted((each for owner, each in self._erasures if owner == organization_id), reverse=True)
            behind = [each for each in ids if after is None or each < after]
            found = [self._erasures[organization_id, each] for each in behind[:limit]]
        return ErasurePage(found, found[-1].erasure_id if len(behind) > limit else None)

    def tombstone(self, organization_id: str, lead_id: str) -> Tombstone | None:
        with self._lock:
            holder = self._holders.get((organization_id, lead_hash_of(organization_id, lead_id)))
            if holder is None:
                return None
            erasure = self._erasures[organization_id, holder]
            # While it runs it covers everything, also where it knows already until when.
            return Tombstone(holder, erasure.until if erasure.status is Status.DONE else None)

    def advance(self, erasure: Erasure, *, new_walk: bool = False) -> bool:
        with self._lock:
            known = self._running(erasure)
            if known is None or known.slices != erasure.slices - 1:
                return False
            self._store(
                replace(
                    known,
                    slices=erasure.slices,
                    stage=erasure.stage,
                    position=erasure.position,
                    walk_started_at=erasure.walk_started_at,
                    found_until=erasure.found_until or known.found_until,
                    until=erasure.until or known.until,
                    found=known.found and not new_walk,
                )
            )
            return True

    def count(self, erasure: Erasure, store: Store, number: int) -> None:
        with self._lock:
            known = self._running(erasure)
            if known is not None:
                self._store(replace(known, found=True, counts={**known.counts, store: known.counts[store] + number}))

    def finish(self, erasure: Erasure) -> bool:
        assert erasure.until is not None
        with self._lock:
            known = self._running(erasure)
            if known is None:
                return False
            completed_at = erasure.completed_at or erasure.until
            done = replace(known, status=Status.DONE, until=erasure.until, completed_at=completed_at)
            self._store(replace(done, lead_id=None, position=None))
            if done.of_lead:
                self._organizations.end_erasing(done.organization_id, done.erasure_id, looked_at_until(done))
            return True

    def _running(self, erasure: Erasure) -> Erasure | None:
        known = self._erasures.get((erasure.organization_id, erasure.erasure_id))
        return known if known is not None and known.status is Status.RUNNING else None

    def _store(self, erasure: Erasure) -> None:
        self._erasures[erasure.organization_id, erasure.erasure_id] = erasure
