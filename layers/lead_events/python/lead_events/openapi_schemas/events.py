"""Events in every form: as they are sent, one by one and in batches, and as they are shown."""

from __future__ import annotations

from lead_events import catalogue, event_types, internal_domains
from lead_events.appending import MAX_BATCH
from lead_events.categories import Category
from lead_events.event import SCHEMA_VERSION, OutcomeKind, SourceType
from lead_events.names import ID_PATTERN
from lead_events.openapi_schemas._parts import (
    EVENT_ID_PATTERN,
    EVENT_TYPE_PATTERN,
    SOURCE_PATTERN,
    Schema,
    cursor,
    many,
    obj,
    own_id,
    ref,
    source_type,
    text,
    time,
)
from lead_events.openapi_schemas.problems import PROBLEM_CODES


def schemas() -> dict[str, Schema]:
    """Events, pages, envelopes, batches, the catalogue and its payloads."""
    return {
        "Event": _event(),
        "Page": obj(
            "A page of a timeline. The next one is asked for with the same parameters and the `cursor`.",
            {"items": many(ref("Event")), "cursor": cursor()},
        ),
        "DirectEvent": _direct_event(),
        "CloudEvent": cloud_event(),
        "CloudEventBatch": {
            "description": "CloudEvents JSON batch format.",
            **many(ref("CloudEvent"), maxItems=MAX_BATCH),
        },
        "BatchResults": obj(
            "One result per event, in the order of the request.",
            {"results": many(ref("BatchResult"), maxItems=MAX_BATCH)},
        ),
        "BatchResult": _batch_result(),
        "EventTypes": _event_types(),
        **payload_schemas(),
    }


def schema_name(event_type: str) -> str:
    """Name of a payload's schema: ``PurchaseCompleted``."""
    return catalogue.EVENT_TYPES[event_type].__name__


def payload_schemas() -> dict[str, Schema]:
    """The payloads of the catalogue by schema name."""
    return {schema_name(each): event_types.payload_schema(each) for each in catalogue.EVENT_TYPES}


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
            "type": text("`domain.event-name`", pattern=EVENT_TYPE_PATTERN),
            "id": text("The sender's id of the event; `evt_<uuid>`. Makes it stored once", minLength=1, maxLength=255),
            "source": text(
                "Whose event it is. Where it is missing, the domain of `type` says so", pattern=SOURCE_PATTERN
            ),
            "time": time("When it happened. Where it is missing: when it arrived"),
            "datacontenttype": text("Media type of the data"),
            "dataschema": {},
            "subject": text("The lead, where `data.leadId` does not name it", minLength=1),
            "sourcetype": source_type() | {"description": "Required of a source outside the catalogue."},
            "data": {
                "type": ["object", "array", "string", "number", "boolean", "null"],
                "properties": {
                    "organizationId": text("Required of senders that are not bound to one", **lead),
                    "leadId": text("The lead", **lead),
                },
            },
            "data_base64": text("Data that is not JSON, instead of `data`", contentEncoding="base64"),
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
    names = [rf"[a-z0-9_-]+\.{event_type.replace('_', '-')}", event_type]
    names += (rf"({'|'.join(domains)})\.{name}" for domains, name in internal_domains.synonyms_of(event_type))
    return f"^({'|'.join(names)})$"


def _event() -> Schema:
    nothing: Schema = {"null": True, "maxLength": 255}
    shown = obj(
        "A stored event. It never changes.",
        {
            "organizationId": own_id("Organization"),
            "leadId": own_id("Lead"),
            "leadOrganizationId": text("Partition key: `ORG#{organizationId}#LEAD#{leadId}`"),
            "occurredAtId": text("Sort key: `{occurredAt}#{uuid}`"),
            "eventId": text("Our id: `evt_` and a UUIDv7 of `occurredAt`", pattern=EVENT_ID_PATTERN),
            "sourceType": source_type(),
            "source": text("Where it comes from, in lower case", pattern=SOURCE_PATTERN),
            "eventType": text("Normalised type, or the source's own", pattern=EVENT_TYPE_PATTERN),
            "objectId": text("Our id of the object it is about", **nothing),
            "objectIdRef": text("The source's id of the object it is about", **nothing),
            "externalEventId": text("The source's id of the event; stored once per organization and source", **nothing),
            "occurredAt": time("When it happened, in UTC with six fraction digits"),
            "receivedAt": time("When it reached us"),
            "schemaVersion": {"type": "integer", "minimum": 1, "maximum": SCHEMA_VERSION},
            "dataContentType": text("Media type of the payload as it came"),
            "payload": {"description": "Normalised data; an object for every type of the catalogue."},
        },
    )
    raw = text("The original text, byte for byte; only with `include=rawPayload`", null=True)
    shown["properties"]["rawPayload"] = raw
    return shown | {"allOf": _by_event_type()}


def _direct_event() -> Schema:
    nothing: Schema = {"null": True, "maxLength": 255}
    return {
        "description": "One event of the lead in the path.",
        "type": "object",
        "required": ["source", "eventType", "occurredAt", "payload"],
        "properties": {
            "source": text("Where it comes from; stored in lower case", pattern=SOURCE_PATTERN),
            "sourceType": {
                "description": "Required of a source outside the catalogue.",
                "type": ["string", "null"],
                "enum": [*map(str, SourceType), None],
            },
            "eventType": text("A type of the catalogue, or any other name", pattern=EVENT_TYPE_PATTERN),
            "externalEventId": text("Makes the event stored once; else the header `Idempotency-Key` does", **nothing),
            "occurredAt": time("When it happened"),
            "objectId": text("Our id of the object it is about", **nothing),
            "objectIdRef": text("The source's id of the object it is about", **nothing),
            "payload": {"description": "Held to the contract of its type where the catalogue has it; else any JSON."},
            "rawPayload": text("The original text, kept byte for byte", null=True),
            "organizationId": own_id("If sent, the one of the path"),
            "leadId": own_id("If sent, the one of the path"),
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
            "outcome": {"enum": [str(each) for each in OutcomeKind if each is not OutcomeKind.FORWARDED]},
            "event": ref("Event"),
            "problem": ref("Problem"),
        },
        "oneOf": [{"required": ["event"]}, {"required": ["problem"]}],
    }


def _event_types() -> Schema:
    described: dict[str, Schema] = {
        "name": {"enum": list(catalogue.EVENT_TYPES)},
        "category": {"enum": [str(each) for each in Category]},
        "description": {"type": "string"},
        "schema": {"type": "object", "description": "JSON Schema (2020-12) of the payload."},
        "sample": {"type": "object"},
    }
    source: dict[str, Schema] = {"source": {"type": "string"}, "sourceType": source_type()}
    return obj(
        "The catalogue.",
        {
            "eventTypes": many(obj("An event type.", described)),
            "sources": many(obj("A known source.", source)),
        },
    )


def _by_event_type() -> list[Schema]:
    return [_where("eventType", {"const": name}, "payload", name) for name in catalogue.EVENT_TYPES]


def _where(field: str, rule: Schema, holder: str, event_type: str) -> Schema:
    condition = {"properties": {field: rule}, "required": [field]}
    return {"if": condition, "then": {"properties": {holder: ref(schema_name(event_type))}, "required": [holder]}}
