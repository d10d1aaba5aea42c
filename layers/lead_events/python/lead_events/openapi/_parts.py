"""What operations are made of: parameters, answers, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from lead_events.envelope import JSON_TYPE
from lead_events.errors import (
    ConflictError,
    ErasedError,
    FieldError,
    ForbiddenError,
    GoneError,
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
from lead_events.memory_queries import MAX_EVENTS
from lead_events.names import ID_PATTERN
from lead_events.openapi_schemas import PROBLEM_CODES, Schema, ref
from lead_events.queries import DEFAULT_LIMIT, MAX_LIMIT, invalid_parameter

Operations = dict[tuple[str, str], Callable[[], Schema]]
"""Operations by method and path."""

PROBLEM_TYPE: Final = "application/problem+json"

LEAD: Final = "/v1/organizations/{organizationId}/leads/{leadId}"
LEAD_EVENTS: Final = f"{LEAD}/events"


class Refusal(NamedTuple):
    """A way in which the API says no: a response of the components, with the codes it may have."""

    name: str
    example: LeadEventsError
    codes: tuple[str, ...] = ()
    """Where it is not every code of the status."""

    @property
    def status(self) -> int:
        return self.example.status


UNREADABLE: Final = Refusal(
    "Unreadable", UnreadableError("The body is not valid JSON."), ("malformed_body", "duplicate_key", "lone_surrogate")
)
INVALID_PARAMETER: Final = Refusal(
    "InvalidParameter", invalid_parameter("include", "can only be rawPayload"), ("invalid_parameter",)
)
INVALID_PAGE: Final = Refusal(
    "InvalidPage",
    invalid_parameter("limit", f"must be a whole number from 1 to {MAX_LIMIT}"),
    ("invalid_parameter", "invalid_cursor"),
)
BAD_SIGNATURE: Final = Refusal("BadSignature", UnauthenticatedError("The signature is missing, wrong or too old."))
FORBIDDEN: Final = Refusal(
    "Forbidden",
    ForbiddenError("The token is bound to another organization.", code="other_organization"),
    ("insufficient_scope", "no_organization", "other_organization"),
)
WRONG_VERIFY_TOKEN: Final = Refusal(
    "WrongVerifyToken", ForbiddenError("The verify token is not the one of this webhook."), ("forbidden",)
)
NOT_FOUND: Final = Refusal("NotFound", NotFoundError())
GONE: Final = Refusal("Gone", GoneError(), ("organization_gone",))
ERASED: Final = Refusal("Erased", ErasedError())
"""To who sends something: the organisation has left, or whom it is about was erased."""
CONFLICT: Final = Refusal(
    "Conflict", ConflictError("This external id was used before, for other content."), ("idempotency_conflict",)
)
IDENTITY_CONFLICT: Final = Refusal(
    "IdentityConflict",
    ConflictError(
        "Identities belong to another lead.",
        code="identity_conflict",
        errors=(FieldError("identities.1", "is another lead's"),),
    ),
    ("identity_conflict",),
)
REPROCESSING_RUNNING: Final = Refusal(
    "ReprocessingRunning",
    ConflictError("The reprocessing rep_… of the same scope is not over.", code="reprocessing_running"),
    ("reprocessing_running",),
)
REPROCESSING_OVER: Final = Refusal(
    "ReprocessingOver", ConflictError("The reprocessing is over.", code="reprocessing_over"), ("reprocessing_over",)
)
TOO_LARGE: Final = Refusal("TooLarge", TooLargeError(f"A body has at most {MAX_BODY_BYTES} bytes."))
UNSUPPORTED_MEDIA: Final = Refusal("UnsupportedMedia", UnsupportedMediaError("Only UTF-8 is supported."))
UNSUPPORTED_ENCODING: Final = Refusal(
    "UnsupportedEncoding",
    UnsupportedMediaError("Compressed bodies are not supported.", code="unsupported_encoding"),
    ("unsupported_encoding",),
)
INVALID: Final = Refusal("Invalid", InvalidError.of("payload.amount", "greater_than_equal"))
TOO_MANY_EVENTS: Final = Refusal(
    "TooManyEvents", InvalidError.of("asOf", f"more than {MAX_EVENTS} events had occurred by then"), ("invalid",)
)
INVALID_IDENTITIES: Final = Refusal(
    "InvalidIdentities",
    InvalidError.of("identities.0.value", "must be {provider}:{id}, the provider in lower case"),
    ("invalid", "invalid_id"),
)
INVALID_REPROCESSING: Final = Refusal(
    "InvalidReprocessing",
    InvalidError.of("kind", "must be memories or retranslation"),
    ("invalid", "invalid_id", "unexpected_field"),
)
UNAVAILABLE: Final = Refusal("Unavailable", UnavailableError("DynamoDB did not answer (ReadTimeoutError)."))

WRITE_REFUSALS: Final = (
    UNREADABLE, FORBIDDEN, CONFLICT, ERASED, TOO_LARGE, UNSUPPORTED_MEDIA, INVALID, UNAVAILABLE,
)  # fmt: skip
READ_REFUSALS: Final = (FORBIDDEN, NOT_FOUND, GONE, UNAVAILABLE)
UNGATED_REFUSALS: Final = (FORBIDDEN, NOT_FOUND, UNAVAILABLE)
"""Of what is answered for an organisation that has left as well."""

_REFUSALS: Final = (
    UNREADABLE, INVALID_PARAMETER, INVALID_PAGE, BAD_SIGNATURE, FORBIDDEN, WRONG_VERIFY_TOKEN, NOT_FOUND, CONFLICT, GONE,
    IDENTITY_CONFLICT, TOO_LARGE, UNSUPPORTED_MEDIA, UNSUPPORTED_ENCODING, INVALID, INVALID_IDENTITIES, UNAVAILABLE,
    REPROCESSING_RUNNING, REPROCESSING_OVER, INVALID_REPROCESSING, TOO_MANY_EVENTS, ERASED,
)  # fmt: skip


def responses() -> dict[str, Schema]:
    """The refusals as responses of the components, and those of API Gateway."""
    message = {"schema": ref("GatewayMessage")}
    found: dict[str, Schema] = {}
    for each in _REFUSALS:
        meanings = {code.code: code.meaning for code in PROBLEM_CODES if code.answered and code.status == each.status}
        codes = "\n".join(f"* `{code}`: {meanings[code]}" for code in each.codes or meanings)
        example = {PROBLEM_TYPE: {"schema": ref("Problem"), "example": problem(each.example)}}
        found[each.name] = {"description": f"{each.example.title}. Codes:\n\n{codes}", "content": example}
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


def refused(*refusals: Refusal) -> dict[str, Schema]:
    """Responses of an operation by status."""
    return {str(each.status): {"$ref": f"#/components/responses/{each.name}"} for each in refusals}


def answer(description: str, schema: Schema, example: object) -> Schema:
    """A response in JSON."""
    return {"description": description, "content": json_content(schema, example)}


def json_content(schema: Schema, example: object) -> Schema:
    """A body in JSON."""
    return {JSON_TYPE: {"schema": schema, "example": example}}


def parameter(name: str, where: str, description: str, rules: Schema | None = None) -> Schema:
    """A parameter that is a string; required in a path."""
    required = {"required": True} if where == "path" else {}
    schema = {"type": "string"} | (rules or {})
    return {"name": name, "in": where, **required, "description": f"{description}.", "schema": schema}


def page_parameters(entries: str) -> list[Schema]:
    """``limit`` and ``cursor`` of a page of ``entries``."""
    limit = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}
    return [
        {"name": "limit", "in": "query", "description": f"Most {entries} of the page.", "schema": limit},
        parameter("cursor", "query", "The `cursor` of the page before; works with the same parameters alone"),
    ]


_ID: Final = {"pattern": f"^{ID_PATTERN}$"}
ORGANIZATION: Final = parameter("organizationId", "path", "Organization", _ID)
LEAD_PATH: Final = (ORGANIZATION, parameter("leadId", "path", "Lead", _ID))
INCLUDE: Final = parameter(
    "include", "query", "Shows the original text too, unless empty", {"enum": ["rawPayload", ""]}
)
