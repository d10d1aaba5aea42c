"""Reading foreign JSON: whatever is missing or of another type than documented is ``None``, never an exception."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from lead_events.errors import InvalidError
from lead_events.event import check_reference
from lead_events.names import ID_PATTERN
from lead_events.strict_json import Json

_ID: Final = re.compile(ID_PATTERN, re.ASCII)


def at(value: Json, *path: str | int) -> Json:
    """What stands at ``path``: names of objects' fields, positions in lists."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def items(value: Json, *path: str | int) -> list[Json]:
    """The list at ``path``; empty where there is none."""
    found = at(value, *path)
    return found if isinstance(found, list) else []


def text(value: Json, *path: str | int) -> str | None:
    """The non-blank string at ``path``."""
    found = at(value, *path)
    return found if isinstance(found, str) and found.strip() else None


def reference(value: Json, *path: str | int) -> str | None:
    """The string at ``path`` if it can be an external id or object id."""
    found = text(value, *path)
    try:
        return check_reference(found, "reference")
    except InvalidError:
        return None


def external_id(*parts: str) -> str:
    """The parts joined by ``:``; what cannot be an external id (too long, control characters) is replaced by its SHA-256."""
    joined = ":".join(parts)
    return reference(joined) or f"sha256:{hashlib.sha256(joined.encode()).hexdigest()}"


def planted_lead(*candidates: Json) -> str | None:
    """The first candidate that can be a lead id."""
    return next((each for each in candidates if isinstance(each, str) and _ID.fullmatch(each)), None)


def known(**fields: Json) -> dict[str, Json]:
    """A payload of the fields that are known: ``None``, empty strings and empty lists are left out."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}
