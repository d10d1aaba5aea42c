"""Samples: what the examples of the documents show. Each goes through the code that it shows."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import NAMESPACE_DNS, uuid5

from lead_events import catalogue, event_types, internal_domains
from lead_events.categories import Category
from lead_events.errors import FieldError, InvalidError
from lead_events.event import IdentityKind, LeadEvent, SourceType, StoredEvent
from lead_events.instants import format_instant
from lead_events.names import SERVICE, Source
from lead_events.ports import Rejection, StoredRejection
from lead_events.rejecting import rejected_event_id, rejection_json
from lead_events.representation import event_json

ORGANIZATION: Final = "org_01HX"
LEAD: Final = "lead_01HX"
SAMPLE_TYPE: Final = "subscription_created"

_OTHER_DOMAINS: Final = {Category.PURCHASE: "hotmart", Category.PRODUCT: "web", Category.FORM: "typeform"}
"""Who tells of what no service of the platform tells, for the samples."""


def cloud_event_sample(event_type: str) -> dict[str, Any]:
    """An envelope with the type's sample, as another domain of the organisation sends it: without ``source``."""
    category = catalogue.EVENT_TYPES[event_type].category
    domains = (
        domain for domain in internal_domains.DOMAINS for event in domain.events if event.event_type == event_type
    )
    domain = next((each.name for each in domains), None) or _OTHER_DOMAINS[category]
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


def new_identities_sample() -> dict[str, Any]:
    """Body that adds identities."""
    return {
        "identities": [
            {"kind": "customer", "value": "shopify:115310627314723954"},
            {"kind": "phone", "value": "(82) 90000-0001", "region": "BR"},
            {"kind": "email", "value": "ana.teste@example.org"},
        ]
    }


def identities_sample() -> dict[str, Any]:
    """Its answer."""
    since = format_instant(datetime(2026, 3, 25, 14, 0, 1, 250000, tzinfo=UTC))
    return {"identities": [{"kind": str(each), "since": since} for each in IdentityKind]}


def rejected_envelope_sample() -> dict[str, Any]:
    """An envelope whose payload lacks what its type needs."""
    envelope = cloud_event_sample(SAMPLE_TYPE)
    return envelope | {"data": {name: value for name, value in envelope["data"].items() if name != "planId"}}


def rejected_event_sample(*, raw: bool = False) -> dict[str, Any]:
    """What ``rejected_envelope_sample`` leaves behind, delivered twice."""
    error = InvalidError(
        f"The payload breaks the contract of {SAMPLE_TYPE}.", errors=(FieldError("payload.planId", "missing"),)
    )
    envelope = rejected_envelope_sample()
    told: dict[str, Any] = {
        "organization_id": ORGANIZATION,
        "code": error.code,
        "detail": error.detail,
        "errors": error.errors,
        "source": Source.BILLING_SERVICE.value,
        "raw_payload": json.dumps(envelope, separators=(",", ":")),
        "seen_at": datetime(2026, 3, 25, 14, 0, 1, 250000, tzinfo=UTC),
        "event_type": SAMPLE_TYPE,
        "external_event_id": envelope["id"],
    }
    stored = StoredRejection(
        **told,
        rejected_event_id=rejected_event_id(Rejection(**told)),
        last_seen_at=told["seen_at"] + timedelta(minutes=2),
        deliveries=2,
    )
    return rejection_json(stored, raw=raw)
