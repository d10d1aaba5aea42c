"""Reprocessings as the API offers them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from lead_events.access import Caller
from lead_events.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    LeadEventsError,
    NotFoundError,
    UnavailableError,
)
from lead_events.jobs import (
    MAX_SAMPLES,
    SEGMENTS,
    STALLED_AFTER,
    Difference,
    Job,
    LeadResult,
    Scope,
    Segment,
    Status,
    Tally,
    bounded,
    progress_of,
)
from lead_events.names import Scope as TokenScope
from tests.support.clock import START
from tests.support.openapi import component
from tests.support.reprocessing import Reprocessing

MISSING = "rep_019d254b-8700-7000-8000-0123456789ab"


def world(leads: int = 20, **options: Any) -> Reprocessing:
    made = Reprocessing(**options)
    made.store({("org_A", f"lead_{number}"): 2 for number in range(leads)})
    return made


def test_a_started_job_is_running_its_segments_wait_and_it_is_shown_as_the_contract_says() -> None:
    made = world()
    shown = made.api.start("org_A", b"{}")
    component("ReprocessingProgress").validate(shown)
    assert (shown["status"], shown["kind"], shown["dryRun"]) == ("running", "memories", False)
    assert (shown["organizationId"], shown["leadId"], shown["finishedAt"]) == ("org_A", None, None)
    assert sorted(each.segment for each in made.waiting()) == [0, 1, 2, 3]
    assert made.api.one("org_A", shown["reprocessingId"])["progress"]["percent"] == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("org_A", "{}"), ("org_A", '{"dryRun": true}')),
        (("org_A", '{"leadId": "lead_1"}'), ("org_A", '{"leadId": "lead_1", "kind": "retranslation"}')),
        ((None, ""), (None, "{}")),
    ],
)
def test_a_scope_has_one_open_job_and_the_refusal_names_it(first: Any, second: Any) -> None:
    made = world()
    job_id = made.api.start(first[0], first[1].encode())["reprocessingId"]
    for state in ("running", "paused"):
        assert made.api.one(first[0], job_id)["status"] == state
        with pytest.raises(ConflictError, match=job_id) as refused:
            made.api.start(second[0], second[1].encode())
        assert refused.value.code == "reprocessing_running"
        made.api.act(first[0], job_id, "pause")
    made.api.act(first[0], job_id, "cancel")
    following = made.api.start(second[0], second[1].encode())
    assert following["reprocessingId"] > job_id


def test_jobs_of_other_scopes_run_beside_each_other_and_are_known_to_their_owner_alone() -> None:
    made = world()
    asked: list[tuple[str | None, bytes]] = [
        ("org_A", b""), ("org_A", b'{"leadId": "lead_1"}'), ("org_A", b'{"leadId": "lead_2"}'), ("org_B", b""), (None, b""),
    ]  # fmt: skip
    ids = [made.api.start(owner, body)["reprocessingId"] for owner, body in asked]
    assert len(set(ids)) == 5
    for (owner, _), job_id in zip(asked, ids, strict=True):
        made.api.one(owner, job_id)
        with pytest.raises(NotFoundError):
            made.api.one("org_C", job_id)
        with pytest.raises(NotFoundError):
            made.api.one(None if owner else "org_A", job_id)


def test_a_page_shows_an_owners_jobs_newest_first_and_its_cursor_the_next() -> None:
    made = world()
    bodies = [json.dumps({"leadId": f"lead_{number}"}).encode() for number in range(5)]
    ids = [made.api.start("org_A", body)["reprocessingId"] for body in bodies]
    made.api.start("org_B", b"")
    first = made.api.page("org_A", {"limit": "3"})
    second = made.api.page("org_A", {"limit": "3", "cursor": first["cursor"]})
    component("ReprocessingPage").validate(first)
    assert [each["reprocessingId"] for each in first["items"] + second["items"]] == ids[::-1]
    assert second["cursor"] is None
    with pytest.raises(LeadEventsError):
        made.api.page("org_B", {"cursor": first["cursor"]})


def test_where_the_queue_does_not_answer_nothing_is_started_and_the_next_attempt_may() -> None:
    made = world()
    made.points.error = lambda: UnavailableError("SQS did not answer.")
    made.points.steps = {made.points.count + 3}
    with pytest.raises(UnavailableError):
        made.api.start("org_A", b"")
    started = made.api.start("org_A", b"")
    made.drain()
    assert made.api.one("org_A", started["reprocessingId"])["progress"]["leads"] == 20
    assert made.leads.done.total() == 20


@pytest.mark.parametrize("action", ["pause", "resume", "cancel"])
def test_what_is_over_cannot_be_steered_and_what_is_so_already_stays(action: str) -> None:
    made = world()
    job_id = made.api.start(None, b"")["reprocessingId"]
    states = {"pause": "paused", "resume": "running", "cancel": "cancelled"}
    for _ in range(2):
        assert made.api.act(None, job_id, action)["status"] == states[action]
    done = made.api.start("org_A", b"")["reprocessingId"]
    made.drain()
    with pytest.raises(ConflictError) as refused:
        made.api.act("org_A", done, action)
    assert refused.value.code == "reprocessing_over"


@pytest.mark.parametrize("job_id", [MISSING, "rep_1", "running#", "segment#rep_1#0000", ""])
@pytest.mark.parametrize("action", ["pause", "delete"])
def test_what_does_not_exist_is_not_found(job_id: str, action: str) -> None:
    made = world()
    with pytest.raises(NotFoundError):
        made.api.one("org_A", job_id)
    with pytest.raises(NotFoundError):
        made.api.act("org_A", job_id, action)


def test_a_job_that_always_changes_under_the_hand_is_a_503() -> None:
    made = world()
    job_id = made.api.start(None, b"")["reprocessingId"]
    made.jobs.change = lambda job, expected: False  # type: ignore[method-assign]
    with pytest.raises(UnavailableError):
        made.api.act(None, job_id, "pause")


@pytest.mark.parametrize(
    ("organization_id", "body", "field"),
    [
        ("org_A", {"leadId": "a#b"}, "leadId"),
        ("org_A", {"leadId": 7}, "leadId"),
        (None, {"leadId": "lead_1"}, "leadId"),
        ("org_A", {"kind": "everything"}, "kind"),
        ("org_A", {"kind": ["memories"]}, "kind"),
        ("org_A", {"kind": None}, "kind"),
        ("org_A", {"dryRun": "yes"}, "dryRun"),
        ("org_A", {"dryRun": 1}, "dryRun"),
        ("org_A", {"kind": "retranslation", "dryRun": False}, "dryRun"),
        ("org_A", {"lead": "lead_1"}, ""),
    ],
)
def test_a_request_that_breaks_a_rule_names_the_field_and_starts_nothing(
    organization_id: str | None, body: Any, field: str
) -> None:
    made = world()
    with pytest.raises(InvalidError) as refused:
        made.api.start(organization_id, json.dumps(body).encode())
    assert [each.field for each in refused.value.errors] == [field]
    assert made.queue.sent == []
    assert made.api.page(organization_id, {})["items"] == []


@pytest.mark.parametrize("body", [b"[]", b"7", b"null"])
def test_a_body_must_be_an_object(body: bytes) -> None:
    with pytest.raises(InvalidError):
        world().api.start("org_A", body)


def test_a_retranslation_is_a_dry_run_without_being_asked() -> None:
    shown = world().api.start("org_A", b'{"kind": "retranslation"}')
    assert (shown["kind"], shown["dryRun"]) == ("retranslation", True)


def test_the_percentage_follows_the_events_where_it_is_known_about_how_many_there_are() -> None:
    made = world(segments=1, step=timedelta(seconds=6))
    job_id = made.api.start(None, b"")["reprocessingId"]
    made.deliver(made.queue.sent.pop(0))
    progress = made.api.one(None, job_id)["progress"]
    assert (progress["events"], progress["percent"]) == (6, 15)
    assert progress["eventsPerSecond"] > 0
    assert progress["estimatedEndAt"] > progress["lastProgressAt"]
    made.drain()
    again = made.api.start("org_A", b"")["reprocessingId"]  # the first of the organisation: nobody knows
    assert made.jobs.get("ORG#org_A", again).expected_events is None  # type: ignore[union-attr]
    made.drain()
    third = made.api.start("org_A", b"")["reprocessingId"]
    assert made.jobs.get("ORG#org_A", third).expected_events == 40  # type: ignore[union-attr]


def job(**changes: Any) -> Job:
    values = {"job_id": MISSING, "scope": Scope(), "started_at": START, "changed_at": START, "segments": 4}
    return Job(**values | changes)


def segments(done: int, events: int = 0, moved: float | None = 0) -> list[Segment]:
    at = None if moved is None else START + timedelta(seconds=moved)
    return [Segment(number=n, done=n < done, moved_at=at, tally=Tally(1, events)) for n in range(4)]


def test_the_rate_leaves_out_the_time_in_which_it_was_paused() -> None:
    now = START + timedelta(seconds=100)
    assert progress_of(job(idle=timedelta(seconds=60)), segments(2, 10), now).events_per_second == 1
    paused = job(status=Status.PAUSED, changed_at=START + timedelta(seconds=40))
    assert progress_of(paused, segments(2, 10), now).events_per_second == 1
    done = job(status=Status.DONE, changed_at=START + timedelta(seconds=10))
    assert progress_of(done, segments(4, 10), now).events_per_second == 4
    assert progress_of(done, segments(4, 10), now).remaining() is None
    assert progress_of(job(), segments(2), now).remaining() == timedelta(seconds=100)
    assert progress_of(job(), segments(0, moved=None), START).events_per_second is None


@pytest.mark.parametrize(
    ("status", "changed", "moved", "stalled"),
    [
        (Status.RUNNING, 0, 0, True),
        (Status.RUNNING, 0, None, True),
        (Status.RUNNING, 0, 10, False),
        (Status.RUNNING, 10, 0, False),
        (Status.PAUSED, 0, 0, False),
        (Status.DONE, 0, 0, False),
    ],
)
def test_a_running_job_without_progress_for_minutes_is_stalled(
    status: Status, changed: int, moved: float | None, stalled: bool
) -> None:
    now = START + STALLED_AFTER + timedelta(seconds=1)
    shown = progress_of(
        job(status=status, changed_at=START + timedelta(seconds=changed)), segments(1, moved=moved), now
    )
    assert shown.stalled is stalled


def test_an_estimate_never_says_that_it_is_done_before_it_is() -> None:
    assert progress_of(job(expected_events=10), segments(3, 100), START).share == 0.99
    assert progress_of(job(expected_events=10), segments(4, 100), START).share == 1


def test_no_more_samples_are_kept_than_are_shown() -> None:
    many = [Difference("org_A", "lead_1", str(number), {}) for number in range(MAX_SAMPLES + 5)]
    tally = Tally().with_result(("org_A", "lead_1"), LeadResult(1, 15, many))
    assert (len(tally.samples), tally.changed) == (MAX_SAMPLES, 15)
    assert len((tally + tally).samples) == MAX_SAMPLES


def test_a_long_value_is_shown_by_its_beginning() -> None:
    assert bounded({"a": 1}) == {"a": 1}
    assert bounded("x" * 400) == '"' + "x" * 299 + "…"


def test_there_are_as_many_segments_as_workers_may_be() -> None:
    assert SEGMENTS == 8


def test_an_organisations_reprocessings_are_for_its_own_administrators_and_everything_for_the_platforms() -> None:
    bound = Caller.of({"scope": TokenScope.ADMIN, "organization_id": "org_A"})
    platform = Caller.of({"scope": f"{TokenScope.ADMIN} {TokenScope.ALL_ORGANIZATIONS}"})
    neither = Caller.of({"scope": TokenScope.ADMIN})
    bound.may_administer("org_A")
    platform.may_administer("org_A")
    platform.may_administer(None)
    for caller, organization_id, error in ((bound, "org_B", NotFoundError), (bound, None, ForbiddenError),
                                           (neither, "org_A", ForbiddenError), (neither, None, ForbiddenError),
                                           (platform, "a#b", NotFoundError)):  # fmt: skip
        with pytest.raises(error):
            caller.may_administer(organization_id)
