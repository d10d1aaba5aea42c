"""The OpenAPI 3.1 document of the HTTP API: every route of ``names.ROUTES`` and every answer it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lead_events import event_types, providers
from lead_events import openapi_schemas as shapes
from lead_events.appending import MAX_BATCH
from lead_events.envelope import BATCH_TYPE, JSON_TYPE, STRUCTURED_TYPE
from lead_events.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    LeadEventsError,
    NotFoundError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnreadableError,
    UnsupportedMediaError,
    problem,
)
from lead_events.limits import MAX_BODY_BYTES
from lead_events.names import ID_PATTERN, ORGANIZATION_CLAIM, ROUTES, Route, Scope
from lead_events.openapi_schemas import PROBLEM_CODES, Schema, ref
from lead_events.queries import DEFAULT_LIMIT, MAX_LIMIT, invalid_parameter

VERSION: Final = "1.0.0"
"""Version of the contract; its major number is the ``/v1`` of the paths."""

PROBLEM_TYPE: Final = "application/problem+json"

_EXAMPLES: Final = (
    UnreadableError("The body is not valid JSON."),
    UnauthenticatedError("The signature is missing, wrong or too old."),
    ForbiddenError("The token is bound to another organization.", code="other_organization"),
    NotFoundError(),
    ConflictError("This external id was used before, for other content."),
    TooLargeError(f"A body has at most {MAX_BODY_BYTES} bytes."),
    UnsupportedMediaError("Only UTF-8 is supported."),
    InvalidError.of("payload.amount", "greater_than_equal"),
    UnavailableError("DynamoDB did not answer (ReadTimeoutError)."),
)
_NAMES: Final = {
    400: "Unreadable", 401: "BadSignature", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 413: "TooLarge",
    415: "UnsupportedMedia", 422: "Invalid", 503: "Unavailable",
}  # fmt: skip
_WRITE_ERRORS: Final = (400, 403, 409, 413, 415, 422, 503)

_DESCRIPTION: Final = f"""\
The event store of the Lead domain. An event that is answered 2xx is durable; one that is answered 4xx was not stored; 503
means *not stored, send again*. Sending the same event again is answered 200 with the first one.

Calls carry an access token (JWT) with the scopes named at each route. A token is bound to the organization of its claim
`{ORGANIZATION_CLAIM}`; a service of the platform has the scope `{Scope.ALL_ORGANIZATIONS}` instead.

Amounts are decimal numbers in major units. Numbers are exact: they come back with the value that was sent.
"""


def document() -> dict[str, Any]:
    """The whole document; every call builds it anew."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lead Events", "version": VERSION, "description": _DESCRIPTION},
        # Relative to this document, which is at the root of the API, wherever that is.
        "servers": [{"url": "./"}],
        "tags": [
            {"name": "Append", "description": "Events come in."},
            {"name": "Read", "description": "What happened to a lead."},
            {"name": "Webhooks", "description": "Deliveries of providers: signed, without a token."},
            {"name": "Contract", "description": "What this API is, and whether it runs."},
        ],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "responses": _responses(),
            "schemas": shapes.schemas(),
        },
    }


def _operation(route: Route) -> Schema:
    operation = _OPERATIONS[route.method, route.path]()
    responses = operation.pop("responses")
    if route.scope is not None:
        responses["401"] = {"$ref": "#/components/responses/Unauthorized"}
    responses["429"] = {"$ref": "#/components/responses/TooManyRequests"}
    security = [] if route.scope is None else [{"token": [str(route.scope)]}]
    return operation | {"security": security, "responses": dict(sorted(responses.items()))}


def _append_direct() -> Schema:
    duplicate = "The same event again (same external id, same content): the first one."
    return {
        "tags": ["Append"],
        "operationId": "appendEvent",
        "summary": "Append one event",
        "description": "An event with neither `externalEventId` nor `Idempotency-Key` is new each time it is sent.",
        "parameters": [
            *_LEAD_PATH,
            _parameter("Idempotency-Key", "header", "External id where the body has none", {"maxLength": 255}),
        ],
        "requestBody": {"required": True, "content": _json(ref("DirectEvent"), shapes.direct_sample())},
        "responses": {
            "201": _answer("Stored.", ref("Event"), shapes.event_sample()),
            "200": _answer(duplicate, ref("Event"), shapes.event_sample()),
            **_problems(*_WRITE_ERRORS),
        },
    }


def _append_cloud_events() -> Schema:
    envelope = shapes.cloud_event_sample(shapes.SAMPLE_TYPE)
    bad = {"status": 422, "outcome": "rejected", "problem": problem(InvalidError.of("specversion", 'must be "1.0"'))}
    results = {"results": [{"status": 201, "outcome": "stored", "event": shapes.event_sample()}, bad]}
    either = {"anyOf": [ref("Event"), ref("BatchResults")]}
    return {
        "tags": ["Append"],
        "operationId": "appendCloudEvents",
        "summary": "Append CloudEvents: structured, batch or binary",
        "description": "Binary mode: the attributes are `ce-` headers (`ce-specversion`, `ce-type`, `ce-id`, `ce-source`, "
        f"`ce-time`, `ce-subject`, `ce-sourcetype`) and the body is the data. A batch of at most {MAX_BATCH} events is "
        "answered 200 with a result for each, in order: one bad event keeps none of the others out.",
        "parameters": [
            _parameter("ce-specversion", "header", "Binary mode: `1.0`", {"const": "1.0"}),
            _parameter("ce-type", "header", "Binary mode: `domain.event-name`"),
            _parameter("ce-id", "header", "Binary mode: the sender's id of the event", {"maxLength": 255}),
            _parameter("ce-source", "header", "Binary mode: whose event it is"),
            _parameter("ce-time", "header", "Binary mode: when it happened", {"format": "date-time"}),
            _parameter("ce-subject", "header", "Binary mode: the lead, where the data does not name it"),
            _parameter("ce-sourcetype", "header", "Binary mode: required of a source outside the catalogue"),
        ],
        "requestBody": {
            "required": True,
            "content": {
                STRUCTURED_TYPE: {"schema": ref("CloudEvent"), "example": envelope},
                BATCH_TYPE: {"schema": ref("CloudEventBatch"), "example": [envelope]},
                JSON_TYPE: {
                    "schema": {"description": "Without `ce-` headers a CloudEvent; with them (binary mode) its data."},
                    "examples": {"structured": {"value": envelope}, "binary": {"value": envelope["data"]}},
                },
                "*/*": {
                    "schema": {"description": "Binary mode: data of any other media type; `ce-subject` names the lead."}
                },
            },
        },
        "responses": {
            "201": _answer("Stored.", ref("Event"), shapes.event_sample()),
            "200": {
                "description": "The same event again: the first one. Or the results of a batch.",
                "content": {
                    JSON_TYPE: {
                        "schema": either,
                        "examples": {
                            "duplicate": {"value": shapes.event_sample()},
                            "batch": {"value": results},
                        },
                    }
                },
            },
            **_problems(*_WRITE_ERRORS),
        },
    }


def _timeline() -> Schema:
    instant = "an RFC 3339 instant, or a date for its whole day in UTC"
    return {
        "tags": ["Read"],
        "operationId": "readTimeline",
        "summary": "A lead's timeline, by pages",
        "description": "A page may be shorter than `limit`, as it is also cut by size; only a null `cursor` is the end.",
        "parameters": [
            *_LEAD_PATH,
            _parameter("eventType", "query", "This type alone", {"pattern": shapes.EVENT_TYPE_PATTERN}),
            _parameter("from", "query", f"From then on: {instant}"),
            _parameter("to", "query", f"Up to, not including, then: {instant}, which is included"),
            _parameter("order", "query", "Oldest or newest first", {"enum": ["asc", "desc"], "default": "asc"}),
            {
                "name": "limit",
                "in": "query",
                "description": "Most events of the page.",
                "schema": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
            },
            _parameter("cursor", "query", "The `cursor` of the page before; works with the same parameters alone"),
            _INCLUDE,
        ],
        "responses": {
            "200": _answer("A page.", ref("Page"), {"items": [shapes.event_sample()], "cursor": None}),
            **_problems(400, 403, 404, 503, examples={400: invalid_parameter("order", "must be asc or desc")}),
        },
    }


def _read_event() -> Schema:
    event_id = _parameter("eventId", "path", "Our id of the event")
    return _single_event("readEvent", "One event", [*_LEAD_PATH, event_id], 400, 403, 404, 503)


def _read_external_event() -> Schema:
    parameters = [
        _ORGANIZATION,
        _parameter("source", "path", "Source of the event", {"pattern": shapes.SOURCE_PATTERN}),
        _parameter("externalEventId", "path", "The source's id of the event, percent-encoded", {"maxLength": 255}),
    ]
    return _single_event("readExternalEvent", "One event by its source's id", parameters, 400, 403, 404, 422, 503)


def _single_event(operation_id: str, summary: str, parameters: list[Schema], *errors: int) -> Schema:
    include = invalid_parameter("include", "can only be rawPayload")
    return {
        "tags": ["Read"],
        "operationId": operation_id,
        "summary": summary,
        "parameters": [*parameters, _INCLUDE],
        "responses": {
            "200": _answer("The event.", ref("Event"), shapes.event_sample(raw=True)),
            **_problems(*errors, examples={400: include}),
        },
    }


def _receive_webhook() -> Schema:
    return {
        "tags": ["Webhooks"],
        "operationId": "receiveWebhook",
        "summary": "A provider's delivery",
        "description": "Verified by the provider's signature over the bytes as sent, kept, and processed afterwards.",
        "parameters": [*_webhook_path(), _parameter("leadId", "query", "The lead, where the delivery names none")],
        "requestBody": {
            "required": True,
            "description": "As the provider documents it.",
            "content": {"*/*": {"schema": {}}},
        },
        "responses": {
            "202": _answer("Verified and kept.", ref("Accepted"), {"accepted": True}),
            **_problems(400, 401, 404, 413, 415, 503),
        },
    }


def _webhook_handshake() -> Schema:
    answers = any(hasattr(providers.find(name), "handshake") for name in providers.names())
    challenge = {
        "description": "The provider's challenge.",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "1158201444"}},
    }
    return {
        "tags": ["Webhooks"],
        "operationId": "webhookHandshake",
        "summary": "A provider's check that the URL is ours",
        "description": "404 for every provider that makes none.",
        "parameters": _webhook_path(),
        "responses": ({"200": challenge} if answers else {}) | _problems(*((401, 404, 503) if answers else (404,))),
    }


def _read_event_types() -> Schema:
    catalogue = event_types.document()
    sample = {"eventTypes": catalogue["eventTypes"][:1], "sources": catalogue["sources"][:1]}
    answer = _answer("The catalogue.", ref("EventTypes"), sample)
    return _contract("readEventTypes", "Event types, their schemas and samples; sources", answer)


def _read_openapi() -> Schema:
    answer = {"description": "OpenAPI 3.1.", "content": {JSON_TYPE: {"schema": {"type": "object"}}}}
    return _contract("readOpenapi", "This document", answer)


def _read_docs() -> Schema:
    answer = {"description": "A page.", "content": {"text/html": {"schema": {"type": "string"}}}}
    return _contract("readDocs", "This document for people", answer)


def _read_health() -> Schema:
    return _contract("readHealth", "Whether the API runs", _answer("It does.", ref("Health"), {"status": "ok"}))


def _contract(operation_id: str, summary: str, answer: Schema) -> Schema:
    return {"tags": ["Contract"], "operationId": operation_id, "summary": summary, "responses": {"200": answer}}


def _webhook_path() -> list[Schema]:
    known = {"enum": sorted(providers.names())} if providers.names() else {}
    return [_parameter("provider", "path", "Who sends", known), _ORGANIZATION]


def _responses() -> dict[str, Schema]:
    message = {"schema": ref("GatewayMessage")}
    found: dict[str, Schema] = {}
    for error in _EXAMPLES:
        codes = "\n".join(f"* `{each.code}`: {each.meaning}" for each in PROBLEM_CODES if each.status == error.status)
        found[_NAMES[error.status]] = {"description": f"{error.title}. Codes:\n\n{codes}", "content": _problem(error)}
    # API Gateway answers these itself, before or instead of a function.
    found["Forbidden"]["content"][JSON_TYPE] = message | {"example": {"message": "Forbidden"}}
    found["Unavailable"]["content"][JSON_TYPE] = message | {"example": {"message": "Service Unavailable"}}
    found["Unavailable"]["headers"] = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
    for name, text, description in (
        ("Unauthorized", "Unauthorized", "No token, or none that is valid now."),
        ("TooManyRequests", "Too Many Requests", "More calls than the API takes; slow down and send again."),
    ):
        found[name] = {"description": description, "content": {JSON_TYPE: message | {"example": {"message": text}}}}
    return found


def _problems(*statuses: int, examples: dict[int, LeadEventsError] | None = None) -> dict[str, Schema]:
    found: dict[str, Schema] = {str(each): {"$ref": f"#/components/responses/{_NAMES[each]}"} for each in statuses}
    own = {str(s): {"description": f"{e.title}.", "content": _problem(e)} for s, e in (examples or {}).items()}
    return found | own


def _problem(error: LeadEventsError) -> Schema:
    return {PROBLEM_TYPE: {"schema": ref("Problem"), "example": problem(error)}}


def _answer(description: str, schema: Schema, example: object) -> Schema:
    return {"description": description, "content": _json(schema, example)}


def _json(schema: Schema, example: object) -> Schema:
    return {JSON_TYPE: {"schema": schema, "example": example}}


def _parameter(name: str, where: str, description: str, rules: Schema | None = None) -> Schema:
    required = {"required": True} if where == "path" else {}
    schema = {"type": "string"} | (rules or {})
    return {"name": name, "in": where, **required, "description": f"{description}.", "schema": schema}


_ID: Final = {"pattern": f"^{ID_PATTERN}$"}
_ORGANIZATION: Final = _parameter("organizationId", "path", "Organization", _ID)
_LEAD_PATH: Final = (_ORGANIZATION, _parameter("leadId", "path", "Lead", _ID))
_INCLUDE: Final = _parameter("include", "query", "Shows the original text too", {"enum": ["rawPayload"]})

_LEAD_EVENTS: Final = "/v1/organizations/{organizationId}/leads/{leadId}/events"
_WEBHOOK: Final = "/v1/webhooks/{provider}/{organizationId}"
_OPERATIONS: Final[dict[tuple[str, str], Callable[[], Schema]]] = {
    ("POST", _LEAD_EVENTS): _append_direct,
    ("GET", _LEAD_EVENTS): _timeline,
    ("GET", f"{_LEAD_EVENTS}/{{eventId}}"): _read_event,
    ("GET", "/v1/organizations/{organizationId}/external-events/{source}/{externalEventId}"): _read_external_event,
    ("POST", "/v1/events"): _append_cloud_events,
    ("GET", "/v1/event-types"): _read_event_types,
    ("GET", "/openapi.json"): _read_openapi,
    ("GET", "/docs"): _read_docs,
    ("GET", "/health"): _read_health,
    ("POST", _WEBHOOK): _receive_webhook,
    ("GET", _WEBHOOK): _webhook_handshake,
}
