"""What the services of the platform tell about a lead: the one table from their CloudEvents types to event types.

A type is ``domain.event-name``. Its domain leads to the source, domain and name together to the event type. The table lists
what each service is known to tell; the page of the contract, its samples and their tests follow from here. An event name that
is not listed but is an event type of the catalogue in kebab-case is that type all the same, whoever sends it (``reading``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from lead_events.names import Source


class InternalEvent(NamedTuple):
    """One event that a domain tells."""

    name: str
    """The ``event-name`` of the CloudEvents type."""
    event_type: str
    """What it becomes."""
    synonyms: tuple[str, ...] = ()
    """Other names of the same fact with the same fields."""


class InternalDomain(NamedTuple):
    """A service of the platform."""

    name: str
    """The ``domain`` of its CloudEvents types."""
    source: Source
    tells: str
    events: tuple[InternalEvent, ...]
    aliases: tuple[str, ...] = ()
    """Other spellings of the domain. A hyphen and an underscore are the same, and the source's name is one by itself."""

    def spellings(self) -> tuple[str, ...]:
        """Every domain that is this one, the preferred first."""
        names = (self.name, *self.aliases, self.source.value)
        return tuple(dict.fromkeys(each for name in names for each in (name, _same(name), name.replace("_", "-"))))


def _same(domain: str) -> str:
    return domain.replace("-", "_")


DOMAINS: Final = (
    InternalDomain(
        "messaging",
        Source.MESSAGING_SERVICE,
        "Signals from conversations",
        (
            InternalEvent("conversation-started", "conversation_started"),
            InternalEvent("conversation-ended", "conversation_ended"),
            InternalEvent("product-asked", "product_asked"),
            InternalEvent("interest-detected", "interest_detected"),
            InternalEvent("sentiment-detected", "sentiment_detected"),
            InternalEvent("discount-requested", "discount_requested"),
            InternalEvent("objection-raised", "objection_raised"),
        ),
    ),
    InternalDomain(
        "dispatch",
        Source.DISPATCH_SERVICE,
        "What became of a campaign's messages",
        (
            InternalEvent("campaign-delivered", "campaign_delivered"),
            InternalEvent("campaign-engaged", "campaign_engaged"),
            InternalEvent("campaign-ignored", "campaign_ignored"),
        ),
    ),
    InternalDomain(
        "ai-agents",
        Source.AI_AGENTS_SERVICE,
        "What AI agents conclude",
        (
            # The only name of the catalogue that does not say what happened.
            InternalEvent("agent-insight", "agent_insight", ("insight-detected",)),
            InternalEvent("product-asked", "product_asked"),
            InternalEvent("interest-detected", "interest_detected"),
            InternalEvent("sentiment-detected", "sentiment_detected"),
            InternalEvent("discount-requested", "discount_requested"),
            InternalEvent("discount-accepted", "discount_accepted"),
            InternalEvent("objection-raised", "objection_raised"),
        ),
        aliases=("agents",),
    ),
    InternalDomain(
        "billing",
        Source.BILLING_SERVICE,
        "Subscriptions and payments",
        (
            InternalEvent("subscription-created", "subscription_created"),
            InternalEvent("subscription-cancelled", "subscription_cancelled", ("subscription-canceled",)),
            InternalEvent("purchase-completed", "purchase_completed"),
        ),
    ),
    InternalDomain(
        "ticketing",
        Source.TICKETING_SERVICE,
        "Support tickets",
        (
            InternalEvent("ticket-opened", "ticket_opened", ("ticket-created",)),
            InternalEvent("ticket-resolved", "ticket_resolved"),
        ),
    ),
)

_SOURCES: Final = {_same(spelling): domain.source for domain in DOMAINS for spelling in domain.spellings()}
_EVENT_TYPES: Final = {
    (domain.source, name): event.event_type
    for domain in DOMAINS
    for event in domain.events
    for name in (event.name, *event.synonyms)
}


def source_of(domain: str) -> str | None:
    """The source behind the domain of a CloudEvents type, in any spelling; ``None`` where it is none of ours."""
    source = _SOURCES.get(_same(domain.lower()))
    return source.value if source else None


def event_type_of(domain: str, event_name: str) -> str | None:
    """What ``domain.event-name`` becomes, as far as the table says."""
    source = _SOURCES.get(_same(domain))
    return _EVENT_TYPES.get((source, event_name)) if source else None


def synonyms_of(event_type: str) -> list[tuple[tuple[str, ...], str]]:
    """Domains and event names that become ``event_type`` though the name is another: ``billing`` ``subscription-canceled``."""
    return [
        (domain.spellings(), synonym)
        for domain in DOMAINS
        for event in domain.events
        if event.event_type == event_type
        for synonym in event.synonyms
    ]
