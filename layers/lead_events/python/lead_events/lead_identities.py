"""Identities of a lead as the CRM tells and reads them."""

from __future__ import annotations

import re
from typing import Any, Final

from lead_events.errors import ConflictError, FieldError, InvalidError
from lead_events.event import Identity, IdentityKind
from lead_events.identity import Resolver
from lead_events.instants import format_instant
from lead_events.strict_json import Json, decode_text, loads

MAX_IDENTITIES: Final = 20
"""Most identities of one request."""
_CUSTOMER: Final = re.compile(r"[a-z0-9_-]+:\S.*", re.ASCII)
"""As the providers' modules write it: any other spelling would never be met again."""
_FIELDS: Final = frozenset({"kind", "value", "region"})


class LeadIdentities:
    """Gives leads their identities. Values are compared and forgotten: only their HMAC is stored."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def put(self, organization_id: str, lead_id: str, body: bytes) -> dict[str, Any]:
        """Add the identities of a JSON body ``{"identities": [{"kind", "value", "region"?}]}``; all of them or none.

        Raises ``ConflictError`` that names those that are another lead's.
        """
        identities = _read(loads(decode_text(body)))
        foreign = self._resolver.assign(organization_id, lead_id, identities)
        if foreign:
            errors = tuple(FieldError(f"identities.{index}", "is another lead's") for index in foreign)
            raise ConflictError("Identities belong to another lead.", code="identity_conflict", errors=errors)
        return self.get(organization_id, lead_id)

    def get(self, organization_id: str, lead_id: str) -> dict[str, Any]:
        """What a lead is known by: kinds and since when."""
        known = self._resolver.of_lead(organization_id, lead_id)
        return {"identities": [{"kind": each.kind.value, "since": format_instant(each.since)} for each in known]}


def _read(body: Json) -> list[Identity]:
    entries = body.get("identities") if isinstance(body, dict) and set(body) == {"identities"} else None
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_IDENTITIES:
        raise InvalidError.of("identities", f"must be a list of 1 to {MAX_IDENTITIES}, and the only field")
    return [_identity(entry, f"identities.{index}") for index, entry in enumerate(entries)]


def _identity(entry: Json, field: str) -> Identity:
    if not isinstance(entry, dict) or not _FIELDS.issuperset(entry):
        raise InvalidError.of(field, "must have kind, value and, for a phone, region")
    kind, value, region = entry.get("kind"), entry.get("value"), entry.get("region")
    if not isinstance(kind, str) or kind not in list(IdentityKind):
        raise InvalidError.of(f"{field}.kind", "must be customer, phone or email")
    if not isinstance(value, str) or not 0 < len(value) <= 255:
        raise InvalidError.of(f"{field}.value", "must be a string of 1 to 255 characters")
    if kind == IdentityKind.CUSTOMER and not _CUSTOMER.fullmatch(value):
        raise InvalidError.of(f"{field}.value", "must be {provider}:{id}, the provider in lower case")
    if region is not None and not (
        isinstance(region, str) and len(region) == 2 and region.isalpha() and region.isascii()
    ):
        raise InvalidError.of(f"{field}.region", "must be a country code of two letters")
    return Identity(IdentityKind(kind), value, region if isinstance(region, str) else None)
