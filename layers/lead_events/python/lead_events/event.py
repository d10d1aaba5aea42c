"""How far an event has come: delivery → draft → lead event → stored event; and how a delivery ends.

* ``Delivery``: what arrived, verified and unread.
* ``EventDraft``: normalised; whose lead it is may still be open.
* ``LeadEvent``: normalised, enriched, of one lead; complete but for its key.
* ``StoredEvent``: what the table holds.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Self
from uuid import UUID

from lead_events.errors import ConflictError, InvalidError, LeadEventsError, RejectedError
from lead_events.instants import EPOCH, format_instant, from_microseconds, to_microseconds
from lead_events.names import ID_PATTERN, lead_key
from lead_events.strict_json import Json

SCHEMA_VERSION: Final = 1
"""Version of the stored shape; raised when the meaning of a stored attribute changes."""


class SourceType(StrEnum):
    EXTERNAL = "EXTERNAL"
    INTERNAL = "INTERNAL"
    DIRECT = "DIRECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A webhook delivery whose signature was verified when it was received."""

    provider: str
    organization_id: str
    body: str
    received_at: datetime
    headers: Mapping[str, str] = field(default_factory=dict)
    """Lower-case names; only those a translation needs."""
    lead_id: str | None = None
    """The lead that the webhook's URL names (``?leadId=``), if any."""


class IdentityKind(StrEnum):
    """What can tell who a lead is, strongest first."""

    CUSTOMER = "customer"
    """A provider's own id of the person; ``value`` is ``{provider}:{id}``."""
    PHONE = "phone"
    EMAIL = "email"


@dataclass(frozen=True, slots=True)
class Identity:
    """One identity as a provider wrote it; normalised before it is compared. Personal data: never logged."""

    kind: IdentityKind
    value: str = field(repr=False)
    region: str | None = None
    """ISO 3166 code of the country in which a phone without ``+`` is read."""


@dataclass(frozen=True, slots=True)
class SharedFact:
    """What happened, where several events of a provider tell of it (a sale: its session, its payment, its invoice).

    The first event to tell a fact counts. A later one is stored too, but as ``event_type`` and ``payload``: under the
    provider's own name, so that nothing is lost and nothing counted twice.
    """

    id: str
    event_type: str
    payload: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """A normalised event; ``lead_id`` is set where its sender planted or named one."""

    organization_id: str
    source_type: SourceType
    source: str
    event_type: str
    payload: Json
    occurred_at: datetime
    received_at: datetime
    lead_id: str | None = None
    external_event_id: str | None = None
    shared_fact: SharedFact | None = None
    identities: tuple[Identity, ...] = ()
    """Who it was, strongest first; for drafts without ``lead_id``, and to learn from those with one."""
    proven: bool = True
    """Whether somebody who knows the person vouches for lead and identities. Nobody does for what a browser says: it must
    not teach whom a phone or an e-mail belongs to."""
    tracking: Mapping[str, str] = field(default_factory=dict)
    """Where the lead came from, in the provider's names: utm_source …, src, sck, xcod, ref, ad_id, landing_url …"""
    object_id: str | None = None
    object_id_ref: str | None = None
    raw_payload: str | None = None
    """The original text, byte for byte."""
    request_text: str | None = field(default=None, compare=False)
    """What becomes the raw payload where enrichment rewrites something that the caller wrote, and there is none."""
    data_content_type: str | None = None
    """CloudEvents ``datacontenttype`` where it is not ``application/json``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationEvent:
    """What a provider tells about an organisation, not about one lead: a shop's privacy request, for one."""

    organization_id: str
    source: str
    type: str
    """CloudEvents type ``domain.event-name``."""
    external_event_id: str
    occurred_at: datetime
    payload: Json


Translation = EventDraft | OrganizationEvent | RejectedError
"""One thing that a delivery holds. An error stands for an entry that cannot be read; the others are none the worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadEvent(EventDraft):
    """An event of one lead."""

    lead_id: str

    def retold(self) -> LeadEvent | None:
        """This event as it is stored where another has told its fact already."""
        fact = self.shared_fact
        if fact is None:
            return None
        return replace(self, shared_fact=None, event_type=fact.event_type, payload=fact.payload)

    @classmethod
    def of(cls, draft: EventDraft, lead_id: str) -> Self:
        """Give ``draft`` its lead."""
        return cls(**{each.name: getattr(draft, each.name) for each in fields(draft)} | {"lead_id": lead_id})


@dataclass(frozen=True, slots=True, order=True)
class EventKey:
    """Primary key of an event: ``ORG#…#LEAD#…`` and ``{occurredAt}#{uuid}``."""

    lead_organization_id: str
    occurred_at_id: str

    @classmethod
    def of_event_id(cls, organization_id: str, lead_id: str, event_id: str) -> Self | None:
        """The key of an event by its id, which carries its time; ``None`` where the id is not one of ours."""
        instant = occurred_at_of(event_id)
        if instant is None:
            return None
        return cls(lead_key(organization_id, lead_id), f"{format_instant(instant)}#{event_id.removeprefix('evt_')}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent(LeadEvent):
    """An event with its id; ``event_id`` is ``evt_`` and a UUIDv7 of ``occurred_at``."""

    event_id: str
    schema_version: int = SCHEMA_VERSION
    stored_at: datetime = field(default=EPOCH, compare=False)
    """When the store wrote it, to the second; 1970 before it is stored and from an index, which does not hold it."""

    @classmethod
    def first(cls, event: LeadEvent) -> Self:
        """Give ``event`` a new id."""
        return cls.known(event, new_event_id(event.occurred_at))

    @classmethod
    def known(cls, event: LeadEvent, event_id: str) -> Self:
        """Give ``event`` an id that is already claimed for it."""
        return cls(**{each.name: getattr(event, each.name) for each in fields(LeadEvent)}, event_id=event_id)

    @property
    def key(self) -> EventKey:
        uuid = self.event_id.removeprefix("evt_")
        return EventKey(lead_key(self.organization_id, self.lead_id), f"{format_instant(self.occurred_at)}#{uuid}")


class OutcomeKind(StrEnum):
    """How a delivery ends, besides an exception (the queue redelivers it, the caller sends again)."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    REJECTED = "rejected"
    ERASED = "erased"
    """About somebody who was erased, or an organisation whose retention has expired: nothing of it is kept."""
    FORWARDED = "forwarded"
    """Not an event of a lead: handed on to the domain that it concerns."""
    APPLIED = "applied"
    """Told something about an organisation, and its state says so now."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The named end of one event; ``event`` is the first stored one for ``stored`` and ``duplicate``."""

    kind: OutcomeKind
    event: StoredEvent | None = None
    error: LeadEventsError | None = None
    identity_conflicts: tuple[str, ...] = ()
    """Kinds of identity that point at another lead than the event's."""
    organization_id: str | None = None
    """Whose state it is about, where it is no event of a lead."""

    @classmethod
    def rejected(cls, error: RejectedError) -> Self:
        """The end of what a rule kept out."""
        if not error.kept:
            return cls(OutcomeKind.ERASED, error=error)
        return cls(OutcomeKind.CONFLICT if isinstance(error, ConflictError) else OutcomeKind.REJECTED, error=error)

    def stored(self) -> StoredEvent:
        """The stored event, or the error that kept it out."""
        if self.event is None:
            raise self.error or LeadEventsError("An outcome has neither event nor error.")
        return self.event


def new_event_id(occurred_at: datetime) -> str:
    """``evt_`` and a UUIDv7 whose timestamp is ``occurred_at`` with its microseconds (RFC 9562 §6.2, method 3).

    So the id leads to the event's key without an index, and ids sort as their events do.
    """
    milliseconds, microseconds = divmod(to_microseconds(occurred_at), 1_000)
    value = milliseconds << 80 | 0x7 << 76 | microseconds << 64 | 0b10 << 62 | secrets.randbits(62)
    return f"evt_{UUID(int=value)}"


_EVENT_ID: Final = re.compile(r"evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)


def occurred_at_of(event_id: str) -> datetime | None:
    """The instant inside one of our event ids; ``None`` for anything else."""
    if not _EVENT_ID.fullmatch(event_id):
        return None
    value = UUID(event_id.removeprefix("evt_")).int
    milliseconds, microseconds = value >> 80, value >> 64 & 0xFFF
    try:
        return from_microseconds(milliseconds * 1_000 + microseconds) if microseconds < 1_000 else None
    except OverflowError:
        return None


_ID: Final = re.compile(ID_PATTERN, re.ASCII)
# No '#': it separates the parts of our keys. No blanks or control characters: a source is a name or a URI reference.
_SOURCE: Final = re.compile(r"[!-\"$-~]{1,100}", re.ASCII)
_EVENT_TYPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}", re.ASCII)


def check_id(value: object, field_name: str) -> str:
    """An organisation or lead id."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise InvalidError.of(field_name, f"must match {ID_PATTERN}", code="invalid_id")
    return value


def check_source(value: object, field_name: str) -> str:
    """A source, lower-cased."""
    if not isinstance(value, str) or not _SOURCE.fullmatch(value):
        raise InvalidError.of(
            field_name, "must be 1 to 100 visible ASCII characters without '#'", code="invalid_source"
        )
    return value.lower()


def check_event_type(value: object, field_name: str) -> str:
    """An event type; any name of letters, digits and ``. _ : / -`` of at most 100 characters."""
    if not isinstance(value, str) or not _EVENT_TYPE.fullmatch(value):
        raise InvalidError.of(
            field_name, "must be 1 to 100 letters, digits or . _ : / -, starting with a letter or digit"
        )
    return value


def check_reference(value: object, field_name: str) -> str | None:
    """An external id or object id of at most 255 characters; absent, null and empty are the same."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > 255 or any(ord(each) < 32 or ord(each) == 127 for each in value):
        raise InvalidError.of(field_name, "must be a string of at most 255 characters without control characters")
    return value
