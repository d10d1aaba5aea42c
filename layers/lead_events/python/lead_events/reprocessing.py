"""The work of a reprocessing: each message is one slice of one segment.

::

    message (job, segment, slice) ──► job running? ──► slice still the next? ──► some leads ──► position and counts in one
         ▲                              no: parked          no: somebody was faster                conditional write
         └──────────────────────────────────────── message of the next slice ◄──────────────────────────┘

A message may come twice, late, or never. A slice that is worked on twice is counted once, because its write asks for the
slice number it began with. Whoever loses that race leaves the segment to the winner, unless its own message was delivered
again: then the winner may have died before it sent the next one, so that one is sent (again). Messages that are lost are
sent anew by a resume. Nothing is published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from lead_events.errors import InvalidError, LeadEventsError, UnavailableError
from lead_events.instants import Clock
from lead_events.jobs import Job, Kind, LeadKey, LeadResult, LeadTask, Scope, Segment, Status, Tally
from lead_events.observability import log_failure
from lead_events.ports import LeadScan, ReprocessingStore, WorkQueue
from lead_events.strict_json import dumps, loads

SLICE: Final = timedelta(seconds=5)
"""Time after which a slice ends and its progress shows; a lead that was begun is finished."""
CHUNK: Final = 16
"""Leads under way at once."""
ATTEMPTS: Final = 5
"""Slices that may begin with a lead for which a service does not answer, before that lead is passed over as failed."""
_LONGEST_PAUSE: Final = 60  # seconds before such an attempt

Tasks = Mapping[tuple[Kind, bool], LeadTask]
"""What is done with a lead, by kind and whether it is a dry run."""


@dataclass(frozen=True, slots=True)
class Message:
    """One slice of a segment, to be worked on."""

    owner: str
    job_id: str
    segment: int
    slice: int
    attempt: int = 0

    @classmethod
    def next_of(cls, job: Job, segment: Segment) -> Message:
        """The message of the slice that comes next."""
        return cls(job.scope.owner, job.job_id, segment.number, segment.slices)

    def write(self) -> str:
        return dumps({"owner": self.owner, "jobId": self.job_id, "segment": self.segment, "slice": self.slice,
                      "attempt": self.attempt})  # fmt: skip

    @classmethod
    def read(cls, text: str) -> Message:
        """Inverse of ``write``. Raises ``RejectedError`` for anything else: the queue keeps it."""
        value = loads(text)
        fields = value if isinstance(value, dict) else {}
        numbers = [each for name in ("segment", "slice", "attempt") if isinstance(each := fields.get(name), int)]
        if len(numbers) != 3:
            raise InvalidError("The message is no slice of a reprocessing.")
        return cls(str(fields.get("owner")), str(fields.get("jobId")), *numbers)


class Reprocessor:
    """A worker. Several may be at the same job."""

    def __init__(
        self,
        *,
        jobs: ReprocessingStore,
        queue: WorkQueue,
        scan: LeadScan,
        tasks: Tasks,
        clock: Clock,
        executor: Executor,
    ) -> None:
        self._jobs = jobs
        self._queue = queue
        self._scan = scan
        self._tasks = tasks
        self._clock = clock
        self._executor = executor

    def work(self, text: str, *, redelivered: bool) -> Tally:
        """Do what a message asks for; raise where it must stay on the queue. What came of it is given back.

        ``redelivered`` says that the message was received before.
        """
        message = Message.read(text)
        job = self._jobs.get(message.owner, message.job_id)
        segment = self._jobs.segment(job, message.segment) if job and job.status is Status.RUNNING else None
        if job is None or segment is None:  # paused, over, or erased: a resume sends a message of its own
            return Tally()
        if segment.done:
            finish(self._jobs, job, self._clock())
            return Tally()
        if segment.slices != message.slice:
            if redelivered:
                send_next(self._queue, job, segment)
            return Tally()
        return self._go_on(job, segment, message, redelivered=redelivered)

    def _go_on(self, job: Job, segment: Segment, message: Message, *, redelivered: bool) -> Tally:
        came = _Slice(segment.position)
        self._slice(job, segment, came, patient=message.attempt < ATTEMPTS)
        if came.interrupted and not came.moved:
            again = replace(message, attempt=message.attempt + 1)
            self._queue.send(again.write(), min(2**again.attempt, _LONGEST_PAUSE))
            return Tally()
        moved = replace(
            segment,
            slices=segment.slices + 1,
            position=came.position,
            done=not came.more,
            tally=segment.tally + came.tally,
            moved_at=self._clock(),
        )
        if not self._jobs.advance(job, moved):
            if redelivered and (found := self._jobs.segment(job, segment.number)):
                send_next(self._queue, job, found)
            return Tally()
        if moved.done:
            finish(self._jobs, job, self._clock())
        else:
            send_next(self._queue, job, moved)
        return came.tally

    def _slice(self, job: Job, segment: Segment, came: _Slice, *, patient: bool) -> None:
        """Take leads one chunk after the other until the time is over, the segment ends or a service does not answer."""
        ends = self._clock() + SLICE
        task = self._tasks[job.kind, job.dry_run]
        while came.more and not came.interrupted:
            if came.moved and self._clock() >= ends:
                return
            try:
                leads, behind, more = self._leads(job, segment, came.position, ends)
            except UnavailableError:
                if not came.moved:
                    raise
                return
            results = list(self._executor.map(_guarded(task), leads))  # all of them, before anything is decided
            for lead, result in zip(leads, results, strict=True):
                if isinstance(result, UnavailableError) and (patient or came.moved):
                    came.interrupted = True
                    break
                came.take(lead, result)
            else:
                came.position, came.more, came.moved = behind, more, True

    def _leads(
        self, job: Job, segment: Segment, after: LeadKey | None, ends: datetime
    ) -> tuple[list[LeadKey], LeadKey | None, bool]:
        """The next leads of the job's scope, where the scan stands behind them, and whether there may be more."""
        scope = job.scope
        if scope.organization_id is not None and scope.lead_id is not None:
            lead = (scope.organization_id, scope.lead_id)
            return [lead], lead, False
        found: list[LeadKey] = []
        more = True
        while more and len(found) < CHUNK:
            page = self._scan.page(segment.number, job.segments, after)
            found += [lead for lead in page.leads if scope.organization_id in (None, lead[0])]
            after, more = (page.leads[-1] if page.leads else after), page.more
            if self._clock() >= ends:
                break
        return found, after, more


class _Slice:
    """What a slice has done so far."""

    def __init__(self, position: LeadKey | None) -> None:
        self.position = position
        self.tally = Tally()
        self.more = True
        self.moved = False
        self.interrupted = False

    def take(self, lead: LeadKey, result: LeadResult | Exception) -> None:
        """Count a lead and stand behind it."""
        if isinstance(result, Exception):
            code = result.code if isinstance(result, LeadEventsError) else LeadEventsError.default_code
            result = LeadResult(0, failure=code)
        self.tally = self.tally.with_result(lead, result)
        self.position, self.moved = lead, True


def send_next(queue: WorkQueue, job: Job, *segments: Segment) -> None:
    """Send the messages of the next slices of those segments that are not done."""
    for segment in segments:
        if not segment.done:
            queue.send(Message.next_of(job, segment).write())


def finish(jobs: ReprocessingStore, job: Job, now: datetime) -> bool:
    """Close a running job if all its segments are done."""
    if not all(segment.done for segment in jobs.segments(job)):
        return False
    return jobs.change(replace(job, status=Status.DONE, changed_at=now), Status.RUNNING)


def new_segments(scope: Scope, count: int) -> Sequence[Segment]:
    """The segments of a new job: one where it is about a single lead."""
    return [Segment(number=number) for number in range(1 if scope.lead_id else count)]


def _guarded(task: LeadTask) -> Callable[[LeadKey], LeadResult | Exception]:
    """``task`` with its error as its result: one lead must not stop the others."""

    def call(lead: LeadKey) -> LeadResult | Exception:
        try:
            return task(*lead)
        except Exception as error:  # noqa: BLE001  # whatever it is, the job names the lead and goes on
            organization_id, lead_id = lead
            log_failure("lead not reprocessed", error, organizationId=organization_id, leadId=lead_id)
            return error

    return call
