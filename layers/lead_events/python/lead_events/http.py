"""Requests of API Gateway: headers and body exactly as they were sent."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from lead_events.errors import TooLargeError, UnreadableError, UnsupportedMediaError
from lead_events.limits import MAX_BODY_BYTES


def lower_case(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Headers with lower-case names."""
    return {name.lower(): value for name, value in (headers or {}).items()}


def body_bytes(
    headers: Mapping[str, str], body: str | None, *, is_base64: bool, at_most: int = MAX_BODY_BYTES
) -> bytes:
    """The body's bytes as sent. ``headers`` has lower-case names.

    Raises ``UnsupportedMediaError`` for a compressed body, so none is ever expanded, ``TooLargeError`` above ``at_most``, and
    ``UnreadableError`` where there is none.
    """
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaError("Compressed bodies are not supported.", code="unsupported_encoding")
    if len(body or "") > at_most * 2:  # before decoding: Base64 is at most a third longer
        raise TooLargeError(f"A body has at most {at_most} bytes.")
    try:
        data = base64.b64decode(body or "", validate=True) if is_base64 else (body or "").encode()
    except (binascii.Error, ValueError):
        raise UnreadableError("The body is not valid Base64 or UTF-8.") from None
    if len(data) > at_most:
        raise TooLargeError(f"A body has at most {at_most} bytes.")
    if not data:
        raise UnreadableError("The body is empty.")
    return data
