"""The twins in memory of reprocessings and of the scan over all leads."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import Final

from lead_events.jobs import Job, LeadKey, Scope, Segment, Status
from lead_events.names import lead_key
from lead_events.ports import JobPage, LeadPage
from lead_events.store.memory import InMemoryEvents

_LEADS: Final = 3


class InMemoryReprocessings:
    """Jobs and segments in dicts."""

    def __init__(self) -> None:
        self._jobs: dict[tuple[str, str], Job] = {}
        self._segments: dict[tuple[str, int], Segment] = {}
        self._holders: dict[Scope, str] = {}
        self._lock = threading.Lock()

    def start(self, job: Job, segments: Sequence[Segment]) -> str | None:
        with self._lock:
            holder = self._holders.setdefault(job.scope, job.job_id)
            if holder != job.job_id:
                return holder
            self._jobs[job.scope.owner, job.job_id] = job
            self._segments |= {(job.job_id, each.number): each for each in segments}
            return None

    def get(self, owner: str, job_id: str) -> Job | None:
        return self._jobs.get((owner, job_id))

    def page(self, owner: str, after: str | None, limit: int) -> JobPage:
        ids = sorted((job_id for each, job_id in self._jobs if each == owner), reverse=True)
        behind = [each for each in ids if after is None or each < after]
        chosen = [self._jobs[owner, each] for each in behind[:limit]]
        return JobPage(chosen, chosen[-1].job_id if len(behind) > limit else None)

    def segment(self, job: Job, number: int) -> Segment | None:
        return self._segments.get((job.job_id, number))

    def segments(self, job: Job) -> list[Segment]:
        return [self._segments[job.job_id, number] for number in range(job.segments)]

    def change(self, job: Job, expected: Status) -> bool:
        with self._lock:
            known = self._jobs.get((job.scope.owner, job.job_id))
            if known is None or known.status is not expected:
                return False
            self._jobs[job.scope.owner, job.job_id] = job
            if not job.status.open:
                del self._holders[job.scope]
            return True

    def advance(self, job: Job, segment: Segment) -> bool:
        with self._lock:
            key = (job.job_id, segment.number)
            if self._segments[key].slices != segment.slices - 1:
                return False
            self._segments[key] = segment
            return True


class InMemoryLeads:
    """The leads of events in memory, in the order of a hash as DynamoDB has them."""

    def __init__(self, events: InMemoryEvents) -> None:
        self._events = events

    def page(self, segment: int, segments: int, after: LeadKey | None) -> LeadPage:
        leads = {(event.organization_id, event.lead_id) for event in self._events.all()}
        mine = sorted((_hash(lead), lead) for lead in leads if _hash(lead) % segments == segment)
        behind = [lead for place, lead in mine if after is None or place > _hash(after)]
        return LeadPage(behind[:_LEADS], more=len(behind) > _LEADS)

    def count(self) -> int | None:
        return len(self._events.all()) or None


def _hash(lead: LeadKey) -> int:
    return int.from_bytes(hashlib.sha256(lead_key(*lead).encode()).digest()[:8], "big")
