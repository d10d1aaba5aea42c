"""Parts of pages that several of them have."""

from __future__ import annotations

from typing import Any


def fields(schema: dict[str, Any]) -> str:
    """The table of a payload's fields."""
    lines = ["| Field | Type | Required | Meaning |", "|---|---|---|---|"]
    for name, field in schema["properties"].items():
        required = "yes" if name in schema.get("required", ()) else "no"
        lines.append(f"| `{name}` | {type_text(field)} | {required} | {field['description']} |")
    return "\n".join(lines)


def type_text(schema: dict[str, Any]) -> str:
    """A field's JSON Schema in a few words: ``number, 0 to 1``, ``list of strings``."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = next(each for each in kinds if each != "null")
    if kind == "array":
        return f"list of {type_text(schema['items'])}s"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None:
        return f"{kind}, at least {low}" if high is None else f"{kind}, {low} to {high}"
    return kind if "pattern" not in schema else f"{kind} `{schema['pattern']}`"
