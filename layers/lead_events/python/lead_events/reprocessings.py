"""Reprocessings as the API offers them: start, watch, pause, resume, cancel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from lead_events.cursors import Cursors
from lead_events.errors import ConflictError, FieldError, InvalidError, NotFoundError, UnavailableError
from lead_events.event import check_id, new_event_id
from lead_events.instants import Clock, format_instant
from lead_events.jobs import (
    MAX_FAILURES,
    MAX_SAMPLES,
    SEGMENTS,
    Job,
    Kind,
    Progress,
    Scope,
    Segment,
    Status,
    progress_of,
)
from lead_events.ports import LeadScan, ReprocessingStore, WorkQueue
from lead_events.queries import read_limit
from lead_events.reprocessing import finish, new_segments, send_next
from lead_events.strict_json import decode_text, loads

_ID: Final = re.compile(r"rep_[0-9a-f-]{36}", re.ASCII)
_FIELDS: Final = frozenset({"leadId", "dryRun", "kind"})
_ACTIONS: Final = {"pause": Status.PAUSED, "resume": Status.RUNNING, "cancel": Status.CANCELLED}
_ATTEMPTS: Final = 5
_LATEST: Final = 20
"""Jobs among which the one is sought that tells about how many events an organisation has."""


class Reprocessings:
    """Starts and steers reprocessings. Who may is settled before."""

    def __init__(
        self,
        *,
        jobs: ReprocessingStore,
        queue: WorkQueue,
        scan: LeadScan,
        cursors: Cursors,
        clock: Clock,
        segments: int = SEGMENTS,
    ) -> None:
        self._jobs = jobs
        self._queue = queue
        self._scan = scan
        self._cursors = cursors
        self._clock = clock
        self._segments = segments

    def start(self, organization_id: str | None, body: bytes) -> dict[str, Any]:
        """Start what ``body`` asks for; ``None`` is everything. Raises ``ConflictError``, which names the scope's open job."""
        scope, kind, dry_run = read_request(organization_id, body)
        now = self._clock()
        segments = new_segments(scope, self._segments)
        job = Job(
            job_id=f"rep_{new_event_id(now).removeprefix('evt_')}",
            scope=scope,
            kind=kind,
            dry_run=dry_run,
            segments=len(segments),
            expected_events=self._expected(scope),
            started_at=now,
            changed_at=now,
        )
        if (other := self._jobs.start(job, segments)) is not None:
            raise ConflictError(
                f"The reprocessing {other} of the same scope is not over; wait, or resume or cancel it.",
                code="reprocessing_running",
            )
        try:
            send_next(self._queue, job, *segments)
        except UnavailableError:  # not started: nobody shall have to clear it away before the next attempt
            self._jobs.change(replace(job, status=Status.CANCELLED, changed_at=self._clock()), Status.RUNNING)
            raise
        return self._shown(job)

    def one(self, organization_id: str | None, job_id: str) -> dict[str, Any]:
        """A job and its progress."""
        return self._shown(self._job(organization_id, job_id))

    def page(self, organization_id: str | None, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Jobs of an organisation, or of everything, newest first: ``{"items": […], "cursor": …}``."""
        owner, limit, cursor = Scope(organization_id).owner, read_limit(parameters), parameters.get("cursor")
        bound = ["reprocessings", owner]
        after = self._cursors.open(bound, cursor).decode() if cursor else None
        page = self._jobs.page(owner, after, limit)
        following = self._cursors.seal(bound, page.after.encode()) if page.after else None
        return {"items": [job_json(each) for each in page.jobs], "cursor": following}

    def act(self, organization_id: str | None, job_id: str, action: str) -> dict[str, Any]:
        """Pause, resume or cancel a job; what is so already stays so. Raises ``ConflictError`` where the job is over."""
        if action not in _ACTIONS:
            raise NotFoundError
        wanted = _ACTIONS[action]
        for _ in range(_ATTEMPTS):
            job = self._job(organization_id, job_id)
            if job.status is wanted and wanted is not Status.RUNNING:  # a running one may have lost its messages
                return self._shown(job)
            if not job.status.open:
                raise ConflictError("The reprocessing is over.", code="reprocessing_over")
            now = self._clock()
            pause = now - job.changed_at if job.status is Status.PAUSED else timedelta()
            changed = replace(job, status=wanted, changed_at=now, idle=job.idle + pause)
            if self._jobs.change(changed, job.status):
                if wanted is Status.RUNNING:
                    self._take_up(changed)
                return self.one(organization_id, job_id)
        raise UnavailableError("The reprocessing changes faster than it can be steered.")

    def _take_up(self, job: Job) -> None:
        """Send the next message of each segment that is not done. One that is still under way does no harm."""
        send_next(self._queue, job, *self._jobs.segments(job))
        finish(self._jobs, job, self._clock())

    def _job(self, organization_id: str | None, job_id: str) -> Job:
        found = self._jobs.get(Scope(organization_id).owner, job_id) if _ID.fullmatch(job_id) else None
        if found is None:
            raise NotFoundError
        return found

    def _expected(self, scope: Scope) -> int | None:
        """About how many events there are: as the table counts, or as many as the last time."""
        if scope == Scope():
            return self._scan.count()
        for job in self._jobs.page(scope.owner, None, _LATEST).jobs:
            if job.scope == scope and job.kind is Kind.MEMORIES and job.status is Status.DONE:
                return sum(each.tally.events for each in self._jobs.segments(job)) or None
        return None

    def _shown(self, job: Job) -> dict[str, Any]:
        return shown(job, self._jobs.segments(job), self._clock())


def read_request(organization_id: str | None, body: bytes) -> tuple[Scope, Kind, bool]:
    """Scope, kind and whether nothing is written. Raises ``RejectedError`` that names the field."""
    asked = loads(decode_text(body)) if body else {}
    if not isinstance(asked, dict):
        raise InvalidError("The body must be a JSON object.")
    if unknown := len(asked.keys() - _FIELDS):
        raise InvalidError(
            "The body has fields that it must not have.",
            code="unexpected_field",
            errors=(FieldError("", f"{unknown} field(s) are not of this request"),),
        )
    lead_id, kind, dry_run = asked.get("leadId"), asked.get("kind", Kind.MEMORIES.value), asked.get("dryRun")
    if lead_id is not None:
        check_id(lead_id, "leadId")
        if organization_id is None:
            raise InvalidError.of("leadId", "needs its organization in the path")
    if kind not in list(Kind):
        raise InvalidError.of("kind", "must be memories or retranslation")
    if dry_run is not None and not isinstance(dry_run, bool):
        raise InvalidError.of("dryRun", "must be true or false")
    if kind == Kind.RETRANSLATION and dry_run is False:
        raise InvalidError.of("dryRun", "must be true for a retranslation: events are never edited")
    retranslation = kind == Kind.RETRANSLATION
    scope = Scope(organization_id, lead_id if isinstance(lead_id, str) else None)
    return scope, Kind(str(kind)), bool(dry_run) or retranslation


def job_json(job: Job) -> dict[str, Any]:
    """A job without its progress."""
    over = not job.status.open
    return {
        "reprocessingId": job.job_id,
        "organizationId": job.scope.organization_id,
        "leadId": job.scope.lead_id,
        "kind": job.kind.value,
        "dryRun": job.dry_run,
        "status": job.status.value,
        "startedAt": format_instant(job.started_at),
        "changedAt": format_instant(job.changed_at),
        "finishedAt": format_instant(job.changed_at) if over else None,
    }


def shown(job: Job, segments: Sequence[Segment], now: datetime) -> dict[str, Any]:
    """A job with its progress and what it found."""
    progress = progress_of(job, segments, now)
    remaining = progress.remaining() if job.status is Status.RUNNING else None
    end = format_instant(now + remaining) if remaining else None
    return job_json(job) | {"progress": _progress(progress) | {"estimatedEndAt": end}} | _findings(progress)


def _progress(progress: Progress) -> dict[str, Any]:
    rate, tally = progress.events_per_second, progress.tally
    return {
        "segments": {"done": progress.segments_done, "total": progress.segments},
        "leads": tally.leads,
        "events": tally.events,
        "changed": tally.changed,
        "failed": tally.failed,
        "percent": int(progress.share * 100),
        "eventsPerSecond": None if rate is None else round(rate, 1),
        "lastProgressAt": format_instant(progress.last_progress_at),
        "stalled": progress.stalled,
    }


def _findings(progress: Progress) -> dict[str, Any]:
    failures, samples = progress.tally.failures[:MAX_FAILURES], progress.tally.samples[:MAX_SAMPLES]
    return {
        "failures": [
            {"organizationId": each.organization_id, "leadId": each.lead_id, "code": each.code} for each in failures
        ],
        "samples": [
            {
                "organizationId": each.organization_id,
                "leadId": each.lead_id,
                "subject": each.subject,
                "fields": dict(each.fields),
            }
            for each in samples
        ],
    }
