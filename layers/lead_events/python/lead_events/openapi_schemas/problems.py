"""Problems: their codes, and what a problem+json body looks like."""

from __future__ import annotations

from typing import Final, NamedTuple

from lead_events.openapi_schemas._parts import Schema, many, obj, text


class ProblemCode(NamedTuple):
    """A ``code``, the status that goes with it and what it says."""

    status: int
    code: str
    meaning: str
    answered: bool = True
    """Whether a caller of the API or of a webhook may be answered so."""
    kept: bool = False
    """Whether a rejected event may be kept for this reason."""


PROBLEM_CODES: Final = (
    ProblemCode(400, "malformed_body", "the body is empty, or not UTF-8, Base64 or JSON", kept=True),
    ProblemCode(400, "duplicate_key", "an object has the same key twice", kept=True),
    ProblemCode(400, "lone_surrogate", "a string holds half of a surrogate pair", kept=True),
    ProblemCode(400, "invalid_parameter", "a query parameter breaks its rule"),
    ProblemCode(400, "invalid_cursor", "the cursor is not one of this query"),
    ProblemCode(401, "unauthorized", "the signature is missing, wrong or too old"),
    ProblemCode(403, "forbidden", "the caller may not do this"),
    ProblemCode(403, "insufficient_scope", "the token lacks the scope"),
    ProblemCode(403, "no_organization", "the token is not bound to an organization"),
    ProblemCode(403, "other_organization", "the token is bound to another organization"),
    ProblemCode(
        403, "untrusted_event_type", "a browser told what only a backend is believed", answered=False, kept=True
    ),
    ProblemCode(404, "not_found", "there is no such thing for this caller", kept=True),
    ProblemCode(409, "idempotency_conflict", "the external id was used before, for other content", kept=True),
    ProblemCode(409, "identity_conflict", "identities are another lead's; `errors` names which"),
    ProblemCode(409, "reprocessing_running", "a reprocessing of the same scope is not over"),
    ProblemCode(409, "reprocessing_over", "the reprocessing is over"),
    ProblemCode(410, "organization_gone", "the organization has left the platform", kept=True),
    ProblemCode(410, "erased", "what it is about was erased, or is being erased: it is not taken any more"),
    ProblemCode(413, "payload_too_large", "more than is stored or sent", kept=True),
    ProblemCode(415, "unsupported_media_type", "the media type or character set is not supported"),
    ProblemCode(415, "unsupported_encoding", "compressed bodies are not supported"),
    ProblemCode(422, "invalid", "a field breaks its rule; `errors` names both", kept=True),
    ProblemCode(422, "invalid_attribute_name", "a CloudEvents attribute has an impossible name"),
    ProblemCode(422, "invalid_id", "an organization or lead id has an impossible form", kept=True),
    ProblemCode(422, "invalid_key", "a key of the payload is empty or too long", kept=True),
    ProblemCode(422, "invalid_number", "a number has too many digits or is out of range", kept=True),
    ProblemCode(422, "invalid_source", "the source has an impossible form", kept=True),
    ProblemCode(422, "invalid_time", "a time is not an RFC 3339 date-time with an offset", kept=True),
    ProblemCode(422, "lead_unresolved", "the event names no lead", kept=True),
    ProblemCode(422, "too_deep", "the payload nests too deeply", kept=True),
    ProblemCode(422, "unexpected_field", "the body has fields that it must not have"),
    ProblemCode(503, "unavailable", "not stored; send again after `Retry-After` seconds"),
)


def schemas() -> dict[str, Schema]:
    """Problems of ours, and the messages of API Gateway."""
    answered = [each for each in PROBLEM_CODES if each.answered]
    body = obj(
        "RFC 9457. Names fields and rules, never a value that was sent.",
        {
            "type": {"const": "about:blank"},
            "title": {"type": "string"},
            "status": {"enum": sorted({each.status for each in answered})},
            "code": text("Stable; decide by it") | {"enum": sorted({each.code for each in answered})},
            "detail": {"type": "string"},
        },
    )
    body["properties"]["errors"] = broken_rules()
    return {"Problem": body, "GatewayMessage": obj("An answer of API Gateway itself.", {"message": {"type": "string"}})}


def broken_rules() -> Schema:
    """Fields and the rules they break."""
    return many(
        obj("One broken rule.", {"field": text("Dotted path; empty for the whole"), "rule": {"type": "string"}})
    )
