"""The fields of a view, written once: as a table for people and as JSON Schema for machines.

A field is a path (``openCarts[].currency``) and ``type: meaning``. ``?`` after the type: the field may be null. Every field of
an object is always there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

TYPES: Final[dict[str, dict[str, Any]]] = {
    "integer": {"type": "integer", "minimum": 0},
    "number": {"type": "number"},
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "instant": {"type": "string", "format": "date-time"},
    "ids": {"type": "array", "items": {"type": "string"}},
    "strings": {"type": "array", "items": {"type": "string"}},
    "answer": {"type": ["string", "number", "boolean"]},
    "object": {"type": "object"},
    "list": {"type": "array", "items": {"type": "object"}},
}


class Field(NamedTuple):
    """One field, read."""

    path: str
    type: str
    nullable: bool
    meaning: str


def read(fields: Mapping[str, str]) -> list[Field]:
    """The fields in their order."""
    found = []
    for path, told in fields.items():
        kind, _, meaning = told.partition(": ")
        found.append(Field(path, kind.removesuffix("?"), kind.endswith("?"), meaning))
    return found


def schema(fields: Mapping[str, str]) -> dict[str, Any]:
    """JSON Schema of an object with these fields and no others."""
    root: dict[str, Any] = {"type": "object"}
    for field in read(fields):
        *parents, name = field.path.split(".")
        at = root
        for parent in parents:
            at = at["properties"][parent.removesuffix("[]")]
            at = at["items"] if parent.endswith("[]") else at
        own = {"description": field.meaning, **_copy(TYPES[field.type])}
        if field.nullable:
            own["type"] = [own["type"], "null"]
        at.setdefault("properties", {})[name] = own
        at.setdefault("required", []).append(name)
        at["additionalProperties"] = False
    return root


def _copy(value: dict[str, Any]) -> dict[str, Any]:
    return {key: _copy(each) if isinstance(each, dict) else each for key, each in value.items()}
