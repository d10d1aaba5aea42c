"""What signature checks share: which secrets count, and comparing without a clock's help."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from lead_events.errors import UnauthenticatedError


def usable(secrets: Sequence[str]) -> list[str]:
    """The secrets that are not blank. Raises ``UnauthenticatedError`` where none is left: never fail open."""
    found = [secret for secret in secrets if secret.strip()]
    if not found:
        raise unauthenticated()
    return found


def sha256(secret: str, message: bytes) -> bytes:
    """HMAC-SHA256 of ``message``."""
    return hmac.new(secret.encode(), message, hashlib.sha256).digest()


def equal_to_any(candidates: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether any candidate equals any expected text, compared in constant time."""
    # A header may hold what UTF-8 cannot: it is then unequal, not an error.
    pairs = [(each.encode(errors="backslashreplace"), other.encode()) for each in candidates for other in expected]
    return sum(hmac.compare_digest(each, other) for each, other in pairs) > 0  # not any(): every pair is compared


def unauthenticated() -> UnauthenticatedError:
    """The one error for every reason, so that a forger learns nothing."""
    return UnauthenticatedError("The signature is missing, wrong or too old.")
