"""What every store of erasures promises of the erasures themselves; of the fence see ``test_erasure_fence``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.erasure import NOTHING, Erasure, Status, Store, Tombstone, lead_hash_of
from lead_events.ports import ErasureStore
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION
from tests.support.clock import START

HOUR = timedelta(hours=1)
_EXAMPLES = count()


def of_lead(number: int = 1, lead_id: str = LEAD, **changes: Any) -> Erasure:
    organization_id = changes.get("organization_id", ORGANIZATION)
    return of_organization(number, lead_id=lead_id, lead_hash=lead_hash_of(organization_id, lead_id), **changes)


def of_organization(number: int = 1, **changes: Any) -> Erasure:
    values: dict[str, Any] = {
        "organization_id": ORGANIZATION,
        "erasure_id": f"era_019d254b-8700-7000-8000-{number:012d}",
        "requested_at": START,
        "requested_by": "client-1",
    }
    return Erasure(**values | changes)


def done(erasure: Erasure, **changes: Any) -> Erasure:
    """The erasure as it is to be finished."""
    ends: dict[str, Any] = {"status": Status.DONE, "until": START + HOUR, "completed_at": START + 2 * HOUR}
    return replace(erasure, **ends | changes)


def stored(erasures: ErasureStore, erasure: Erasure) -> Erasure:
    found = erasures.get(erasure.organization_id, erasure.erasure_id)
    assert found is not None
    return found


BOTH = pytest.mark.parametrize("erasure", [of_lead(), of_organization()], ids=["lead", "organization"])


@BOTH
def test_an_erasure_that_starts_is_found_as_it_was_asked_for(erasures: ErasureStore, erasure: Erasure) -> None:
    assert erasures.start(erasure) == erasure
    assert erasures.get(ORGANIZATION, erasure.erasure_id) == erasure
    assert erasures.get(OTHER_ORGANIZATION, erasure.erasure_id) is None
    assert erasures.get(ORGANIZATION, of_lead(2).erasure_id) is None


@BOTH
def test_a_thing_of_the_store_that_is_no_erasure_is_never_taken_for_one(
    erasures: ErasureStore, erasure: Erasure
) -> None:
    erasures.start(erasure)
    for name in ("organization", f"lead#{lead_hash_of(ORGANIZATION, LEAD)}", "", "era_unknown"):
        assert erasures.get(ORGANIZATION, name) is None
    assert [each.erasure_id for each in erasures.page(ORGANIZATION, None, 10).erasures] == [erasure.erasure_id]


@BOTH
def test_whoever_asks_while_it_runs_is_given_the_one_that_runs(erasures: ErasureStore, erasure: Erasure) -> None:
    erasures.start(erasure)
    erasures.count(erasure, Store.EVENTS, 3)
    again = replace(erasure, erasure_id=of_lead(2).erasure_id, requested_by="client-2")
    assert erasures.start(again) == stored(erasures, erasure)
    assert erasures.get(ORGANIZATION, again.erasure_id) is None


@BOTH
def test_the_same_call_again_gives_back_its_own_erasure_also_when_that_has_ended(
    erasures: ErasureStore, erasure: Erasure
) -> None:
    assert [erasures.start(erasure), erasures.start(erasure)] == [erasure, erasure]
    erasures.finish(done(erasure))
    assert erasures.start(erasure) == stored(erasures, erasure)
    assert stored(erasures, erasure).status is Status.DONE


def test_a_lead_is_erased_again_after_its_erasure_has_ended_and_an_organisation_is_not(erasures: ErasureStore) -> None:
    for first, second in ((of_lead(1), of_lead(2)), (of_organization(3), of_organization(4))):
        erasures.start(first)
        erasures.finish(done(first))
        assert erasures.start(second) == (second if first.of_lead else stored(erasures, first))
    assert stored(erasures, of_lead(1)).status is Status.DONE
    assert stored(erasures, of_lead(2)).status is Status.RUNNING


def test_erasures_of_other_leads_and_organisations_do_not_get_in_each_others_way(erasures: ErasureStore) -> None:
    mine = [
        of_lead(1),
        of_lead(2, "lead_2"),
        of_lead(3, organization_id=OTHER_ORGANIZATION),
        of_organization(4),
        of_organization(5, organization_id=OTHER_ORGANIZATION),
    ]
    assert [erasures.start(each) for each in mine] == mine


@pytest.mark.parametrize("make", [of_lead, of_organization])
def test_of_many_that_start_at_once_one_does_and_all_hear_of_it(erasures: ErasureStore, make: Any) -> None:
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda number: erasures.start(make(number)), range(10)))
    [winner] = erasures.page(ORGANIZATION, None, 100).erasures
    assert answers == [winner] * 10


# -------------------------------------------------------------------------------------------------------- tombstones


def test_a_tombstone_has_no_end_until_its_erasure_has_one_and_stays_for_ever(erasures: ErasureStore) -> None:
    assert erasures.tombstone(ORGANIZATION, LEAD) is None
    first, second = of_lead(1), of_lead(2)
    erasures.start(first)
    erasures.advance(replace(first, slices=1, until=START))
    assert erasures.tombstone(ORGANIZATION, LEAD) == Tombstone(first.erasure_id)
    erasures.finish(done(first, slices=1))
    assert erasures.tombstone(ORGANIZATION, LEAD) == Tombstone(first.erasure_id, START + HOUR)
    erasures.start(second)
    assert erasures.tombstone(ORGANIZATION, LEAD) == Tombstone(second.erasure_id)
    erasures.finish(done(second, until=START + 3 * HOUR))
    assert erasures.tombstone(ORGANIZATION, LEAD) == Tombstone(second.erasure_id, START + 3 * HOUR)


def test_a_tombstone_is_of_one_lead_of_one_organisation(erasures: ErasureStore) -> None:
    erasures.start(of_lead())
    erasures.start(of_organization(2, organization_id=OTHER_ORGANIZATION))
    assert erasures.tombstone(ORGANIZATION, "lead_2") is None
    assert erasures.tombstone(OTHER_ORGANIZATION, LEAD) is None


# ---------------------------------------------------------------------------------------------------------- progress


@BOTH
def test_an_erasure_goes_on_by_one_and_keeps_what_was_counted(erasures: ErasureStore, erasure: Erasure) -> None:
    erasures.start(erasure)
    erasures.count(erasure, Store.EVENTS, 2)
    moved = replace(erasure, slices=1, stage=3, position="ORG#x#1", walk_started_at=START, found_until=START)
    assert erasures.advance(moved)
    assert stored(erasures, erasure) == replace(moved, found=True, counts={**NOTHING, Store.EVENTS: 2})
    again = replace(moved, slices=2, stage=0, position=None, walk_started_at=None)
    assert erasures.advance(again)
    assert stored(erasures, erasure) == replace(again, found=True, counts={**NOTHING, Store.EVENTS: 2})


@BOTH
def test_a_new_walk_has_found_nothing_yet_and_forgets_no_count(erasures: ErasureStore, erasure: Erasure) -> None:
    erasures.start(erasure)
    erasures.count(erasure, Store.CLAIMS, 1)
    assert erasures.advance(replace(erasure, slices=1, found=True, counts={}), new_walk=True)
    assert stored(erasures, erasure) == replace(erasure, slices=1, counts={**NOTHING, Store.CLAIMS: 1})


@BOTH
def test_whoever_was_slower_does_not_move_it(erasures: ErasureStore, erasure: Erasure) -> None:
    assert not erasures.advance(replace(erasure, slices=1))
    erasures.start(erasure)
    erasures.advance(replace(erasure, slices=1, stage=1))
    for slices in (0, 1, 3):
        assert not erasures.advance(replace(erasure, slices=slices, stage=7), new_walk=True)
    assert stored(erasures, erasure) == replace(erasure, slices=1, stage=1)
    erasures.finish(done(erasure))
    assert not erasures.advance(replace(erasure, slices=2))
    assert stored(erasures, erasure).slices == 1


@BOTH
def test_of_many_that_end_the_same_slice_one_moves_it(erasures: ErasureStore, erasure: Erasure) -> None:
    erasures.start(erasure)
    ends = [replace(erasure, slices=1, position=str(number)) for number in range(10)]
    with ThreadPoolExecutor(10) as threads:
        moved = list(threads.map(erasures.advance, ends))
    assert moved.count(True) == 1
    assert stored(erasures, erasure) == ends[moved.index(True)]


@BOTH
def test_until_when_it_erases_is_kept_once_it_is_told(erasures: ErasureStore, erasure: Erasure) -> None:
    erasures.start(erasure)
    erasures.advance(replace(erasure, slices=1, until=START + HOUR))
    erasures.advance(replace(erasure, slices=2, until=None))
    assert stored(erasures, erasure) == replace(erasure, slices=2, until=START + HOUR)


@BOTH
def test_whatever_is_counted_at_once_is_counted_and_marks_the_erasure(erasures: ErasureStore, erasure: Erasure) -> None:
    erasures.start(erasure)
    with ThreadPoolExecutor(10) as threads:
        list(threads.map(lambda number: erasures.count(erasure, list(Store)[number % 9], number), range(18)))
    assert stored(erasures, erasure).found
    assert stored(erasures, erasure).counts == {store: 2 * place + 9 for place, store in enumerate(Store)}


# --------------------------------------------------------------------------------------------------------------- end


@BOTH
def test_a_receipt_has_the_counts_and_the_end_and_names_no_lead(erasures: ErasureStore, erasure: Erasure) -> None:
    erasures.start(erasure)
    erasures.count(erasure, Store.OBJECTS, 4)
    erasures.advance(replace(erasure, slices=1, position=f"ORG#{ORGANIZATION}#LEAD#{LEAD}", walk_started_at=START))
    assert erasures.finish(done(erasure, slices=1, counts={}))
    receipt = stored(erasures, erasure)
    counts = {**NOTHING, Store.OBJECTS: 4}
    assert receipt == done(erasure, slices=1, walk_started_at=START, found=True, counts=counts, lead_id=None)
    assert receipt.of_lead is erasure.of_lead


@BOTH
def test_it_ends_once_and_what_is_told_later_changes_nothing(erasures: ErasureStore, erasure: Erasure) -> None:
    assert not erasures.finish(done(erasure))
    erasures.start(erasure)
    assert erasures.finish(done(erasure))
    receipt = stored(erasures, erasure)
    assert not erasures.finish(done(erasure, until=START + 9 * HOUR))
    erasures.count(erasure, Store.EVENTS, 1)
    assert stored(erasures, erasure) == receipt


@BOTH
def test_of_many_that_end_it_at_once_one_does(erasures: ErasureStore, erasure: Erasure) -> None:
    erasures.start(erasure)
    ends = [done(erasure, until=START + number * HOUR) for number in range(10)]
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(erasures.finish, ends))
    assert answers.count(True) == 1
    assert stored(erasures, erasure).until == ends[answers.index(True)].until


# ------------------------------------------------------------------------------------------------------------- pages


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_have_the_organisations_erasures_newest_first_and_nothing_else(
    erasures: ErasureStore, limit: int
) -> None:
    mine = [of_lead(number, f"lead_{number}") for number in range(1, 6)] + [of_organization(6)]
    for each in [*mine, of_lead(7, organization_id=OTHER_ORGANIZATION)]:
        erasures.start(each)
    found: list[Erasure] = []
    after = None
    for _ in range(20):
        page = erasures.page(ORGANIZATION, after, limit)
        assert len(page.erasures) <= limit
        found += page.erasures
        after = page.after
        if after is None:
            break
    assert found == mine[::-1]
    assert erasures.page("org_C", None, limit).erasures == []


# --------------------------------------------------------------------------------------------------------- sequences

STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "advance", "count", "finish"]), st.integers(1, 3), st.integers(0, 3)),
    max_size=14,
)


@settings(max_examples=40)
@given(steps=STEPS)
def test_through_any_calls_a_lead_has_one_running_erasure_at_most_and_each_is_what_its_calls_made_it(
    erasures: ErasureStore, steps: list[tuple[str, int, int]]
) -> None:
    organization_id = f"org_{next(_EXAMPLES)}"
    known: dict[int, Erasure] = {}
    holder: int | None = None
    for step, number, value in steps:
        asked = of_lead(number, organization_id=organization_id)
        before = known.get(number)
        running = before is not None and before.status is Status.RUNNING
        match step:
            case "start":
                free = holder is None or known[holder].status is Status.DONE
                if before is None and free:
                    known[number], holder = asked, number
                expected = known[number] if number in known else known[holder or 0]
                assert erasures.start(asked) == expected
            case "advance":
                moves = before is not None and running and before.slices == value - 1
                assert erasures.advance(replace(asked, slices=value, stage=value)) is moves
                if moves and before is not None:
                    known[number] = replace(before, slices=value, stage=value)
            case "count":
                erasures.count(asked, Store.EVENTS, value)
                if running and before is not None:
                    counts = {**before.counts, Store.EVENTS: before.counts[Store.EVENTS] + value}
                    known[number] = replace(before, found=True, counts=counts)
            case _:
                end = done(asked, until=START + value * HOUR)
                assert erasures.finish(end) is running
                if running and before is not None:
                    known[number] = done(before, until=end.until, lead_id=None)
    for number in (1, 2, 3):
        found = erasures.get(organization_id, of_lead(number).erasure_id)
        assert found == known.get(number)
    tombstone = erasures.tombstone(organization_id, LEAD)
    last = None if holder is None else known[holder]
    assert tombstone == (None if last is None else Tombstone(last.erasure_id, last.until))
