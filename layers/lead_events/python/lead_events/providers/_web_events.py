"""One event of the tenant's own site.

``{eventId, type, occurredAt, anonymousId, sessionId, leadId, identify: {email, phone, externalId},
context: {url, referrer, utm: {}}, payload: {…}}``; the payload is the one of the type in the catalogue. Phones are to be
written with ``+`` and their country's code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lead_events.errors import ForbiddenError, InvalidError
from lead_events.event import Delivery, EventDraft, Identity, IdentityKind, check_event_type
from lead_events.instants import parse_instant
from lead_events.limits import MAX_DEPTH, MAX_KEY_BYTES, check_payload
from lead_events.names import Source
from lead_events.providers import _campaign
from lead_events.providers._contract import is_of_catalogue, keeps_contract
from lead_events.providers._reading import at, external_id, items, known, planted_lead, reference, text
from lead_events.sources import SOURCE_TYPES
from lead_events.strict_json import Json

BROWSER_TYPES: Final = frozenset(
    [
        "product_viewed",
        "product_asked",
        "interest_detected",
        "form_submitted",
        "conversation_started",
        "conversation_ended",
    ]
)
"""What a browser is believed. No purchase, discount or ticket: whoever reads a page's source could make them up."""

MAX_AHEAD: Final = timedelta(minutes=5)
MAX_BEHIND: Final = timedelta(days=7)
"""How far a browser's clock may be off, or its event have waited. Beyond, the time of receipt counts."""

MAX_CONTACT_LENGTH: Final = 320

_TAG: Final = re.compile(r"</?[A-Za-z!][^<>]*>")
_ON_A_CHANNEL: Final = frozenset({"product_asked", "conversation_started", "conversation_ended"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of a delivery, unread, with its own text."""

    delivery: Delivery
    value: Json
    raw: str
    signed_id: tuple[str, ...] | None
    """Identifies an entry without an ``eventId``; ``None`` for a browser's, which nobody signed."""

    @property
    def signed(self) -> bool:
        return self.signed_id is not None


def draft_of(entry: Entry) -> EventDraft:
    """Raises ``InvalidError`` for what is no event, ``ForbiddenError`` for one that a browser may not tell."""
    value = entry.value
    if not isinstance(value, dict):
        raise InvalidError.of("event", "must be a JSON object")
    told = check_event_type(value.get("type"), "type")
    if not entry.signed and told not in BROWSER_TYPES:
        raise ForbiddenError("A browser may not tell events of this type.", code="untrusted_event_type")
    occurred_at, skewed = _occurred_at(entry)
    payload = _payload(entry, told) | known(clockSkew=True if skewed else None)
    check_payload(payload)
    return EventDraft(
        organization_id=entry.delivery.organization_id,
        source_type=SOURCE_TYPES[Source.WEB],
        source=Source.WEB.value,
        event_type=_event_type(told, payload),
        payload=payload,
        occurred_at=occurred_at,
        received_at=entry.delivery.received_at,
        lead_id=planted_lead(value.get("leadId"), value.get("lead_id"), entry.delivery.lead_id),
        external_event_id=_external_id(entry),
        identities=tuple(dict.fromkeys(_identities(entry))),
        proven=entry.signed_id is not None,
        tracking=_tracking(at(value, "context")),
        object_id=next((found for name in ("orderId", "ticketId", "conversationId")
                        if (found := reference(payload, name))), None),
        raw_payload=entry.raw,
    )  # fmt: skip


def _event_type(told: str, payload: Json) -> str:
    """A type of the catalogue whose contract is kept; else the site's own name, under ``web.``."""
    normalised = is_of_catalogue(told) and keeps_contract(told, payload)
    return told if normalised else check_event_type(f"{Source.WEB}.{told}", "type")


def _external_id(entry: Entry) -> str:
    event_id = text(entry.value, "eventId")
    if entry.signed_id is not None:
        return external_id(event_id) if event_id else external_id(*entry.signed_id)
    if event_id is None:
        raise InvalidError.of("eventId", "must be the id that the event keeps when it is sent again")
    return external_id("browser", event_id)


def _occurred_at(entry: Entry) -> tuple[datetime, bool]:
    """When it happened, and whether a browser's clock could not be believed. Without a time, the receipt's."""
    received_at = entry.delivery.received_at
    claimed = at(entry.value, "occurredAt")
    if claimed is None:
        return received_at, False
    occurred_at = parse_instant(claimed, "occurredAt")
    believable = entry.signed or -MAX_BEHIND <= occurred_at - received_at <= MAX_AHEAD
    return (occurred_at, False) if believable else (received_at, True)


def _payload(entry: Entry, told: str) -> dict[str, Json]:
    given = at(entry.value, "payload")
    if given is not None and not isinstance(given, dict):
        raise InvalidError.of("payload", "must be a JSON object")
    cleaned = _clean(given or {}, trusted=entry.signed)
    assert isinstance(cleaned, dict)
    session = reference(entry.value, "sessionId")
    payload = known(channel=Source.WEB.value if told in _ON_A_CHANNEL else None, sessionId=session) | cleaned
    if not entry.signed:
        payload.pop("clockSkew", None)
        payload["trust"] = "browser"
    return payload


def _clean(value: Json, *, trusted: bool, depth: int = 0) -> Json:
    """``value`` without keys that cannot be stored; a browser's texts also without tags and blanks around them."""
    if depth > MAX_DEPTH:
        raise InvalidError.of("payload", f"nests deeper than {MAX_DEPTH} levels", code="too_deep")
    if isinstance(value, dict):
        return {
            name: _clean(child, trusted=trusted, depth=depth + 1)
            for name, child in value.items()
            if 0 < len(name.encode()) <= MAX_KEY_BYTES
        }
    if isinstance(value, list):
        return [_clean(child, trusted=trusted, depth=depth + 1) for child in value]
    return _plain(value) if isinstance(value, str) and not trusted else value


def _plain(written: str) -> str:
    stripped = _TAG.sub("", written)
    # Tags that only the removal of others made: then no '<' is left to open one.
    return (stripped.replace("<", "") if _TAG.search(stripped) else stripped).strip()


def _identities(entry: Entry) -> Iterator[Identity]:
    """Who it was. The site's own id of a user counts only where its backend says so.

    It and the visitor's id in a cookie are told apart by their prefix: the latter could be made to look like the former.
    """
    who = at(entry.value, "identify")
    if entry.signed and (own := _contact(who, "externalId")):
        yield Identity(IdentityKind.CUSTOMER, f"web_user:{own}")
    if visitor := _contact(entry.value, "anonymousId"):
        yield Identity(IdentityKind.CUSTOMER, f"{Source.WEB}:{visitor}")
    answers = _answers(entry.value)
    for kind, name in ((IdentityKind.PHONE, "phone"), (IdentityKind.EMAIL, "email")):
        for found in (_contact(who, name), *(_contact(each, "answer") for each in answers if _asks_for(each, name))):
            if found:
                yield Identity(kind, found)


def _answers(value: Json) -> list[Json]:
    return items(value, "payload", "responses") if at(value, "type") == "form_submitted" else []


def _asks_for(answer: Json, name: str) -> bool:
    return any((text(answer, key) or "").lower() == name for key in ("type", "field"))


def _contact(value: Json, name: str) -> str | None:
    found = (text(value, name) or "").strip()
    return found if 0 < len(found) <= MAX_CONTACT_LENGTH else None


def _tracking(context: Json) -> dict[str, str]:
    """Campaign parameters of the page's URL, and those that the site collected itself: these count first."""
    url = text(context, "url")
    collected = at(context, "utm")
    pairs = collected.items() if isinstance(collected, dict) else ()
    named = [
        (name if name.startswith("utm_") else f"utm_{name}", each) for name, each in pairs if isinstance(each, str)
    ]
    pages = {"landing_url": _campaign.page(url), "referrer": _campaign.page(text(context, "referrer"))}
    campaign = _campaign.of_url(url) | _campaign.parameters(named)
    return campaign | {name: found for name, found in pages.items() if found}
