"""The tenant's own site: its backend, which signs, and the widget in its visitors' browsers, which cannot.

**Backend.** Standard Webhooks (standardwebhooks.com), also under Svix's names: ``webhook-id``, ``webhook-timestamp`` in Unix
seconds and ``webhook-signature``, or ``svix-…``. A secret is ``whsec_`` and Base64. All event types are accepted.

**Browser.** No secret can live there, so nothing is proven: a publishable key and an ``Origin`` of its list keep other
sites' pages out, while anyone can forge both outside of a browser. Hence a narrow trust: only ``BROWSER_TYPES``, marked
``trust: "browser"``, in small bodies. Their external ids are a space of their own (``browser:{eventId}``), so that no visitor
can take an id that the backend is going to use. The key stands in the header ``x-lead-events-key`` or, for ``sendBeacon``
cannot set one, in the body's ``siteKey``; the body may be sent as ``text/plain``.

A site is an entry of the same list as the signing secrets, so that it rotates as they do. It is public and never signs::

    {"secrets": ["whsec_…", "browser:{\\"key\\": \\"pk_…\\", \\"origins\\": [\\"https://shop.example\\"]}"]}

Which of the two a delivery is, its message id alone decides, here and when it is translated: with ``webhook-id`` or
``svix-id`` it must be signed; without, it is a browser's.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lead_events.errors import InvalidError, RejectedError, TooLargeError, UnreadableError
from lead_events.event import Delivery, Translation
from lead_events.instants import to_microseconds
from lead_events.providers._excerpts import Cuttable
from lead_events.providers._reading import items, text
from lead_events.providers._signatures import equal_to_any, unauthenticated, usable
from lead_events.providers._web_events import Entry, draft_of
from lead_events.strict_json import Json, decode_text, loads, loads_array

HEADERS: Final = ("webhook-id", "svix-id")
"""Lower-case request headers that a translation needs: they tell a signed delivery from a browser's."""

TOLERANCE: Final = timedelta(seconds=300)
"""How far a signature's time may be from ours, either way."""

MAX_BROWSER_BYTES: Final = 32 * 1024
MAX_BROWSER_EVENTS: Final = 50
MAX_EVENTS: Final = 1_000
"""Events of one signed delivery."""

_SECRET_PREFIX: Final = "whsec_"  # noqa: S105  # how secrets begin
_SITE_PREFIX: Final = "browser:"
_KEY: Final = re.compile(r"pk_[A-Za-z0-9_-]{1,100}", re.ASCII)
_ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]{1,253}(?::\d{1,5})?", re.ASCII)
_SECONDS: Final = re.compile(r"\d{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Site:
    """A publishable key and the origins of the pages that may use it."""

    key: str
    origins: frozenset[str]


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:
    """A signature, or a site's key from one of its origins.

    Raises ``TooLargeError`` too: a browser that names a site well may know that it sent more than is taken.
    """
    entries = usable(secrets)
    scheme = _scheme(headers)
    if scheme:
        _verify_signature(scheme, headers, body, entries, now)
    else:
        _verify_site(headers, body, list(_sites(entries)))


def response_headers(headers: Mapping[str, str], secrets: Sequence[str]) -> dict[str, str]:
    """CORS: a page of a known origin may read the answer, whatever it is."""
    origin = headers.get("origin", "").strip()
    known = any(_normal(origin) in site.origins for site in _sites(secrets))
    return {"access-control-allow-origin": origin, "vary": "Origin"} if known else {}


def translate(delivery: Delivery) -> list[Translation]:
    """Every event of a delivery: one alone, a JSON array of them, or an object with an ``events`` array.

    An event keeps its own text of a batch as its raw payload: it can be translated alone. Raises ``RejectedError`` where
    there is no event, or more than are taken at once.
    """
    scheme = _scheme(delivery.headers)
    message_id = delivery.headers.get(f"{scheme}-id") if scheme else None
    found = _entries(delivery.body)
    if len(found) > (MAX_EVENTS if message_id else MAX_BROWSER_EVENTS):
        raise TooLargeError("A delivery holds more events than are taken at once.")
    alone = len(found) == 1 and found[0][1] == delivery.body
    translations: list[Translation] = []
    for index, (value, raw) in enumerate(found):
        own_id = None if message_id is None else (message_id,) if alone else (message_id, str(index))
        try:
            translations.append(draft_of(Entry(delivery, value, raw, own_id)))
        except RejectedError as error:
            translations.append(error)
    return translations


def stored_headers(external_event_id: str) -> dict[str, str]:
    """What an external id of ours tells of the headers of its delivery: whether it was signed."""
    return {} if external_event_id.startswith("browser:") else {"webhook-id": external_event_id}


def _scheme(headers: Mapping[str, str]) -> str | None:
    return next((name for name in ("webhook", "svix") if headers.get(f"{name}-id", "").strip()), None)


def _verify_signature(
    scheme: str, headers: Mapping[str, str], body: bytes, entries: Sequence[str], now: datetime
) -> None:
    """``v1,<Base64>``, several of them apart by blanks, of HMAC-SHA256 over ``{id}.{timestamp}.{body}``."""
    message_id, timestamp = headers[f"{scheme}-id"], headers.get(f"{scheme}-timestamp", "")
    given = [each.removeprefix("v1,") for each in headers.get(f"{scheme}-signature", "").split() if each[:3] == "v1,"]
    if not _SECONDS.fullmatch(timestamp):
        raise unauthenticated()
    signed = f"{message_id}.{timestamp}.".encode(errors="backslashreplace") + body
    macs = [hmac.new(key, signed, hashlib.sha256).digest() for each in entries if (key := _signing_key(each))]
    genuine = equal_to_any(given, [base64.b64encode(mac).decode() for mac in macs])
    age = timedelta(microseconds=to_microseconds(now)) - timedelta(seconds=int(timestamp))
    if not genuine or abs(age) > TOLERANCE:
        raise unauthenticated()


def _signing_key(entry: str) -> bytes | None:
    """The bytes behind ``whsec_``; ``None`` for anything else: a publishable key must never sign."""
    encoded = entry.strip().removeprefix(_SECRET_PREFIX).rstrip("=")
    if not entry.strip().startswith(_SECRET_PREFIX):
        return None
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def _verify_site(headers: Mapping[str, str], body: bytes, sites: Sequence[Site]) -> None:
    origin = _normal(headers.get("origin", ""))
    own = [site for site in sites if origin in site.origins]
    if not own:  # before anything is read: strangers are not worth the work
        raise unauthenticated()
    try:
        found = loads(decode_text(body))
    except UnreadableError:
        raise unauthenticated() from None
    key = headers.get("x-lead-events-key", "").strip() or text(found, "siteKey") or ""
    if not equal_to_any([key], [site.key for site in own]):
        raise unauthenticated()
    if len(body) > MAX_BROWSER_BYTES:
        raise TooLargeError(f"A browser sends at most {MAX_BROWSER_BYTES} bytes at once.")
    if len(found if isinstance(found, list) else items(found, "events")) > MAX_BROWSER_EVENTS:
        raise TooLargeError(f"A browser sends at most {MAX_BROWSER_EVENTS} events at once.")


def _sites(entries: Sequence[str]) -> Iterator[Site]:
    """The sites among a list of secrets. One that cannot be read, or has no key or no origin, lets nobody in."""
    for each in entries:
        if not each.strip().startswith(_SITE_PREFIX):
            continue
        try:
            site = loads(each.strip().removeprefix(_SITE_PREFIX))
        except UnreadableError:
            continue
        key = text(site, "key") or ""
        origins = {_normal(origin) for origin in items(site, "origins") if isinstance(origin, str)}
        if _KEY.fullmatch(key):
            yield Site(key, frozenset(origin for origin in origins if _ORIGIN.fullmatch(origin)))


def _normal(origin: str) -> str:
    return origin.strip().lower().removesuffix("/")


def _entries(body: str) -> list[tuple[Json, str]]:
    value = loads(body)
    if isinstance(value, list):
        found = loads_array(body)
    elif isinstance(value, dict) and isinstance(value.get("events"), list):
        found = list(zip(items(value, "events"), Cuttable(body).elements("events"), strict=True))
    elif isinstance(value, dict):
        found = [(value, body)]
    else:
        raise InvalidError.of("body", "must be an event, an array of events, or an object with events")
    if not found:
        raise InvalidError.of("events", "must hold at least one event")
    return found
