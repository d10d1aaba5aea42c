"""Organisations: the state that the API shows, and the contract of their events for the AsyncAPI document."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from lead_events import event_types
from lead_events.openapi_schemas._parts import Schema, many, obj, own_id, text
from lead_events.openapi_schemas.samples import ORGANIZATION
from lead_events.organizations import contract
from lead_events.organizations.contract import OrganizationPayload
from lead_events.organizations.lifecycle import Status
from lead_events.organizations.showing import organization_json
from lead_events.organizations.state import OWN_INVOICES, OWN_SUBSCRIPTIONS, Organization, OrganizationFact

_BEGIN: Final = datetime(2026, 3, 25, 14, tzinfo=UTC)


def schemas() -> dict[str, Schema]:
    """The state."""
    subscription = _subscription()
    return {
        "Organization": obj(
            "An organization, as its events tell of it. What nobody told is null.",
            {
                "organizationId": own_id("Organization"),
                "lifecycle": _lifecycle(),
                "subscription": {
                    "description": "The one told of last, of those that name no lead; if there is none, of the others.",
                    "anyOf": [subscription, {"type": "null"}],
                },
                "subscriptions": many(
                    subscription,
                    description=f"Those told of last, the organization's own first: at most {OWN_SUBSCRIPTIONS} of them, then "
                    "those of leads.",
                ),
                "invoices": _invoices(),
                "costs": _sums("Costs"),
                "fees": _sums("Fees"),
                "providerWebhooks": _provider_webhooks(),
            },
        )
    }


def organization_sample() -> dict[str, Any]:
    """What the samples of the contract come to, but for the last: the organisation is leaving."""
    organization = Organization(organization_id=ORGANIZATION)
    told = [each for each in contract.EVENTS if each is not contract.RetentionExpired]
    for number, model in enumerate(told):
        organization = organization.applied(sample_fact(model, _BEGIN + timedelta(minutes=number)))
    shown: dict[str, Any] = event_types.plain(organization_json(organization))
    return shown


def sample_fact(model: type[OrganizationPayload], time: datetime) -> OrganizationFact:
    """The sample of an event, as something that happened then."""
    fields = contract.read(model, model.sample).model_dump(by_alias=True, exclude_none=True)
    return OrganizationFact(
        organization_id=ORGANIZATION, type=model.type, id=f"evt_{model.type}", time=time, rank=model.rank, fields=fields
    )


def organization_event_sample(model: type[OrganizationPayload]) -> dict[str, Any]:
    """An envelope with the sample of an event."""
    return {
        "specversion": "1.0",
        "type": model.type,
        "id": "evt_0195f3a2-8c00-7d4e-b800-000000000000",
        "time": "2026-03-25T14:00:00Z",
        "datacontenttype": "application/json",
        "data": {"organizationId": ORGANIZATION, **event_types.plain(model.sample)},
    }


def organization_payload_schema(model: type[OrganizationPayload]) -> Schema:
    """JSON Schema of an event's fields beside the ids."""
    return event_types.tidy(model.model_json_schema(by_alias=True) | {"title": model.__name__})


def _lifecycle() -> Schema:
    return obj(
        "Whether it is still there.",
        {
            "status": text("`retention_expired` is for ever") | {"enum": [each.value for each in Status]},
            "cancellationRequestedAt": _time("When it last asked to leave"),
            "cancellationConfirmedAt": _time("When that was last confirmed"),
            "cancellationRevertedAt": _time("When it last decided to stay"),
            "leftAt": _time("From when on nothing is taken or read; may lie ahead"),
            "retentionExpiresAt": _time("Until when the data is kept"),
            "retentionExpiredAt": _time("When that time was over"),
            "reason": text("Why it leaves", null=True),
        },
    )


def _subscription() -> Schema:
    return obj(
        "A subscription; each field as the latest event that tells it.",
        {
            "subscriptionId": text("Null where events name none", null=True),
            "leadId": text("The lead whose subscription it is; null for the organization's own", null=True),
            "status": text("trialing, active, cancelled … as billing names it", null=True),
            "planId": text("Plan", null=True),
            "planName": text("Name of the plan", null=True),
            "amount": _number("Price per billing period, in major units"),
            "currency": text("ISO 4217", null=True),
            "since": _time("When it began"),
            "cancelledAt": _time("When it ends or ended"),
            "reason": text("Why it changed or ended", null=True),
            "lastEventAt": text("When it was last told of", format="date-time"),
        },
    )


def _invoices() -> Schema:
    invoice = obj(
        "An invoice.",
        {
            "invoiceId": text("Invoice"),
            "leadId": text("The lead whose invoice it is; null for the organization's own", null=True),
            "status": text("A paid one is never overdue again") | {"enum": ["paid", "overdue"]},
            "subscriptionId": text("Subscription that it is for", null=True),
            "amount": _number("In major units"),
            "currency": text("ISO 4217", null=True),
            "dueDate": _time("When it is to be paid"),
            "paidAt": _time("When it was paid"),
            "lastEventAt": text("When it was last told of", format="date-time"),
        },
    )
    return obj(
        "Invoices.",
        {
            "paidEvents": _count("Events that told of a payment, of all invoices ever"),
            "overdueEvents": _count("Events that told of an overdue invoice, of all invoices ever"),
            "overdue": many({"type": "string"}, description="Ids of those of `items` that are overdue."),
            "items": many(
                invoice,
                description=f"Those told of last, at most {OWN_INVOICES} of the organization's own, then those of leads.",
            ),
        },
    )


def _sums(what: str) -> Schema:
    return {
        "description": f"{what} by currency; each event counted once.",
        "type": "object",
        "additionalProperties": obj("A sum.", {"count": _count("Events"), "total": {"type": "number"}}),
    }


def _provider_webhooks() -> Schema:
    provider = obj(
        "What was last told of a payment provider.",
        {
            "provider": text("Payment provider"),
            "eventType": text("In the provider's words", null=True),
            "status": text("What became of it", null=True),
            "lastEventAt": text("When it was last told of", format="date-time"),
        },
    )
    return obj(
        "Webhooks that the billing service has processed.",
        {"count": _count("All of them"), "providers": many(provider)},
    )


def _time(description: str) -> Schema:
    return text(description, null=True, format="date-time")


def _number(description: str) -> Schema:
    return {"description": description, "type": ["number", "null"]}


def _count(description: str) -> Schema:
    return {"description": description, "type": "integer", "minimum": 0}
