"""What a memory shows is what its documentation says, and means what it says."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from lead_events import memories
from lead_events.categories import Category
from lead_events.event import StoredEvent
from lead_events.event_types import plain
from lead_events.memories import _fields
from tests.support.memory_events import BEGIN, event, events, histories

RND = random.Random(4)


def at(day: int, kind: str, **payload: Any) -> StoredEvent:
    """An event of the ``day``-th day."""
    return event("lead_1", day, RND, types=[kind], payload=payload, occurred_at=BEGIN + timedelta(days=day))


def view_of(*history: StoredEvent) -> dict[str, Any]:
    """The one memory of ``history``, whatever its order."""
    [(category, state)] = memories.fold(random.Random(1).sample(history, len(history))).items()
    return memories.view(category, state)


@pytest.mark.parametrize("category", Category)
def test_the_schema_of_a_view_is_a_schema_and_every_field_has_a_meaning(category: Category) -> None:
    Draft202012Validator.check_schema(memories.schema(category))
    for field in _fields.read(memories.fields(category)):
        assert field.type in _fields.TYPES
        assert field.meaning.endswith(".")


@given(history=histories(80))
def test_a_view_has_the_fields_that_are_documented_and_no_others(history: list[StoredEvent]) -> None:
    for category, state in memories.fold(history).items():
        Draft202012Validator(memories.schema(category)).validate(plain(memories.view(category, state)))


@pytest.mark.parametrize("category", Category)
def test_no_field_is_always_empty(category: Category) -> None:
    filled: set[str] = set()
    for seed in range(60):
        states = memories.fold(events("lead_1", 200, random.Random(seed)))
        filled |= paths(memories.view(category, states.get(category, {})))
    assert set(memories.fields(category)) - filled == set()


@pytest.mark.parametrize("category", Category)
def test_no_events_are_a_memory_too(category: Category) -> None:
    view = memories.view(category, {})
    Draft202012Validator(memories.schema(category)).validate(plain(view))
    assert view["eventCount"] == 0
    assert memories.fold_of(category).lines(view) == []


def paths(value: Any, path: str = "") -> set[str]:
    """Paths at which something stands that is not null."""
    if isinstance(value, dict):
        return {path} - {""} | {
            each for key, child in value.items() for each in paths(child, f"{path}.{key}".strip("."))
        }
    if isinstance(value, list):
        inner = {each for child in value if isinstance(child, dict) for each in paths(child, f"{path}[]")} - {
            f"{path}[]"
        }
        return ({path} if value else set()) | inner
    return set() if value is None else {path}


def test_purchases_are_summed_by_currency_and_tests_are_not() -> None:
    one, two = (
        at(1, "purchase_completed", amount=Decimal("19.90"), currency="BRL", productId="p1", productName="Old"),
        at(
            3,
            "purchase_completed",
            amount=Decimal("0.10"),
            currency="BRL",
            productId="p1",
            productName="New",
            paymentMethod="pix",
        ),
    )
    view = view_of(
        one, two,
        at(2, "purchase_completed", amount=5, currency="USD"),
        at(9, "purchase_completed", amount=1_000, currency="BRL", productId="p1", test=True),
    )  # fmt: skip
    assert (view["eventCount"], view["testEvents"], view["count"]) == (4, 1, 3)
    assert [(each["currency"], each["count"], each["total"], each["average"]) for each in view["totals"]] == [
        ("BRL", 2, 20, 10),
        ("USD", 1, 5, 5),
    ]
    assert view["last"]["amount"] == Decimal("0.1")
    assert view["last"]["eventIds"] == [two.event_id]
    [product] = view["products"]
    assert (product["productName"], product["count"]) == ("New", 2)
    assert product["eventIds"] == [two.event_id, one.event_id]
    assert view["lastSeen"] == "2026-01-10T00:00:00.000000Z"  # of whatever happened


def test_an_amount_that_is_no_price_is_counted_and_told_but_not_summed() -> None:
    view = view_of(
        at(1, "purchase_completed", amount=10**15, currency="BRL"),
        at(2, "purchase_completed", amount=1, currency="BRL"),
    )
    assert view["totals"][0] | {} == {"currency": "BRL", "count": 2, "total": 1, "average": 1, "notSummed": 1}


@pytest.mark.parametrize(
    ("cart", "purchase", "is_open"),
    [
        (["p1", "p2"], None, True),
        (["p1", "p2"], (5, {"productId": "p2"}), False),
        (["p1", "p2"], (5, {"productIds": ["p9", "p1"]}), False),
        (["p1", "p2"], (5, {"productId": "p3"}), True),
        (["p1", "p2"], (1, {"productId": "p2"}), True),
        (["p1", "p2"], (5, {"productId": "p2", "test": True}), True),
        (["p1", "p2"], (5, {}), False),
        (["p1", "p2"], (1, {}), True),
        ([], (5, {"productId": "p3"}), False),
        ([], (1, {"productId": "p3"}), True),
        ([], None, True),
    ],
)
def test_a_cart_is_open_until_something_of_it_is_bought(
    cart: list[str], purchase: tuple[int, dict[str, Any]] | None, is_open: bool
) -> None:
    left = at(3, "purchase_abandoned", productIds=cart, cartValue=9, stageAbandoned="payment")
    bought = [at(purchase[0], "purchase_completed", amount=1, currency="BRL", **purchase[1])] if purchase else []
    view = view_of(left, *bought)
    assert [each["eventIds"] for each in view["openCarts"]] == ([[left.event_id]] if is_open else [])
    assert view["abandonedCount"] == 1


def test_a_cart_of_before_everything_that_is_remembered_is_not_called_open() -> None:
    bought = [
        at(20 + number, "purchase_completed", amount=1, currency="BRL", productId=f"p{number}") for number in range(60)
    ]
    old, new = (at(day, "purchase_abandoned", productIds=["p0"]) for day in (2, 100))
    assert [each["eventIds"] for each in view_of(old, new, *bought)["openCarts"]] == [[new.event_id]]


def test_what_is_left_out_of_a_list_is_counted() -> None:
    view = view_of(*(at(number, "product_viewed", productId=f"p{number % 70}") for number in range(140)))
    assert len(view["products"]) == 50
    assert {each["viewedCount"] for each in view["products"]} == {2}
    assert view["otherProducts"] == 40
    assert [each["productId"] for each in view["lastProducts"]] == [f"p{number}" for number in range(69, 59, -1)]


def test_a_product_is_known_by_its_whole_id_however_long() -> None:
    view = view_of(
        at(1, "product_viewed", productId="x" * 300 + "1"), at(2, "product_viewed", productId="x" * 300 + "2")
    )
    assert len(view["products"]) == 2
    assert all(len(each["productId"].encode()) <= 80 for each in view["products"])


def test_questions_and_views_of_a_product_stand_together() -> None:
    view = view_of(
        at(1, "product_viewed", productId="p1", productName="Curso", category="courses"),
        at(2, "product_asked", productId="p1", question="Tem certificado?", channel="web"),
        at(3, "product_asked", question="Parcela?", trust="browser"),
    )
    [product] = view["products"]
    assert (product["productName"], product["viewedCount"], product["askedCount"]) == ("Curso", 1, 1)
    assert [each["question"] for each in view["questions"]] == ["Parcela?", "Tem certificado?"]
    assert (view["otherProducts"], view["browserEvents"]) == (1, 1)


def test_an_interest_has_its_latest_average_and_highest_confidence() -> None:
    told = [Decimal("0.2"), Decimal("0.9"), None, Decimal("0.4")]
    view = view_of(
        *(at(day, "interest_detected", category="c", productId="p", confidence=each) for day, each in enumerate(told))
    )
    [interest] = view["interests"]
    assert (interest["count"], interest["confidence"]) == (4, Decimal("0.4"))
    assert (interest["averageConfidence"], interest["highestConfidence"]) == (Decimal("0.5"), Decimal("0.9"))
    assert len(interest["eventIds"]) == 3


@pytest.mark.parametrize(
    ("scores", "trend"),
    [
        ([-5, -5, 5, 5], "rising"),
        ([5, 5, -5, -5], "falling"),
        ([1, 2, 1, 2], "steady"),
        ([0, 0, 1, 2], "steady"),
        ([0, 0, 2, 2], "rising"),
        ([-9, 9, 9], None),
        ([-10] * 5 + [3] * 11, "steady"),
    ],
)
def test_the_trend_is_of_the_latest_scores(scores: list[int], trend: str | None) -> None:
    view = view_of(*(at(day, "sentiment_detected", score=Decimal(each) / 10) for day, each in enumerate(scores)))
    assert view["trend"] == trend
    assert view["latest"]["score"] == Decimal(scores[-1]) / 10


def test_a_ticket_is_open_until_resolved_and_again_when_reopened() -> None:
    reopened = at(5, "ticket_opened", ticketId="t1", subject="De novo")
    view = view_of(
        at(1, "ticket_opened", ticketId="t1", subject="Acesso"),
        at(2, "ticket_resolved", ticketId="t1", resolution="ok", satisfactionScore=5),
        at(3, "ticket_opened", ticketId="t2"),
        at(4, "ticket_resolved", ticketId="t2", satisfactionScore=4),
        reopened,
        at(6, "ticket_resolved", ticketId="t3", satisfactionScore=Decimal("4.50")),
    )
    assert [(each["subject"], each["eventIds"]) for each in view["openTickets"]] == [("De novo", [reopened.event_id])]
    assert (view["openedCount"], view["resolvedCount"]) == (3, 3)
    assert view["satisfaction"] == {"average": Decimal("4.5"), "count": 3, "latest": Decimal("4.5")}
    assert view["lastResolved"]["ticketId"] == "t3"


def test_conversations_are_counted_by_channel() -> None:
    view = view_of(
        at(1, "conversation_started", channel="whatsapp", context="Anúncio"),
        at(
            2,
            "conversation_ended",
            channel="whatsapp",
            durationSeconds=60,
            messageCount=3,
            sentimentScore=Decimal("0.5"),
        ),
        at(3, "conversation_ended", channel="web", durationSeconds=Decimal("30.5")),
    )
    assert (view["count"], view["startedCount"], view["endedCount"]) == (2, 1, 2)
    assert (view["totalDurationSeconds"], view["totalMessages"]) == (Decimal("90.5"), 3)
    assert view["averageSentiment"] == Decimal("0.5")
    assert [(each["channel"], each["totalDurationSeconds"]) for each in view["channels"]] == [
        ("whatsapp", 60),
        ("web", Decimal("30.5")),
    ]
    assert (view["last"]["state"], view["last"]["channel"]) == ("ended", "web")


def test_a_campaign_is_engaged_ignored_or_only_delivered() -> None:
    view = view_of(
        at(1, "campaign_delivered", campaignId="c1", campaignName="Um", channel="email", productId="p"),
        at(2, "campaign_ignored", campaignId="c1"),
        at(3, "campaign_engaged", campaignId="c1", engagementType="click"),
        at(4, "campaign_delivered", campaignId="c2"),
        at(5, "campaign_ignored", campaignId="c2"),
        at(6, "campaign_delivered", campaignId="c3"),
    )
    found = {each["campaignId"]: each for each in view["campaigns"]}
    assert {key: each["outcome"] for key, each in found.items()} == {
        "c1": "engaged",
        "c2": "ignored",
        "c3": "delivered",
    }
    assert found["c1"]["engagements"] == [{"engagementType": "click", "count": 1}]
    assert view["engagedShare"] == Decimal("0.3333")


def test_a_plan_is_in_the_state_of_its_latest_event() -> None:
    view = view_of(
        at(1, "subscription_created", planId="pro", planName="Pro", amount=Decimal("99.90"), currency="BRL"),
        at(2, "subscription_cancelled", planId="pro", reason="too_expensive"),
        at(1, "subscription_created", planId="basic", amount=10, currency="BRL"),
        at(0, "subscription_cancelled", planId="basic", reason="other"),
        at(3, "subscription_cancelled", planId="lost"),
    )
    found = {each["planId"]: each for each in view["plans"]}
    assert {key: each["status"] for key, each in found.items()} == {
        "pro": "cancelled", "basic": "active", "lost": "cancelled"}  # fmt: skip
    assert (found["pro"]["planName"], found["pro"]["reason"], found["pro"]["amount"]) == (
        "Pro",
        "too_expensive",
        Decimal("99.9"),
    )
    assert found["basic"]["reason"] is None
    assert view["activeTotals"] == [{"currency": "BRL", "total": 10}]
    assert view["activeCount"] == 1


def test_the_latest_answer_to_a_field_counts_and_answers_of_every_kind_are_shown() -> None:
    def form(day: int, *answers: Any) -> StoredEvent:
        told = [{"field": f"f{place}", "answer": answer} for place, answer in enumerate(answers) if answer is not ...]
        return at(day, "form_submitted", formId="form", formName="Diagnóstico", responses=told)

    view = view_of(
        form(1, "old", "first"),
        form(2, "new", ..., 7, Decimal("7.50"), False, ["a", 2, None], {"x": 1}, None, " ", []),
        at(3, "form_submitted", formId="other", responses=[{"question": "Qual?", "answer": "sim"}, {"answer": "?"}, 5]),
    )
    found = {(each["formId"], each["field"] or each["question"]): each["answer"] for each in view["answers"]}
    assert found == {
        ("form", "f0"): "new", ("form", "f1"): "first", ("form", "f2"): 7, ("form", "f3"): Decimal("7.5"),
        ("form", "f4"): False, ("form", "f5"): "a, 2", ("form", "f6"): "(an object)", ("other", "Qual?"): "sim",
    }  # fmt: skip
    assert (view["submissionCount"], view["omitted"]) == (3, False)
    assert {each["formId"]: each["count"] for each in view["forms"]} == {"form": 2, "other": 1}


def test_the_best_discount_is_the_largest_and_names_its_latest_event() -> None:
    best = at(5, "discount_accepted", discountPercent=Decimal("20.00"))
    view = view_of(
        at(1, "discount_accepted", discountPercent=20),
        best,
        at(6, "discount_accepted", discountPercent=5),
        at(7, "discount_accepted"),
        at(8, "discount_requested", context="Cupom?"),
    )
    assert (view["bestPercent"], view["bestEventIds"]) == (20, [best.event_id])
    assert (view["requestedCount"], view["acceptedCount"], view["averagePercent"]) == (1, 4, 15)


def test_insights_show_the_latest_of_each_type_and_objections_how_often() -> None:
    insights = view_of(
        at(1, "agent_insight", insightType="budget", content="Não"),
        at(2, "agent_insight", insightType="budget", content="Tem verba", confidence=Decimal("0.7")),
        at(3, "agent_insight", insightType="intent", content="Decide"),
    )
    assert [(each["insightType"], each["content"]) for each in insights["byType"]] == [
        ("intent", "Decide"),
        ("budget", "Tem verba"),
    ]
    objections = view_of(
        at(1, "objection_raised", type="price", context="Caro"),
        at(2, "objection_raised", type="price", productId="p1"),
        at(3, "objection_raised", type="time", context="Sem tempo"),
    )
    assert [(each["type"], each["count"], each["context"], each["productId"]) for each in objections["byType"]] == [
        ("price", 2, "Caro", "p1"),
        ("time", 1, "Sem tempo", None),
    ]


@given(history=histories(60))
def test_every_event_that_is_cited_is_one_of_the_lead(history: list[StoredEvent]) -> None:
    known = {each.event_id for each in history}
    for category, state in memories.fold(history).items():
        cited = json.dumps(plain(memories.view(category, state)))
        found = {each for each in cited.replace('"', " ").replace(",", " ").split() if each.startswith("evt_")}
        assert found <= known
