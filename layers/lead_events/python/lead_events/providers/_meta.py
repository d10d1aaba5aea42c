"""What WhatsApp and Instagram share: Meta's signature and handshake, batches, ids, and when a conversation starts.

Secrets. A Meta webhook has two kinds, in one list: an app secret stands as it is, the token of the GET handshake as
``verify:<token>``. Neither ever counts as the other: who knows the token, which travels in a URL, cannot sign.

Raw payloads. Meta sends up to a thousand updates in one body. An event keeps the body without its siblings (see
``_excerpts``); the only update of a body keeps the body to the letter.

Conversations. ``conversation_started`` means the first inbound message after a silence, which a delivery alone cannot know.
So a conversation is what a person and a business account write in one *day*: every inbound message tells that it started, all
of them under one id, so that the first to arrive is stored and the others are duplicates. No state, no order. The day begins
at 06:00 UTC, 3 a.m. in Brasília, when the fewest write. A message that came from an advertisement says so in ``context``; if
another message of the day arrived before, its own event and tracking still do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl

from lead_events.errors import ForbiddenError, InvalidError, RejectedError, UnreadableError
from lead_events.event import Delivery, EventDraft, Identity, IdentityKind, OrganizationEvent, SharedFact, Translation
from lead_events.limits import check_payload
from lead_events.names import Source
from lead_events.providers._contract import keeps_contract
from lead_events.providers._excerpts import Cuttable
from lead_events.providers._reading import at, items, known, planted_lead, reference
from lead_events.providers._signatures import equal_to_any, sha256, unauthenticated, usable
from lead_events.sources import SOURCE_TYPES
from lead_events.strict_json import Json, loads

VERIFY: Final = "verify:"
"""Marks the handshake's token among the secrets."""

DAY_BEGINS: Final = timedelta(hours=6)
"""After midnight UTC."""

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_.=-]{1,256}", re.ASCII)  # nothing that any reader could take for markup
_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)
_TEST_ENTRY: Final = "0"
"""Id of the entry that the dashboard's test button sends."""


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:
    """HMAC-SHA256 of the body as received, in lower-case hex, under the app secret as text.

    ``X-Hub-Signature-256: sha256=<hex>``; the older ``X-Hub-Signature`` (SHA-1) never counts. Meta signs the escaped form
    that it sends. There is no time in it, so nothing of it grows old.
    """
    del now
    keys = usable([secret for secret in secrets if not _is_token(secret)])
    expected = [f"sha256={sha256(key, body).hex()}" for key in keys]
    if not equal_to_any([headers.get("x-hub-signature-256", "")], expected):
        raise unauthenticated()


def handshake(query: Mapping[str, str], secrets: Sequence[str]) -> str:
    """The challenge, where the token is one of ours. Raises ``ForbiddenError`` or, without a challenge, ``UnreadableError``."""
    tokens = [secret.strip().removeprefix(VERIFY) for secret in secrets if _is_token(secret)]
    known_token = equal_to_any([query.get("hub.verify_token", "")], [token for token in tokens if token.strip()])
    if query.get("hub.mode") != "subscribe" or not known_token:
        raise ForbiddenError("The verify token is not the one of this webhook.")
    challenge = query.get("hub.challenge", "")
    if not _CHALLENGE.fullmatch(challenge):
        raise UnreadableError("hub.challenge must be 1 to 256 letters, digits or _ . = -", code="invalid_parameter")
    return challenge


def _is_token(secret: str) -> bool:
    return secret.strip().startswith(VERIFY)


@dataclass(frozen=True, slots=True)
class Entry:
    """One business account's part of a delivery."""

    delivery: Delivery
    source: Source
    path: str
    value: dict[str, Json]
    text: Cuttable
    _whole: Cuttable = field(repr=False)

    @property
    def id(self) -> str:
        """The business account's id; empty where it is missing."""
        return reference(self.value, "id") or ""

    @property
    def test(self) -> bool | None:
        """Whether somebody pressed the dashboard's test button."""
        return True if self.id == _TEST_ENTRY else None

    def raw(self, lists: Mapping[str, Sequence[str]]) -> str:
        """The delivery's text with only these elements of this entry."""
        return self._whole.keeping({"entry": [self.text.keeping(lists)]})


def entries(delivery: Delivery, source: Source, kind: str) -> Iterator[Entry | RejectedError]:
    """The entries of a delivery whose ``object`` is ``kind``. Raises ``RejectedError`` for anything else."""
    body = loads(delivery.body)
    found = items(body, "entry")
    if at(body, "object") != kind:
        raise InvalidError.of("object", f"must be {kind}")
    if not found:
        raise InvalidError.of("entry", "must be a list with at least one entry")
    whole = Cuttable(delivery.body)
    for index, (entry, text) in enumerate(zip(found, whole.elements("entry"), strict=True)):
        path = f"entry[{index}]"
        yield (
            Entry(delivery, source, path, entry, Cuttable(text), whole)
            if isinstance(entry, dict)
            else InvalidError.of(path, "must be an object")
        )


def attempt(translate: Callable[[], Sequence[Translation]]) -> Sequence[Translation]:
    """The events of one element, or the error that keeps it out, and it alone."""
    try:
        return translate()
    except RejectedError as error:
        return [error]


@dataclass(frozen=True, slots=True)
class Fact:
    """One normalised event. Without an ``id`` of its own it has its element's."""

    event_type: str
    payload: dict[str, Json]
    id: str | None = None
    one_voice: bool = False
    """Others tell of it under the same id, each in its own words: the first is stored, the rest are duplicates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What all events of one element of a batch share."""

    entry: Entry
    id: str
    occurred_at: datetime
    raw: str
    identities: tuple[Identity, ...] = ()
    leads: Sequence[Json] = ()
    """Lead ids that we planted, best first."""
    tracking: Mapping[str, str] = field(default_factory=dict)
    object_id_ref: str | None = None


def drafts(told: Told, unknown: Fact, facts: Sequence[Fact]) -> list[EventDraft]:
    """The drafts of ``facts``; ``unknown``, under Meta's own name, stands in for a first one that breaks its contract."""
    first, *others = facts or [unknown]
    main = next((each for each in (first, unknown) if _holds(each)), Fact(unknown.event_type, {}))
    return [_draft(told, each) for each in (main, *filter(_holds, others))]


def _draft(told: Told, fact: Fact) -> EventDraft:
    source, delivery = told.entry.source, told.entry.delivery
    shared = SharedFact(fact.id, f"{source}.{fact.event_type}", fact.payload) if fact.id and fact.one_voice else None
    return EventDraft(
        organization_id=delivery.organization_id,
        source_type=SOURCE_TYPES[source],
        source=source.value,
        event_type=fact.event_type,
        payload=fact.payload,
        occurred_at=told.occurred_at,
        received_at=delivery.received_at,
        lead_id=planted_lead(*told.leads, delivery.lead_id),
        external_event_id=fact.id or told.id,
        shared_fact=shared,
        identities=told.identities,
        tracking=told.tracking,
        object_id_ref=told.object_id_ref,
        raw_payload=told.raw,
    )


def organization_event(told: Told, name: str, value: Json) -> OrganizationEvent:
    """What tells of the business account and of no person."""
    payload: dict[str, Json] = {"accountId": told.entry.id, "value": value}
    return OrganizationEvent(
        organization_id=told.entry.delivery.organization_id,
        source=told.entry.source.value,
        type=f"{told.entry.source}.{name.replace('_', '-').lower()}",
        external_event_id=told.id,
        occurred_at=told.occurred_at,
        payload=payload if storable(payload) else known(accountId=told.entry.id),
    )


def conversation(entry: Entry, business: str, person: str, at_: datetime, context: Mapping[str, Json]) -> Fact:
    """That a conversation started; see the top of this page. The person is hashed: an id is no place for a phone."""
    day = (at_ - DAY_BEGINS).date().isoformat()
    payload = known(channel=entry.source.value, **context, test=entry.test)
    return Fact("conversation_started", payload, f"conversation:{day}:{digest(business, person)}", one_voice=True)


def event_id(*parts: str) -> str:
    """An external id: the parts as they are, or hashed where they are too long or no text for an id."""
    return reference(":".join(parts)) or f"sha256:{digest(*parts)}"


def digest(*parts: str) -> str:
    """32 hex digits that stand for ``parts``."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


def customer(source: Source, person: str | None) -> tuple[Identity, ...]:
    """The identity of Meta's own id of a person."""
    return (Identity(IdentityKind.CUSTOMER, f"{source}:{person}"),) if person else ()


def word(value: Json, *path: str | int) -> str | None:
    """The value of an enumeration at ``path``, fit for an event type."""
    found = at(value, *path)
    return found if isinstance(found, str) and _WORD.fullmatch(found) else None


def code(value: Json, *path: str | int) -> int | None:
    """The number of an error at ``path``."""
    found = at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 10**18 else None


def words_for_us(text: str | None) -> dict[str, Json] | None:
    """What we wrote into a field that Meta hands back: a JSON object or ``key=value&…``; ``None`` where it is neither."""
    if text is None:
        return None
    if text.lstrip().startswith("{"):
        try:
            found = loads(text)
        except UnreadableError:
            return {}
        return found if isinstance(found, dict) else {}
    try:
        return dict(parse_qsl(text, max_num_fields=50)) or None
    except ValueError:
        return None


def campaign_of(text: str | None, *, bare: bool) -> str | None:
    """The campaign that a text of ours names: its ``campaignId`` or, where ``bare``, the text itself."""
    ours = words_for_us(text)
    if ours is None:
        return reference(text) if bare and text and text.strip() else None
    return reference(ours, "campaignId") or reference(ours, "campaign_id")


def storable(payload: Json) -> bool:
    """Whether a payload can be stored as it is."""
    try:
        check_payload(payload)
    except InvalidError:
        return False
    return True


def _holds(fact: Fact) -> bool:
    return keeps_contract(fact.event_type, fact.payload)
