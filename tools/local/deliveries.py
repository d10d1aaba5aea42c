"""What each provider tells about the story's lead: the body that it would send, signed as it signs.

Only Stripe and the site hand back our lead id. The others know her by e-mail, phone or an id of their own, and Lead Events
finds out that it is her. Every body is shortened to what a reader of this page needs.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tools.local.story import COURSE, Person

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request to a provider's webhook, and the event types that it becomes."""

    provider: str
    body: bytes
    headers: dict[str, str]
    becomes: tuple[str, ...]


def deliveries(person: Person, secrets: dict[str, str], now: datetime) -> Iterator[Delivery]:
    """One delivery of every provider, in the order in which the things happened."""
    for provider, (days, build) in PROVIDERS.items():
        yield build(person, secrets[provider], (now - timedelta(days=days)).replace(microsecond=0))


def web(person: Person, secret: str, at: datetime) -> Delivery:
    """The site's backend tells that she filled in a form: Standard Webhooks, under a secret in Base64."""
    body = _json(
        {
            "eventId": str(uuid.uuid4()),
            "type": "form_submitted",
            "occurredAt": at.isoformat(),
            "leadId": person.lead,
            "identify": {"email": person.email, "externalId": f"user-{person.lead}"},
            "context": {"url": "https://aurora.example/aula?utm_source=instagram&utm_campaign=aula-gratis"},
            "payload": {"formId": "aula-gratis", "formName": "Aula gratuita"},
        }
    )
    message_id, seconds = f"msg_{uuid.uuid4().hex}", str(int(time.time()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = _base64(hmac.digest(key, f"{message_id}.{seconds}.".encode() + body, "sha256"))
    signed = {"webhook-id": message_id, "webhook-timestamp": seconds, "webhook-signature": f"v1,{signature}"}
    return Delivery("web", body, signed, ("form_submitted",))


def instagram(person: Person, secret: str, at: datetime) -> Delivery:
    """She answers a story. Meta signs in hex; times are milliseconds."""
    message = {
        "mid": f"m_{uuid.uuid4().hex}",
        "text": "Ainda tem vaga?",
        "reply_to": {"story": {"id": "18000000000001"}},
    }
    item = {"sender": {"id": person.instagram}, "recipient": {"id": "17841400000000001"},
            "timestamp": _seconds(at) * 1000, "message": message}  # fmt: skip
    body = _json({"object": "instagram", "entry": [{"id": "17841400000000001", "messaging": [item]}]})
    becomes = ("message.received", "interest_detected", "conversation_started")
    return Delivery("instagram", body, _meta(body, secret), becomes)


def whatsapp(person: Person, secret: str, at: datetime) -> Delivery:
    """She writes. WhatsApp's id of her is her number without the ninth digit, as it is for older Brazilian accounts."""
    wa_id = person.phone[1:5] + person.phone[6:]
    message = {"from": wa_id, "id": f"wamid.{uuid.uuid4().hex}", "timestamp": str(_seconds(at)), "type": "text",
               "text": {"body": "Oi! Vi a aula e quero saber do curso"}}  # fmt: skip
    value = {"messaging_product": "whatsapp", "metadata": {"phone_number_id": "106540352242922"},
             "contacts": [{"wa_id": wa_id, "profile": {"name": "Mariana"}}], "messages": [message]}  # fmt: skip
    entry = {"id": "102290129340398", "changes": [{"field": "messages", "value": value}]}
    body = _json({"object": "whatsapp_business_account", "entry": [entry]})
    return Delivery("whatsapp", body, _meta(body, secret), ("message.received", "conversation_started"))


def typeform(person: Person, secret: str, at: datetime) -> Delivery:
    """She answers a survey and leaves her e-mail. Typeform signs in Base64."""
    fields = [{"id": "f1", "ref": "objetivo", "type": "short_text", "title": "Qual o seu objetivo?"},
              {"id": "f2", "ref": "email", "type": "email", "title": "Seu e-mail"}]  # fmt: skip
    answers = [{"type": "text", "text": "Conseguir meus primeiros clientes", "field": {"id": "f1", "ref": "objetivo"}},
               {"type": "email", "email": person.email, "field": {"id": "f2", "ref": "email"}}]  # fmt: skip
    response = {
        "form_id": "pesquisa",
        "token": uuid.uuid4().hex,
        "submitted_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "definition": {"id": "pesquisa", "title": "Pesquisa da aula", "fields": fields},
        "answers": answers,
        "hidden": {"utm_source": "email"},
    }
    body = _json({"event_id": uuid.uuid4().hex, "event_type": "form_response", "form_response": response})
    signature = _base64(hmac.digest(secret.encode(), body, "sha256"))
    return Delivery("typeform", body, {"typeform-signature": f"sha256={signature}"}, ("form_submitted",))


def hotmart(person: Person, secret: str, at: datetime) -> Delivery:
    """She leaves the checkout. Hotmart signs nothing: its token is the proof. Times are milliseconds."""
    data = {
        "product": {"id": 4421337, "name": COURSE["productName"]},
        "buyer": {"name": "Mariana", "email": person.email, "phone": person.phone},
        "checkout_country": {"iso": "BR"},
    }
    event = {"id": str(uuid.uuid4()), "creation_date": _seconds(at) * 1000, "version": "2.0.0", "data": data}
    body = _json(event | {"event": "PURCHASE_OUT_OF_SHOPPING_CART"})
    return Delivery("hotmart", body, {"x-hotmart-hottok": secret}, ("purchase_abandoned",))


def stripe(person: Person, secret: str, at: datetime) -> Delivery:
    """She pays. Our lead id travels in ``metadata``, where the shop's page planted it; amounts are in cents."""
    session = {
        "id": f"cs_test_{uuid.uuid4().hex}",
        "object": "checkout.session",
        "mode": "payment",
        "payment_status": "paid",
        "amount_total": 39760,
        "currency": "brl",
        "payment_method_types": ["pix"],
        "customer": f"cus_{uuid.uuid4().hex[:14]}",
        "metadata": {"leadId": person.lead, **COURSE},
    }
    event = {"id": f"evt_{uuid.uuid4().hex}", "object": "event", "api_version": "2025-03-31.basil",
             "created": _seconds(at), "type": "checkout.session.completed", "data": {"object": session}}  # fmt: skip
    body, seconds = _json(event), str(int(time.time()))
    signature = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return Delivery("stripe", body, {"stripe-signature": f"t={seconds},v1={signature}"}, ("purchase_completed",))


def shopify(person: Person, secret: str, at: datetime) -> Delivery:
    """She buys a book. What happened stands in a header alone; amounts are decimal strings."""
    number = uuid.uuid4().int % 10**15
    order = {
        "id": number,
        "admin_graphql_api_id": f"gid://shopify/Order/{number}",
        "financial_status": "paid",
        "total_price": "59.90",
        "currency": "BRL",
        "payment_gateway_names": ["pix"],
        "customer": {"admin_graphql_api_id": f"gid://shopify/Customer/{number}", "email": person.email.upper()},
        "line_items": [{"product_id": 77, "title": "Livro: Anúncios que Vendem", "price": "59.90", "quantity": 1}],
        "landing_site": "/livros?utm_source=email&utm_campaign=lote-2",
    }
    body = _json(order)
    headers = {
        "x-shopify-topic": "orders/paid",
        "x-shopify-shop-domain": "aurora.myshopify.example",
        "x-shopify-event-id": str(uuid.uuid4()),
        "x-shopify-triggered-at": at.isoformat(),
        "x-shopify-hmac-sha256": _base64(hmac.digest(secret.encode(), body, "sha256")),
    }
    return Delivery("shopify", body, headers, ("purchase_completed",))


PROVIDERS: Final[dict[str, tuple[float, Callable[[Person, str, datetime], Delivery]]]] = {
    # days before now, and what is sent
    "web": (9.98, web),
    "instagram": (9.4, instagram),
    "whatsapp": (9.2, whatsapp),
    "typeform": (8.0, typeform),
    "hotmart": (4.86, hotmart),
    "stripe": (4.8, stripe),
    "shopify": (3.0, shopify),
}


def _meta(body: bytes, secret: str) -> dict[str, str]:
    return {"x-hub-signature-256": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}


def _json(value: Json) -> bytes:
    """The bytes that are signed: sign what you send, and send what you signed."""
    return json.dumps(value, ensure_ascii=False).encode()


def _base64(digest: bytes) -> str:
    return base64.b64encode(digest).decode()


def _seconds(at: datetime) -> int:
    return int(at.astimezone(UTC).timestamp())
