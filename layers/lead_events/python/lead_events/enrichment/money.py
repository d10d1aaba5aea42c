"""Currencies as ISO 4217 writes them."""

from __future__ import annotations

import re
from typing import Final

from lead_events.enrichment._payload import fields, with_fields
from lead_events.event import EventDraft

_CURRENCY: Final = re.compile(r"\s*([A-Za-z]{3})\s*", re.ASCII)


def normalise_money(draft: EventDraft) -> EventDraft:
    """``currency`` in upper case, without blanks. Amounts are exact decimals in major units already."""
    currency = fields(draft).get("currency")
    match = _CURRENCY.fullmatch(currency) if isinstance(currency, str) else None
    return with_fields(draft, {"currency": match[1].upper()}) if match else draft
