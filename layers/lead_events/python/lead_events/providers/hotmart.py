"""Hotmart: webhook 2.0.0 (JSON), and its forerunner 1.0.0 (a form).

Nothing is signed: every delivery carries the account's static token, the *hottok*. So only the ids below stand against replays.

The token also stands in the body: always in 1.0.0, sometimes at the root of 2.0.0. It is a secret that opens this entrance to
whoever reads it, and raw payloads are kept for ever and given to readers: ``redact`` puts ``*`` in its place, as many as it
has bytes, and leaves every other byte as it came.

What becomes which event is the table ``_hotmart_facts.TRANSLATIONS``; everything else, and whatever lacks what its type needs,
is ``hotmart.{their name}``, spelled as they do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import unquote_plus

from lead_events.errors import InvalidError
from lead_events.event import Delivery, EventDraft, Identity, IdentityKind, SharedFact
from lead_events.instants import from_unix_milliseconds
from lead_events.names import Source
from lead_events.providers import _hotmart_v1
from lead_events.providers._contract import keeps_contract
from lead_events.providers._hotmart_facts import TRANSLATIONS, Fact, Notice, as_told
from lead_events.providers._reading import at, external_id, planted_lead, text
from lead_events.providers._signatures import equal_to_any, unauthenticated, usable
from lead_events.sources import SOURCE_TYPES
from lead_events.strict_json import Json, loads

HEADERS: Final = ("content-type",)
"""Tells a form from JSON."""

_FIELD: Final = "hottok"
_HEADER: Final = "x-hotmart-hottok"

# A JSON string and, where it is a key with a string for its value, that too. Outside of strings JSON has no quote, so that
# matches taken from left to right begin where strings do. What does not end is taken whole: the time stays linear.
_STRINGS: Final = re.compile(r""""((?:[^"\\]|\\.)*+)"(?:(\s*:\s*")((?:[^"\\]|\\.)*+)")?|".*""", re.DOTALL)

# Campaign tags have the form of lead ids. Read as one, ``lead_magnet`` would merge all strangers of that campaign.
_MARKED: Final = re.compile(r"lead:(.*)", re.DOTALL)
_OWN: Final = re.compile(r"(lead_.*)", re.DOTALL)


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:
    """``X-HOTMART-HOTTOK`` is one of the secrets, or in 1.0.0, which has no such header, the form's one field ``hottok``."""
    del now  # nothing in a delivery is timed
    keys = usable(secrets)
    if _HEADER in headers:
        given = [headers[_HEADER]]
    elif _hotmart_v1.is_form(headers.get("content-type"), body.decode(errors="replace")):
        given = _hotmart_v1.values_of(body.decode(errors="replace"), _FIELD)
    else:
        given = []
    if len(given) != 1 or not equal_to_any(given, keys):
        raise unauthenticated()


def redact(body: str, content_type: str | None = None) -> str:
    """``body`` with the token masked, as many bytes long as before; the same again where it is masked already."""
    if _hotmart_v1.is_form(content_type, body):
        return "&".join(map(_masked_field, body.split("&")))
    if _FIELD not in body and "\\u" not in body:  # a key may be written with escapes
        return body
    return _STRINGS.sub(_masked_member, body)


def translate(delivery: Delivery) -> list[EventDraft]:
    """The events that a delivery tells of; never none.

    Raises ``RejectedError`` where it is neither JSON nor a form, names no event, or has a time that cannot be read.
    """
    content_type = delivery.headers.get("content-type")
    body = redact(delivery.body, content_type)
    told = _hotmart_v1.as_v2(body) if _hotmart_v1.is_form(content_type, body) else loads(body)
    if not isinstance(told, dict):
        raise InvalidError.of("body", "must be a JSON object")
    event = text(told, "event")
    if event is None:
        raise InvalidError.of("event", "must be the event's name")
    notice = Notice(event=event, time=_time(told, delivery.received_at), data=told.get("data"))
    event_id = _event_id(told, notice, body)
    unknown = as_told(notice)
    facts = [
        fact
        for fact in TRANSLATIONS.get(notice.event, _untranslated)(notice)
        if keeps_contract(fact.event_type, fact.payload)
    ]
    if all(fact.part for fact in facts):
        facts.insert(0, unknown)
    return [_draft(delivery, body, event_id, notice, fact, unknown) for fact in facts]


def _draft(delivery: Delivery, body: str, event_id: str, notice: Notice, fact: Fact, unknown: Fact) -> EventDraft:
    return EventDraft(
        organization_id=delivery.organization_id,
        source_type=SOURCE_TYPES[Source.HOTMART],
        source=Source.HOTMART.value,
        event_type=fact.event_type,
        payload=fact.payload,
        occurred_at=notice.time,
        received_at=delivery.received_at,
        lead_id=_lead(notice.data, delivery.lead_id),
        # A second event of one notice needs its own id.
        external_event_id=external_id(event_id, fact.part) if fact.part else external_id(event_id),
        shared_fact=SharedFact(external_id(fact.fact_id), unknown.event_type, unknown.payload)
        if fact.fact_id
        else None,
        identities=_identities(notice.data),
        tracking=_origin(notice.data),
        object_id_ref=notice.transaction or notice.subscription_id or notice.subscriber_code,
        raw_payload=body,
    )


def _event_id(told: Mapping[str, Json], notice: Notice, body: str) -> str:
    """The notice's ``id``; without one what it tells of what, or else its very text."""
    own = told.get("id")
    own = str(own) if isinstance(own, int) and not isinstance(own, bool) else text(own)
    return own or (notice.transaction and f"{notice.event}:{notice.transaction}") or f"{notice.event}:{body}"


def _time(told: Mapping[str, Json], received_at: datetime) -> datetime:
    """When the notice was made, in milliseconds since 1970; when it came, where it does not say."""
    created = told.get("creation_date")
    created = told.get("creationDate") if created is None else created  # test deliveries of CLUB_FIRST_ACCESS
    return received_at if created is None else from_unix_milliseconds(created, "creation_date")


def _lead(data: Json, of_url: str | None) -> str | None:
    """The lead that we planted in the checkout's link, or else in the webhook's URL.

    ``xcod`` is a code of the seller's own: it names a lead where it begins with ``lead_``, as our lead ids do, or after the
    mark ``lead:``. ``sck`` and ``src`` carry campaign tags: there only the mark counts.
    """
    origin = _origin(data)
    own = _OWN.fullmatch(origin.get("xcod", ""))
    marked = [_MARKED.fullmatch(origin.get(name, "")) for name in ("xcod", "sck", "src")]
    return planted_lead(*(found[1] for found in (own, *marked) if found), of_url)


def _origin(data: Json) -> dict[str, str]:
    """``src``, ``sck`` and ``xcod`` of the checkout's link, wherever they stand."""
    purchase = at(data, "purchase")
    found = {
        "src": text(purchase, "origin", "src") or text(purchase, "tracking", "source"),
        "sck": text(purchase, "origin", "sck")
        or text(purchase, "tracking", "source_sck")
        or text(purchase, "sckPaymentLink"),
        "xcod": text(purchase, "origin", "xcod"),
    }
    return {name: value for name, value in found.items() if value}


def _identities(data: Json) -> tuple[Identity, ...]:
    """Phones, then e-mails of whoever bought, subscribed or learns. A subscriber's code is one product's, not a person's."""
    emails = (
        text(data, "buyer", "email"),
        text(data, "subscriber", "email"),
        text(data, "subscription", "user", "email"),
        text(data, "user", "email"),
    )
    return (*_phones(data), *(Identity(IdentityKind.EMAIL, each) for each in dict.fromkeys(emails) if each))


def _phones(data: Json) -> list[Identity]:
    buyer, subscriber = at(data, "buyer"), at(data, "subscriber", "phone")
    countries = (
        text(buyer, "address", "country_iso"),
        text(data, "purchase", "checkout_country", "iso"),
        text(data, "checkout_country", "iso"),
    )
    country = next((each.upper() for each in countries if each and re.fullmatch("[A-Za-z]{2}", each)), None)
    written = (
        (text(buyer, "checkout_phone_code"), text(buyer, "checkout_phone")),
        (None, text(buyer, "phone")),
        (text(subscriber, "dddCell"), text(subscriber, "cell")),
        (text(subscriber, "dddPhone"), text(subscriber, "phone")),
    )
    found = [_phone(code, number, country) for code, number in written if number]
    return list(dict.fromkeys(each for each in found if each))


def _phone(code: str | None, number: str, country: str | None) -> Identity | None:
    """Area codes come apart from their number, and in Brazil alone; a number of more than nine digits has its own inside.

    A Brazilian number without one is in use in every area: it tells of nobody.
    """
    digits = re.sub(r"\D", "", number, flags=re.ASCII)
    area = re.sub(r"\D", "", code or "", flags=re.ASCII).lstrip("0")
    if number.strip().startswith("+") or len(digits) > 9 or country not in (None, "BR"):
        return Identity(IdentityKind.PHONE, number, country)
    return Identity(IdentityKind.PHONE, f"{area}{number.strip()}", "BR") if len(area) == 2 else None


def _masked_member(found: re.Match[str]) -> str:
    key, between, value = found.groups()
    if value is None or (key != _FIELD and _unescaped(key) != _FIELD):
        return found[0]
    return f'"{key}"{between}{_mask(value)}"'


def _masked_field(field: str) -> str:
    name, equals, value = field.partition("=")
    return f"{name}{equals}{_mask(value)}" if unquote_plus(name) == _FIELD else field


def _mask(value: str) -> str:
    return "*" * len(value.encode())


def _unescaped(key: str) -> str:
    return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), key)


def _untranslated(_: Notice) -> list[Fact]:
    return []
