"""What the shelf of dead letters promises: a message goes if everything in it is of those who are erased."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from lead_events import webhook_message
from lead_events.erasure import Store
from lead_events.errors import UnavailableError
from lead_events.event import Delivery, StoredEvent
from lead_events.memory import Memory
from lead_events.ports import Arrival
from lead_events.projecting import Poison, _letter
from lead_events.publishing import Publisher
from lead_events.reprocessing import Message
from lead_events.store.memory import InMemoryBus
from lead_events.store.shelves import dead_letters
from lead_events.store.shelves.objects import RawObjects
from tests.support.builders import bus_event, envelope
from tests.support.clock import START, FakeClock
from tests.support.fakes import FakeQueue, Killed
from tests.support.presence import nobody_erased
from tests.support.shelves import LEAD, LEADS, NEIGHBOUR, OTHER, OWNER, House, email_of, killed

BIG = "".join(f"{number:x}" for number in range(60_000))


def event(organization_id: str, lead_id: str | None, **data: Any) -> str:
    named = {} if lead_id is None else {"leadId": lead_id}
    return json.dumps(envelope(data={"organizationId": organization_id, **named, **data}))


def site_event(**who: Any) -> dict[str, Any]:
    return {"type": "page_seen", "eventId": "e", "payload": {}, **who}


def delivery(body: Any, organization_id: str = OWNER, **changes: Any) -> Delivery:
    values: dict[str, Any] = {
        "provider": "web",
        "organization_id": organization_id,
        "body": body if isinstance(body, str) else json.dumps(body),
        "received_at": START,
        "headers": {"webhook-id": "msg_1"},
    }
    return Delivery(**values | changes)


def webhook(house: House, body: Any, organization_id: str = OWNER, **changes: Any) -> str:
    return webhook_message.write(delivery(body, organization_id, **changes), house.objects)


def letter(organization_id: str, lead_id: str) -> str:
    """As the projector gives up a record."""
    key = f"ORG#{organization_id}#LEAD#{lead_id} 2026-03-25T14:00:00.000000Z#id"
    return _letter(Poison(Arrival(sequence_number="1", key=key, at=None, item=ValueError()), ValueError()))


LAMBDA_RECORD = json.dumps(
    {"requestContext": {"condition": "RetryAttemptsExhausted"}, "DDBStreamBatchInfo": {"shardId": LEAD, "batchSize": 1}}
)


def of_each(house: House) -> dict[tuple[str, str], list[str]]:
    """Messages of each kind of each lead."""
    return {
        (owner, lead): [
            event(owner, lead),
            json.dumps(bus_event(json.loads(event(owner, lead)))),
            json.dumps(bus_event({"organizationId": owner, "leadId": lead})),
            json.dumps(envelope(data={"organizationId": owner}, subject=lead)),
            json.dumps(envelope(type="crm.changed", data={"organizationId": owner, "to": email_of(owner, lead)})),
            letter(owner, lead),
            webhook(house, [site_event(leadId=lead), site_event(identify={"email": email_of(owner, lead)})], owner),
            webhook(house, f"no json, of {email_of(owner, lead)}", owner),
            webhook(house, "no json", owner, lead_id=lead),
            json.dumps({"specversion": "0.3", "data": {"organizationId": owner, "leadId": lead}}),
            f'{{"organizationId": "{owner}", "organizationId": "{owner}", "leadId": "{lead}"}}',
        ]
        for owner, lead in LEADS
    }


def sorted_messages(of: dict[tuple[str, str], list[str]], *, but: set[tuple[str, str]]) -> list[str]:
    return sorted(each for lead, messages in of.items() if lead not in but for each in messages)


@pytest.mark.parametrize("lead_id", [LEAD, None])
def test_each_kind_of_message_goes_that_is_theirs_and_no_other(house: House, lead_id: str | None) -> None:
    house.store_identities()
    messages = of_each(house)
    for each in messages.values():
        house.send(*each)
    house.send(LAMBDA_RECORD, "no json", '"json"', queue=1)
    theirs = {(OWNER, LEAD)} if lead_id else {(OWNER, LEAD), (OWNER, OTHER)}
    counts = house.clear("dead letters", house.erase(lead_id))
    assert counts == {Store.DEAD_LETTERS: len(theirs) * 11}
    assert house.letters() == sorted_messages(messages, but=theirs)
    assert house.letters(1) == sorted([LAMBDA_RECORD, "no json", '"json"'])


def test_a_message_stays_that_is_of_somebody_else_as_well(house: House) -> None:
    house.store_identities()
    mine, bobs = site_event(leadId=LEAD), site_event(identify={"email": "bob@example.org"})
    kept = [
        webhook(house, [mine, bobs]),
        webhook(house, [mine, "no event"]),
        webhook(house, [site_event(leadId=OTHER, identify={"email": email_of(OWNER, LEAD)})]),
        webhook(house, "no json", lead_id=OTHER),
        event(OWNER, OTHER, email=email_of(OWNER, LEAD)),
        json.dumps(envelope(type="billing.fee-created", data={"organizationId": OWNER, "to": email_of(OWNER, LEAD)})),
        event(NEIGHBOUR, None, email=email_of(OWNER, LEAD)),
        json.dumps({"data": {"organizationId": OWNER, "leadId": LEAD}, "other": {"organizationId": NEIGHBOUR}}),
        json.dumps(envelope(data={"leadId": LEAD})),
        json.dumps({"key": f"ORG#{OWNER}#LEAD#{LEAD}0 x"}),
        Message(f"ORG#{OWNER}", "rep_1", 0, 0).write(),
    ]
    house.send(*kept)
    assert house.clear("dead letters", house.erase()) == {}
    assert house.letters() == sorted(kept)


@pytest.mark.parametrize("field", [{"key": "a key of the sender's"}, {"jobId": "a job of the sender's"}])
def test_a_message_that_nobody_can_read_is_searched_whatever_its_fields_are_called(
    house: House, field: dict[str, str]
) -> None:
    mine, others = (
        json.dumps({"specversion": "0.3", "data": {"organizationId": OWNER, "leadId": lead}} | field)
        for lead in (LEAD, OTHER)
    )
    house.send(mine, others)
    assert house.clear("dead letters", house.erase()) == {Store.DEAD_LETTERS: 1}
    assert house.letters() == [others]


def test_what_is_no_letter_of_a_stream_is_not_taken_for_one(house: House) -> None:
    fields = json.loads(letter(OWNER, LEAD))
    kept = [
        json.dumps(each)
        for each in (
            {"key": fields["key"]},
            fields | {"condition": "Anything"},
            fields | {"key": None},
            fields | {"more": None},
        )
    ]
    house.send(*kept)
    assert house.clear("dead letters", house.erase()) == {}
    assert house.letters() == sorted(kept)


def test_a_record_that_the_publisher_gave_up_goes(house: House) -> None:
    key = f"ORG#{OWNER}#LEAD#{LEAD} form"
    arrival: Arrival[StoredEvent | Memory] = Arrival(sequence_number="1", key=key, at=None, item=ValueError())
    letters = FakeQueue()
    assert Publisher(InMemoryBus(), letters, nobody_erased()).publish([arrival]) == (0, [])
    house.send(*letters.sent)
    assert house.clear("dead letters", house.erase()) == {Store.DEAD_LETTERS: 1}
    assert house.letters() == []


def test_slices_of_an_organisations_reprocessing_go_with_it(house: House) -> None:
    owners = [f"ORG#{OWNER}", f"ORG#{NEIGHBOUR}", "ALL"]
    house.send(*(Message(each, "rep_1", 0, 0).write() for each in owners))
    assert house.clear("dead letters", house.erase(None)) == {Store.DEAD_LETTERS: 1}
    assert [json.loads(each)["owner"] for each in house.letters()] == ["ALL", f"ORG#{NEIGHBOUR}"]


@pytest.mark.parametrize("lead_id", [LEAD, None])
def test_a_body_in_the_inbox_is_looked_into_and_goes_with_its_message(house: House, lead_id: str | None) -> None:
    mine = webhook(house, [site_event(leadId=LEAD, payload={"text": BIG})])
    others = webhook(house, [site_event(leadId=LEAD, payload={"text": BIG})], NEIGHBOUR)
    house.send(mine, others)
    assert house.clear("dead letters", house.erase(lead_id)) == {Store.DEAD_LETTERS: 1, Store.OBJECTS: 1}
    assert house.letters() == [others]
    assert [each.split("/")[1] for each in house.stored_keys()] == [NEIGHBOUR]


def test_nothing_becomes_of_a_message_whose_body_is_gone(house: House) -> None:
    house.send(webhook(house, [site_event(leadId=LEAD, payload={"text": BIG})]))
    [key] = house.stored_keys()
    house.s3.delete_object(Bucket=house.bucket, Key=key)
    assert house.clear("dead letters", house.erase()) == {Store.DEAD_LETTERS: 1}
    assert house.letters() == []


def test_what_the_bus_calls_a_delivery_is_none(house: House) -> None:
    """Nobody verified it: it names no object of the inbox, and no body."""
    house.objects.put(f"inbox/{OWNER}/evt_1", "text")
    data = {"organizationId": OWNER, "bodyKey": f"inbox/{OWNER}/evt_1", "headers": {}}
    forged = json.dumps(bus_event(envelope(type="webhook.received", data=data)))
    house.send(forged)
    assert house.clear("dead letters", house.erase()) == {}
    assert house.letters() == [forged]
    assert house.clear("dead letters", house.erase(None)) == {Store.DEAD_LETTERS: 1}
    assert house.stored_keys() == [f"inbox/{OWNER}/evt_1"]


def test_a_translation_that_breaks_leaves_the_text_to_be_looked_into(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Delivery) -> Any:
        raise RuntimeError

    house.store_identities()
    mine, others = (webhook(house, [site_event(leadId=lead)]) for lead in (LEAD, OTHER))
    house.send(mine, others)
    monkeypatch.setattr("lead_events.providers.web.translate", broken)
    assert house.clear("dead letters", house.erase()) == {Store.DEAD_LETTERS: 1}
    assert house.letters() == [others]


def test_a_delivery_that_is_none_is_looked_into_whole(house: House) -> None:
    mine, others = (
        json.dumps(envelope(type="webhook.received", data={"organizationId": OWNER, "leadId": lead}))
        for lead in (LEAD, OTHER)
    )
    house.send(mine, others)
    assert house.clear("dead letters", house.erase()) == {Store.DEAD_LETTERS: 1}
    assert house.letters() == [others]


def test_a_provider_that_is_no_more_leaves_the_text_to_be_looked_into(house: House) -> None:
    mine, others = (webhook(house, [site_event(leadId=lead)], provider="gone") for lead in (LEAD, OTHER))
    house.send(mine, others)
    assert house.clear("dead letters", house.erase()) == {Store.DEAD_LETTERS: 1}
    assert house.letters() == [others]


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


def test_nothing_of_anybody_is_logged(house: House, caplog: pytest.LogCaptureFixture, capsys: Any) -> None:
    caplog.set_level(logging.INFO)
    house.store_identities()
    house.store_rejections()
    for each in of_each(house).values():
        house.send(*each)
    erasure = house.erase()
    caplog.clear()
    for kind in ("dead letters", "rejected", "reprocessings"):
        house.clear(kind, erasure)
    written = caplog.text + "".join(capsys.readouterr())
    assert email_of(OWNER, LEAD) not in written
    assert LEAD not in written
