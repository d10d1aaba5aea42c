"""The demo's story: ten days in the life of a lead of an invented school, told by every entrance there is.

Mariana finds a course on the web, asks about it on Instagram and WhatsApp, hesitates at the price, gets a campaign, leaves a
cart at Hotmart, pays at Stripe, buys a book at the school's Shopify shop, and needs help once. What providers tell of it is in
``deliveries``. Nothing here is about a real person.
"""

from __future__ import annotations

import secrets
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
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True)
class Person:
    """The lead, by all the names under which somebody knows her; invented anew for every run."""

    lead: str
    """In our own systems. Stripe and the site get it from us and hand it back."""
    email: str
    phone: str
    """A Brazilian mobile in E.164: country, area, then nine digits, the first of them a 9."""
    instagram: str
    """Instagram's id of her: it tells neither phone nor e-mail."""

    @classmethod
    def invented(cls) -> Person:
        """Somebody whom nobody has met: a second run must not find the first one's lead."""
        unique = secrets.token_hex(4)
        # The 0 behind the 9 is nobody's. A 2 to 5 would not do: WhatsApp leaves the 9 out, and then it is a landline.
        digits = f"0{secrets.randbelow(10**7):07d}"
        return cls(f"lead_{unique}", f"mariana.{unique}@example.com", f"+55829{digits}", f"17900000{digits}")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens to the lead, as a service of the platform tells it."""

    entrance: Entrance
    source: str
    event_type: str
    occurred_at: datetime
    payload: dict[str, Any]


SCRIPT: Final[tuple[tuple[Entrance, str, str, float, dict[str, Any]], ...]] = (
    # entrance, source, event type, days before now, payload
    (Entrance.API, "web", "product_viewed", 10.0, COURSE),
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
