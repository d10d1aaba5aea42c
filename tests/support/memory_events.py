"""Made-up histories of leads: events of the catalogue as sources send them, others between them, some odd."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from hypothesis import strategies as st

from lead_events.event import SourceType, StoredEvent
from lead_events.instants import to_microseconds
from tests.support.builders import ORGANIZATION
from tests.support.clock import START

Random = random.Random
Payload = dict[str, Any]

BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
PRODUCTS: Final = [("p1", "Curso de Vendas", "courses"), ("p2", "Mentoria 🚀", "mentoring"), ("p 3", "E-book", "books")]
CURRENCIES: Final = ("BRL", "BRL", "USD")
CHANNELS: Final = ("whatsapp", "instagram", "web", "email")


def events(
    lead: str, n: int, rnd: Random, *, organization: str = ORGANIZATION, types: list[str] | None = None
) -> list[StoredEvent]:
    """``n`` events of ``lead``, in the order in which they were stored, which is not the one in which they occurred.

    The same ``rnd`` gives the same events, ids included. One in ten is of no type of the catalogue.
    """
    return [event(lead, number, rnd, organization=organization, types=types) for number in range(n)]


def event(
    lead: str,
    number: int,
    rnd: Random,
    *,
    organization: str = ORGANIZATION,
    types: list[str] | None = None,
    payload: Payload | None = None,
    occurred_at: datetime | None = None,
) -> StoredEvent:
    """One event of ``lead``, stored ``number`` seconds after ``START``; what is not given is made up."""
    kind = rnd.choice(types) if types else ("message.received" if rnd.random() < 0.1 else rnd.choice(list(PAYLOADS)))
    when = occurred_at or _instant(rnd)
    return StoredEvent(
        organization_id=organization,
        lead_id=lead,
        source_type=SourceType.INTERNAL,
        source="ai_agents_service",
        event_type=kind,
        payload=(_payload(kind, rnd) if payload is None else payload),
        occurred_at=when,
        received_at=START + timedelta(seconds=number),
        external_event_id=f"{lead}-{number}-{rnd.getrandbits(32):08x}",
        event_id=event_id(when, rnd),
        stored_at=START + timedelta(seconds=number),
    )


def event_id(occurred_at: datetime, rnd: Random) -> str:
    """As ``event.new_event_id``, with the tail of ``rnd``."""
    milliseconds, microseconds = divmod(to_microseconds(occurred_at), 1_000)
    return f"evt_{UUID(int=milliseconds << 80 | 7 << 76 | microseconds << 64 | 2 << 62 | rnd.getrandbits(62))}"


def histories(
    max_size: int = 25, lead: str = "lead_1", types: list[str] | None = None
) -> st.SearchStrategy[list[StoredEvent]]:
    """Sets of events of one lead, each once."""
    return st.builds(
        lambda seed, n: events(lead, n, random.Random(seed), types=types),
        st.integers(0, 2**32),
        st.integers(0, max_size),
    )


def _instant(rnd: Random) -> datetime:
    # Few days, so that things happen at the same time: then the id decides.
    return BEGIN + timedelta(
        days=rnd.randrange(28), seconds=rnd.choice([0, 0, 1, 3_600]), microseconds=rnd.randrange(2)
    )


def _payload(kind: str, rnd: Random) -> Payload:
    made = PAYLOADS[kind](rnd) if kind in PAYLOADS else {"text": "Oi"}
    if rnd.random() < 0.05:
        made["test"] = True
    if rnd.random() < 0.05:
        made["trust"] = "browser"
    return {name: value for name, value in made.items() if value is not None}


def _product(rnd: Random) -> Payload:
    product, name, category = rnd.choice(PRODUCTS)
    known = rnd.random() < 0.8
    return {
        "productId": product if rnd.random() < 0.9 else None,
        "productName": name if known else None,
        "category": category if known else None,
    }


def _number(rnd: Random, low: int, high: int) -> Decimal | int:
    """Sometimes whole, sometimes with zeros at its end, as senders write them."""
    return rnd.choice(
        [rnd.randint(low, high), Decimal(rnd.randint(low * 100, high * 100)) / 100, Decimal(f"{high}.00")]
    )


def _maybe(rnd: Random, value: Any, share: float = 0.7) -> Any:
    return value if rnd.random() < share else None


def _responses(rnd: Random) -> list[Payload]:
    answers: list[Any] = ["5 a 10", "", 7, Decimal("7.50"), True, ["a", "b"], {"amount": Decimal("1.0")}, None]
    fields = ["team_size", "utm.source", "__proto__", "ADD", "#x", "a b", "", "É?"]
    return [
        {"field": rnd.choice(fields), "question": "Qual é?", "answer": rnd.choice(answers)}
        for _ in range(rnd.randrange(4))
    ]


PAYLOADS: Final[dict[str, Callable[[Random], Payload]]] = {
    "purchase_completed": lambda rnd: {
        **_product(rnd), "amount": _number(rnd, 0, 500), "currency": rnd.choice(CURRENCIES),
        "paymentMethod": _maybe(rnd, rnd.choice(["pix", "credit_card"])),
    },
    "purchase_abandoned": lambda rnd: {
        "productIds": _maybe(rnd, [each[0] for each in rnd.sample(PRODUCTS, rnd.randrange(3))]),
        "cartValue": _maybe(rnd, _number(rnd, 1, 900)), "currency": _maybe(rnd, "BRL"), "stageAbandoned": "payment",
    },
    "product_viewed": lambda rnd: _product(rnd) | {"productId": rnd.choice(PRODUCTS)[0]},
    "product_asked": lambda rnd: {
        "productId": _maybe(rnd, rnd.choice(PRODUCTS)[0]), "question": rnd.choice(["Tem certificado?", "Quanto custa?"]),
        "channel": _maybe(rnd, rnd.choice(CHANNELS)),
    },
    "interest_detected": lambda rnd: {
        "category": _maybe(rnd, rnd.choice(PRODUCTS)[2]), "productId": _maybe(rnd, rnd.choice(PRODUCTS)[0]),
        "confidence": _maybe(rnd, Decimal(rnd.randint(0, 100)) / 100),
    },
    "sentiment_detected": lambda rnd: {
        "score": Decimal(rnd.randint(-10, 10)) / 10, "label": _maybe(rnd, rnd.choice(["positive", "negative"])),
        "context": _maybe(rnd, "chat"),
    },
    "ticket_opened": lambda rnd: {
        "ticketId": f"t{rnd.randrange(4)}", "subject": _maybe(rnd, "Acesso"), "priority": _maybe(rnd, "high"),
        "productId": _maybe(rnd, "p1"),
    },
    "ticket_resolved": lambda rnd: {
        "ticketId": f"t{rnd.randrange(4)}", "resolution": _maybe(rnd, "ok"),
        "satisfactionScore": _maybe(rnd, _number(rnd, 1, 5)),
    },
    "conversation_started": lambda rnd: {"channel": rnd.choice(CHANNELS), "context": _maybe(rnd, "Anúncio")},
    "conversation_ended": lambda rnd: {
        "channel": rnd.choice(CHANNELS), "durationSeconds": _maybe(rnd, _number(rnd, 1, 600)),
        "messageCount": _maybe(rnd, rnd.randint(1, 40)), "sentimentScore": _maybe(rnd, Decimal("0.4")),
    },
    "campaign_delivered": lambda rnd: {
        "campaignId": f"c{rnd.randrange(3)}", "campaignName": _maybe(rnd, "Volta às aulas"),
        "channel": _maybe(rnd, rnd.choice(CHANNELS)), "productId": _maybe(rnd, "p2"),
    },
    "campaign_engaged": lambda rnd: {
        "campaignId": f"c{rnd.randrange(3)}", "engagementType": _maybe(rnd, rnd.choice(["open", "click"])),
    },
    "campaign_ignored": lambda rnd: {"campaignId": f"c{rnd.randrange(3)}", "daysSinceDelivery": _maybe(rnd, 7)},
    "subscription_created": lambda rnd: {
        "planId": rnd.choice(["plan_pro", "plan_basic"]), "planName": _maybe(rnd, "Pro"),
        "amount": _maybe(rnd, _number(rnd, 0, 200)), "currency": _maybe(rnd, rnd.choice(CURRENCIES)),
        "status": _maybe(rnd, rnd.choice(["active", "trialing"]), 0.3),
    },
    "subscription_cancelled": lambda rnd: {
        "planId": rnd.choice(["plan_pro", "plan_basic"]), "reason": _maybe(rnd, "too_expensive"),
    },
    "form_submitted": lambda rnd: {
        "formId": f"form_{rnd.randrange(2)}", "formName": _maybe(rnd, "Diagnóstico"),
        "responses": _maybe(rnd, _responses(rnd), 0.9),
    },
    "discount_requested": lambda rnd: {"context": _maybe(rnd, "Pediu cupom"), "productId": _maybe(rnd, "p1")},
    "discount_accepted": lambda rnd: {
        "discountPercent": _maybe(rnd, _number(rnd, 1, 50)), "productId": _maybe(rnd, "p2"),
    },
    "agent_insight": lambda rnd: {
        "insightType": rnd.choice(["budget", "intent"]), "content": rnd.choice(["Tem verba", "Decide em março"]),
        "confidence": _maybe(rnd, Decimal("0.70")),
    },
    "objection_raised": lambda rnd: {
        "type": rnd.choice(["price", "time"]), "context": _maybe(rnd, "Achou caro"), "productId": _maybe(rnd, "p1"),
    },
}  # fmt: skip
"""A payload of each type of the catalogue."""
