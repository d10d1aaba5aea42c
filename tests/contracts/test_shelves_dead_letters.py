"""What the shelf of dead letters promises: a message goes if everything in it is of those who are erased."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from lead_events.erasure import Store
from lead_events.event import Delivery, StoredEvent
from lead_events.memory import Memory
from lead_events.ports import Arrival
from lead_events.publishing import Publisher
from lead_events.reprocessing import Message
from lead_events.store.memory import InMemoryBus
from tests.support.builders import bus_event, envelope
from tests.support.fakes import FakeQueue
from tests.support.letters import event, letter, site_event, webhook
from tests.support.presence import nobody_erased
from tests.support.shelves import LEAD, LEADS, NEIGHBOUR, OTHER, OWNER, House, email_of

BIG = "".join(f"{number:x}" for number in range(60_000))


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
