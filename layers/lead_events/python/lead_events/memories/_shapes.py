"""What memories are made of: parts of a state that come out the same in whatever order events arrive, and stay small.

Each function changes ``at``, a map that the caller owns, and replaces the maps and lists in it, never changes them: states
that were handed out stay as they are. A part of a state is a function of the *set* of events put into it:

* ``count``, ``add``: sums, of integers only, so that no rounding depends on the order;
* ``keep``, ``best``: the value of the latest event, of the largest rank;
* ``cite``, ``recent``: the latest few events;
* ``latest``: by key, the value of the key's latest event, for the keys seen last. A key that was left out comes back with its
  next event, and what is kept of it depends on that event alone;
* ``tally``: by key, whatever several events add up to, for the keys whose hashes are smallest. A key that was left out never
  comes back, so what is kept of the others is complete. (Of the keys seen last it would not be: a key that came back would
  have forgotten what was added before.) What the keys that are left out would hold is the total less those that are kept.

Events are ordered by their ids, which begin with the microsecond in which they occurred: (``occurredAt``, ``eventId``).
A *stamp* is an event id, or one with a suffix where an event puts several keys into one part.
"""

from __future__ import annotations

from bisect import bisect_left
from decimal import ROUND_HALF_EVEN, Context, Decimal
from hashlib import sha256
from typing import Any, Final

from lead_events.limits import MAX_DIGITS

Map = dict[str, Any]

CITED: Final = 3
"""Events that a field names, the latest ones."""
LARGEST: Final = 10**15
"""Numbers from here on are not summed: they are no prices, seconds or scores."""

_MILLIONTH: Final = Decimal("0.000001")
_TEN_THOUSANDTH: Final = Decimal("0.0001")
_EXACT: Final = Context(prec=80, rounding=ROUND_HALF_EVEN)
"""Digits enough for every number that an event can hold (38) and every sum here."""


# ------------------------------------------------------------------------------------------------------- changing states


def count(at: Map, name: str) -> None:
    """One more."""
    at[name] = int(at.get(name, 0)) + 1


def add(at: Map, name: str, value: Decimal | int | None) -> None:
    """One more value: its sum in millionths, how many, and how many were too large to be summed."""
    if value is None:
        return
    held: Map = dict(at.get(name, {}))
    if not is_summable(value):
        count(held, "over")
    else:
        count(held, "n")
        held["sum"] = int(held.get("sum", 0)) + millionths(value)
    at[name] = held


def keep(at: Map, name: str, stamp: str, value: Any) -> None:
    """The value of the latest event that has one; ``[stamp, value]``."""
    if value is not None and (name not in at or at[name][0] < stamp):
        at[name] = [stamp, value]


def best(at: Map, name: str, stamp: str, value: Decimal | int | None) -> None:
    """The largest value, of the latest event that has it; ``[stamp, value]``."""
    if value is not None and (name not in at or (at[name][1], at[name][0]) < (value, stamp)):
        at[name] = [stamp, value]


def cite(at: Map, stamp: str) -> None:
    """The latest event ids, latest first."""
    held: list[str] = at.get("ids", [])
    if len(held) < CITED or held[-1] < stamp:
        at["ids"] = sorted({*held, stamp}, reverse=True)[:CITED]


def recent(at: Map, name: str, stamp: str, entry: Map, bound: int) -> None:
    """The ``bound`` latest entries, oldest first, each with its ``at``."""
    rows: list[Map] = at.get(name, [])
    if len(rows) == bound and stamp <= rows[0]["at"]:
        return
    place = bisect_left(rows, stamp, key=_at)
    at[name] = [*rows[:place], {"at": stamp, **entry}, *rows[place:]][-bound:]


def latest(at: Map, name: str, key: str, stamp: str, entry: Map, bound: int) -> None:
    """By key the entry of its latest stamp, for the ``bound`` keys whose stamps are latest; oldest first.

    Two lists side by side, so that a key is found, and the oldest one dropped, without a walk over the entries.
    """
    held: Map = at.get(name) or {"keys": [], "rows": []}
    keys, rows = list(held["keys"]), list(held["rows"])
    if len(keys) == bound and stamp < rows[0]["at"]:
        return
    if key in keys:
        place = keys.index(key)
        if stamp <= rows[place]["at"]:
            return
        del keys[place], rows[place]
    place = bisect_left(rows, stamp, key=_at)
    keys.insert(place, key)
    rows.insert(place, {"at": stamp, **entry})
    if len(keys) > bound:
        del keys[0], rows[0]
    at[name] = {"keys": keys, "rows": rows}


def tally(at: Map, name: str, key: str, bound: int) -> Map | None:
    """What is held of ``key``, a ``digest``, to be changed; ``None`` where it is not among the ``bound`` smallest."""
    held: dict[str, Map] = at.get(name, {})
    if key not in held and len(held) >= bound:
        largest = max(held)
        if largest < key:
            return None
        held = {each: row for each, row in held.items() if each != largest}
    row = dict(held.get(key, {}))
    at[name] = {**held, key: row}
    return row


def digest(*parts: str) -> str:
    """The key of what ``parts`` name: 16 hexadecimal digits, whatever users call their things."""
    told = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(told.encode(errors="replace")).hexdigest()[:16]


def is_summable(value: Decimal | int) -> bool:
    """Whether it is small enough to be a price, a time or a score."""
    return -LARGEST < value < LARGEST


def millionths(value: Decimal | int) -> int:
    """``value`` in millionths, rounded once."""
    if isinstance(value, int):
        return value * 1_000_000
    return int(value.quantize(_MILLIONTH, context=_EXACT).scaleb(6, _EXACT))


def of_millionths(value: int) -> Decimal | int:
    """Inverse of ``millionths``."""
    return number(Decimal(value).scaleb(-6, _EXACT))


def number(value: Decimal | int) -> Decimal | int:
    """The one form of an exact number: what was written with other zeros, or read back from a store, is the same JSON."""
    if isinstance(value, int) and abs(value) < LARGEST:
        return value
    plain = Decimal(value).normalize(_EXACT)
    return int(plain) if plain.adjusted() < MAX_DIGITS and plain == plain.to_integral_value() else plain


# -------------------------------------------------------------------------------------------------------- reading states


class Row(Map):
    """An entry as it is read: what it did not keep yet, when an older version of a fold wrote it, is ``None``."""

    def __missing__(self, name: str) -> None:
        return None


def counted(at: Map, name: str) -> int:
    """What ``count`` counted."""
    return int(at.get(name, 0))


def summed(at: Map, name: str) -> Decimal | int | None:
    """The sum; ``None`` where nothing was added."""
    held = at.get(name, {})
    return of_millionths(int(held["sum"])) if counted(held, "n") else None


def mean(at: Map, name: str) -> Decimal | int | None:
    """The average to four places; ``None`` where nothing was added."""
    held = at.get(name, {})
    n = counted(held, "n")
    return average_of(int(held["sum"]), n) if n else None


def average_of(sum_in_millionths: int, n: int) -> Decimal | int:
    """The average of ``n`` values to four places."""
    exact = _EXACT.divide(Decimal(sum_in_millionths), Decimal(n)).scaleb(-6, _EXACT)
    return number(exact.quantize(_TEN_THOUSANDTH, context=_EXACT))


def too_large(at: Map, name: str) -> int:
    """How many values were too large to be summed."""
    return counted(at.get(name, {}), "over")


def kept(at: Map, name: str) -> Any:
    """What ``keep`` or ``best`` kept."""
    return at[name][1] if name in at else None


def entries(at: Map, name: str) -> list[Map]:
    """The entries of ``recent`` or ``latest``, latest first."""
    held = at.get(name, [])
    rows: list[Map] = held["rows"] if isinstance(held, dict) else held
    return [Row(row) for row in reversed(rows)]


def keyed(at: Map, name: str) -> list[tuple[str, Map]]:
    """The entries of ``latest`` with their keys, latest first."""
    held = at.get(name) or {"keys": [], "rows": []}
    found: list[tuple[str, Map]] = [(key, Row(row)) for key, row in zip(held["keys"], held["rows"], strict=True)]
    return found[::-1]


def stamps(at: Map, name: str) -> dict[str, str]:
    """The stamps of ``latest`` by key."""
    return {key: row["at"] for key, row in keyed(at, name)}


def tallied(at: Map, name: str, by: str = "n") -> list[Map]:
    """The rows of ``tally``: those first that count most, of these the latest, of these any, always the same."""
    held: dict[str, Map] = at.get(name, {})
    order = sorted(held.items(), key=lambda each: (counted(each[1], by), each[1].get("ids", [""])[0], each[0]))
    return [Row(row) for _, row in reversed(order)]


def event_id(stamp: str) -> str:
    """The event of a stamp."""
    return stamp.partition("/")[0]


def _at(row: Map) -> str:
    stamp: str = row["at"]
    return stamp
