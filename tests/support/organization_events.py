"""Events about organisations, as envelopes, and what is needed to take them without AWS."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from lead_events.cursors import Cursors
from lead_events.envelope import Envelope, read_message
from lead_events.erasures import Erasures
from lead_events.event import Outcome
from lead_events.in_memory import pipeline_in_memory
from lead_events.instants import Clock, format_instant
from lead_events.lifecycles import Lifecycles
from lead_events.organizations.showing import organization_json
from lead_events.organizations.state import Organization
from lead_events.ports import ClaimStore, ErasureStore, OrganizationStore
from lead_events.presence import Presence
from lead_events.receiving import Reception
from lead_events.reconciling import Reconciler
from lead_events.store.memory import InMemoryClaims, InMemoryEvents, InMemoryRejections
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_organizations import InMemoryOrganizations
from lead_events.store.memory_queue import InMemoryQueue
from lead_events.strict_json import dumps
from tests.support.builders import ORGANIZATION
from tests.support.clock import START


def told(
    kind: str, minute: float = 0, *, id: str | None = None, organization: str = ORGANIZATION, **data: Any
) -> dict[str, Any]:
    """An envelope of ``kind``, ``minute`` minutes after 14:00; its id follows from the rest unless given."""
    time = format_instant(START - timedelta(days=1) + timedelta(minutes=minute))
    data = {"organizationId": organization, **data}
    return {
        "specversion": "1.0",
        "type": kind,
        "id": id or f"evt_{kind}_{minute}_{sorted(data.items())}"[:250],
        "time": time,
        "datacontenttype": "application/json",
        "data": data,
    }


def message(envelope: dict[str, Any]) -> Envelope:
    """The envelope as the queue brings it."""
    return read_message(dumps(envelope))


def reconciler(
    organizations: OrganizationStore,
    claims: ClaimStore,
    erasures: ErasureStore | None = None,
    clock: Clock = lambda: START,
) -> Reconciler:
    """A reconciler that does not wait."""
    erasures = erasures or InMemoryErasures(InMemoryOrganizations(claims))
    presence = Presence(Lifecycles(organizations, clock, lambda: 0.0), erasures)
    return Reconciler(organizations=organizations, claims=claims, presence=presence, clock=clock, sleep=lambda _: None)


@dataclass
class Desk:
    """Everything that takes messages, in memory."""

    clock: Clock = lambda: START
    claims: InMemoryClaims = field(default_factory=InMemoryClaims)
    events: InMemoryEvents = field(default_factory=InMemoryEvents)
    rejections: InMemoryRejections = field(default_factory=InMemoryRejections)

    def __post_init__(self) -> None:
        self.organizations = InMemoryOrganizations(self.claims)
        self.erasures = InMemoryErasures(self.organizations)
        self.erasure_queue = InMemoryQueue()
        self.pipeline = pipeline_in_memory(
            events=self.events,
            claims=self.claims,
            rejections=self.rejections,
            organizations=self.organizations,
            erasures=self.erasures,
            clock=self.clock,
        )
        self.reconciler = reconciler(self.organizations, self.claims, self.erasures, self.clock)
        erasures = Erasures(
            erasures=self.erasures, queue=self.erasure_queue, cursors=Cursors(lambda: "secret"), clock=self.clock
        )
        self.reception = Reception(self.pipeline, self.reconciler, erasures)

    def take(self, *envelopes: dict[str, Any]) -> list[Outcome]:
        """Take them one after the other; all outcomes."""
        return [outcome for each in envelopes for outcome in self.reception.process_message(message(each))]

    def organization(self, organization_id: str = ORGANIZATION) -> Organization:
        return self.organizations.get(organization_id)

    def shown(self, organization_id: str = ORGANIZATION) -> dict[str, Any]:
        """The state as the API shows it, through JSON."""
        found: dict[str, Any] = json.loads(dumps(organization_json(self.organization(organization_id))))
        return found


_AMOUNTS = st.decimals(-1000, 1000, places=4, allow_nan=False)
_TEXTS = st.sampled_from(["a", "b", "ção"])
_CURRENCIES = st.sampled_from(["BRL", "usd", "EUR"])
_MOMENTS = st.sampled_from(["2026-03-20", "2026-03-21T10:00:00Z", "2026-03-21T10:00:00-03:00"])
_OPTIONAL = {
    "planId": _TEXTS, "planName": _TEXTS, "amount": _AMOUNTS, "currency": _CURRENCIES, "status": _TEXTS, "reason": _TEXTS,
    "startedAt": _MOMENTS, "cancelledAt": _MOMENTS, "leadId": st.sampled_from(["lead_1", "lead_2"]),
}  # fmt: skip
_INVOICE = {"amount": _AMOUNTS, "currency": _CURRENCIES, "dueDate": _MOMENTS, "subscriptionId": _TEXTS}
_LEAVING = {"reason": _TEXTS, "retentionExpiresAt": _MOMENTS, "effectiveAt": _MOMENTS}
_DATA = {
    "billing.cost-recorded": ({"amount": _AMOUNTS, "currency": _CURRENCIES}, {}),
    "billing.fee-created": ({"amount": _AMOUNTS, "currency": _CURRENCIES}, {}),
    "billing.subscription-created": ({"subscriptionId": _TEXTS}, _OPTIONAL),
    "billing.subscription-changed": ({"subscriptionId": _TEXTS}, _OPTIONAL),
    "billing.subscription-cancelled": ({"subscriptionId": _TEXTS}, _OPTIONAL),
    "billing.invoice-paid": ({"invoiceId": _TEXTS}, _INVOICE | {"paidAt": _MOMENTS}),
    "billing.invoice-overdue": ({"invoiceId": _TEXTS}, _INVOICE),
    "billing.provider-webhook-processed": ({"provider": _TEXTS}, {"status": _TEXTS, "eventType": _TEXTS}),
    "offboarding.cancellation-requested": ({}, _LEAVING),
    "offboarding.cancellation-reverted": ({}, {"reason": _TEXTS}),
    "offboarding.cancellation-confirmed": ({}, _LEAVING),
    "offboarding.retention-expired": ({}, {}),
}  # fmt: skip


@st.composite
def histories(draw: st.DrawFn, at_most: int = 12) -> list[dict[str, Any]]:
    """Events of one organisation, some of them of the same time."""
    kinds = draw(st.lists(st.sampled_from(sorted(_DATA)), min_size=1, max_size=at_most))
    made = []
    for number, kind in enumerate(kinds):
        required, optional = _DATA[kind]
        data = draw(st.fixed_dictionaries(required, optional=optional))
        made.append(told(kind, draw(st.integers(0, 5)), id=f"evt_{number}", **data))
    return made
