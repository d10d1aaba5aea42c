"""The demo's story: ten days in the life of a lead of an invented school, told by every entrance there is.

Mariana finds a course on the web, asks about it on WhatsApp, hesitates at the price, gets a campaign and a coupon,
pays at Stripe, subscribes to the community and needs help once. Nothing here is about a real person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

COURSE: Final = {"productId": "curso-trafego-pago", "productName": "Tráfego Pago do Zero", "category": "cursos"}


class Entrance(StrEnum):
    """The ways into Lead Events."""

    API = "API"
    CLOUDEVENTS = "API, CloudEvents"
    BUS = "event bus"
    QUEUE = "SQS queue"
    WEBHOOK = "Stripe webhook"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens to the lead."""

    entrance: Entrance
    source: str
    event_type: str
    occurred_at: datetime
    payload: dict[str, Any]


SCRIPT: Final[tuple[tuple[Entrance, str, str, float, dict[str, Any]], ...]] = (
    # entrance, source, event type, days before now, payload
    (Entrance.API, "web", "product_viewed", 10.0, COURSE),
    (
        Entrance.API,
        "web",
        "form_submitted",
        9.98,
        {
            "formId": "aula-gratis",
            "formName": "Aula gratuita",
            "responses": [{"question": "Qual o seu objetivo?", "answer": "Conseguir meus primeiros clientes"}],
        },
    ),
    (
        Entrance.BUS,
        "messaging_service",
        "conversation_started",
        9.2,
        {"channel": "whatsapp", "context": "Resposta ao convite da aula gratuita"},
    ),
    (
        Entrance.CLOUDEVENTS,
        "ai_agents_service",
        "product_asked",
        9.19,
        {"productId": COURSE["productId"], "question": "O curso tem certificado?", "channel": "whatsapp"},
    ),
    (
        Entrance.CLOUDEVENTS,
        "ai_agents_service",
        "objection_raised",
        9.18,
        {"type": "price", "context": "Achou caro à vista", "productId": COURSE["productId"]},
    ),
    (
        Entrance.CLOUDEVENTS,
        "ai_agents_service",
        "sentiment_detected",
        9.17,
        {"score": 0.4, "label": "positive", "context": "Animada com a aula, insegura com o preço"},
    ),
    (
        Entrance.QUEUE,
        "messaging_service",
        "conversation_ended",
        9.15,
        {"channel": "whatsapp", "durationSeconds": 1260, "messageCount": 23, "sentimentScore": 0.4},
    ),
    (
        Entrance.QUEUE,
        "dispatch_service",
        "campaign_delivered",
        5.0,
        {"campaignId": "lote-2", "campaignName": "Último dia do lote 2", "channel": "email"},
    ),
    (Entrance.BUS, "dispatch_service", "campaign_engaged", 4.9, {"campaignId": "lote-2", "engagementType": "click"}),
    (
        Entrance.API,
        "whatsapp",
        "discount_requested",
        4.88,
        {"context": "Tem cupom para pagar no Pix?", "productId": COURSE["productId"]},
    ),
    (
        Entrance.WEBHOOK,
        "stripe",
        "purchase_completed",
        4.8,
        {**COURSE, "amount_total": 39760, "currency": "brl", "payment_method_types": ["pix"]},
    ),
    (
        Entrance.BUS,
        "billing_service",
        "subscription_created",
        4.7,
        {"planId": "comunidade", "planName": "Comunidade Aurora", "amount": 49.9, "currency": "BRL"},
    ),
    (
        Entrance.QUEUE,
        "ticketing_service",
        "ticket_opened",
        1.5,
        {
            "ticketId": "T-1042",
            "subject": "Não encontro a aula 3",
            "productId": COURSE["productId"],
            "priority": "normal",
        },
    ),
    (
        Entrance.BUS,
        "ticketing_service",
        "ticket_resolved",
        1.4,
        {"ticketId": "T-1042", "resolution": "Acesso corrigido", "satisfactionScore": 5},
    ),
)


def steps(now: datetime) -> Iterator[Step]:
    """The story's steps in order, the last of them a good day before ``now``."""
    for entrance, source, event_type, days, payload in SCRIPT:
        yield Step(entrance, source, event_type, (now - timedelta(days=days)).replace(microsecond=0), payload)
