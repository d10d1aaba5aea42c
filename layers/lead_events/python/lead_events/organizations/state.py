"""The state of an organisation: the fold of the *set* of its events.

Every field is a register that only a later event overwrites (``registers``), every sum counts each event once: that an event
is applied once is the store's promise, which writes the state and the event's claim in one transaction.

Events that name a lead are about that lead's subscriptions and invoices. They are kept in pools of their own, so that the
customers of an organisation never push out, or pass for, what the organisation itself has subscribed to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Context, Decimal, Inexact
from typing import Any, Final

from lead_events.erasure import Fence
from lead_events.instants import format_instant
from lead_events.organizations import lifecycle
from lead_events.organizations.lifecycle import Lifecycle, lifecycle_of
from lead_events.organizations.registers import Pool, stamp_of

State = dict[str, Any]
"""JSON values with exact numbers, as it is stored; empty for no events. Names of fields are a stored shape."""

OWN_SUBSCRIPTIONS: Final = 20
OWN_INVOICES: Final = 50
OF_LEADS: Final = 5
"""Subscriptions, and invoices, of leads that the state shows: few, as every event pays for writing them."""
PROVIDERS: Final = 20
MAX_WORDS: Final = 200
"""Characters that the state keeps of a free text."""

_EXACT: Final = Context(prec=60, traps=[Inexact])

Fields = Mapping[str, Any]
"""The event's fields by wire name, those that were told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationFact:
    """One event about an organisation, read and held to its contract."""

    organization_id: str
    type: str
    """As the contract spells it."""
    id: str
    time: datetime
    rank: int
    fields: Fields
    lead_id: str | None = None
    lead_erased: bool = False
    """Whether the lead that it names was erased: then nothing of it is kept but what it adds to sums."""

    @property
    def stamp(self) -> str:
        return stamp_of(self.time, self.rank, self.id)

    @property
    def time_text(self) -> str:
        """Its time as on the wire."""
        return format_instant(self.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """An organisation as it is stored."""

    organization_id: str
    state: State = field(default_factory=dict)
    version: int = 0
    """Counts the writes; 0 is not stored yet. A write names the version it read."""
    fence: Fence = field(default=Fence(), compare=False)
    """What its erasures keep out; kept beside the state, and not written with it."""

    @property
    def lifecycle(self) -> Lifecycle:
        return lifecycle_of(self.state.get("lifecycle", {}))

    def applied(self, *events: OrganizationFact) -> Organization:
        """The next version: with ``events``, none of which it may hold yet."""
        state = self.state
        for event in events:
            state = apply(state, event)
        return replace(self, state=state, version=self.version + 1)


def apply(state: State, event: OrganizationFact) -> State:
    """The state with one more event. Of an organisation whose retention has expired only its life cycle is left."""
    after = {**state, **_FOLDS[event.type](state, event)}
    return only_lifecycle(after) if lifecycle_of(after.get("lifecycle", {})).is_expired else after


def only_lifecycle(state: State) -> State:
    """When what happened to the organisation, and nothing else: no words either."""
    registers = state.get("lifecycle", {})
    return {"lifecycle": {name: register for name, register in registers.items() if name != "reason"}}


def without_lead(state: State, lead_id: str) -> State:
    """The state without a lead's subscriptions and invoices. Floors and sums stay: they are of everybody."""
    for name in ("subscriptionsOfLeads", "invoicesOfLeads"):
        things = state.get(name, {}).get("things", {})
        others = {key: told for key, told in things.items() if key.partition("|")[0] != lead_id}
        if len(others) != len(things):
            state = {**state, name: {**state[name], "things": others}}
    return state


def entries_in(state: State) -> int:
    """How much the state holds: each thing of a pool, each register of the life cycle, and whatever else it keeps."""
    held = (len(told) if name == "lifecycle" else len(told.get("things", [told])) for name, told in state.items())
    return sum(held)


def exact(number: Decimal | int) -> Decimal:
    """The one form of a number: no zeros that say nothing, no exponent."""
    whole = Decimal(number)
    text = f"{whole:f}"
    return Decimal(text.rstrip("0").rstrip(".") or "0") if "." in text else Decimal(text)


def _sum(name: str) -> Callable[[State, OrganizationFact], State]:
    def fold(state: State, event: OrganizationFact) -> State:
        sums = state.get(name, {})
        currency, amount = event.fields["currency"], event.fields["amount"]
        before = sums.get(currency, {"count": 0, "total": Decimal(0)})
        total = exact(_EXACT.add(Decimal(before["total"]), amount))
        return {name: {**sums, currency: {"count": int(before["count"]) + 1, "total": total}}}

    return fold


def _subscription(implied_status: str | None) -> Callable[[State, OrganizationFact], State]:
    """``implied_status`` is the status where the event tells none."""

    def fold(state: State, event: OrganizationFact) -> State:
        told = event.fields
        values = _told(told, "planId", "planName", "amount", "currency")
        if "planId" in told and "planName" not in told:
            values["planName"] = None  # the old name is another plan's
        status = told.get("status", implied_status)
        if status is not None:  # an end and its reason belong to the status that they came with
            ended = event.time_text if event.type == "billing.subscription-cancelled" else None
            values |= {
                "status": status,
                "reason": _words(told.get("reason")),
                "cancelledAt": told.get("cancelledAt", ended),
            }
        else:
            values |= _told(told, "reason", "cancelledAt")
        if event.type == "billing.subscription-created":
            values["since"] = told.get("startedAt", event.time_text)
        else:
            values |= {"since": told["startedAt"]} if "startedAt" in told else {}
        return _pooled(state, "subscriptions", OWN_SUBSCRIPTIONS, event, told.get("subscriptionId", ""), values)

    return fold


def _invoice(state: State, event: OrganizationFact) -> State:
    told = event.fields
    values = _told(told, "subscriptionId", "amount", "currency", "dueDate")
    paid = event.type == "billing.invoice-paid"
    values |= {"paid": told.get("paidAt", event.time_text)} if paid else {"overdue": event.time_text}
    pools = _pooled(state, "invoices", OWN_INVOICES, event, told["invoiceId"], values)
    counted = "paid" if paid else "overdue"
    counts = state.get("invoiceEvents", {})
    return {**pools, "invoiceEvents": {**counts, counted: int(counts.get(counted, 0)) + 1}}


def _provider_webhook(state: State, event: OrganizationFact) -> State:
    known = state.get("providerWebhooks", {})
    values = _told(event.fields, "eventType", "status")
    pool = Pool(PROVIDERS).write(known.get("providers", {}), event.fields["provider"], values, event.stamp)
    return {"providerWebhooks": {"count": int(known.get("count", 0)) + 1, "providers": pool}}


def _lifecycle(name: str) -> Callable[[State, OrganizationFact], State]:
    def fold(state: State, event: OrganizationFact) -> State:
        fields = {**event.fields, "reason": _words(event.fields.get("reason"))}
        return {"lifecycle": lifecycle.told(name, fields, event.stamp, state.get("lifecycle", {}))}

    return fold


def _pooled(state: State, name: str, limit: int, event: OrganizationFact, thing: str, values: dict[str, Any]) -> State:
    if event.lead_erased:
        return {}
    if event.lead_id is not None:
        name, limit = f"{name}OfLeads", OF_LEADS
    pool = Pool(limit).write(state.get(name, {}), f"{event.lead_id or ''}|{thing}", values, event.stamp)
    return {name: pool}


def _told(fields: Fields, *names: str) -> dict[str, Any]:
    return {name: _form(name, fields[name]) for name in names if name in fields}


def _form(name: str, value: Any) -> Any:
    return exact(value) if isinstance(value, Decimal) else _words(value) if name == "reason" else value


def _words(text: str | None) -> str | None:
    return None if text is None else text[:MAX_WORDS]


_FOLDS: Final[dict[str, Callable[[State, OrganizationFact], State]]] = {
    "billing.cost-recorded": _sum("costs"),
    "billing.fee-created": _sum("fees"),
    "billing.subscription-created": _subscription("active"),
    "billing.subscription-changed": _subscription(None),
    "billing.subscription-cancelled": _subscription("cancelled"),
    "billing.invoice-paid": _invoice,
    "billing.invoice-overdue": _invoice,
    "billing.provider-webhook-processed": _provider_webhook,
    "offboarding.cancellation-requested": _lifecycle("requested"),
    "offboarding.cancellation-reverted": _lifecycle("reverted"),
    "offboarding.cancellation-confirmed": _lifecycle("confirmed"),
    "offboarding.retention-expired": _lifecycle("expired"),
}
"""How each event of the contract is folded."""
