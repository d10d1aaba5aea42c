"""Identities of a lead."""

from __future__ import annotations

from lead_events.event import IdentityKind
from lead_events.lead_identities import MAX_IDENTITIES
from lead_events.openapi_schemas._parts import Schema, many, obj, text, time


def schemas() -> dict[str, Schema]:
    """What is sent, and what is shown: never a value."""
    return {
        "NewIdentities": {
            **obj(
                "What a lead is to be known by, too.",
                {"identities": many(_new(), minItems=1, maxItems=MAX_IDENTITIES)},
            ),
            "additionalProperties": False,
        },
        "Identities": obj(
            "What a lead is known by, oldest first.",
            {
                "identities": many(
                    obj("One identity, without its value.", {"kind": _kind(), "since": time("Since when")})
                )
            },
        ),
    }


def _kind() -> Schema:
    return {
        "description": "`customer`: a provider's own id of the person.",
        "type": "string",
        "enum": [str(each) for each in IdentityKind],
    }


def _new() -> Schema:
    value = text(
        "`customer`: `{provider}:{id}`, the provider in lower case; "
        "`phone`: with `+` and country code, or as written in `region`; `email`",
        minLength=1,
        maxLength=255,
    )
    region = text("Country (ISO 3166) in which a phone without `+` is read", null=True, pattern="^[A-Za-z]{2}$")
    customer = {"properties": {"kind": {"const": str(IdentityKind.CUSTOMER)}}, "required": ["kind"]}
    return {
        "description": "Compared and forgotten: only its HMAC is stored.",
        "type": "object",
        "required": ["kind", "value"],
        "properties": {"kind": _kind(), "value": value, "region": region},
        "additionalProperties": False,
        "if": customer,
        "then": {"properties": {"value": {"pattern": r"^[a-z0-9_-]+:\S"}}},
    }
