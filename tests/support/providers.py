"""What the tests of several providers share: the shared facts, verdicts on signatures, and what drafts hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from lead_events.errors import UnauthenticatedError
from lead_events.event import EventDraft, Translation

Verify = Callable[[Mapping[str, str], bytes, Sequence[str], datetime], None]

NOW = datetime(2026, 1, 8, 13, 0, tzinfo=UTC)

shared = os.environ.get("LEAD_EVENTS_SHARED", "")
corpus = pytest.mark.skipif(not shared, reason="LEAD_EVENTS_SHARED names no folder of shared facts")


def accepts(
    verify: Verify, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime = NOW
) -> bool:
    """Whether a provider takes a delivery for genuine."""
    try:
        verify(headers, body, secrets, now)
    except UnauthenticatedError:
        return False
    return True


def check_refused_alike(
    verify: Verify, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime = NOW
) -> None:
    """A delivery is refused, and with the words that meet one without any signature."""
    with pytest.raises(UnauthenticatedError) as refused:
        verify(headers, body, secrets, now)
    with pytest.raises(UnauthenticatedError) as missing:
        verify({}, b"{}", secrets, now)
    assert str(refused.value) == str(missing.value)


def payload_of(draft: Translation) -> dict[str, Any]:
    assert isinstance(draft, EventDraft)
    assert isinstance(draft.payload, dict)
    return draft.payload


def fact(draft: EventDraft) -> str | None:
    return draft.shared_fact.id if draft.shared_fact else None
