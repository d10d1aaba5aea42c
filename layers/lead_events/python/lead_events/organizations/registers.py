"""What makes any order of arrival give one state: registers that only a later event overwrites, in a pool of bounded size.

A *register* holds a value and the stamp of the event that told it; it takes another value only under a later stamp. Stamps
are totally ordered: by the event's time, then by the rank of its type, then by its id.

A *pool* holds the registers of things that there may be any number of (invoices), but only of the ``limit`` things told of
last. Whatever the pool forgets lies below its *floor*, and whatever lies below the floor is forgotten, in the things that
stay as well. So the pool is a function of the set of events alone: the floor is the last stamp of the thing of rank
``limit + 1``, and the pool holds exactly the events above it. (An event is only ever dropped below a floor, and floors only
rise, towards that one: a thing is forgotten while ``limit`` others have been told of later, which stays true.)
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from lead_events.instants import format_instant

Stamp = str
"""``{time}#{rank}#{hash of the id}``: string order is the order of the events."""

Registers = dict[str, list[Any]]
"""Value and stamp by name, as JSON."""

_LAST: Final = "last"
"""The register that every event writes, so that a thing knows when it was last told of."""


def stamp_of(time: datetime, rank: int, event_id: str) -> Stamp:
    """The place of an event in the order of all."""
    digest = hashlib.sha256(event_id.encode()).digest()[:12]
    return f"{format_instant(time)}#{rank}#{urlsafe_b64encode(digest).decode()}"


def time_of(stamp: Stamp) -> str:
    """The time of a stamp, as it is written on the wire."""
    return stamp.partition("#")[0]


def write(registers: Registers, values: Mapping[str, Any], stamp: Stamp) -> Registers:
    """``registers`` with those of ``values`` that are told later than what they hold."""
    told = {
        name: [value, stamp] for name, value in values.items() if name not in registers or registers[name][1] < stamp
    }
    return registers | told


def value(registers: Mapping[str, list[Any]], name: str) -> Any:
    """What a register holds; ``None`` where it was never written."""
    return registers[name][0] if name in registers else None


def stamp(registers: Mapping[str, list[Any]], name: str) -> Stamp:
    """When a register was written; before everything where it never was."""
    return str(registers[name][1]) if name in registers else ""


class Pool:
    """Reads and writes a pool, which is JSON: ``{"floor": stamp, "things": {key: registers}}``."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def write(self, pool: Mapping[str, Any], key: str, values: Mapping[str, Any], stamp: Stamp) -> dict[str, Any]:
        """``pool`` with what one event tells of the thing ``key``."""
        floor: Stamp = pool.get("floor", "")
        things: dict[str, Registers] = dict(pool.get("things", {}))
        if stamp <= floor:
            return dict(pool)
        things[key] = write(things.get(key, {}), {**values, _LAST: None}, stamp)
        if len(things) > self._limit:
            oldest = min(things, key=lambda each: things[each][_LAST][1])
            floor = things.pop(oldest)[_LAST][1]
            things = {key: _above(floor, registers) for key, registers in things.items()}
        return {"floor": floor, "things": things}

    @staticmethod
    def read(pool: Mapping[str, Any]) -> list[tuple[str, Registers]]:
        """The things with their keys, those told of last first."""
        things: dict[str, Registers] = pool.get("things", {})
        return sorted(things.items(), key=lambda each: str(each[1][_LAST][1]), reverse=True)


def _above(floor: Stamp, registers: Registers) -> Registers:
    return {name: held for name, held in registers.items() if held[1] > floor}
