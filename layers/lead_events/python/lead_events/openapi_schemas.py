"""Schemas and samples of the OpenAPI document, from the catalogue and the error tree; AsyncAPI's page takes them too."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from uuid import NAMESPACE_DNS, uuid5

from lead_events import catalogue, event_types
from lead_events.appending import MAX_BATCH
from lead_events.catalogue import Category
from lead_events.event import SCHEMA_VERSION, LeadEvent, OutcomeKind, SourceType, StoredEvent
from lead_events.names import ID_PATTERN, SERVICE, Source
from lead_events.representation import event_json

Schema = dict[str, Any]

ORGANIZATION: Final = "org_01HX"
LEAD: Final = "lead_01HX"
SAMPLE_TYPE: Final = "subscription_created"

SOURCE_PATTERN: Final = r"^[!-\"$-~]{1,100}$"
EVENT_TYPE_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$"
EVENT_ID_PATTERN: Final = r"^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"


class ProblemCode(NamedTuple):
    """A ``code`` of a problem, its status and what it says."""

    status: int
    code: str
    meaning: str


PROBLEM_CODES: Final = (
    ProblemCode(400, "malformed_body", "the body is empty, or not UTF-8, Base64 or JSON"),
    ProblemCode(400, "duplicate_key", "an object has the same key twice"),
    ProblemCode(400, "lone_surrogate", "a string holds half of a surrogate pair"),
    ProblemCode(400, "invalid_parameter", "a query parameter breaks its rule"),
    ProblemCode(400, "invalid_cursor", "the cursor is not one of this query"),
    ProblemCode(401, "unauthorized", "the signature is missing, wrong or too old"),
    ProblemCode(403, "forbidden", "the caller may not do this"),
    ProblemCode(403, "insufficient_scope", "the token lacks the scope"),
    ProblemCode(403, "no_organization", "the token is not bound to an organization"),
    ProblemCode(403, "other_organization", "the token is bound to another organization"),
    ProblemCode(404, "not_found", "there is no such thing for this caller"),
    ProblemCode(409, "idempotency_conflict", "the external id was used before, for other content"),
    ProblemCode(413, "payload_too_large", "more than is stored or sent"),
    ProblemCode(415, "unsupported_media_type", "the media type or character set is not supported"),
    ProblemCode(415, "unsupported_encoding", "compressed bodies are not supported"),
    ProblemCode(422, "invalid", "a field breaks its rule; `errors` names both"),
    ProblemCode(422, "invalid_attribute_name", "a CloudEvents attribute has an impossible name"),
    ProblemCode(422, "invalid_id", "an organization or lead id has an impossible form"),
    ProblemCode(422, "invalid_key", "a key of the payload is empty or too long"),
    ProblemCode(422, "invalid_number", "a number has too many digits or is out of range"),
    ProblemCode(422, "invalid_source", "the source has an impossible form"),
    ProblemCode(422, "invalid_time", "a time is not an RFC 3339 date-time with an offset"),
    ProblemCode(422, "lead_unresolved", "the event names no lead"),
    ProblemCode(422, "too_deep", "the payload nests too deeply"),
    ProblemCode(422, "unexpected_field", "the body has fields that it must not have"),
    ProblemCode(503, "unavailable", "not stored; send again after `Retry-After` seconds"),
)

_DOMAINS: Final = {
    Category.PURCHASE: "hotmart",
    Category.PRODUCT: "web",
    Category.INTEREST: "ai-agents",
    Category.SENTIMENT: "messaging",
    Category.SUPPORT: "ticketing",
    Category.CONVERSATION: "messaging",
    Category.CAMPAIGN: "dispatch",
    Category.SUBSCRIPTION: "billing",
    Category.FORM: "typeform",
    Category.DISCOUNT: "ai-agents",
    Category.AGENT: "ai-agents",
    Category.OBJECTION: "ai-agents",
}
"""A domain that tells of each category, for the samples: the ``domain`` of a CloudEvents type is the source."""


def ref(name: str) -> Schema:
    """Reference to a schema of the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def schema_name(event_type: str) -> str:
    """Name of a payload's schema: ``PurchaseCompleted``."""
    return catalogue.EVENT_TYPES[event_type].__name__


def payload_schemas() -> dict[str, Schema]:
    """The payloads of the catalogue by schema name."""
    return {schema_name(each): event_types.payload_schema(each) for each in catalogue.EVENT_TYPES}


def schemas() -> dict[str, Schema]:
    """All schemas of the API."""
    return {
        "Event": _event(),
        "Page": _object(
            "A page of a timeline. The next one is asked for with the same parameters and the `cursor`.",
            {"items": {"type": "array", "items": ref("Event")}, "cursor": _text("Null on the last page", null=True)},
        ),
        "DirectEvent": _direct_event(),
        "CloudEvent": cloud_event(),
        "CloudEventBatch": {
            "description": "CloudEvents JSON batch format.",
            "type": "array",
            "items": ref("CloudEvent"),
            "maxItems": MAX_BATCH,
        },
        "BatchResults": _object(
            "One result per event, in the order of the request.",
            {"results": {"type": "array", "items": ref("BatchResult"), "maxItems": MAX_BATCH}},
        ),
        "BatchResult": _batch_result(),
        "Problem": _problem(),
        "GatewayMessage": _object("An answer of API Gateway itself.", {"message": {"type": "string"}}),
        "Accepted": _object("The delivery is kept and will be processed.", {"accepted": {"const": True}}),
        "Health": _object("The function runs.", {"status": {"const": "ok"}}),
        "EventTypes": _event_types(),
        **payload_schemas(),
    }


def cloud_event() -> Schema:
    """The envelope. Its ``data`` is held to the contract of its type where the catalogue has it."""
    lead: Schema = {"pattern": f"^{ID_PATTERN}$"}
    return {
        "description": "CloudEvents 1.0 in JSON. `data.organizationId` and `data.leadId` (or `subject`) name the lead; the "
        "rest of `data` is the payload. `domain.event-name` is the event type `event_name` where the catalogue has it.",
        "type": "object",
        "required": ["specversion", "type", "id"],
        "properties": {
            "specversion": {"const": "1.0"},
            "type": _text("`domain.event-name`", pattern=EVENT_TYPE_PATTERN),
            "id": _text("The sender's id of the event; `evt_<uuid>`. Makes it stored once", minLength=1, maxLength=255),
            "source": _text(
                "Whose event it is. Where it is missing, the domain of `type` says so", pattern=SOURCE_PATTERN
            ),
            "time": _time("When it happened. Where it is missing: when it arrived"),
            "datacontenttype": _text("Media type of the data"),
            "dataschema": {},
            "subject": _text("The lead, where `data.leadId` does not name it", minLength=1),
            "sourcetype": _source_type() | {"description": "Required of a source outside the catalogue."},
            "data": {
                "type": ["object", "array", "string", "number", "boolean", "null"],
                "properties": {
                    "organizationId": _text("Required of senders that are not bound to one", **lead),
                    "leadId": _text("The lead", **lead),
                },
            },
            "data_base64": _text("Data that is not JSON, instead of `data`", contentEncoding="base64"),
        },
        "additionalProperties": {
            "description": "Extension attributes.",
            "type": ["string", "number", "boolean", "null"],
        },
        "propertyNames": {"pattern": "^([a-z0-9]+|data_base64)$"},
        "anyOf": [
            {"required": ["data"], "properties": {"data": {"type": "object", "required": ["leadId"]}}},
            {"required": ["subject"], "properties": {"subject": lead}},
        ],
        "not": {"required": ["data", "data_base64"]},
        "allOf": [
            _where("type", {"type": "string", "pattern": cloud_event_type_pattern(name)}, "data", name)
            for name in catalogue.EVENT_TYPES
        ],
    }


def cloud_event_type_pattern(event_type: str) -> str:
    """Pattern of the CloudEvents types that become ``event_type``."""
    return rf"^([a-z0-9_-]+\.{event_type.replace('_', '-')}|{event_type})$"


def cloud_event_sample(event_type: str) -> dict[str, Any]:
    """An envelope with the type's sample, as another domain of the organisation sends it: without ``source``."""
    domain = _DOMAINS[catalogue.EVENT_TYPES[event_type].category]
    return {
        "specversion": "1.0",
        "type": f"{domain}.{event_type.replace('_', '-')}",
        "id": f"evt_{uuid5(NAMESPACE_DNS, f'{event_type}.{SERVICE}')}",
        "time": "2026-03-25T14:00:00Z",
        "datacontenttype": "application/json",
        "data": {"organizationId": ORGANIZATION, "leadId": LEAD, **payload_sample(event_type)},
    }


def direct_sample() -> dict[str, Any]:
    """Body of a direct append."""
    return {
        "source": str(Source.BILLING_SERVICE),
        "eventType": SAMPLE_TYPE,
        "externalEventId": "sub_42:created",
        "occurredAt": "2026-03-25T14:00:00Z",
        "objectId": "sub_42",
        "payload": payload_sample(SAMPLE_TYPE),
    }


def payload_sample(event_type: str) -> dict[str, Any]:
    """The catalogue's sample as plain JSON."""
    sample: dict[str, Any] = event_types.plain(catalogue.EVENT_TYPES[event_type].sample)
    return sample


def event_sample(*, raw: bool = False) -> dict[str, Any]:
    """The stored event of ``direct_sample``."""
    body = direct_sample()
    event = LeadEvent(
        organization_id=ORGANIZATION,
        lead_id=LEAD,
        source_type=SourceType.INTERNAL,
        source=body["source"],
        event_type=body["eventType"],
        payload=body["payload"],
        occurred_at=datetime(2026, 3, 25, 14, tzinfo=UTC),
        received_at=datetime(2026, 3, 25, 14, 0, 1, 250000, tzinfo=UTC),
        external_event_id=body["externalEventId"],
        object_id=body["objectId"],
        raw_payload='{"plan": "pro"}' if raw else None,
    )
    return event_json(StoredEvent.known(event, "evt_019d254b-8700-7000-8000-0123456789ab"), raw=raw)


def _event() -> Schema:
    nothing: Schema = {"null": True, "maxLength": 255}
    shown = _object(
        "A stored event. It never changes.",
        {
            "organizationId": _id("Organization"),
            "leadId": _id("Lead"),
            "leadOrganizationId": _text("Partition key: `ORG#{organizationId}#LEAD#{leadId}`"),
            "occurredAtId": _text("Sort key: `{occurredAt}#{uuid}`"),
            "eventId": _text("Our id: `evt_` and a UUIDv7 of `occurredAt`", pattern=EVENT_ID_PATTERN),
            "sourceType": _source_type(),
            "source": _text("Where it comes from, in lower case", pattern=SOURCE_PATTERN),
            "eventType": _text("Normalised type, or the source's own", pattern=EVENT_TYPE_PATTERN),
            "objectId": _text("Our id of the object it is about", **nothing),
            "objectIdRef": _text("The source's id of the object it is about", **nothing),
            "externalEventId": _text(
                "The source's id of the event; stored once per organization and source", **nothing
            ),
            "occurredAt": _time("When it happened, in UTC with six fraction digits"),
            "receivedAt": _time("When it reached us"),
            "schemaVersion": {"type": "integer", "minimum": 1, "maximum": SCHEMA_VERSION},
            "dataContentType": _text("Media type of the payload as it came"),
            "payload": {"description": "Normalised data; an object for every type of the catalogue."},
        },
    )
    raw = _text("The original text, byte for byte; only with `include=rawPayload`", null=True)
    shown["properties"]["rawPayload"] = raw
    return shown | {"allOf": _by_event_type()}


def _direct_event() -> Schema:
    nothing: Schema = {"null": True, "maxLength": 255}
    return {
        "description": "One event of the lead in the path.",
        "type": "object",
        "required": ["source", "eventType", "occurredAt", "payload"],
        "properties": {
            "source": _text("Where it comes from; stored in lower case", pattern=SOURCE_PATTERN),
            "sourceType": {
                "description": "Required of a source outside the catalogue.",
                "type": ["string", "null"],
                "enum": [*map(str, SourceType), None],
            },
            "eventType": _text("A type of the catalogue, or any other name", pattern=EVENT_TYPE_PATTERN),
            "externalEventId": _text("Makes the event stored once; else the header `Idempotency-Key` does", **nothing),
            "occurredAt": _time("When it happened"),
            "objectId": _text("Our id of the object it is about", **nothing),
            "objectIdRef": _text("The source's id of the object it is about", **nothing),
            "payload": {"description": "Held to the contract of its type where the catalogue has it; else any JSON."},
            "rawPayload": _text("The original text, kept byte for byte", null=True),
            "organizationId": _id("If sent, the one of the path"),
            "leadId": _id("If sent, the one of the path"),
        },
        "additionalProperties": False,
        "allOf": _by_event_type(),
    }


def _batch_result() -> Schema:
    codes = sorted({201, 200} | {each.status for each in PROBLEM_CODES if 400 < each.status < 500} - {401, 404, 415})
    return {
        "description": "What the event would have been answered alone: `event` if stored or a duplicate, else `problem`.",
        "type": "object",
        "required": ["status", "outcome"],
        "properties": {
            "status": {"enum": codes},
            "outcome": {"enum": [str(each) for each in OutcomeKind]},
            "event": ref("Event"),
            "problem": ref("Problem"),
        },
        "oneOf": [{"required": ["event"]}, {"required": ["problem"]}],
    }


def _problem() -> Schema:
    body = _object(
        "RFC 9457. Names fields and rules, never a value that was sent.",
        {
            "type": {"const": "about:blank"},
            "title": {"type": "string"},
            "status": {"enum": sorted({each.status for each in PROBLEM_CODES})},
            "code": _text("Stable; decide by it") | {"enum": sorted({each.code for each in PROBLEM_CODES})},
            "detail": {"type": "string"},
        },
    )
    field = _object(
        "One broken rule.", {"field": _text("Dotted path; empty for the whole"), "rule": {"type": "string"}}
    )
    body["properties"]["errors"] = {"type": "array", "items": field}
    return body


def _event_types() -> Schema:
    described: dict[str, Schema] = {
        "name": {"enum": list(catalogue.EVENT_TYPES)},
        "category": {"enum": [str(each) for each in Category]},
        "description": {"type": "string"},
        "schema": {"type": "object", "description": "JSON Schema (2020-12) of the payload."},
        "sample": {"type": "object"},
    }
    source: dict[str, Schema] = {"source": {"type": "string"}, "sourceType": _source_type()}
    return _object(
        "The catalogue.",
        {
            "eventTypes": {"type": "array", "items": _object("An event type.", described)},
            "sources": {"type": "array", "items": _object("A known source.", source)},
        },
    )


def _by_event_type() -> list[Schema]:
    return [_where("eventType", {"const": name}, "payload", name) for name in catalogue.EVENT_TYPES]


def _where(field: str, rule: Schema, holder: str, event_type: str) -> Schema:
    condition = {"properties": {field: rule}, "required": [field]}
    return {"if": condition, "then": {"properties": {holder: ref(schema_name(event_type))}, "required": [holder]}}


def _object(description: str, properties: dict[str, Schema]) -> Schema:
    return {"description": description, "type": "object", "required": list(properties), "properties": properties}


def _text(description: str, *, null: bool = False, **rules: Any) -> Schema:
    return {"description": description, "type": ["string", "null"] if null else "string", **rules}


def _id(description: str) -> Schema:
    return _text(description, pattern=f"^{ID_PATTERN}$")


def _time(description: str) -> Schema:
    return _text(f"{description}; RFC 3339 with an offset, 1970 to 9999", format="date-time")


def _source_type() -> Schema:
    return {"type": "string", "enum": [str(each) for each in SourceType]}
