"""Parts of views, and of their text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from lead_events.event import occurred_at_of
from lead_events.instants import format_instant
from lead_events.memories._shapes import Map, counted, event_id, mean, number, summed, tallied, too_large

CURRENCIES: Final = 16
"""Currencies of which totals are kept."""

_UNSAFE: Final = str.maketrans({"[": "(", "]": ")", '"': "'", "\n": " ", "\r": " ", "\t": " "})
_QUOTED: Final = 120
"""Characters of a quotation in a text."""


def canonical(value: Any) -> Any:
    """``value`` with every number in its one form: a state that a store gave back shows the same JSON as a fresh one."""
    if isinstance(value, dict):
        return {key: canonical(each) for key, each in value.items()}
    if isinstance(value, list):
        return [canonical(each) for each in value]
    return number(value) if isinstance(value, Decimal) else value


def when(stamp: str | None) -> str | None:
    """When the event of a stamp occurred; its id tells."""
    instant = occurred_at_of(event_id(stamp)) if stamp else None
    return format_instant(instant) if instant else None


def said(row: Map) -> Map:
    """When the event of an entry occurred, and its id."""
    return {"occurredAt": when(row["at"]), "eventIds": [event_id(row["at"])]}


def seen(row: Map) -> Map:
    """When what a row counts was last seen, and in which events."""
    ids: list[str] = row.get("ids", [])
    return {"lastSeen": when(ids[0]) if ids else None, "eventIds": list(ids)}


def money(at: Map, name: str, sums: str) -> list[Map]:
    """Totals per currency of a tally whose rows have ``currency`` and ``sums``; the most frequent first."""
    return [
        {
            "currency": row["currency"],
            "count": counted(row, "n"),
            "total": summed(row, sums),
            "average": mean(row, sums),
            "notSummed": too_large(row, sums),
        }
        for row in tallied(at, name)
    ]


def words_counted(at: Map, name: str, called: str) -> list[Map]:
    """How often each word of a tally was said."""
    return [{called: row["key"], "count": counted(row, "n")} for row in tallied(at, name)]


# -------------------------------------------------------------------------------------------------------------- text


def quoted(text: str | None) -> str:
    """What a lead or an agent wrote, on one line and in quotes: it can neither end its quotation nor cite an event."""
    if not text:
        return ""
    plain = " ".join(text.translate(_UNSAFE).split())
    return f'"{plain if len(plain) <= _QUOTED else plain[: _QUOTED - 1] + "…"}"'


def word(text: str | None) -> str:
    """A word that a source uses: without quotes, as harmless as a quotation."""
    return quoted(text)[1:-1]


def amount(value: Decimal | int | None, currency: str | None) -> str:
    """``BRL 497``; nothing where there is no value."""
    return "" if value is None else f"{word(currency)} {plain(value)}".strip()


def plain(value: Decimal | int | None) -> str:
    """A number as people write it, a long one with an exponent."""
    if value is None:
        return ""
    exact = Decimal(value)
    return f"{exact:f}" if abs(exact.adjusted()) < 20 else str(exact)


def day(instant: str | None) -> str:
    """The date of an instant."""
    return instant[:10] if instant else ""


def sentence(*parts: str, ids: Sequence[str] = ()) -> str:
    """The parts that are not empty, and the latest event that they came from."""
    return " ".join([*(each for each in parts if each), *(f"[{each}]" for each in ids[:1])])


def listed(parts: Iterable[str], most: int = 5) -> str:
    """The first few parts, separated by commas."""
    found = [each for each in parts if each]
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def label(row: dict[str, Any], *names: str) -> str:
    """The first of these fields that is there, quoted."""
    return next((quoted(str(row[name])) for name in names if row.get(name)), "")
