"""Reprocessings: what is asked for, and how far it has come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from lead_events.jobs import MAX_FAILURES, MAX_SAMPLES, Difference, Job, Kind, Scope, Segment, Status, Tally
from lead_events.names import ID_PATTERN
from lead_events.openapi_schemas._parts import Schema, cursor, many, obj, own_id, ref, text, time
from lead_events.openapi_schemas.samples import LEAD, ORGANIZATION
from lead_events.reprocessings import job_json, shown

REPROCESSING_ID_PATTERN: Final = "^rep_[0-9a-f-]{36}$"
_BEGIN: Final = datetime(2026, 3, 25, 14, tzinfo=UTC)


def schemas() -> dict[str, Schema]:
    """Request, job, page and progress."""
    return {
        "NewReprocessing": {
            "description": "What to work on. Of everything that may be said, all may be left out: then the memories of all "
            "leads of the path are rebuilt.",
            "type": "object",
            "properties": {
                "leadId": text("Only this lead", null=True, pattern=f"^{ID_PATTERN}$"),
                "kind": _kind(),
                "dryRun": {
                    "description": "Write nothing and tell what would change. A retranslation is never anything else.",
                    "type": ["boolean", "null"],
                },
            },
            "additionalProperties": False,
        },
        "Reprocessing": obj("A reprocessing.", _job()),
        "ReprocessingProgress": obj(
            "A reprocessing, how far it has come and what it found.",
            _job()
            | {
                "progress": _progress(),
                "failures": many(_failure(), maxItems=MAX_FAILURES),
                "samples": many(_sample(), maxItems=MAX_SAMPLES),
            },
        ),
        "ReprocessingPage": obj(
            "A page, newest first. The next one is asked for with the `cursor`.",
            {"items": many(ref("Reprocessing")), "cursor": cursor()},
        ),
    }


def job_sample() -> dict[str, Any]:
    """A rebuild of an organisation that is under way, without its progress."""
    return job_json(_sample_job())


def progress_sample(*, dry_run: bool = False) -> dict[str, Any]:
    """The same with its progress; or a dry run of a lead, with what it found."""
    done = timedelta(seconds=75)
    tally = Tally(leads=1_210, events=24_050, changed=9_340)
    segments = [
        Segment(number=number, slices=15, done=number < 3, moved_at=_BEGIN + done, tally=Tally()) for number in range(8)
    ]
    job = _sample_job()
    if dry_run:
        fields = {"total": {"is": None, "wouldBe": 3}}
        tally = Tally(1, 214, 1, samples=(Difference(ORGANIZATION, LEAD, "ticket", fields),))
        segments = [Segment(number=0, slices=1, done=True, moved_at=_BEGIN + done)]
        job = Job(
            job_id=job.job_id,
            scope=Scope(ORGANIZATION, LEAD),
            dry_run=True,
            segments=1,
            started_at=_BEGIN,
            status=Status.DONE,
            changed_at=_BEGIN + done,
        )
    segments[0] = Segment(number=0, slices=15, done=True, moved_at=_BEGIN + done, tally=tally)
    return shown(job, segments, _BEGIN + done)


def _sample_job() -> Job:
    return Job(
        job_id="rep_019d254b-8700-7000-8000-0123456789ab",
        scope=Scope(ORGANIZATION),
        expected_events=50_000,
        started_at=_BEGIN,
        changed_at=_BEGIN,
    )


def _kind() -> Schema:
    return {
        "description": "`memories`: fold them anew from the events; `retranslation`: tell what the stored raw payloads would "
        "become with today's translation.",
        "enum": [str(each) for each in Kind],
    }


def _job() -> dict[str, Schema]:
    return {
        "reprocessingId": text("Id; sorts by time", pattern=REPROCESSING_ID_PATTERN),
        "organizationId": text("The organization; null for everything", null=True, pattern=f"^{ID_PATTERN}$"),
        "leadId": text("The only lead, if there is one", null=True, pattern=f"^{ID_PATTERN}$"),
        "kind": _kind(),
        "dryRun": {"description": "Whether nothing is written.", "type": "boolean"},
        "status": {"description": "Where it stands.", "enum": [str(each) for each in Status]},
        "startedAt": time("When it was started"),
        "changedAt": time("When its status changed last"),
        "finishedAt": _time_or_null("When it was done or cancelled"),
    }


def _progress() -> Schema:
    return obj(
        "How far it has come.",
        {
            "segments": obj("Parts of the work.", {"done": _count("Finished"), "total": _count("All")}),
            "leads": _count("Leads worked on"),
            "events": _count("Events read; of a retranslation those with a provider's raw payload"),
            "changed": _count("Memories written, or that would be; events that would be different"),
            "failed": _count("Leads that could not be worked on; `failures` names some"),
            "percent": {"description": "Estimated; 100 when done.", "type": "integer", "minimum": 0, "maximum": 100},
            "eventsPerSecond": {"description": "On average; pauses left out.", "type": ["number", "null"]},
            "estimatedEndAt": _time_or_null("When it may be done"),
            "lastProgressAt": time("When it came on last"),
            "stalled": {"description": "Running, but without progress for minutes: resume it.", "type": "boolean"},
        },
    )


def _failure() -> Schema:
    return obj(
        "A lead that could not be worked on.",
        {
            "organizationId": own_id("Organization"),
            "leadId": own_id("Lead"),
            "code": text("Why: the code of a problem; `internal_error` or `unfoldable_event` is a fault of ours"),
        },
    )


def _sample() -> Schema:
    both = {"description": "Long values are cut to the beginning of their JSON."}
    return obj(
        "One difference that a dry run found.",
        {
            "organizationId": own_id("Organization"),
            "leadId": own_id("Lead"),
            "subject": text("The memory's category, or the event's id"),
            "fields": {
                "description": "The differing fields at the top, with what is and what would be.",
                "type": "object",
                "additionalProperties": obj("Both values.", {"is": both, "wouldBe": both}),
            },
        },
    )


def _count(of: str) -> Schema:
    return {"description": f"{of}.", "type": "integer", "minimum": 0}


def _time_or_null(description: str) -> Schema:
    return {**time(description), "type": ["string", "null"]}
