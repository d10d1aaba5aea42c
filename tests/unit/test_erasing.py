"""The eraser: it ends when nothing is left and nothing can still come, wherever it is killed on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.erasing import ATTEMPTS, SLICE
from lead_events.erasure import Erasure, Leftover, Slice, Status, Store
from lead_events.errors import InvalidError, UnavailableError
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.erasing import QUIET, Workshop
from tests.support.fakes import Killed


def test_a_lead_is_erased_from_every_shelf_and_counted() -> None:
    shop = Workshop()
    erasure_id = shop.erase()
    [done] = shop.run()
    assert done.status is Status.DONE
    assert all(not each.things for each in [*shop.shelves, shop.identities])
    counts = shop.receipt(erasure_id)["counts"]
    told = {name: number for name, number in counts.items() if number}
    assert told == {"events": 3, "memories": 3, "objects": 3, "identities": 3}


def test_it_does_not_end_before_what_was_under_way_must_have_arrived() -> None:
    shop = Workshop(things=0)
    erasure = shop.get(shop.erase())
    [done] = shop.run()
    assert done.until is not None
    assert done.until >= erasure.requested_at + QUIET


def test_what_still_arrives_after_a_walk_is_erased_by_the_next() -> None:
    shop = Workshop()
    shop.erase()
    shop.turn()
    assert not shop.shelves[0].things
    shop.shelves[0].things = 5
    shop.run()
    assert not shop.shelves[0].things


def test_what_was_made_of_what_the_last_walks_took_has_time_to_arrive() -> None:
    """A slow erasure: long after its beginning somebody still reads what is there, and writes what came of it."""
    shop = Workshop(things=3)
    erasure_id = shop.erase()
    while shop.get(erasure_id).found_until is None:
        shop.clock.instant += timedelta(minutes=30)  # of each slice
        assert shop.turn() is None
    took_last = shop.get(erasure_id).found_until
    assert took_last is not None
    assert took_last >= shop.get(erasure_id).requested_at + QUIET
    [done] = shop.run()
    assert done.walk_started_at is not None
    assert done.walk_started_at >= took_last + QUIET


def test_the_last_walk_finds_nothing() -> None:
    shop = Workshop(things=0)
    erasure_id = shop.erase()
    walks = 0
    while shop.get(erasure_id).status is Status.RUNNING and walks < 4:
        shop.shelves[-1].things = 1  # something turns up in every walk
        shop.turn()
        walks += 1
    assert shop.get(erasure_id).status is Status.RUNNING
    shop.shelves[-1].things = 0
    shop.run()
    assert shop.get(erasure_id).status is Status.DONE


def test_identities_lead_to_the_lead_until_everything_else_is_gone() -> None:
    shop = Workshop()
    shop.erase()
    [done] = shop.run()
    assert set(shop.identities.cleared_at) == {done.until}


def test_an_organisation_has_shelves_of_its_own() -> None:
    shop = Workshop()
    erasure_id = shop.erase(None)
    shop.run()
    assert all(not each.things for each in shop.all)
    assert shop.identities.things == 3  # its identities are on a shelf among the others
    assert shop.receipt(erasure_id)["scope"] == "organization"
    assert [each["type"] for each in shop.bus.published] == ["organization.erased"]


def test_a_slice_ends_after_some_seconds_and_the_next_goes_on_where_it_stood() -> None:
    shop = Workshop(things=20, slow=SLICE / 4)
    erasure_id = shop.erase()
    shop.turn()
    first = shop.get(erasure_id)
    assert first.slices == 1
    assert 0 < first.counts[Store.EVENTS] < 20
    shop.run()
    assert shop.get(erasure_id).counts[Store.EVENTS] == 20


def test_other_domains_are_told_once_though_it_may_be_sent_twice() -> None:
    shop = Workshop()
    erasure_id = shop.erase()
    shop.run()
    again = Workshop()
    [envelope] = shop.bus.published
    assert envelope["type"] == "lead.erased"
    assert envelope["data"]["leadId"] == LEAD
    assert envelope["data"]["erasureId"] == erasure_id
    assert set(envelope["data"]) == {"organizationId", "leadId", "erasureId", "erasedUntil"}
    assert again.bus.published == []


def test_a_done_erasure_names_no_lead() -> None:
    shop = Workshop()
    erasure_id = shop.erase()
    assert shop.receipt(erasure_id)["leadId"] == LEAD
    shop.run()
    assert shop.receipt(erasure_id)["leadId"] is None
    assert shop.get(erasure_id).lead_id is None


KILLS = st.lists(st.integers(0, 60), max_size=6, unique=True)


def no_answer() -> UnavailableError:
    return UnavailableError("No answer.")


@given(KILLS, st.booleans(), st.sampled_from([Killed, no_answer]), st.sampled_from([1, 1_500]))
def test_wherever_a_worker_is_killed_or_gets_no_answer_the_erasure_comes_to_the_same_end(
    kills: list[int], whole: bool, error: Callable[[], BaseException], milliseconds: int
) -> None:
    shop = Workshop(*kills, error=error, slow=timedelta(milliseconds=milliseconds))
    erasure_id = shop.erase(None if whole else LEAD)
    shop.run()
    receipt = shop.receipt(erasure_id)
    assert receipt["status"] == "done"
    shelves = shop.all if whole else [*shop.shelves, shop.identities]
    assert not any(each.things for each in shelves)
    assert {name: number for name, number in receipt["counts"].items() if number} == {
        each.store.value: 3 for each in shelves
    }
    assert len({each["id"] for each in shop.bus.published}) == 1


@given(st.lists(st.integers(0, 30), min_size=1, max_size=10))
def test_messages_that_come_twice_change_nothing(repeats: list[int]) -> None:
    shop = Workshop()
    erasure_id = shop.erase()
    for number in repeats:
        if not shop.queue.waiting:
            break
        shop.turn()
        message = shop.queue.sent[number % len(shop.queue.sent)]
        shop.eraser.work(message, redelivered=bool(number % 2))
    shop.run()
    assert shop.receipt(erasure_id)["counts"]["events"] == 3
    assert shop.receipt(erasure_id)["status"] == "done"


def test_an_erasure_whose_message_was_lost_goes_on_when_it_is_asked_for_again() -> None:
    shop = Workshop()
    erasure_id = shop.erase()
    shop.queue.waiting.clear()
    assert shop.api.erase_lead(ORGANIZATION, LEAD, "operations")["erasureId"] == erasure_id
    shop.run()
    assert shop.receipt(erasure_id)["status"] == "done"


def test_a_lead_that_was_erased_can_be_erased_again() -> None:
    shop = Workshop()
    first = shop.erase()
    shop.run()
    shop.shelves[0].things = 2
    second = shop.erase()
    assert second != first
    shop.run()
    assert shop.receipt(second)["counts"]["events"] == 2
    assert shop.receipt(first)["counts"]["events"] == 3


def test_a_service_that_does_not_answer_is_waited_for_and_then_left_to_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shop = Workshop()
    shop.erase()

    def fail(erasure: Erasure, position: str | None) -> str | None:
        raise UnavailableError("DynamoDB did not answer.")

    monkeypatch.setattr(shop.shelves[1], "clear", fail)
    for _ in range(ATTEMPTS):
        assert shop.turn() is None
    with pytest.raises(UnavailableError):
        shop.eraser.work(shop.queue.sent[-1], redelivered=False)
    assert [json.loads(each)["attempt"] for each in shop.queue.sent] == list(range(ATTEMPTS + 1))
    monkeypatch.undo()
    shop.queue.waiting.append((shop.clock.instant, shop.queue.sent[0], 3))  # somebody redrives the dead letters
    assert shop.run()


def test_a_body_that_was_processed_is_removed_from_the_inbox() -> None:
    shop = Workshop()
    shop.eraser.work(Leftover(ORGANIZATION, f"inbox/{ORGANIZATION}/evt_1").write(), redelivered=False)
    assert shop.removed == [f"inbox/{ORGANIZATION}/evt_1"]


@pytest.mark.parametrize(
    "text",
    [
        "{}", "[]", '{"organizationId":"org"}', '{"organizationId":"a#b","inboxKey":"inbox/a#b/x"}',
        '{"organizationId":"org","inboxKey":"inbox/other/x"}', '{"organizationId":"org","inboxKey":"organizations/org/x"}',
        '{"organizationId":"org","erasureId":"era_1","slice":"1","attempt":0}', '{"organizationId":"org","erasureId":1}',
    ],
)  # fmt: skip
def test_a_message_that_is_no_piece_of_an_erasure_deletes_nothing_and_stays_on_the_queue(text: str) -> None:
    shop = Workshop()
    with pytest.raises(InvalidError):
        shop.eraser.work(text, redelivered=False)
    assert not shop.removed


def test_a_message_of_an_erasure_that_nobody_asked_for_erases_nothing() -> None:
    shop = Workshop()
    assert shop.eraser.work(Slice(ORGANIZATION, "era_unknown", 0).write(), redelivered=True) is None
    assert all(each.things == 3 for each in [*shop.all, shop.identities])
