"""The OpenAPI document and validators of its parts."""

from __future__ import annotations

from typing import Any, Final

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from lead_events import openapi

DOCUMENT: Final = openapi.document()


def validator(*place: str) -> Draft202012Validator:
    """Validator of the schema at a place of the document."""
    registry: Registry[Any] = Registry().with_resource("urn:api", DRAFT202012.create_resource(DOCUMENT))
    pointer = "/".join(
        part.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D") for part in place
    )
    return Draft202012Validator(
        {"$ref": f"urn:api#/{pointer}"}, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def component(name: str) -> Draft202012Validator:
    """Validator of a schema of the components."""
    return validator("components", "schemas", name)
