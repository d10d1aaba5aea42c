"""Which lead an event is of.

A lead is known by *identities*: a provider's own id of the person, a phone, an e-mail. They are stored only as HMAC-SHA256
under a secret of the deployment, each pointing at one lead of one organisation, and first come is first served:

* A planted lead id wins. Its identities are learnt.
* Else the strongest identity that is known decides (provider id, phone, e-mail); unknown ones are learnt.
* Else the lead is new. Its id is derived from the strongest identity that providers share (phone, e-mail, then a provider's
  own id), and all its identities are claimed in one transaction: of simultaneous first contacts of one person one wins, and
  the others find its lead.

Two identities that point at different leads never merge silently: the strongest wins and the conflict is reported.

An identity whose person was erased points at nobody, and remembers until when. Events that happened until then are not of
anybody any more (``admission`` keeps them out); a later one teaches it anew.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from base64 import b32encode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lead_events.errors import InvalidError, UnavailableError, UnresolvedLeadError
from lead_events.event import Identity, IdentityKind
from lead_events.ports import IdentityRecord, IdentityStore, KnownIdentity

DEFAULT_REGION: Final = "BR"
"""Country in which a phone without ``+`` and without a region of its own is read: the platform's own."""

_ATTEMPTS: Final = 5
_MOST: Final = 25
"""Identities of one event that count, strongest first: all of them must fit one transaction."""
_REMEMBERED: Final = 2_000
_REMEMBERED_SECONDS: Final = 60
"""How long a process trusts what it has read: an identity loses its lead by erasure."""
_STRENGTH: Final = (IdentityKind.CUSTOMER, IdentityKind.PHONE, IdentityKind.EMAIL)
_SHARED_FIRST: Final = (IdentityKind.PHONE, IdentityKind.EMAIL, IdentityKind.CUSTOMER)
_DIALLED_PLUS: Final = re.compile(r"^\s*00(?=[1-9 ])", re.ASCII)
_BRAZILIAN: Final = re.compile(r"\+55[1-9]{2}(9\d{8}|[2-5]\d{7})", re.ASCII)
"""A mobile or a landline with its area code, which has no zero."""
_EMAIL: Final = re.compile(r"[^\s@<>,;\"]+@[^\s@<>,;\"]+\.[^\s@<>,;\"]+")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The lead, and the kinds of identity that point at another one."""

    lead_id: str
    conflicts: tuple[IdentityKind, ...] = ()


class Resolver:
    """Finds and learns leads by their identities. Safe to use from several threads."""

    def __init__(self, store: IdentityStore, secret: Callable[[], str]) -> None:
        self._store = store
        self._secret = secret
        self._remembered: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def resolve(
        self, organization_id: str, planted: str | None, identities: Sequence[Identity], *, proven: bool = True
    ) -> Resolved:
        """The lead of an event. Raises ``UnresolvedLeadError`` where nothing tells it.

        ``proven`` says that somebody vouches for the identities; see ``_unproven`` for what becomes of others.
        """
        known_by = self.known_as(organization_id, identities)
        if planted is not None:
            return Resolved(planted, self._learn(organization_id, planted, known_by) if proven else ())
        if not proven:
            known_by = self._unproven(organization_id, known_by)
        if not known_by:
            raise UnresolvedLeadError("The event names no lead, and nothing in it tells who it was.")
        for _ in range(_ATTEMPTS):
            owners = self._owners(list(known_by))
            if owners:
                lead_id = next(owners[key] for key in known_by if key in owners)
                return Resolved(lead_id, self._learn(organization_id, lead_id, known_by, owners))
            lead_id = self._derive(organization_id, known_by)
            if self._store.claim_all(organization_id, lead_id, known_by):
                self._remember(dict.fromkeys(known_by, lead_id))
                return Resolved(lead_id)
        raise UnavailableError("The lead's identities are contended; send again.")

    def known_as(self, organization_id: str, identities: Sequence[Identity]) -> dict[str, IdentityKind]:
        """Keys of the identities that can be read, strongest first."""
        found: dict[str, IdentityKind] = {}
        for identity in sorted(identities, key=lambda each: _STRENGTH.index(each.kind)):
            value = normalise(identity)
            if value is not None and len(found) < _MOST:
                found.setdefault(self._key(organization_id, identity.kind, value), identity.kind)
        return found

    def assign(self, organization_id: str, lead_id: str, identities: Sequence[Identity]) -> list[int]:
        """Give a lead its identities, all or none; positions of those that are another lead's, if any."""
        for index, identity in enumerate(identities):
            if normalise(identity) is None:
                raise InvalidError.of(f"identities.{index}.value", f"is not a {identity.kind} that can be compared")
        keys = [next(iter(self.known_as(organization_id, [identity]))) for identity in identities]
        for _ in range(_ATTEMPTS):
            owners = self._fresh_owners(keys)
            foreign = [index for index, key in enumerate(keys) if owners.get(key, lead_id) != lead_id]
            if foreign:
                return foreign
            new = {key: each.kind for key, each in zip(keys, identities, strict=True) if key not in owners}
            if not new or self._store.claim_all(organization_id, lead_id, new):
                return []
        raise UnavailableError("The lead's identities are contended; send again.")

    def records(self, organization_id: str, identities: Sequence[Identity]) -> list[IdentityRecord]:
        """What is known of those identities that can be read, strongest first; nothing that was remembered."""
        keys = list(self.known_as(organization_id, identities))
        found = self._store.records(keys) if keys else {}
        return [found[key] for key in keys if key in found]

    def of_lead(self, organization_id: str, lead_id: str) -> list[KnownIdentity]:
        """What a lead is known by: kinds and times, never values."""
        return self._store.of_lead(organization_id, lead_id)

    def _unproven(self, organization_id: str, known_by: dict[str, IdentityKind]) -> dict[str, IdentityKind]:
        """The identities by which a visitor's event finds its lead, and which it may teach.

        A visitor has a cookie, and may type anybody's phone or e-mail, or share the computer with others. So what was typed
        decides and is not tied to anything: not to a lead that it does not point at already, but for one that is known by
        cookies alone, the visitor's own until now.
        """
        typed: dict[str, IdentityKind] = {
            key: kind for key, kind in known_by.items() if kind is not IdentityKind.CUSTOMER
        }
        if not typed:
            return known_by
        owners = self._owners(list(known_by))
        pointing = {key: kind for key, kind in typed.items() if key in owners}
        if pointing:
            return dict([next(iter(pointing.items()))])
        anonymous = next((owner for key, owner in owners.items() if key not in typed), None)
        if anonymous is not None:
            known = self._store.of_lead(organization_id, anonymous)
            if all(each.kind is IdentityKind.CUSTOMER for each in known):
                return known_by
        return typed

    def _owners(self, keys: Sequence[str]) -> dict[str, str]:
        fresh = time.monotonic() - _REMEMBERED_SECONDS
        known = {key: self._remembered.get(key, (float("-inf"), "")) for key in keys}
        remembered = {key: owner for key, (learnt_at, owner) in known.items() if learnt_at > fresh}
        missing = [key for key in keys if key not in remembered]
        found = self._fresh_owners(missing) if missing else {}
        self._remember(found)
        return remembered | found

    def _fresh_owners(self, keys: Sequence[str]) -> dict[str, str]:
        known = self._store.records(keys)
        return {key: each.lead_id for key, each in known.items() if each.lead_id is not None}

    def _learn(
        self,
        organization_id: str,
        lead_id: str,
        known_by: dict[str, IdentityKind],
        owners: dict[str, str] | None = None,
    ) -> tuple[IdentityKind, ...]:
        owners = self._owners(list(known_by)) if owners is None and known_by else owners or {}
        conflicts = []
        for key, kind in known_by.items():
            owner = owners.get(key)
            if owner is None:
                owner = self._store.claim(organization_id, lead_id, key, kind) or lead_id
                self._remember({key: owner})  # not what was remembered already: it would never be read again
            if owner != lead_id:
                conflicts.append(kind)
        return tuple(conflicts)

    def _remember(self, owners: dict[str, str]) -> None:
        self._remembered.update({key: (time.monotonic(), owner) for key, owner in owners.items()})
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)

    def _derive(self, organization_id: str, known_by: dict[str, IdentityKind]) -> str:
        strongest = min(known_by, key=lambda key: _SHARED_FIRST.index(known_by[key]))
        digest = self._mac(f"lead#{organization_id}#{strongest}")
        return f"lead_{b32encode(digest[:15]).decode().lower()}"

    def _key(self, organization_id: str, kind: IdentityKind, value: str) -> str:
        return (
            f"ORG#{organization_id}#{urlsafe_b64encode(self._mac(f'{organization_id}#{kind}#{value}')[:24]).decode()}"
        )

    def _mac(self, text: str) -> bytes:
        return hmac.new(self._secret().encode(), text.encode(), hashlib.sha256).digest()


def normalise(identity: Identity) -> str | None:
    """The one spelling of an identity; ``None`` where it cannot be compared."""
    value = identity.value.strip()
    if identity.kind is IdentityKind.PHONE:
        return normalise_phone(value, identity.region)
    if identity.kind is IdentityKind.EMAIL:
        return value.lower() if len(value) <= 254 and _EMAIL.fullmatch(value) else None
    return value or None


def normalise_phone(value: str, region: str | None = None) -> str | None:
    """A phone in E.164 (``+5582900000001``); ``None`` where it cannot be one person's.

    ``00`` is a ``+`` as people dial it: by Brazil's rules ``0055 82 …`` would call Korea (82) through carrier 55. Letters
    (``555-555-SHIP``) and a switchboard's extensions tell of nobody.

    Brazilian mobiles have nine digits since 2016, but WhatsApp's ids of older accounts and many forms lack the first, a 9: it
    is put back. Landlines begin with 2 to 5 and stay as they are, as do numbers of every other country.
    """
    if len(value) > 40 or any(each.isalpha() for each in value):
        return None
    import phonenumbers  # heavy, and few events bring a phone

    try:
        number = phonenumbers.parse(_DIALLED_PLUS.sub("+", value), (region or DEFAULT_REGION).upper())
    except phonenumbers.NumberParseException:
        return None
    if number.extension:
        return None
    # Not is_possible_number: it also takes numbers without an area code, and those would make one lead of strangers. In
    # Brazil even this takes some: 0800 and 4004 have as many digits as numbers without their area code.
    if phonenumbers.is_possible_number_with_reason(number) != phonenumbers.ValidationResult.IS_POSSIBLE:
        return None
    text: str = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    restored = restore_ninth_digit(text)
    return None if restored.startswith("+55") and not _BRAZILIAN.fullmatch(restored) else restored


def restore_ninth_digit(e164: str) -> str:
    """Put the 9 back into a Brazilian mobile of eight digits: ``+558200000001`` becomes ``+5582900000001``.

    Area codes have no zero; ``0800`` and its like are no mobiles.
    """
    return re.sub(r"^\+55([1-9]{2})([016-9]\d{7})$", r"+55\g<1>9\2", e164)
