"""The error tree.

::

    LeadEventsError
    ├── RejectedError            the caller's fault; nothing was stored
    │   ├── UnreadableError          400  bytes, JSON, query parameter or cursor cannot be read
    │   ├── UnauthenticatedError     401  no or wrong signature
    │   ├── ForbiddenError           403  authenticated, but not for this
    │   ├── NotFoundError            404  no such thing for this caller
    │   ├── ConflictError            409  same external id, other content
    │   ├── GoneError                410  the organisation has left
    │   │   └── RetentionExpiredError         for good: nothing of it is kept
    │   ├── ErasedError              410  what it is about was erased
    │   ├── TooLargeError            413  more than is stored or sent
    │   ├── UnsupportedMediaError    415  media type or content encoding
    │   └── InvalidError             422  readable, but breaks a rule
    │       └── UnresolvedLeadError       the delivery names no lead
    └── UnavailableError         503  not stored, send again
        ├── ObjectMissingError            an object is not there
        └── NotPublishedError             the bus has not everything; names what is missing

Every error carries a stable ``code`` and texts that name fields and rules. No text ever holds a value that a caller
sent, so an error can be logged and returned as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One broken rule: ``field`` is a dotted path in wire names, ``rule`` a sentence without the value."""

    field: str
    rule: str


class LeadEventsError(Exception):
    """Base of every error this package raises on purpose."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"
    default_code: ClassVar[str] = "internal_error"

    def __init__(self, detail: str, *, code: str | None = None, errors: tuple[FieldError, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.default_code
        self.errors = errors


class RejectedError(LeadEventsError):
    """The delivery or request is refused and nothing was stored."""

    status = 400
    title = "Rejected"
    default_code = "rejected"
    kept: ClassVar[bool] = True
    """Whether a queued delivery that is refused so is kept among the rejected events; else nothing of it is."""


class UnreadableError(RejectedError):
    status = 400
    title = "Unreadable request"
    default_code = "malformed_body"


class UnauthenticatedError(RejectedError):
    status = 401
    title = "Unauthorized"
    default_code = "unauthorized"


class ForbiddenError(RejectedError):
    status = 403
    title = "Forbidden"
    default_code = "forbidden"


class NotFoundError(RejectedError):
    status = 404
    title = "Not found"
    default_code = "not_found"

    def __init__(self) -> None:
        # One text for foreign and missing things: a reader must not learn which of the two it was.
        super().__init__("There is no such resource.")


class ConflictError(RejectedError):
    status = 409
    title = "Conflict"
    default_code = "idempotency_conflict"


class GoneError(RejectedError):
    status = 410
    title = "Gone"
    default_code = "organization_gone"

    def __init__(self) -> None:
        super().__init__("The organization has left the platform.")


class RetentionExpiredError(GoneError):
    """To callers it looks like any other that has left."""

    kept = False


class ErasedError(RejectedError):
    status = 410
    title = "Gone"
    default_code = "erased"
    kept = False

    def __init__(self) -> None:
        super().__init__("What this is about was erased, or is being erased.")


class TooLargeError(RejectedError):
    status = 413
    title = "Payload too large"
    default_code = "payload_too_large"


class UnsupportedMediaError(RejectedError):
    status = 415
    title = "Unsupported media type"
    default_code = "unsupported_media_type"


class InvalidError(RejectedError):
    status = 422
    title = "Invalid content"
    default_code = "invalid"

    @classmethod
    def of(cls, field: str, rule: str, *, code: str | None = None) -> InvalidError:
        """An error about a single field."""
        return cls(f"{field}: {rule}", code=code, errors=(FieldError(field, rule),))


class UnresolvedLeadError(InvalidError):
    default_code = "lead_unresolved"


class UnavailableError(LeadEventsError):
    """A service we depend on refused or did not answer; nothing was acknowledged."""

    status = 503
    title = "Service unavailable"
    default_code = "unavailable"
    retry_after_seconds: ClassVar[int] = 2


class ObjectMissingError(UnavailableError):
    """An object is not there; it was, or it would not be asked for."""


class NotPublishedError(UnavailableError):
    """The bus did not take every envelope; ``refused`` are the ids of those that it may not have."""

    def __init__(self, detail: str, refused: frozenset[str]) -> None:
        super().__init__(detail)
        self.refused = refused


def problem(error: LeadEventsError) -> dict[str, object]:
    """The RFC 9457 ``application/problem+json`` body of an error: the one map from errors to HTTP."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": error.title,
        "status": error.status,
        "code": error.code,
        "detail": error.detail,
    }
    if error.errors:
        body["errors"] = [{"field": each.field, "rule": each.rule} for each in error.errors]
    return body
