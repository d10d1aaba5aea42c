"""The catalogue as data: what ``GET /v1/event-types`` answers, and the schemas that the documents are made of."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from lead_events import catalogue
from lead_events.catalogue import Payload
from lead_events.sources import SOURCE_TYPES

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def document() -> dict[str, Any]:
    """Every event type with its category, meaning, JSON Schema and sample; every known source with its type."""
    return {
        "eventTypes": [_described(model) for model in catalogue.EVENT_TYPES.values()],
        "sources": [
            {"source": str(source), "sourceType": str(source_type)} for source, source_type in SOURCE_TYPES.items()
        ],
    }


def payload_schema(event_type: str) -> dict[str, Any]:
    """JSON Schema of a type's payload, as people write one: a field that may be null is one schema, not two."""
    return tidy(catalogue.json_schema(event_type))


def tidy(generated: dict[str, Any]) -> dict[str, Any]:
    """A schema of pydantic's as people write one."""
    schema = plain(generated)
    properties = {name: _property(each) for name, each in schema["properties"].items()}
    order = ("title", "description", "type", "properties", "required", "additionalProperties", "examples")
    ordered = schema | {"properties": properties}
    return {key: ordered[key] for key in order if key in ordered}


def plain(value: Any) -> Any:
    """``value`` with exact decimals as the shortest JSON numbers, so that any JSON writer takes it."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def _described(model: type[Payload]) -> dict[str, Any]:
    schema = payload_schema(model.event_type)
    return {
        "name": model.event_type,
        "category": str(model.category),
        "description": schema["description"],
        "schema": {"$schema": DIALECT, **schema},
        "sample": plain(model.sample),
    }


def _property(schema: dict[str, Any]) -> dict[str, Any]:
    # Pydantic's title is the name again, its default is null, and an optional field is "anyOf: it, or null".
    found = {key: value for key, value in schema.items() if key not in ("title", "default", "anyOf")}
    choices = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    if len(choices) == 1:
        found = choices[0] | found | {"type": [choices[0]["type"], "null"]}
    order = ("description", "type")
    return {key: found[key] for key in order if key in found} | {k: v for k, v in found.items() if k not in order}
