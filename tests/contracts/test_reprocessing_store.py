"""What every store of reprocessings promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lead_events.jobs import Difference, Failure, Job, Kind, Scope, Segment, Status, Tally
from lead_events.ports import ReprocessingStore
from tests.contracts.conftest import Aws
from tests.support.aws import create_reprocessings
from tests.support.clock import START


def job(number: int = 1, **changes: Any) -> Job:
    values: dict[str, Any] = {
        "job_id": f"rep_019d254b-8700-7000-8000-{number:012d}",
        "scope": Scope("org_A"),
        "kind": Kind.MEMORIES,
        "segments": 3,
        "started_at": START,
        "changed_at": START,
    }
    return Job(**values | changes)


def segments(count: int = 3) -> list[Segment]:
    return [Segment(number=number) for number in range(count)]


@pytest.mark.parametrize("scope", [Scope(), Scope("org_A"), Scope("org_A", "lead_1")])
def test_a_started_job_is_found_with_its_segments(jobs: ReprocessingStore, scope: Scope) -> None:
    started = job(scope=scope, kind=Kind.RETRANSLATION, dry_run=True, expected_events=10**9)
    assert jobs.start(started, segments()) is None
    assert jobs.get(scope.owner, started.job_id) == started
    assert jobs.segments(started) == segments()
    assert jobs.segment(started, 2) == Segment(number=2)
    assert jobs.segment(started, 3) is None
    assert jobs.get("ORG#org_B", started.job_id) is None
    assert jobs.get(scope.owner, job(2).job_id) is None


def test_a_thing_of_the_store_that_is_no_job_is_never_taken_for_one(jobs: ReprocessingStore) -> None:
    started = job()
    jobs.start(started, segments())
    for name in (f"segment#{started.job_id}#0000", "running#", ""):
        assert jobs.get("ORG#org_A", name) is None


def test_the_same_scope_has_one_open_job_until_that_is_closed(jobs: ReprocessingStore) -> None:
    first, second = job(1), job(2)
    assert jobs.start(first, segments()) is None
    assert jobs.start(first, segments()) is None  # the same call, sent again
    assert jobs.start(second, segments()) == first.job_id
    assert jobs.get("ORG#org_A", second.job_id) is None
    paused = replace(first, status=Status.PAUSED)
    assert jobs.change(paused, Status.RUNNING)
    assert jobs.start(second, segments()) == first.job_id
    assert jobs.change(replace(first, status=Status.CANCELLED), Status.PAUSED)
    assert jobs.start(second, segments()) is None
    assert jobs.start(job(3, scope=Scope("org_A", "lead_1")), segments()) is None
    assert jobs.start(job(4, scope=Scope()), segments()) is None


def test_of_many_that_start_at_once_one_does(jobs: ReprocessingStore) -> None:
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda number: jobs.start(job(number), segments()), range(10)))
    [winner] = [number for number, answer in enumerate(answers) if answer is None]
    assert {answer for answer in answers if answer} == {job(winner).job_id}


def test_a_status_changes_from_the_expected_one_alone(jobs: ReprocessingStore) -> None:
    started = job()
    jobs.start(started, segments())
    changed = replace(started, status=Status.PAUSED, changed_at=START + timedelta(hours=1), idle=timedelta(seconds=90))
    assert jobs.change(changed, Status.RUNNING)
    assert jobs.get("ORG#org_A", started.job_id) == changed
    assert not jobs.change(replace(started, status=Status.DONE), Status.RUNNING)
    assert jobs.get("ORG#org_A", started.job_id) == changed
    assert not jobs.change(job(9), Status.RUNNING)


def test_a_segment_goes_on_by_one_and_keeps_what_was_counted(jobs: ReprocessingStore) -> None:
    started = job()
    jobs.start(started, segments())
    fields = {"total": {"is": None, "wouldBe": 3}, "list": {"is": [1, "a", {}], "wouldBe": ""}}
    tally = Tally(
        5, 60, 7, 1, (Failure("org_A", "lead_9", "unavailable"),), (Difference("org_A", "lead_1", "ticket", fields),)
    )
    moved = Segment(number=1, slices=1, position=("org_A", "lead_9"), tally=tally, moved_at=START)
    assert jobs.advance(started, moved)
    assert jobs.segment(started, 1) == moved
    assert jobs.segments(started) == [Segment(number=0), moved, Segment(number=2)]
    done = replace(moved, slices=2, done=True)
    assert jobs.advance(started, done)
    assert not jobs.advance(started, replace(moved, position=("org_A", "lead_8")))
    assert not jobs.advance(started, replace(moved, slices=4))
    assert jobs.segment(started, 1) == done


def test_of_many_that_end_the_same_slice_one_counts(jobs: ReprocessingStore) -> None:
    started = job()
    jobs.start(started, segments())
    ends = [Segment(number=0, slices=1, position=("org_A", f"lead_{n}"), tally=Tally(1, n)) for n in range(10)]
    with ThreadPoolExecutor(10) as threads:
        won = [
            end
            for end, done in zip(ends, threads.map(lambda end: jobs.advance(started, end), ends), strict=True)
            if done
        ]
    assert [jobs.segment(started, 0)] == won


def test_a_page_has_the_owners_jobs_newest_first(jobs: ReprocessingStore) -> None:
    mine = [job(number, scope=Scope("org_A", f"lead_{number}")) for number in range(1, 8)]
    for each in [*mine, job(100, scope=Scope()), job(101, scope=Scope("org_B"))]:
        jobs.start(each, segments())
    found, after = [], None
    for _ in range(4):
        page = jobs.page("ORG#org_A", after, 3)
        found += page.jobs
        after = page.after
        if after is None:
            break
    assert found == mine[::-1]
    assert [each.job_id for each in jobs.page("ALL", None, 3).jobs] == [job(100).job_id]
    assert jobs.page("ORG#org_C", None, 3).jobs == []


def test_our_own_write_sent_again_by_botocore_counts_as_done(aws: Aws) -> None:
    from lead_events.store.reprocessings import DynamoDbReprocessings

    create_reprocessings(aws.dynamodb, aws.name)
    store = DynamoDbReprocessings(aws.dynamodb, aws.name)
    started = job()
    store.start(started, segments())
    moved = Segment(number=0, slices=1, position=("org_A", "lead_9"), tally=Tally(1, 2), moved_at=START)
    assert store.advance(started, moved)
    assert store.advance(started, moved)
    assert not store.advance(job(9), moved)


def test_a_job_of_many_segments_is_read_whole(jobs: ReprocessingStore) -> None:
    started = job(segments=40)
    jobs.start(started, segments(40))
    big = Tally(
        samples=tuple(
            Difference("org_A", "lead_1", str(n), {"a": {"is": "x" * 300, "wouldBe": "y" * 300}}) for n in range(10)
        )
    )
    moved = [Segment(number=number, slices=1, tally=big, moved_at=START) for number in range(40)]
    assert all(jobs.advance(started, each) for each in moved)
    assert jobs.segments(started) == moved
