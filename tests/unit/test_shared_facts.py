"""A fact that several events tell counts once, in whatever order they come, and none of them is lost."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.event import Delivery, EventDraft, OutcomeKind, SharedFact, SourceType
from tests.samples import load
from tests.support.builders import ORGANIZATION, draft
from tests.support.deliveries import shopify_notice
from tests.support.fakes import Killed, World

SALE = {"productId": "p", "productName": "P", "amount": 10, "currency": "BRL"}


def telling(external_id: str, sale: str) -> EventDraft:
    return draft(
        source="stripe", source_type=SourceType.EXTERNAL, event_type="purchase_completed", payload=SALE,
        external_event_id=external_id,
        shared_fact=SharedFact(sale, f"stripe.{external_id}", {"told": external_id}),
    )  # fmt: skip


@st.composite
def deliveries(draw: Callable[[st.SearchStrategy[Any]], Any]) -> list[EventDraft]:
    """Up to three sales, each told by up to four events, each delivered up to three times, in any order."""
    tellings = [
        telling(f"{sale}-{number}", f"sale:{sale}")
        for sale in range(draw(st.integers(1, 3)))
        for number in range(draw(st.integers(1, 4)))
    ]
    return draw(st.permutations([each for each in tellings for _ in range(draw(st.integers(1, 3)))]))  # type: ignore[no-any-return]


def check(world: World, drafts: list[EventDraft]) -> None:
    """One sale each, and each event stored exactly once."""
    assert Counter(each.external_event_id for each in world.stored) == Counter(
        {each.external_event_id for each in drafts}
    )
    purchases = [
        str(each.external_event_id).partition("-")[0]
        for each in world.stored
        if each.event_type == "purchase_completed"
    ]
    assert sorted(purchases) == sorted({str(each.external_event_id).partition("-")[0] for each in drafts})
    for each in world.stored:
        if each.event_type != "purchase_completed":
            assert (each.event_type, each.payload) == (
                f"stripe.{each.external_event_id}",
                {"told": each.external_event_id},
            )


@given(deliveries())
def test_whatever_the_order_and_the_repetitions_each_sale_counts_once_and_each_event_is_stored_once(
    drafts: list[EventDraft],
) -> None:
    world = World()
    outcomes = [world.pipeline.process(each) for each in drafts]
    assert {each.kind for each in outcomes} <= {OutcomeKind.STORED, OutcomeKind.DUPLICATE}
    check(world, drafts)
    first = {str(each.external_event_id).partition("-")[0]: each.external_event_id for each in reversed(drafts)}
    counted = {each.external_event_id for each in world.stored if each.event_type == "purchase_completed"}
    assert counted == set(first.values())  # whoever tells it first


@given(deliveries(), st.sets(st.integers(0, 60), max_size=8))
@settings(max_examples=60)
def test_so_it_is_where_writers_die_in_between_and_are_redelivered(
    drafts: list[EventDraft], crash_at: set[int]
) -> None:
    world = World(*crash_at)
    for each in [*drafts, *drafts]:
        while True:
            try:
                world.pipeline.process(each)
                break
            except Killed:
                continue
    check(world, drafts)


def test_a_redelivery_of_the_telling_that_counted_is_its_duplicate_and_so_is_one_of_the_others() -> None:
    world = World()
    one, two = telling("0-1", "sale:0"), telling("0-2", "sale:0")
    kinds = [world.pipeline.process(each).stored().event_type for each in (one, two, one, two)]
    assert kinds == ["purchase_completed", "stripe.0-2"] * 2


HEADERS = {"content-type": "application/json"}
TOLD = {
    "stripe, with a payment": (
        "stripe",
        ["checkout.session.completed.paid", "payment_intent.succeeded.checkout_old", "charge.succeeded"],
    ),
    "stripe, with an invoice": (
        "stripe",
        ["checkout.session.completed.subscription", "invoice.paid.old", "payment_intent.succeeded.invoice_old"],
    ),
    "hotmart": ("hotmart", ["PURCHASE_APPROVED.pix", "PURCHASE_COMPLETE"]),
    "shopify": ("shopify", ["orders.paid", "orders.create.paid", "orders.updated"]),
}


@pytest.mark.parametrize("told", TOLD)
def test_a_sale_that_a_provider_tells_several_times_counts_once_in_every_order(told: str) -> None:
    provider, samples = TOLD[told]
    for order in itertools.permutations(samples):
        world = World()
        for name in (*order, *order, *reversed(order)):
            headers = HEADERS | (shopify_notice(name) if provider == "shopify" else {})
            delivery = Delivery(
                provider=provider, organization_id=ORGANIZATION, body=load(provider, name).decode(), headers=headers,
                received_at=datetime(2026, 3, 30, tzinfo=UTC), lead_id="lead_url",
            )  # fmt: skip
            for outcome in world.pipeline.process_delivery(delivery):
                assert outcome.kind in (OutcomeKind.STORED, OutcomeKind.DUPLICATE)
        types = Counter(each.event_type for each in world.stored)
        assert types["purchase_completed"] == 1, (order, types)
        ids = Counter(each.external_event_id for each in world.stored)
        assert set(ids.values()) == {1}
        read = [world.events.get(each.key, raw=True) for each in world.stored]
        texts = {each.raw_payload for each in read if each is not None}
        assert len(texts) == len(samples)
