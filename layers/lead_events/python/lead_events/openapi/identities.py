"""What a lead is known by."""

from __future__ import annotations

from typing import Final

from lead_events import openapi_schemas as shapes
from lead_events.openapi._parts import (
    ERASED,
    FORBIDDEN,
    IDENTITY_CONFLICT,
    INVALID_IDENTITIES,
    LEAD,
    LEAD_PATH,
    NOT_FOUND,
    READ_REFUSALS,
    TOO_LARGE,
    UNAVAILABLE,
    UNREADABLE,
    UNSUPPORTED_ENCODING,
    Operations,
    answer,
    json_content,
    refused,
)
from lead_events.openapi_schemas import Schema, ref

_IDENTITIES: Final = f"{LEAD}/identities"


def _put() -> Schema:
    refusals = (
        UNREADABLE, FORBIDDEN, NOT_FOUND, ERASED, IDENTITY_CONFLICT, TOO_LARGE, UNSUPPORTED_ENCODING, INVALID_IDENTITIES,
        UNAVAILABLE,
    )  # fmt: skip
    return {
        "tags": ["Identities"],
        "operationId": "putIdentities",
        "summary": "Add to what a lead is known by",
        "description": "All of them or none. Nothing is taken away and nothing moved: an identity of another lead is a "
        "409, and nothing is changed. Sent again, they are there already. Events of providers that name no lead are of the "
        "lead that has their strongest identity: `customer`, then `phone`, then `email`. While the lead is being erased: 410.",
        "parameters": [*LEAD_PATH],
        "requestBody": {
            "required": True,
            "content": json_content(ref("NewIdentities"), shapes.new_identities_sample()),
        },
        "responses": {
            "200": answer(
                "All of the lead's identities. Those just added may be missing for a moment.",
                ref("Identities"),
                shapes.identities_sample(),
            ),
            **refused(*refusals),
        },
    }


def _get() -> Schema:
    return {
        "tags": ["Identities"],
        "operationId": "readIdentities",
        "summary": "What a lead is known by",
        "description": "Kinds and times: values are not stored. Empty for a lead that is not known.",
        "parameters": [*LEAD_PATH],
        "responses": {
            "200": answer("The identities.", ref("Identities"), shapes.identities_sample()),
            **refused(*READ_REFUSALS),
        },
    }


OPERATIONS: Final[Operations] = {("PUT", _IDENTITIES): _put, ("GET", _IDENTITIES): _get}
