"""AWS's rule for write units, spelled out once: it checks the emulator, and says what an answer without figures cost.

One unit per started KB of the item, and again per started KB of each index entry written (its projected attributes, its own
keys and the table's). A put whose condition fails costs the units of the item that is there, no index entry, and its answer
carries no figure. ("DynamoDB item sizes and formats", "Consumed capacity", developer guide.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

UNIT: Final = 1024
S3_PUT: Final = 8
"""Write units that one S3 PUT costs as much as: $5.00 against $0.625 a million (us-east-1, on demand)."""


def put_units(item: Mapping[str, Any], definition: Mapping[str, Any]) -> tuple[int, dict[str, int]]:
    """Units of a put of a new ``item`` (in DynamoDB's own JSON, Python bytes for B): of the table, and of each index."""
    table_keys = {each["AttributeName"] for each in definition["KeySchema"]}
    indexes: dict[str, int] = {}
    for index in definition.get("GlobalSecondaryIndexes", ()):
        keys = {each["AttributeName"] for each in index["KeySchema"]}
        if not keys <= set(item):
            continue  # sparse: an item without the keys has no entry
        projection = index["Projection"]
        kept = keys | table_keys | set(projection.get("NonKeyAttributes", ()))
        everything = projection["ProjectionType"] == "ALL"
        entry = {name: value for name, value in item.items() if everything or name in kept}
        indexes[index["IndexName"]] = started(size(entry))
    return started(size(item)), indexes


def refused_units(first: Mapping[str, Any]) -> int:
    """Units of a put whose condition fails because ``first`` is there."""
    return started(size(first))


def started(bytes_: int) -> int:
    """Started KB, at least one."""
    return max(1, -(-bytes_ // UNIT))


def size(item: Mapping[str, Any]) -> int:
    """Bytes of an item: names and values, in UTF-8."""
    return sum(len(name.encode()) + _value(value) for name, value in item.items())


def _value(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    if kind == "S":
        return len(str(content).encode())
    if kind == "N":
        digits = str(content).lstrip("-").partition("E")[0].replace(".", "").strip("0")
        return (len(digits) + 1) // 2 + 1 + str(content).startswith("-")
    if kind == "B":
        return len(bytes(content))
    if kind in ("BOOL", "NULL"):
        return 1
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + _value(child) for name, child in content.items())
    if kind == "L":
        return 3 + sum(1 + _value(child) for child in content)
    raise ValueError(f"no rule for type {kind}")
