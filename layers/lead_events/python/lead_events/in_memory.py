"""The pipeline without AWS: for tests, benchmarks and tools."""

from __future__ import annotations

from lead_events.admission import Admission
from lead_events.identity import Resolver
from lead_events.instants import Clock, now
from lead_events.lifecycles import Lifecycles
from lead_events.pipeline import Pipeline
from lead_events.ports import (
    Bus,
    ClaimStore,
    ErasureStore,
    EventStore,
    IdentityStore,
    ObjectStore,
    OrganizationStore,
    RejectionStore,
    WorkQueue,
)
from lead_events.presence import Presence
from lead_events.store import memory
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_organizations import InMemoryOrganizations
from lead_events.store.memory_queue import InMemoryQueue


def pipeline_in_memory(
    *,
    events: EventStore | None = None,
    claims: ClaimStore | None = None,
    objects: ObjectStore | None = None,
    identities: IdentityStore | None = None,
    rejections: RejectionStore | None = None,
    bus: Bus | None = None,
    organizations: OrganizationStore | None = None,
    erasures: ErasureStore | None = None,
    leftovers: WorkQueue | None = None,
    clock: Clock = now,
) -> Pipeline:
    """A pipeline of twins in memory, each of which may be replaced: for tests and tools."""
    claims = claims if claims is not None else memory.InMemoryClaims()  # an empty one is falsy
    organizations = organizations or InMemoryOrganizations(claims)
    if erasures is None:
        known = organizations if isinstance(organizations, InMemoryOrganizations) else InMemoryOrganizations(claims)
        erasures = InMemoryErasures(known)
    lifecycles = Lifecycles(organizations, clock)
    resolver = Resolver(identities or memory.InMemoryIdentities(), lambda: "in memory")
    return Pipeline(
        events=events or memory.InMemoryEvents(),
        claims=claims,
        objects=objects or memory.InMemoryObjects(),
        resolver=resolver,
        rejections=rejections or memory.InMemoryRejections(),
        bus=bus or memory.InMemoryBus(),
        admission=Admission(lifecycles, Presence(lifecycles, erasures), resolver),
        leftovers=leftovers or InMemoryQueue(),
        clock=clock,
    )
