"""Signs test deliveries as the providers document it; independent of the code under test."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime


def stripe_headers(body: bytes, secret: str, at: datetime) -> dict[str, str]:
    """``Stripe-Signature`` of ``body``, with the header's name in lower case as API Gateway gives it."""
    seconds = str(int(at.timestamp()))
    digest = hmac.new(secret.encode(), seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"stripe-signature": f"t={seconds},v1={digest}"}
