"""A pipeline in memory some of whose leads are erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lead_events.admission import Admission
from lead_events.erasure import Erasure, Status, Tombstone, lead_hash_of
from lead_events.event import Identity
from lead_events.identity import Resolver
from lead_events.in_memory import pipeline_in_memory
from lead_events.lifecycles import Lifecycles
from lead_events.presence import Presence
from lead_events.store.memory import (
    InMemoryClaims,
    InMemoryEvents,
    InMemoryIdentities,
    InMemoryObjects,
    InMemoryRejections,
)
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_organizations import InMemoryOrganizations
from lead_events.store.memory_queue import InMemoryQueue
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.clock import START, FakeClock

ERASED_AT = START + timedelta(hours=1)


class CountingErasures(InMemoryErasures):
    """Counts how often a tombstone is looked for."""

    looks = 0

    def tombstone(self, organization_id: str, lead_id: str) -> Tombstone | None:
        self.looks += 1
        return super().tombstone(organization_id, lead_id)


class Land:
    """Stores, a pipeline over them, and ways to erase."""

    def __init__(self) -> None:
        self.clock = FakeClock(START + timedelta(days=1))
        self.begun = 0
        self.claims = InMemoryClaims()
        self.events = InMemoryEvents()
        self.objects = InMemoryObjects()
        self.rejections = InMemoryRejections()
        self.identities = InMemoryIdentities()
        self.organizations = InMemoryOrganizations(self.claims)
        self.erasures = CountingErasures(self.organizations)
        self.leftovers = InMemoryQueue()
        self.pipeline = pipeline_in_memory(
            events=self.events,
            claims=self.claims,
            objects=self.objects,
            rejections=self.rejections,
            identities=self.identities,
            organizations=self.organizations,
            erasures=self.erasures,
            leftovers=self.leftovers,
            clock=self.clock,
        )
        self.lifecycles = Lifecycles(self.organizations, self.clock, lambda: 0.0)
        self.resolver = Resolver(self.identities, lambda: "in memory")
        self.presence = Presence(self.lifecycles, self.erasures)
        self.admission = Admission(self.lifecycles, self.presence, self.resolver)

    def begin(self, lead_id: str | None = LEAD, organization_id: str = ORGANIZATION) -> Erasure:
        """An erasure that is under way; ``None`` is of the whole organisation."""
        self.begun += 1
        return self.erasures.start(
            Erasure(
                organization_id=organization_id,
                erasure_id=f"era_{lead_id}_{self.begun}",
                lead_id=lead_id,
                lead_hash=lead_hash_of(organization_id, lead_id) if lead_id else None,
                requested_at=START,
                requested_by="test",
            )
        )

    def end(self, erasure: Erasure, until: datetime = ERASED_AT) -> None:
        self.erasures.finish(replace(erasure, status=Status.DONE, until=until, completed_at=until))

    def erase(self, lead_id: str = LEAD, *, identities: Sequence[Identity] = (), until: datetime = ERASED_AT) -> None:
        """All of it at once: identities become tombstones, and claims of the lead's events."""
        erasure = self.begin(lead_id)
        for key in self.resolver.known_as(ORGANIZATION, identities):
            self.identities.erase(key, until)
        self.end(erasure, until)
