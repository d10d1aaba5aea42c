"""How the API shows the state of an organisation."""

from __future__ import annotations

from typing import Any

from lead_events.organizations.registers import Pool, Registers, time_of, value
from lead_events.organizations.state import Organization


def organization_json(organization: Organization) -> dict[str, Any]:
    """Every field is there, null where nobody told it. Nothing in it depends on when or in which order events arrived."""
    state = organization.state
    subscriptions = [
        _subscription(*each) for name in _own_first("subscriptions") for each in Pool.read(state.get(name, {}))
    ]
    invoices = [_invoice(*each) for name in _own_first("invoices") for each in Pool.read(state.get(name, {}))]
    counts = state.get("invoiceEvents", {})
    return {
        "organizationId": organization.organization_id,
        "lifecycle": _lifecycle(organization),
        "subscription": subscriptions[0] if subscriptions else None,
        "subscriptions": subscriptions,
        "invoices": {
            "paidEvents": int(counts.get("paid", 0)),
            "overdueEvents": int(counts.get("overdue", 0)),
            "overdue": sorted(each["invoiceId"] for each in invoices if each["status"] == "overdue"),
            "items": invoices,
        },
        "costs": _sums(state.get("costs", {})),
        "fees": _sums(state.get("fees", {})),
        "providerWebhooks": _provider_webhooks(state.get("providerWebhooks", {})),
    }


def _own_first(name: str) -> tuple[str, str]:
    return name, f"{name}OfLeads"


def _lifecycle(organization: Organization) -> dict[str, Any]:
    found = organization.lifecycle
    return {
        "status": found.status.value,
        "cancellationRequestedAt": found.requested_at,
        "cancellationConfirmedAt": found.confirmed_at,
        "cancellationRevertedAt": found.reverted_at,
        "leftAt": found.left_at,
        "retentionExpiresAt": found.retention_expires_at,
        "retentionExpiredAt": found.expired_at,
        "reason": found.reason,
    }


def _subscription(key: str, told: Registers) -> dict[str, Any]:
    lead_id, _, subscription_id = key.partition("|")
    names = ("status", "planId", "planName", "amount", "currency", "since", "cancelledAt", "reason")
    return {
        "subscriptionId": subscription_id or None,
        "leadId": lead_id or None,
        **{name: value(told, name) for name in names},
        "lastEventAt": _last(told),
    }


def _invoice(key: str, told: Registers) -> dict[str, Any]:
    lead_id, _, invoice_id = key.partition("|")
    return {
        "invoiceId": invoice_id,
        "leadId": lead_id or None,
        "status": "paid" if value(told, "paid") else "overdue",
        **{name: value(told, name) for name in ("subscriptionId", "amount", "currency", "dueDate")},
        "paidAt": value(told, "paid"),
        "lastEventAt": _last(told),
    }


def _sums(sums: dict[str, Any]) -> dict[str, Any]:
    return {
        currency: {"count": int(sums[currency]["count"]), "total": sums[currency]["total"]} for currency in sorted(sums)
    }


def _provider_webhooks(known: dict[str, Any]) -> dict[str, Any]:
    providers = [
        {
            "provider": provider,
            "eventType": value(told, "eventType"),
            "status": value(told, "status"),
            "lastEventAt": _last(told),
        }
        for provider, told in Pool.read(known.get("providers", {}))
    ]
    return {"count": int(known.get("count", 0)), "providers": providers}


def _last(told: Registers) -> str:
    return time_of(told["last"][1])
