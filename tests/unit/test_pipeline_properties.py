"""Whatever order, repetition, simultaneity and crashes: the stored events are those of one quiet run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.event import EventDraft, OutcomeKind, StoredEvent
from lead_events.idempotency import Claim, fingerprint
from tests.support.builders import draft
from tests.support.clock import START
from tests.support.fakes import Killed, World

IDS = [f"e-{number}" for number in range(6)]


@st.composite
def deliveries(draw: st.DrawFn) -> list[EventDraft]:
    """Up to six events of two tenants, each delivered up to four times, shuffled, with other times and leads."""
    copies = [
        (organization_id, each, repetition)
        for organization_id in ("org_A", "org_B")
        for each in draw(st.lists(st.sampled_from(IDS), unique=True, max_size=6))
        for repetition in range(draw(st.integers(1, 4)))
    ]
    return [
        draft(
            organization_id=organization_id,
            external_event_id=each,
            payload={"planId": f"{organization_id} {each}"},
            lead_id=f"lead_{draw(st.integers(1, 2))}",
            occurred_at=START + timedelta(microseconds=draw(st.integers(0, 3))),
            received_at=START + timedelta(seconds=number),
        )
        for number, (organization_id, each, _) in enumerate(draw(st.permutations(copies)))
    ]


def content(event: StoredEvent) -> tuple[str, str | None, str]:
    return event.organization_id, event.external_event_id, fingerprint(event)


def deliver_until_done(world: World, drafts: list[EventDraft]) -> None:
    """As a queue does: what was not acknowledged comes again."""
    pending = list(drafts)
    for _ in range(100):
        if not pending:
            return
        each = pending.pop(0)
        try:
            outcome = world.pipeline.process(each)
        except Killed:
            pending.append(each)
        else:
            assert outcome.kind in (OutcomeKind.STORED, OutcomeKind.DUPLICATE)
    raise AssertionError("not done after 100 deliveries")


@given(deliveries(), st.sets(st.integers(0, 60), max_size=25))
@settings(max_examples=200)
def test_any_order_repetition_and_crash_points_store_each_event_once_as_a_single_run_does(
    drafts: list[EventDraft], crash_at: set[int]
) -> None:
    world, quiet = World(*crash_at), World()
    deliver_until_done(world, drafts)
    unique = {(each.organization_id, each.external_event_id): each for each in drafts}
    for each in unique.values():
        quiet.pipeline.process(each)
    assert sorted(map(content, world.stored)) == sorted(map(content, quiet.stored))
    assert len(world.stored) == len(unique) == len(world.claims.inner)
    for event in world.stored:  # and each stands where its claim says
        claim = Claim.of(event)
        found = claim and world.claims.get(claim.claim_id)
        assert found
        assert found.key == event.key


@given(deliveries(), st.sets(st.integers(0, 40), max_size=10))
@settings(max_examples=40)
def test_any_simultaneity_stores_each_event_once(drafts: list[EventDraft], crash_at: set[int]) -> None:
    world = World(*crash_at)

    def deliver(each: EventDraft) -> OutcomeKind | None:
        try:
            return world.pipeline.process(each).kind
        except Killed:
            return None

    with ThreadPoolExecutor(8) as threads:
        ended = list(threads.map(deliver, drafts))
    assert set(ended) <= {OutcomeKind.STORED, OutcomeKind.DUPLICATE, None}
    deliver_until_done(world, drafts)
    assert sorted((each.organization_id, each.external_event_id) for each in world.stored) == sorted(
        {(each.organization_id, each.external_event_id) for each in drafts}, key=str
    )


@given(deliveries())
@settings(max_examples=40)
def test_the_answer_to_every_delivery_is_the_one_stored_event(drafts: list[EventDraft]) -> None:
    world = World()
    told = {
        (each.organization_id, each.external_event_id, world.pipeline.process(each).stored().event_id)
        for each in drafts
    }
    assert told == {(each.organization_id, each.external_event_id, each.event_id) for each in world.stored}
