"""Reading an event so that no payload can break a fold: what is not as it should be is as if it were not there."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from lead_events.event import StoredEvent
from lead_events.memories._shapes import number
from lead_events.strict_json import Json

LABEL: Final = 80
"""Bytes of an id, a name or a word that a memory keeps."""
PROSE: Final = 240
"""Bytes of what somebody said that a memory keeps."""
MAX_LISTED: Final = 10
"""Products of one event that a memory looks at."""

_MARK: Final = "…"


class Fact:
    """One event as a fold sees it."""

    __slots__ = ("event_type", "id", "payload")

    def __init__(self, event: StoredEvent) -> None:
        self.id = event.event_id
        self.event_type = event.event_type
        self.payload: dict[str, Json] = event.payload if isinstance(event.payload, dict) else {}

    def whole(self, name: str) -> str | None:
        """A text, uncut, to tell things apart by."""
        return words(self.payload.get(name))

    def text(self, name: str, limit: int = LABEL) -> str | None:
        """A text, cut to ``limit`` bytes."""
        found = words(self.payload.get(name))
        return None if found is None else cut(found, limit)

    def number(self, name: str) -> Decimal | int | None:
        """A number in its one form."""
        return exact(self.payload.get(name))

    def products(self) -> list[str]:
        """The products that the event names, uncut: ``productId`` and ``productIds``, each once, the first few."""
        return list(dict.fromkeys(self._products()))[:MAX_LISTED]

    def is_flagged(self, name: str, value: Json = True) -> bool:
        """Whether a field has exactly this value."""
        found = self.payload.get(name)
        return type(found) is type(value) and found == value

    def _products(self) -> Iterator[str]:
        several = self.payload.get("productIds")
        for each in (self.payload.get("productId"), *(several[:MAX_LISTED] if isinstance(several, list) else ())):
            if (found := words(each)) is not None:
                yield found


def words(value: Json) -> str | None:
    """A text without blanks around it; ``None`` for anything else and for nothing."""
    return value.strip() or None if isinstance(value, str) else None


def exact(value: Json) -> Decimal | int | None:
    """A number in its one form; ``None`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return number(value) if isinstance(value, int) or value.is_finite() else None


def cut(text: str, limit: int) -> str:
    """At most ``limit`` bytes of ``text``; a mark at its end says that there was more."""
    if len(text) * 4 <= limit:
        return text
    raw = text[: limit + 1].encode(errors="replace")
    if len(raw) <= limit:
        return text
    return raw[: limit - len(_MARK.encode())].decode(errors="ignore") + _MARK
