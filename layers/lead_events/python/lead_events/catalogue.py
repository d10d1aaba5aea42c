"""The event catalogue: every normalised event type on one page.

A class is an event type: its wire name, its memory category, its payload in wire names, and a sample. Validation, JSON
Schema, the OpenAPI and AsyncAPI documents and the catalogue page follow from here. Unknown extra fields are kept. A field is
required only where the event means nothing without it; everything a source may not know is optional.

Amounts are decimal numbers in *major* units (19.90 is nineteen reais and ninety centavos) with an ISO 4217 code.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic.alias_generators import to_camel

from lead_events.categories import Category
from lead_events.errors import FieldError, InvalidError
from lead_events.strict_json import Json

MAX_ERRORS: Final = 50
"""Broken fields that are named: a list of 100,000 wrong elements must not make a response, or an item, too large to exist."""


def _exact(value: Any) -> Any:
    # JSON numbers arrive as int or Decimal; a string is not a number, and true is not 1.
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number")
    return Decimal(value)


_EXACT: Final = BeforeValidator(_exact)
Number = Annotated[Decimal, _EXACT, WithJsonSchema({"type": "number"})]
Amount = Annotated[Number, Field(ge=0), WithJsonSchema({"type": "number", "minimum": 0})]
Fraction = Annotated[Number, Field(ge=0, le=1), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Percent = Annotated[Number, Field(ge=0, le=100), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 100})]
Score = Annotated[Number, Field(ge=-1, le=1), WithJsonSchema({"type": "number", "minimum": -1, "maximum": 1})]
Text = Annotated[str, Field(min_length=1)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="ISO 4217 code in upper case")]
ProductId = Annotated[Text, Field(description="Product, by its id at the source")]
ProductName = Annotated[Text, Field(description="The product's name as the lead saw it")]
ProductCategory = Annotated[Text, Field(description="Category of the product")]
Channel = Annotated[Text, Field(description="Where it happened: whatsapp, instagram, email, web …")]
TicketId = Annotated[Text, Field(description="Ticket, by its id in the ticketing service")]
CampaignId = Annotated[Text, Field(description="Campaign, by its id in the dispatch service")]
PlanId = Annotated[Text, Field(description="Plan, by its id in the billing service")]


class Payload(BaseModel):
    """Base of the payloads: wire names in camelCase, strict types, extra fields kept."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow", strict=True, defer_build=True)

    event_type: ClassVar[str]
    category: ClassVar[Category]
    sample: ClassVar[dict[str, Any]]


class PurchaseCompleted(Payload):
    """The lead bought a product and the payment is confirmed."""

    event_type = "purchase_completed"
    category = Category.PURCHASE
    sample = {
        "productId": "prod_42", "productName": "Curso de Vendas", "category": "courses",
        "amount": Decimal("497.00"), "currency": "BRL", "paymentMethod": "pix",
    }  # fmt: skip

    product_id: ProductId | None = None
    product_name: ProductName | None = None
    category_: ProductCategory | None = Field(None, alias="category")
    amount: Amount = Field(description="What was paid, in major units")
    currency: Currency
    payment_method: Text | None = Field(None, description="pix, credit_card, boleto … as the source names it")


class PurchaseAbandoned(Payload):
    """The lead left a cart or checkout without paying."""

    event_type = "purchase_abandoned"
    category = Category.PURCHASE
    sample = {"productIds": ["prod_42"], "cartValue": Decimal("497.00"), "stageAbandoned": "payment"}

    product_ids: list[Text] | None = Field(None, description="Products in the cart, by their ids at the source")
    cart_value: Amount | None = Field(None, description="Value of the cart, in major units")
    currency: Currency | None = None
    stage_abandoned: Text | None = Field(None, description="How far it went: cart, checkout, payment …")


class ProductViewed(Payload):
    """The lead looked at a product."""

    event_type = "product_viewed"
    category = Category.PRODUCT
    sample = {"productId": "prod_42", "productName": "Curso de Vendas", "category": "courses"}

    product_id: ProductId
    product_name: ProductName | None = None
    category_: ProductCategory | None = Field(None, alias="category")


class ProductAsked(Payload):
    """The lead asked something about a product."""

    event_type = "product_asked"
    category = Category.PRODUCT
    sample = {"productId": "prod_42", "question": "Tem certificado?", "channel": "whatsapp"}

    product_id: ProductId | None = None
    question: Text = Field(description="What the lead asked, in their words")
    channel: Channel | None = None


class InterestDetected(Payload):
    """A signal says that the lead is interested in a category or product."""

    event_type = "interest_detected"
    category = Category.INTEREST
    sample = {"category": "courses", "productId": "prod_42", "confidence": Decimal("0.8")}

    category_: Text | None = Field(None, alias="category", description="Category that the lead is interested in")
    product_id: ProductId | None = None
    confidence: Fraction | None = Field(None, description="How sure that is, from 0 to 1")


class SentimentDetected(Payload):
    """How the lead felt; score from -1 (bad) to 1 (good)."""

    event_type = "sentiment_detected"
    category = Category.SENTIMENT
    sample = {"score": Decimal("0.6"), "label": "positive", "context": "support chat"}

    score: Score = Field(description="From -1 (bad) to 1 (good)")
    label: Text | None = Field(None, description="The sentiment in a word: positive, neutral, negative …")
    context: Text | None = Field(None, description="What it was found in")


class TicketOpened(Payload):
    """A support ticket was opened for the lead."""

    event_type = "ticket_opened"
    category = Category.SUPPORT
    sample = {"ticketId": "tkt_7", "subject": "Acesso ao curso", "productId": "prod_42", "priority": "high"}

    ticket_id: TicketId
    subject: Text | None = Field(None, description="What the ticket is about")
    product_id: ProductId | None = None
    priority: Text | None = Field(None, description="low, normal, high … as the ticketing service names it")


class TicketResolved(Payload):
    """A support ticket was resolved."""

    event_type = "ticket_resolved"
    category = Category.SUPPORT
    sample = {"ticketId": "tkt_7", "resolution": "Senha trocada", "satisfactionScore": 5}

    ticket_id: TicketId
    resolution: Text | None = Field(None, description="How it was resolved")
    satisfaction_score: Number | None = Field(None, description="The lead's rating, on the scale of its source")


class ConversationStarted(Payload):
    """A conversation with the lead began on a channel."""

    event_type = "conversation_started"
    category = Category.CONVERSATION
    sample = {"channel": "whatsapp", "context": "Clique em anúncio"}

    channel: Channel
    context: Text | None = Field(None, description="What led to it: an advertisement, a link, a campaign …")


class ConversationEnded(Payload):
    """A conversation with the lead ended; ``durationSeconds`` in seconds."""

    event_type = "conversation_ended"
    category = Category.CONVERSATION
    sample = {"channel": "whatsapp", "durationSeconds": 340, "messageCount": 12, "sentimentScore": Decimal("0.4")}

    channel: Channel
    duration_seconds: Amount | None = Field(None, description="Length in seconds")
    message_count: Amount | None = Field(None, description="Messages of both sides")
    sentiment_score: Score | None = Field(None, description="Overall sentiment, from -1 (bad) to 1 (good)")


class CampaignDelivered(Payload):
    """A campaign message reached the lead."""

    event_type = "campaign_delivered"
    category = Category.CAMPAIGN
    sample = {"campaignId": "cmp_3", "campaignName": "Volta às aulas", "productId": "prod_42", "channel": "email"}

    campaign_id: CampaignId
    campaign_name: Text | None = Field(None, description="Name of the campaign")
    product_id: ProductId | None = None
    channel: Channel | None = None


class CampaignEngaged(Payload):
    """The lead opened, clicked or answered a campaign message."""

    event_type = "campaign_engaged"
    category = Category.CAMPAIGN
    sample = {"campaignId": "cmp_3", "engagementType": "click"}

    campaign_id: CampaignId
    engagement_type: Text | None = Field(None, description="open, click, reply …")


class CampaignIgnored(Payload):
    """The lead did nothing with a campaign message for some days."""

    event_type = "campaign_ignored"
    category = Category.CAMPAIGN
    sample = {"campaignId": "cmp_3", "daysSinceDelivery": 7}

    campaign_id: CampaignId
    days_since_delivery: Amount | None = Field(None, description="Days since the message reached the lead")


class SubscriptionCreated(Payload):
    """The lead subscribed to a plan; ``amount`` per billing period."""

    event_type = "subscription_created"
    category = Category.SUBSCRIPTION
    sample = {"planId": "plan_pro", "planName": "Pro", "amount": Decimal("99.90"), "currency": "BRL"}

    plan_id: PlanId
    plan_name: Text | None = Field(None, description="Name of the plan")
    amount: Amount | None = Field(None, description="Price per billing period, in major units")
    currency: Currency | None = None


class SubscriptionCancelled(Payload):
    """The lead's subscription ended."""

    event_type = "subscription_cancelled"
    category = Category.SUBSCRIPTION
    sample = {"planId": "plan_pro", "reason": "too_expensive"}

    plan_id: PlanId
    reason: Text | None = Field(None, description="Why it ended, as the source names it")


class FormSubmitted(Payload):
    """The lead answered a form; each response at least names its field or question."""

    event_type = "form_submitted"
    category = Category.FORM
    sample = {
        "formId": "form_9", "formName": "Diagnóstico",
        "responses": [{"field": "team_size", "question": "Tamanho do time?", "answer": "5 a 10"}],
    }  # fmt: skip

    form_id: Text = Field(description="Form, by its id at the source")
    form_name: Text | None = Field(None, description="Title of the form")
    responses: list[dict[str, Any]] | None = Field(None, description="The answers, in the order of the form")


class DiscountRequested(Payload):
    """The lead asked for a discount."""

    event_type = "discount_requested"
    category = Category.DISCOUNT
    sample = {"context": "Pediu cupom no chat", "productId": "prod_42"}

    context: Text | None = Field(None, description="Where and how the lead asked")
    product_id: ProductId | None = None


class DiscountAccepted(Payload):
    """The lead bought with a discount, or accepted one."""

    event_type = "discount_accepted"
    category = Category.DISCOUNT
    sample = {"discountPercent": 10, "productId": "prod_42"}

    discount_percent: Percent | None = Field(None, description="Size of the discount, from 0 to 100")
    product_id: ProductId | None = None


class AgentInsight(Payload):
    """An AI agent concluded something about the lead."""

    event_type = "agent_insight"
    category = Category.AGENT
    sample = {"insightType": "budget", "content": "Tem verba aprovada até março", "confidence": Decimal("0.7")}

    insight_type: Text = Field(description="What kind of conclusion: budget, intent, profile …")
    content: Text = Field(description="The conclusion")
    confidence: Fraction | None = Field(None, description="How sure that is, from 0 to 1")


class ObjectionRaised(Payload):
    """The lead raised an objection."""

    event_type = "objection_raised"
    category = Category.OBJECTION
    sample = {"type": "price", "context": "Achou caro à vista", "productId": "prod_42"}

    type: Text = Field(description="What kind of objection: price, time, trust …")
    context: Text | None = Field(None, description="How the lead put it")
    product_id: ProductId | None = None


EVENT_TYPES: Final[dict[str, type[Payload]]] = {each.event_type: each for each in Payload.__subclasses__()}
"""The catalogue by wire name, in the order of the page."""


def check(event_type: str, payload: Json) -> None:
    """Raise ``InvalidError`` (naming fields and rules, never values) where ``payload`` breaks its type's contract.

    A type outside the catalogue takes any JSON value.
    """
    model = EVENT_TYPES.get(event_type)
    if model is None:
        return
    if not isinstance(payload, dict):
        raise InvalidError.of("payload", f"must be an object for {event_type}")
    try:
        model.model_validate(payload)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
        # The message of pydantic may quote the input (a literal's, for one); its type names the rule without doing so.
        named = ((".".join(map(str, ("payload", *each["loc"]))), each["type"]) for each in found[:MAX_ERRORS])
        broken = tuple(FieldError(field, rule) for field, rule in named)
        raise InvalidError(f"The payload breaks the contract of {event_type}.", errors=broken) from None


def json_schema(event_type: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of a catalogue type's payload, with its docstring and sample."""
    model = EVENT_TYPES[event_type]
    schema = model.model_json_schema(by_alias=True)
    return schema | {"title": model.__name__, "examples": [model.sample]}
