"""Signs test deliveries as the providers document it; independent of the code under test."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime


def stripe_headers(body: bytes, secret: str, at: datetime) -> dict[str, str]:
    """``Stripe-Signature`` of ``body``, with the header's name in lower case as API Gateway gives it."""
    seconds = str(int(at.timestamp()))
    digest = hmac.new(secret.encode(), seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"stripe-signature": f"t={seconds},v1={digest}"}


def hotmart_headers(token: str) -> dict[str, str]:
    """The account's static token; nothing of the body is signed."""
    return {"x-hotmart-hottok": token, "content-type": "application/json"}


def typeform_headers(body: bytes, secret: str) -> dict[str, str]:
    """``Typeform-Signature`` of ``body``."""
    digest = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
    return {"typeform-signature": f"sha256={digest}"}


def shopify_headers(body: bytes, secret: str) -> dict[str, str]:
    """``X-Shopify-Hmac-Sha256`` of ``body``, under the app's client secret as text."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    return {"x-shopify-hmac-sha256": base64.b64encode(digest).decode()}


def web_headers(body: bytes, secret: str, at: datetime, message_id: str, scheme: str = "webhook") -> dict[str, str]:
    """Standard Webhooks; ``secret`` is ``whsec_`` and Base64, ``scheme`` ``webhook`` or ``svix``."""
    seconds = str(int(at.timestamp()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{message_id}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return {
        f"{scheme}-id": message_id,
        f"{scheme}-timestamp": seconds,
        f"{scheme}-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def meta_headers(body: bytes, secret: str) -> dict[str, str]:
    """``X-Hub-Signature-256`` of WhatsApp and Instagram."""
    return {"x-hub-signature-256": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}
