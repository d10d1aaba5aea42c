"""The events about organisations on one page: billing and offboarding.

A class is an event: its CloudEvents type ``domain.event-name``, the fields of its ``data`` beside ``organizationId`` and
``leadId`` in wire names, and a sample. A field is required only where the event means nothing without it; others are kept
out of nobody's way. Amounts are decimals in *major* units; a cost or fee below zero corrects an earlier one.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic.alias_generators import to_camel

from lead_events import internal_domains
from lead_events.catalogue import MAX_ERRORS, Number
from lead_events.errors import FieldError, InvalidError
from lead_events.instants import format_instant, parse_bound
from lead_events.names import OrganizationCategory, Source
from lead_events.strict_json import Json

MAX_TEXT: Final = 255
"""Characters of an id or a name: the state is bounded in size."""
MAX_AMOUNT: Final = Decimal(10) ** 15
MAX_DECIMALS: Final = 12
"""So a sum of 10^10 amounts is still exact in the 38 digits that DynamoDB keeps."""


def _summable(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    if abs(value) >= MAX_AMOUNT or not isinstance(exponent, int) or exponent < -MAX_DECIMALS:
        raise ValueError("out of range")
    return value


def _upper(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


def _moment(value: str) -> str:
    try:
        return format_instant(parse_bound(value, "", end=False))
    except InvalidError:
        raise ValueError("no instant") from None


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Words = Annotated[str, Field(max_length=4_000)]
Money = Annotated[Number, AfterValidator(_summable), WithJsonSchema({"type": "number"})]
Currency = Annotated[
    str, BeforeValidator(_upper), Field(pattern=r"^[A-Z]{3}$", description="ISO 4217 code in upper case")
]
Moment = Annotated[str, AfterValidator(_moment), WithJsonSchema({"type": "string"})]
"""An RFC 3339 instant, or a date for its first instant in UTC."""

SubscriptionId = Annotated[Text, Field(description="Subscription, by its id in the billing service")]
PlanId = Annotated[Text, Field(description="Plan, by its id in the billing service")]
PlanName = Annotated[Text, Field(description="Name of the plan")]
InvoiceId = Annotated[Text, Field(description="Invoice, by its id in the billing service")]


class OrganizationPayload(BaseModel):
    """Base of the events: wire names in camelCase, strict types, extra fields allowed."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow", strict=True, defer_build=True)

    type: ClassVar[str]
    synonyms: ClassVar[tuple[str, ...]] = ()
    """Other types of the same meaning."""
    rank: ClassVar[int] = 0
    """Which event comes later where two are of the same time."""
    sample: ClassVar[dict[str, Any]]


class CostRecorded(OrganizationPayload):
    """The organization caused a cost: messages, tokens of an AI model, storage."""

    type = "billing.cost-recorded"
    sample = {
        "costId": "cost_8f2",
        "amount": Decimal("0.0134"),
        "currency": "USD",
        "category": "ai_tokens",
        "quantity": 6700,
    }

    cost_id: Text | None = Field(None, description="Cost, by its id in the billing service")
    amount: Money = Field(description="What it costs, in major units")
    currency: Currency
    category: Text | None = Field(None, description="What it is for: ai_tokens, messages …")
    quantity: Number | None = Field(None, description="How much of it, in units of the category")


class FeeCreated(OrganizationPayload):
    """The organization owes a fee beside its subscription."""

    type = "billing.fee-created"
    sample = {"feeId": "fee_31", "amount": Decimal("49.90"), "currency": "BRL", "description": "Pacote de mensagens"}

    fee_id: Text | None = Field(None, description="Fee, by its id in the billing service")
    amount: Money = Field(description="What is owed, in major units")
    currency: Currency
    description: Words | None = Field(None, description="What the fee is for")


class _Subscription(OrganizationPayload):
    subscription_id: SubscriptionId | None = None
    plan_id: PlanId | None = None
    plan_name: PlanName | None = None
    amount: Money | None = Field(None, description="Price per billing period, in major units")
    currency: Currency | None = None
    status: Text | None = Field(None, description="trialing, active, past_due, cancelled … as billing names it")
    reason: Words | None = Field(None, description="Why it changed or ended")
    started_at: Moment | None = Field(None, description="When it began, where that is not the event's own time")
    cancelled_at: Moment | None = Field(None, description="When it ends or ended")


class SubscriptionCreated(_Subscription):
    """A subscription began; without a `status` it is `active`."""

    type = "billing.subscription-created"
    sample = {
        "subscriptionId": "sub_1", "planId": "plan_pro", "planName": "Pro", "amount": Decimal("499.00"), "currency": "BRL",
        "status": "trialing",
    }  # fmt: skip


class SubscriptionChanged(_Subscription):
    """Something of a subscription changed: its plan, price or status. What is not told stays."""

    type = "billing.subscription-changed"
    rank = 1
    sample = {"subscriptionId": "sub_1", "planId": "plan_max", "planName": "Max", "amount": Decimal("899.00")}


class SubscriptionCancelled(_Subscription):
    """A subscription was cancelled; without a `status` it is `cancelled`, without `cancelledAt` from the event's time on."""

    type = "billing.subscription-cancelled"
    synonyms = ("billing.subscription-canceled",)
    rank = 2
    sample = {"subscriptionId": "sub_1", "reason": "too_expensive", "cancelledAt": "2026-04-30T00:00:00Z"}


class _Invoice(OrganizationPayload):
    invoice_id: InvoiceId
    subscription_id: SubscriptionId | None = None
    amount: Money | None = Field(None, description="Amount of the invoice, in major units")
    currency: Currency | None = None
    due_date: Moment | None = Field(None, description="When it is to be paid")


class InvoicePaid(_Invoice):
    """An invoice is paid; it is never overdue again, whatever comes later."""

    type = "billing.invoice-paid"
    sample = {"invoiceId": "inv_204", "subscriptionId": "sub_1", "amount": Decimal("499.00"), "currency": "BRL"}

    paid_at: Moment | None = Field(None, description="When it was paid, where that is not the event's own time")


class InvoiceOverdue(_Invoice):
    """An invoice was not paid in time."""

    type = "billing.invoice-overdue"
    sample = {"invoiceId": "inv_205", "amount": Decimal("499.00"), "currency": "BRL", "dueDate": "2026-03-20"}

    days_overdue: Number | None = Field(None, description="Days since it was due")


class ProviderWebhookProcessed(OrganizationPayload):
    """The billing service has processed a webhook of a payment provider."""

    type = "billing.provider-webhook-processed"
    sample = {"provider": "stripe", "eventType": "invoice.paid", "status": "processed"}

    provider: Text = Field(description="Payment provider: stripe, iugu …")
    event_type: Text | None = Field(None, description="What the provider told, in its words")
    status: Text | None = Field(None, description="What became of it: processed, failed, ignored …")


class _Leaving(OrganizationPayload):
    reason: Words | None = Field(None, description="Why the organization leaves")
    retention_expires_at: Moment | None = Field(None, description="Until when its data is kept")


class CancellationRequested(_Leaving):
    """The organization wants to leave. It is served until the cancellation is confirmed."""

    type = "offboarding.cancellation-requested"
    sample = {"reason": "closing_business", "retentionExpiresAt": "2026-07-01T00:00:00Z"}


class CancellationReverted(OrganizationPayload):
    """The organization stays after all."""

    type = "offboarding.cancellation-reverted"
    rank = 1
    sample = {"reason": "won_back"}

    reason: Words | None = Field(None, description="Why it stays")


class CancellationConfirmed(_Leaving):
    """The organization has left: from `effectiveAt` on (else the event's time) nothing is taken or read any more."""

    type = "offboarding.cancellation-confirmed"
    rank = 2
    sample = {"effectiveAt": "2026-04-01T00:00:00Z", "retentionExpiresAt": "2026-07-01T00:00:00Z"}

    effective_at: Moment | None = Field(None, description="When it is out")


class RetentionExpired(OrganizationPayload):
    """The time is over for which the data of an organization that left is kept. Nothing brings it back."""

    type = "offboarding.retention-expired"
    rank = 3
    sample: ClassVar[dict[str, Any]] = {}


EVENTS: Final[tuple[type[OrganizationPayload], ...]] = (
    CostRecorded, FeeCreated, SubscriptionCreated, SubscriptionChanged, SubscriptionCancelled, InvoicePaid, InvoiceOverdue,
    ProviderWebhookProcessed, CancellationRequested, CancellationReverted, CancellationConfirmed, RetentionExpired,
)  # fmt: skip
"""Every event, in the order of the page."""

_BY_TYPE: Final = {name: each for each in EVENTS for name in (each.type, *each.synonyms)}


def find(cloud_event_type: str) -> type[OrganizationPayload] | None:
    """The event behind a CloudEvents type, its domain in any spelling; ``None`` for what is not about an organisation."""
    domain, _, name = cloud_event_type.partition(".")
    if internal_domains.source_of(domain) == Source.BILLING_SERVICE:
        domain = OrganizationCategory.BILLING
    return _BY_TYPE.get(f"{domain}.{name}")


def read(model: type[OrganizationPayload], fields: dict[str, Json]) -> OrganizationPayload:
    """The event that ``fields`` tell. Raises ``InvalidError`` that names fields and rules, never values."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
        named = ((".".join(map(str, ("data", *each["loc"]))), each["type"]) for each in found[:MAX_ERRORS])
        broken = tuple(FieldError(field, rule) for field, rule in named)
        raise InvalidError(f"The data breaks the contract of {model.type}.", errors=broken) from None
