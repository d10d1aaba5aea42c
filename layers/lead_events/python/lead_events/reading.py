"""Read what arrives into drafts: CloudEvents, and the body of a direct append."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from lead_events import catalogue, internal_domains
from lead_events.envelope import JSON_TYPE, Envelope, write
from lead_events.errors import FieldError, InvalidError
from lead_events.event import EventDraft, OrganizationEvent, check_event_type, check_id, check_reference, check_source
from lead_events.instants import parse_instant
from lead_events.names import OWN_EVENT_SOURCE
from lead_events.sources import source_of_domain, source_type_of
from lead_events.strict_json import Json, loads

_DIRECT_FIELDS: Final = frozenset(
    [
        "source",
        "sourceType",
        "eventType",
        "externalEventId",
        "occurredAt",
        "objectId",
        "objectIdRef",
        "payload",
        "rawPayload",
    ]
)
_PATH_FIELDS: Final = frozenset({"organizationId", "leadId"})
_DOMAIN_EVENT: Final = re.compile(r"([a-z0-9_-]+)\.([a-z0-9]+(?:-[a-z0-9]+)*)", re.ASCII)


def draft_of_envelope(envelope: Envelope, organization_id: str | None, received_at: datetime) -> EventDraft:
    """Normalise a CloudEvent: ``data.organizationId`` and ``data.leadId`` name the lead, the rest is the payload.

    ``organization_id`` is the one the sender's token is bound to: the default, and the only one accepted. The lead may also
    be the envelope's ``subject``; a source outside the catalogue says its type in the extension ``sourcetype``.
    """
    data = dict(envelope.data) if isinstance(envelope.data, dict) else None
    payload: Json = envelope.data
    named: dict[str, Json] = {}
    if data is not None:
        named = {field: data.pop(field) for field in sorted(_PATH_FIELDS) if field in data}
        payload = data
    named_organization = named.get("organizationId", organization_id)
    named_lead = named.get("leadId", envelope.subject)
    if envelope.source is not None:
        source = check_source(envelope.source, "source")
    else:
        source = check_source(source_of_domain(envelope.type.partition(".")[0]), "type")
    return EventDraft(
        organization_id=check_id(named_organization, "data.organizationId"),
        lead_id=None if named_lead is None else check_id(named_lead, "data.leadId" if "leadId" in named else "subject"),
        source_type=source_type_of(source, envelope.extensions.get("sourcetype"), "sourcetype"),
        source=source,
        event_type=event_type_of(envelope.type),
        payload=payload,
        occurred_at=envelope.happened_at(received_at),
        received_at=received_at,
        external_event_id=check_reference(envelope.id, "id"),
        raw_payload=envelope.text,
        data_content_type=None if envelope.data_content_type == JSON_TYPE else envelope.data_content_type,
    )


def organization_of(envelope: Envelope) -> str | None:
    """The organisation that a CloudEvent names, if it names one."""
    try:
        return check_id(envelope.data.get("organizationId"), "") if isinstance(envelope.data, dict) else None
    except InvalidError:
        return None


def lead_of(envelope: Envelope) -> Json:
    """What a CloudEvent says of its lead, whether or not it is an id; ``None`` where it names none."""
    return envelope.data.get("leadId", envelope.subject) if isinstance(envelope.data, dict) else None


def envelope_of(event: OrganizationEvent) -> dict[str, Any]:
    """What a provider told about an organisation, as a CloudEvent for the domain that it concerns."""
    data = {"organizationId": event.organization_id, "source": event.source, "payload": event.payload}
    unique = uuid5(NAMESPACE_URL, f"{event.organization_id}#{event.source}#{event.external_event_id}")
    return write(type=event.type, id=f"evt_{unique}", source=OWN_EVENT_SOURCE, time=event.occurred_at, data=data)


def event_type_of(cloud_event_type: str) -> str:
    """``billing.subscription-created`` is ``subscription_created``; a name the catalogue does not have stays as it is."""
    match = _DOMAIN_EVENT.fullmatch(cloud_event_type)
    normalised = ""
    if match:
        normalised = internal_domains.event_type_of(match[1], match[2]) or match[2].replace("-", "_")
    return normalised if normalised in catalogue.EVENT_TYPES else check_event_type(cloud_event_type, "type")


def draft_of_direct(
    text: str, organization_id: str, lead_id: str, idempotency_key: str | None, received_at: datetime
) -> EventDraft:
    """Normalise the JSON body of ``POST …/leads/{leadId}/events``."""
    body = loads(text)
    if not isinstance(body, dict):
        raise InvalidError("The body must be a JSON object.")
    _refuse_other_fields(body, {"organizationId": organization_id, "leadId": lead_id})
    missing = [field for field in ("source", "eventType", "occurredAt", "payload") if field not in body]
    if missing:
        raise InvalidError("Fields are missing.", errors=tuple(FieldError(field, "is required") for field in missing))
    raw_payload = body.get("rawPayload")
    if raw_payload is not None and not isinstance(raw_payload, str):
        raise InvalidError.of("rawPayload", "must be a string: the original text, byte for byte")
    source = check_source(body["source"], "source")
    # Held to its rule also where the body has an id, which then counts.
    key = check_reference(idempotency_key, "Idempotency-Key")
    return EventDraft(
        organization_id=organization_id,
        lead_id=lead_id,
        source_type=source_type_of(source, body.get("sourceType"), "sourceType"),
        source=source,
        event_type=check_event_type(body["eventType"], "eventType"),
        payload=body["payload"],
        occurred_at=parse_instant(body["occurredAt"], "occurredAt"),
        received_at=received_at,
        external_event_id=check_reference(body.get("externalEventId"), "externalEventId") or key,
        object_id=check_reference(body.get("objectId"), "objectId"),
        object_id_ref=check_reference(body.get("objectIdRef"), "objectIdRef"),
        raw_payload=raw_payload,
        request_text=text,
    )


def _refuse_other_fields(body: dict[str, Json], path: dict[str, str]) -> None:
    wrong = [FieldError(field, "must be the one of the path") for field, value in path.items()
             if body.get(field, value) != value]  # fmt: skip
    unknown = len(set(body) - _DIRECT_FIELDS - _PATH_FIELDS)
    if unknown:
        # Named by the rule alone: a field's name that nobody knows may itself be what nobody may log.
        wrong.append(FieldError("", f"{unknown} field(s) are not of this request; data of the event goes in payload"))
    if wrong:
        raise InvalidError("The body has fields that it must not have.", code="unexpected_field", errors=tuple(wrong))
