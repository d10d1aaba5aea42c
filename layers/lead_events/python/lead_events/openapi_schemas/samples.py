"""Samples: what the examples of the documents show. Each goes through the code that it shows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final
from uuid import NAMESPACE_DNS, uuid5

from lead_events import catalogue, event_types, internal_domains
from lead_events.catalogue import Category
from lead_events.event import LeadEvent, SourceType, StoredEvent
from lead_events.names import SERVICE, Source
from lead_events.representation import event_json

ORGANIZATION: Final = "org_01HX"
LEAD: Final = "lead_01HX"
SAMPLE_TYPE: Final = "subscription_created"

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
