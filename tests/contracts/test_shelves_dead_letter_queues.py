"""How the shelf of dead letters gets through its queues: in goes, in time, and beside others who receive the same messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from lead_events.erasure import Store
from lead_events.errors import UnavailableError
from lead_events.store.shelves import dead_letters
from lead_events.store.shelves.objects import RawObjects
from tests.support.clock import START, FakeClock
from tests.support.fakes import Killed
from tests.support.letters import event, letter, site_event, webhook
from tests.support.shelves import LEAD, OTHER, OWNER, House, killed

BIG = "".join(f"{number:x}" for number in range(60_000))


def test_a_long_queue_is_looked_through_in_several_goes(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "_RECEIVES", 2)
    for number in range(35):
        house.send(event(OWNER, (LEAD, OTHER)[number % 2], number=number))
    house.send(letter(OWNER, LEAD), queue=1)
    erasure, shelf, positions = house.erase(), house.shelf("dead letters"), list[str]()
    while (position := shelf.clear(erasure, positions[-1] if positions else None)) is not None:
        positions.append(position)
    assert [each.split(" ")[:2] for each in positions] == [["0", "2"], ["0", "4"], ["1", "0"], ["2", "0"]]
    assert house.counts(erasure) == {Store.DEAD_LETTERS: 19}


def test_a_queue_that_never_ends_is_left_at_last(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "_RECEIVES", 1)
    monkeypatch.setattr(dead_letters, "_RECEIVES_IN_ALL", 40)
    monkeypatch.setattr(dead_letters, "HIDDEN_SECONDS", 0)
    house.send(*(event(OWNER, OTHER, number=number) for number in range(12)))
    assert house.clear("dead letters", house.erase()) == {}
    assert len(house.letters()) == 12


def test_the_log_says_of_which_queue_the_rest_is_left(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dead_letters, "_RECEIVES", 1)
    monkeypatch.setattr(dead_letters, "_RECEIVES_IN_ALL", 2)
    house.send(*(event(OWNER, OTHER, number=number) for number in range(21)))
    house.send(*(event(OWNER, OTHER, number=number) for number in range(10)), queue=1)
    erasure = house.erase()
    house.clear("dead letters", erasure)
    [line] = [vars(each) for each in caplog.records if each.getMessage() == "dead letters left"]
    assert line["levelname"] == "ERROR"
    ids = (line["organizationId"], line["erasureId"], line["queue"])
    assert ids == (OWNER, erasure.erasure_id, f"{house.name}-ingest")


def test_large_messages_are_looked_at_a_few_in_one_go(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "_CHARACTERS", 1)
    house.send(
        *(event(OWNER, OTHER, number=number) for number in range(15)),
        *(event(OWNER, LEAD, number=n) for n in range(15)),
    )
    erasure = house.erase()
    shelf, positions = house.shelf("dead letters"), list[str]()
    while (position := shelf.clear(erasure, positions[-1] if positions else None)) is not None:
        positions.append(position)
    assert len(positions) > 30
    assert house.counts(erasure) == {Store.DEAD_LETTERS: 15}
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]  # some for half a minute yet
    told = house.sqs.get_queue_attributes(QueueUrl=house.queues[0], AttributeNames=names)["Attributes"]
    assert sum(int(told[each]) for each in names) == 15


def hold(house: House) -> Callable[[], None]:
    """Receive what there is, as an operator or another erasure does; what lets go of it."""
    url = house.queues[0]
    messages = house.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]

    def let_go() -> None:
        for each in messages:
            handle = each["ReceiptHandle"]
            house.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)

    return let_go


def test_a_queue_of_which_somebody_else_holds_messages_is_not_through(house: House) -> None:
    house.send(event(OWNER, LEAD, number=1))
    let_go = hold(house)
    house.send(event(OWNER, OTHER))
    seen_meanwhile: list[list[str]] = []

    def sleep(seconds: float) -> None:
        assert 0 <= seconds <= 2
        seen_meanwhile.append(house.letters())
        if len(seen_meanwhile) == 3:
            let_go()

    house.sleep = sleep
    assert house.clear("dead letters", house.erase()) == {Store.DEAD_LETTERS: 1}
    assert seen_meanwhile == [[event(OWNER, OTHER)]] * 3
    assert house.letters() == [event(OWNER, OTHER)]


def test_what_a_worker_hid_that_died_is_waited_for(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "HIDDEN_SECONDS", 1)
    house.send(event(OWNER, LEAD))
    erasure, shelf = house.erase(), house.shelf("dead letters")
    with killed([house.sqs], 1, before=True), pytest.raises(Killed):
        shelf.clear(erasure, None)
    assert house.letters() == []
    assert house.clear("dead letters", erasure) == {Store.DEAD_LETTERS: 1}


def test_turns_that_wait_for_somebody_else_do_not_use_up_the_goes(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "_RECEIVES_IN_ALL", 2)
    house.send(event(OWNER, LEAD))
    let_go, erasure, position, waits = hold(house), house.erase(), None, list[float]()
    house.sleep = waits.append
    shelf = house.shelf("dead letters")
    for _ in range(50):
        position = shelf.clear(erasure, position)
        assert position == "0 0"
    let_go()
    while position is not None:
        position = shelf.clear(erasure, position)
    assert house.counts(erasure) == {Store.DEAD_LETTERS: 1}
    assert len(waits) == len(set(waits)) == 50  # never in step with another


def test_of_two_erasures_at_once_each_finds_its_own(house: House) -> None:
    for number in range(12):
        house.send(event(OWNER, (LEAD, OTHER)[number % 2], number=number))
    erasures = [house.erase(LEAD), house.erase(OTHER)]
    house.sleep = lambda seconds: time.sleep(seconds / 50)
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda each: house.clear("dead letters", each, calls=2_000), erasures))
    assert house.letters() == []
    assert found == [{Store.DEAD_LETTERS: 6}] * 2


def test_what_a_walk_hid_in_its_earlier_goes_is_nobody_elses(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "_RECEIVES", 1)
    house.send(*(event(OWNER, OTHER, number=number) for number in range(35)))
    waits: list[float] = []
    house.sleep = waits.append
    house.clear("dead letters", house.erase())
    assert waits == []


def test_what_it_hid_may_be_another_s_as_soon_as_it_may_be_in_sight(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "_RECEIVES", 1)
    house.clock = clock = FakeClock(step=timedelta())
    house.send(*(event(OWNER, OTHER, number=number) for number in range(10)))
    waits: list[float] = []
    house.sleep = waits.append
    shelf, erasure = house.shelf("dead letters"), house.erase()
    position = shelf.clear(erasure, None)
    clock.instant += timedelta(seconds=29)
    assert shelf.clear(erasure, position) == "1 0"
    clock.instant += timedelta(seconds=1)
    assert shelf.clear(erasure, position) == position
    assert len(waits) == 1


def test_what_comes_into_sight_while_it_asks_who_holds_it_is_looked_at(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.send(event(OWNER, LEAD))
    to_do, erasure, ask = [hold(house)], house.erase(), house.sqs.get_queue_attributes

    def too_late(**request: Any) -> Any:
        while to_do:
            to_do.pop()()
        return ask(**request)

    monkeypatch.setattr(house.sqs, "get_queue_attributes", too_late)
    house.clear("dead letters", erasure)
    assert house.letters() == []
    assert house.counts(erasure) == {Store.DEAD_LETTERS: 1}


def test_a_count_of_a_moment_ago_keeps_nobody_for_ever(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"ApproximateNumberOfMessages": "7", "ApproximateNumberOfMessagesNotVisible": "0"}
    monkeypatch.setattr(house.sqs, "get_queue_attributes", lambda **_: {"Attributes": told})
    assert house.shelf("dead letters").clear(house.erase(), None) == "1 0"


def test_a_go_ends_in_time_and_lets_go_of_what_it_did_not_look_at(house: House) -> None:
    seconds = count(0, 5)
    house.seconds = lambda: next(seconds)
    house.send(*(event(OWNER, OTHER, number=number) for number in range(5)))
    position = house.shelf("dead letters").clear(house.erase(), None)
    assert position is not None
    assert position.startswith("0 1 ")
    assert position.endswith(":2")
    assert len(house.letters()) == 3


def test_each_go_looks_at_one_message_however_late_it_is(house: House) -> None:
    seconds = count(0, 1_000)
    house.seconds = lambda: next(seconds)
    house.send(*(event(OWNER, OTHER, number=number) for number in range(12)), event(OWNER, LEAD))
    erasure = house.erase()
    assert house.clear("dead letters", erasure, calls=20) == {Store.DEAD_LETTERS: 1}


def test_a_body_in_the_inbox_counts_among_what_a_go_looks_at(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "_CHARACTERS", len(BIG))
    house.send(*(webhook(house, [site_event(leadId=OTHER, payload={"text": BIG})]) for _ in range(5)))
    assert house.shelf("dead letters").clear(house.erase(), None) is not None
    assert len(house.letters()) == 4


def test_large_bodies_that_come_into_sight_again_are_not_read_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes longer to read all than a message is hidden."""
    monkeypatch.setattr(dead_letters, "_CHARACTERS", 1)
    monkeypatch.setattr(dead_letters, "HIDDEN_SECONDS", 0)
    others, mine = (
        [webhook(house, [site_event(leadId=lead, payload={"text": BIG})]) for _ in range(3)] for lead in (OTHER, LEAD)
    )
    house.send(*others, *mine)
    read: list[str] = []
    get = RawObjects.get

    def counted(objects: RawObjects, key: str) -> str:
        read.append(key)
        return get(objects, key)

    monkeypatch.setattr(RawObjects, "get", counted)
    shelf, erasure, position = house.shelf("dead letters"), house.erase(), None
    while (position := shelf.clear(erasure, position)) is not None:
        assert len(read) <= 6
    assert house.letters() == sorted(others)
    assert house.counts(erasure) == {Store.DEAD_LETTERS: 3, Store.OBJECTS: 3}
    assert shelf.clear(replace(erasure, walk_started_at=START), None) is not None
    assert len(read) == 7  # another walk looks at everything again


def test_what_stays_is_shown_again_when_something_fails(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.send(event(OWNER, LEAD), event(OWNER, OTHER))
    erasure = house.erase()

    def fail(**request: Any) -> None:
        raise UnavailableError("SQS did not answer.")

    monkeypatch.setattr(house.sqs, "delete_message", fail)
    with pytest.raises(UnavailableError):
        house.shelf("dead letters").clear(erasure, None)
    assert house.letters() == sorted([event(OWNER, LEAD), event(OWNER, OTHER)])
    assert house.counts(erasure) == {}
