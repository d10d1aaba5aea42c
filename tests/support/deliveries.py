"""One good delivery of each provider: a sample, its signature and the headers that belong to it."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from tests.samples import load
from tests.support.signing import (
    hotmart_headers,
    meta_headers,
    shopify_headers,
    stripe_headers,
    typeform_headers,
    web_headers,
)

Headers = dict[str, str]


class Signed(NamedTuple):
    """How a provider is played."""

    sample: str
    """A delivery that becomes at least one event of a lead."""
    sign: Callable[[bytes, str, datetime], Headers]
    new_secret: Callable[[], str] = lambda: secrets.token_hex(16)
    timed: bool = False
    """Whether the signature holds a time, so that it grows old."""
    signs_body: bool = True


def _web(body: bytes, secret: str, at: datetime) -> Headers:
    key = secret if secret.startswith("whsec_") else "whsec_" + base64.b64encode(secret.encode()).decode()
    return web_headers(body, key, at, f"msg_{hashlib.sha256(body).hexdigest()[:24]}")


SIGNED: Final = {
    "stripe": Signed("checkout.session.completed.paid", stripe_headers, lambda: f"whsec_{secrets.token_hex(16)}", timed=True),
    "hotmart": Signed("PURCHASE_APPROVED.pix", lambda _body, secret, _at: hotmart_headers(secret), signs_body=False),
    "shopify": Signed("orders.paid", lambda body, secret, _at: shopify_headers(body, secret)),
    "typeform": Signed("form_response.all_answers", lambda body, secret, _at: typeform_headers(body, secret)),
    "whatsapp": Signed("message.text", lambda body, secret, _at: meta_headers(body, secret)),
    "instagram": Signed("message.text", lambda body, secret, _at: meta_headers(body, secret)),
    "web": Signed("backend.purchase_completed", _web,
                  lambda: "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode(), timed=True),
}  # fmt: skip
"""By provider; whoever adds one adds its line here, or its tests say so."""


def delivery(provider: str, secret: str, now: datetime, *, body: bytes | None = None) -> tuple[bytes, Headers]:
    """A body, the provider's sample unless given, with every header that its provider sends."""
    sent = load(provider, SIGNED[provider].sample) if body is None else body
    return sent, headers_of(provider, SIGNED[provider].sample, sent, secret, now)


def headers_of(provider: str, sample: str, body: bytes, secret: str, now: datetime) -> Headers:
    """Signature and the provider's other headers; those of Shopify follow from the sample's name, ``{topic}[.detail]``."""
    headers = {"content-type": "application/json"} | SIGNED[provider].sign(body, secret, now)
    return headers | shopify_notice(sample) if provider == "shopify" else headers


def shopify_notice(sample: str) -> Headers:
    """What Shopify says beside the body: topic, shop, ids, time. The same for the same sample."""
    unique = hashlib.sha256(sample.encode()).hexdigest()[:32]
    return {
        "x-shopify-topic": "/".join(sample.split(".")[:2]),
        "x-shopify-shop-domain": "demo.myshopify.com",
        "x-shopify-webhook-id": f"w-{unique}",
        "x-shopify-event-id": f"e-{unique}",
        "x-shopify-triggered-at": "2026-03-29T18:00:27.877041743Z",
        "x-shopify-api-version": "2026-07",
    }
