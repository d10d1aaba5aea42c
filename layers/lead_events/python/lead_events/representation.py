"""An event as the API shows it: the attribute names of the table, and the two ids inside the partition key."""

from __future__ import annotations

from typing import Any

from lead_events.event import Outcome, OutcomeKind, StoredEvent
from lead_events.instants import format_instant
from lead_events.names import Attribute


def event_json(event: StoredEvent, *, raw: bool = False) -> dict[str, Any]:
    """JSON object of ``event``; ``rawPayload`` is the original text (or null), only where asked for."""
    key = event.key
    shown: dict[str, Any] = {
        "organizationId": event.organization_id,
        "leadId": event.lead_id,
        Attribute.LEAD_ORGANIZATION_ID: key.lead_organization_id,
        Attribute.OCCURRED_AT_ID: key.occurred_at_id,
        Attribute.EVENT_ID: event.event_id,
        Attribute.SOURCE_TYPE: event.source_type.value,
        Attribute.SOURCE: event.source,
        Attribute.EVENT_TYPE: event.event_type,
        Attribute.OBJECT_ID: event.object_id,
        Attribute.OBJECT_ID_REF: event.object_id_ref,
        Attribute.EXTERNAL_EVENT_ID: event.external_event_id,
        Attribute.OCCURRED_AT: format_instant(event.occurred_at),
        Attribute.RECEIVED_AT: format_instant(event.received_at),
        Attribute.SCHEMA_VERSION: event.schema_version,
        Attribute.DATA_CONTENT_TYPE: event.data_content_type or "application/json",
        Attribute.PAYLOAD: event.payload,
    }
    if raw:
        shown[Attribute.RAW_PAYLOAD] = event.raw_payload
    return {str(name): value for name, value in shown.items()}


def status_of(outcome: Outcome) -> int:
    """HTTP status of an outcome: 201 stored, 200 duplicate, else that of its error."""
    if outcome.kind is OutcomeKind.STORED:
        return 201
    return 200 if outcome.error is None else outcome.error.status
