"""Each delivery ends in one named outcome, and each external id in exactly one stored event."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from lead_events.envelope import read_message
from lead_events.errors import ConflictError, InvalidError, TooLargeError, UnavailableError, UnresolvedLeadError
from lead_events.event import Delivery, EventDraft, OutcomeKind, SharedFact
from lead_events.webhook_message import write as write_message
from tests.samples import load
from tests.support.builders import LEAD, bus_event, draft, envelope, envelope_text, nested
from tests.support.clock import START
from tests.support.fakes import Killed, World

STORED, DUPLICATE, CONFLICT, REJECTED, ERASED, FORWARDED, APPLIED = OutcomeKind
PAY = {"source": "crm", "event_type": "payment", "external_event_id": "pay-5"}


def kinds(world: World, *drafts: EventDraft) -> list[OutcomeKind]:
    return [world.pipeline.process(each).kind for each in drafts]


def test_a_new_event_is_stored_and_the_same_again_is_its_duplicate() -> None:
    world = World()
    first, second = world.pipeline.process(draft()), world.pipeline.process(draft())
    assert (first.kind, second.kind) == (STORED, DUPLICATE)
    assert first.stored().event_id == second.stored().event_id
    assert len(world.stored) == 1


def test_two_organisations_may_use_one_external_id() -> None:
    world = World()
    assert kinds(
        world,
        draft(source="/forms", external_event_id="evt-0001", event_type="form", payload={"email": "ana.teste@example.org"}),
        draft(source="/forms", external_event_id="evt-0001", event_type="form", payload={"email": "bob.teste@example.org"},
              organization_id="org_B"),
    ) == [STORED, STORED]  # fmt: skip
    assert [each.organization_id for each in world.stored] == ["org_A", "org_B"]


def test_source_and_id_are_not_joined_into_one() -> None:
    world = World()
    assert kinds(world, draft(source="s", external_event_id="1#2"), draft(source="s1", external_event_id="#2")) == [
        STORED,
        STORED,
    ]


def test_a_redelivery_with_another_time_is_a_duplicate_and_the_first_time_is_kept() -> None:
    world = World()
    times = ["2024-05-01T10:00:00.000Z", "2024-05-01T10:00:00.003Z"]
    assert kinds(world, *(draft(source="/shop", external_event_id="e-9", occurred_at=each) for each in times)) == [
        STORED,
        DUPLICATE,
    ]
    assert [each.key.occurred_at_id[:27] for each in world.stored] == ["2024-05-01T10:00:00.000000Z"]


def test_the_same_content_under_a_new_id_is_a_second_event() -> None:
    assert kinds(World(), draft(external_event_id="e-1"), draft(external_event_id="e-2")) == [STORED, STORED]


def test_other_content_under_a_used_id_is_a_conflict_every_time_and_the_first_stays() -> None:
    world = World()
    original = draft(payload={"amount": Decimal("100.00"), "currency": "BRL"}, **PAY)
    tampered = replace(original, payload={"amount": Decimal("900.00"), "currency": "BRL"})
    reordered = replace(original, payload={"currency": "BRL", "amount": 100})
    assert kinds(world, original, tampered, tampered, original, reordered) == [
        STORED,
        CONFLICT,
        CONFLICT,
        DUPLICATE,
        DUPLICATE,
    ]
    assert [each.payload for each in world.stored] == [{"amount": Decimal("100.00"), "currency": "BRL"}]


def test_a_conflict_says_so_and_nothing_of_the_content() -> None:
    world = World()
    world.pipeline.process(draft(**PAY))
    outcome = world.pipeline.process(draft(**PAY, payload={"email": "ana.teste@example.org"}))
    assert isinstance(outcome.error, ConflictError)
    assert "ana" not in str(outcome.error)


def test_without_external_id_each_delivery_is_a_new_event() -> None:
    assert kinds(World(), *[draft(external_event_id=None)] * 3) == [STORED, STORED, STORED]


def test_twenty_five_simultaneous_deliveries_store_one_event() -> None:
    world = World()
    with ThreadPoolExecutor(25) as threads:
        outcomes = list(threads.map(lambda _: world.pipeline.process(draft(received_at=world.clock())), range(25)))
    late = world.pipeline.process(draft(received_at=world.clock()))
    assert sorted(each.kind for each in outcomes) == sorted([STORED] + [DUPLICATE] * 24)
    assert {each.stored().event_id for each in [*outcomes, late]} == {world.stored[0].event_id}
    assert len(world.stored) == 1


def test_a_claim_whose_event_was_never_put_is_completed_by_the_next_delivery_under_the_same_key() -> None:
    world = World(2)  # 0: before the claim, 1: after it, 2: before the event
    with pytest.raises(Killed):
        world.pipeline.process(draft())
    assert (len(world.stored), len(world.claims.inner)) == (0, 1)
    again = draft(occurred_at="2025-06-06T06:06:06Z", lead_id="lead_2", received_at=START + timedelta(hours=1))
    outcome = world.pipeline.process(again)
    assert outcome.kind is STORED
    assert (outcome.stored().lead_id, outcome.stored().occurred_at) == (LEAD, draft().occurred_at)
    assert kinds(world, draft(), again) == [DUPLICATE, DUPLICATE]
    assert [each.event_id for each in world.stored] == [outcome.stored().event_id]


def test_a_kill_after_the_events_put_leaves_a_durable_event_that_the_redelivery_finds() -> None:
    world = World(3)
    with pytest.raises(Killed):
        world.pipeline.process(draft())
    assert world.pipeline.process(draft()).kind is DUPLICATE
    assert len(world.stored) == 1


def test_an_unavailable_store_is_an_exception_and_not_an_outcome() -> None:
    for step in range(4):
        world = World(step, error=lambda: UnavailableError("DynamoDB answered ThrottlingException."))
        with pytest.raises(UnavailableError):
            world.pipeline.process(draft())
        assert world.pipeline.process(draft()).kind in (STORED, DUPLICATE)
        assert len(world.stored) == 1


def test_an_error_of_the_claim_store_that_is_not_ours_is_raised_too() -> None:
    world = World(0, error=ZeroDivisionError)
    with pytest.raises(Exception, match="Failed to save") as caught:
        world.pipeline.process(draft())
    assert isinstance(caught.value.__cause__ or caught.value.args[-1], ZeroDivisionError)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"payload": {"planId": 5}}, InvalidError),
        ({"payload": nested(32), "event_type": "free"}, InvalidError),
        ({"payload": {"score": Decimal("1E+400")}, "event_type": "free"}, InvalidError),
        ({"payload": {"note": "é" * 205_000}, "event_type": "free"}, TooLargeError),
        ({"payload": {"note": "a" * 409_500}, "event_type": "free"}, TooLargeError),
        ({"lead_id": None}, UnresolvedLeadError),
        ({"shared_fact": SharedFact("f", "stripe.x", {"note": "a" * 409_500})}, TooLargeError),
        ({"shared_fact": SharedFact("f", "stripe.x", nested(32))}, InvalidError),
    ],
)
def test_what_breaks_a_rule_is_rejected_before_anything_is_written_the_claim_included(
    changes: dict[str, Any], error: type
) -> None:
    world = World()
    outcome = world.pipeline.process(draft(**changes))
    assert (outcome.kind, type(outcome.error)) == (REJECTED, error)
    assert (len(world.stored), len(world.claims.inner)) == (0, 0)
    assert world.pipeline.process(draft()).kind is STORED  # the id is still free


def test_no_lead_has_a_code_of_its_own() -> None:
    error = World().pipeline.process(draft(lead_id=None)).error
    assert error is not None
    assert error.code == "lead_unresolved"


def test_a_fact_told_by_two_events_counts_once_and_neither_is_lost() -> None:
    world = World()
    tellings = [
        draft(external_event_id=each, shared_fact=SharedFact("sale:1", "stripe.told", {"n": each}))
        for each in ("a", "b")
    ]
    assert kinds(world, *tellings, *tellings) == [STORED, STORED, DUPLICATE, DUPLICATE]
    assert sorted(each.event_type for each in world.stored) == ["stripe.told", "subscription_created"]


def test_outcomes_of_several_events_come_in_the_given_order_and_equal_ids_are_taken_in_it() -> None:
    world = World()
    drafts = [
        draft(external_event_id=f"e-{number % 10}", payload={"planId": f"plan {number // 10}"}) for number in range(40)
    ]
    drafts[5:5] = [draft(external_event_id=None), draft(lead_id=None)]
    with ThreadPoolExecutor(8) as threads:
        outcomes = world.pipeline.process_all(drafts, threads)
    seen = [each.kind for each in outcomes]
    assert seen[:12] == [STORED] * 6 + [REJECTED] + [STORED] * 5
    assert seen[12:] == [CONFLICT] * 30
    assert {each.payload["planId"] for each in world.stored if isinstance(each.payload, dict)} == {"plan 0", "plan_pro"}


def test_a_shared_fact_in_one_batch_is_told_first_by_the_first() -> None:
    world = World()
    drafts = [draft(external_event_id=f"e-{n}", shared_fact=SharedFact("sale:1", "told", {"n": n})) for n in range(20)]
    with ThreadPoolExecutor(8) as threads:
        outcomes = world.pipeline.process_all(drafts, threads)
    assert [each.stored().event_type for each in outcomes] == ["subscription_created"] + ["told"] * 19


def test_an_unavailable_store_fails_the_whole_of_several() -> None:
    world = World(5, error=lambda: UnavailableError("DynamoDB did not answer."))
    with ThreadPoolExecutor(4) as threads, pytest.raises(UnavailableError):
        world.pipeline.process_all([draft(external_event_id=f"e-{number}") for number in range(20)], threads)


def test_a_queue_message_with_an_envelope_is_one_event() -> None:
    world = World()
    [outcome] = world.pipeline.process_message(read_message(envelope_text()))
    assert outcome.kind is STORED
    assert world.stored[0].event_type == "subscription_created"


def test_a_webhook_delivery_is_translated_by_its_provider() -> None:
    world = World()
    body = load("stripe", "customer.created").decode()
    delivery = Delivery(provider="stripe", organization_id="org_A", body=body, received_at=START, lead_id=LEAD)
    outcomes = world.pipeline.process_message(read_message(write_message(delivery, world.objects)))
    assert [each.kind for each in outcomes] == [STORED]
    assert (world.stored[0].source, world.stored[0].lead_id) == ("stripe", "lead_caio")


@pytest.mark.parametrize(("provider", "body"), [("acme", "{}"), ("stripe", "{"), ("stripe", "{}")])
def test_a_delivery_that_cannot_be_translated_is_kept_among_the_rejected_byte_for_byte(
    provider: str, body: str
) -> None:
    world = World()
    delivery = Delivery(provider=provider, organization_id="org_A", body=body, received_at=START)
    outcomes = world.pipeline.process_message(read_message(write_message(delivery, world.objects)))
    assert [each.kind for each in outcomes] == [REJECTED]
    assert [(each.source, each.raw_payload) for each in world.rejections.all()] == [(provider, body)]


def test_nobody_on_the_bus_can_pass_for_a_verified_webhook() -> None:
    world = World()
    body = load("stripe", "customer.created").decode()
    data = {"provider": "stripe", "organizationId": "org_A", "leadId": LEAD, "headers": {}, "body": body}
    forged = bus_event(envelope(type="webhook.received", source="billing_service", data=data))
    world.pipeline.process_message(read_message(json.dumps(forged)))
    assert [each.source for each in world.stored] == ["billing_service"]


def test_a_message_that_breaks_a_rule_is_kept_among_the_rejected_with_its_text() -> None:
    world = World()
    text = envelope_text(data={"organizationId": "org_A", "leadId": LEAD, "planId": 7})
    for _ in range(2):
        [outcome] = world.pipeline.process_message(read_message(text))
        assert outcome.kind is REJECTED
    [kept] = world.rejections.all()
    assert (kept.raw_payload, kept.code, kept.source, kept.deliveries) == (text, "invalid", "billing_service", 2)
    assert world.stored == []


def test_a_conflict_from_the_queue_is_kept_among_the_rejected_and_the_first_event_stays() -> None:
    world = World()
    first, other = envelope_text(), envelope_text(data={"organizationId": "org_A", "leadId": LEAD, "planId": "other"})
    assert [world.pipeline.process_message(read_message(each))[0].kind for each in (first, other)] == [STORED, CONFLICT]
    assert [each.raw_payload for each in world.rejections.all()] == [other]
    assert [each.payload["planId"] for each in world.stored] == ["plan_pro"]


def test_a_message_that_tells_no_organisation_stays_on_the_queue() -> None:
    world = World()
    with pytest.raises(InvalidError):
        world.pipeline.process_message(read_message(envelope_text(data={"leadId": LEAD})))
    assert world.rejections.all() == []
