"""A large body waits in the inbox as long as it is needed, and no longer."""

from __future__ import annotations

import json

import pytest

from lead_events import webhook_message
from lead_events.envelope import read_message
from lead_events.erasure import Leftover
from lead_events.erasure import read_message as read_task
from lead_events.errors import UnavailableError
from lead_events.event import Delivery, OutcomeKind
from lead_events.store.memory import InMemoryObjects
from tests.samples import load
from tests.support.builders import ORGANIZATION
from tests.support.clock import START
from tests.support.erased import Land


def large() -> Delivery:
    told = json.loads(load("hotmart", "PURCHASE_APPROVED.pix"))
    told["data"]["padding"] = "x" * 250_000
    return Delivery(provider="hotmart", organization_id=ORGANIZATION, body=json.dumps(told), received_at=START)


def test_a_body_that_was_processed_is_given_to_the_eraser() -> None:
    land = Land()
    message = read_message(webhook_message.write(large(), land.objects))
    assert OutcomeKind.STORED in {each.kind for each in land.pipeline.process_message(message)}
    [task] = [read_task(each) for each in land.leftovers.sent]
    assert isinstance(task, Leftover)
    assert land.objects.get(task.key) == large().body


def test_a_small_body_leaves_nothing_behind() -> None:
    land = Land()
    small = Delivery(
        provider="hotmart",
        organization_id=ORGANIZATION,
        body=load("hotmart", "PURCHASE_APPROVED.pix").decode(),
        received_at=START,
    )
    land.pipeline.process_message(read_message(webhook_message.write(small, land.objects)))
    assert land.leftovers.sent == []


def test_a_message_whose_body_is_gone_was_processed_or_erased_and_is_done() -> None:
    land = Land()
    message = read_message(webhook_message.write(large(), InMemoryObjects()))
    assert [each.kind for each in land.pipeline.process_message(message)] == [OutcomeKind.ERASED]
    assert land.rejections.all() == []


def test_a_body_that_cannot_be_had_right_now_leaves_the_message_on_the_queue() -> None:
    class Unanswering(InMemoryObjects):
        def get(self, key: str) -> str:
            raise UnavailableError("S3 did not answer.")

    land = Land()
    message = read_message(webhook_message.write(large(), land.objects))
    land.pipeline._objects = Unanswering()
    with pytest.raises(UnavailableError):
        land.pipeline.process_message(message)
    assert land.leftovers.sent == []


def test_a_body_stays_where_not_all_of_it_could_be_processed() -> None:
    class Unanswering:
        def append(self, event: object) -> None:
            raise UnavailableError("DynamoDB did not answer.")

    land = Land()
    message = read_message(webhook_message.write(large(), land.objects))
    land.pipeline._events = Unanswering()  # type: ignore[assignment]  # a store that does not answer
    with pytest.raises(UnavailableError):
        land.pipeline.process_message(message)
    assert land.leftovers.sent == []
