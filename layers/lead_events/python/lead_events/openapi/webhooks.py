"""Deliveries of providers: signed, without a token."""

from __future__ import annotations

from typing import Final

from lead_events import providers
from lead_events.openapi._parts import (
    BAD_SIGNATURE,
    INVALID_PARAMETER,
    NOT_FOUND,
    ORGANIZATION,
    TOO_LARGE,
    UNAVAILABLE,
    UNREADABLE,
    UNSUPPORTED_ENCODING,
    WRONG_VERIFY_TOKEN,
    Operations,
    answer,
    parameter,
    refused,
)
from lead_events.openapi_schemas import Schema, ref

_WEBHOOK: Final = "/v1/webhooks/{provider}/{organizationId}"


def _receive() -> Schema:
    refusals = (UNREADABLE, BAD_SIGNATURE, NOT_FOUND, TOO_LARGE, UNSUPPORTED_ENCODING, UNAVAILABLE)
    return {
        "tags": ["Webhooks"],
        "operationId": "receiveWebhook",
        "summary": "A provider's delivery",
        "description": "Verified by the provider's signature over the bytes as sent, kept, and processed afterwards. "
        "`web` may also be sent to by a browser: by pages of the origins that the organization lists, which every answer "
        "names in `Access-Control-Allow-Origin`.",
        "parameters": [*_path(), parameter("leadId", "query", "The lead, where the delivery names none")],
        "requestBody": {
            "required": True,
            "description": "As the provider documents it.",
            "content": {"*/*": {"schema": {}}},
        },
        "responses": {
            "202": answer("Verified and kept.", ref("Accepted"), {"accepted": True}),
            **refused(*refusals),
        },
    }


def _handshake() -> Schema:
    asking = [name for name in sorted(providers.names()) if hasattr(providers.find(name), "handshake")]
    operation: Schema = {
        "tags": ["Webhooks"],
        "operationId": "webhookHandshake",
        "summary": "A provider's check that the URL is ours",
        "description": "404 for every provider that makes none.",
        "parameters": _path(),
        "responses": refused(NOT_FOUND),
    }
    if not asking:
        return operation
    challenge = {
        "description": "The provider's challenge.",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "1158201444"}},
    }
    refusals = (INVALID_PARAMETER, BAD_SIGNATURE, WRONG_VERIFY_TOKEN, NOT_FOUND, UNAVAILABLE)
    return operation | {
        "description": f"Made by {', '.join(f'`{name}`' for name in asking)}; 404 for every other provider.",
        "parameters": [
            *_path(),
            parameter("hub.mode", "query", "What is asked", {"const": "subscribe"}),
            parameter("hub.verify_token", "query", "The token that was agreed on"),
            parameter("hub.challenge", "query", "What is to be answered", {"pattern": r"^[A-Za-z0-9_.=-]{1,256}$"}),
        ],
        "responses": {"200": challenge, **refused(*refusals)},
    }


def _path() -> list[Schema]:
    known = {"enum": sorted(providers.names())} if providers.names() else {}
    return [parameter("provider", "path", "Who sends", known), ORGANIZATION]


OPERATIONS: Final[Operations] = {("POST", _WEBHOOK): _receive, ("GET", _WEBHOOK): _handshake}
