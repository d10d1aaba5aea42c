"""What every schema is made of."""

from __future__ import annotations

from typing import Any, Final

from lead_events.event import SourceType
from lead_events.names import ID_PATTERN

Schema = dict[str, Any]

SOURCE_PATTERN: Final = r"^[!-\"$-~]{1,100}$"
EVENT_TYPE_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$"
EVENT_ID_PATTERN: Final = r"^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"


def ref(name: str) -> Schema:
    """Reference to a schema of the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def obj(description: str, properties: dict[str, Schema]) -> Schema:
    """An object with all of ``properties``."""
    return {"description": description, "type": "object", "required": list(properties), "properties": properties}


def many(of: Schema, **rules: Any) -> Schema:
    """A list."""
    return {"type": "array", "items": of, **rules}


def text(description: str, *, null: bool = False, **rules: Any) -> Schema:
    """A string, or null where that is allowed."""
    return {"description": description, "type": ["string", "null"] if null else "string", **rules}


def own_id(description: str) -> Schema:
    """An organization or lead id."""
    return text(description, pattern=f"^{ID_PATTERN}$")


def time(description: str) -> Schema:
    """An instant."""
    return text(f"{description}; RFC 3339 with an offset, 1970 to 9999", format="date-time")


def source_type() -> Schema:
    """EXTERNAL, INTERNAL or DIRECT."""
    return {"type": "string", "enum": [str(each) for each in SourceType]}


def cursor() -> Schema:
    """The way to the next page."""
    return text("Null on the last page", null=True)
