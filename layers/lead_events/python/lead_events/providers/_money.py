"""Money as providers write it, to decimal amounts in major units."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from lead_events.errors import InvalidError

# ISO 4217 currencies whose minor unit is not a hundredth.
_ZERO_DECIMAL: Final = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW MGA PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
_THREE_DECIMAL: Final = frozenset("BHD IQD JOD KWD LYD OMR TND".split())


def minor_unit_digits(currency: str) -> int:
    """Fraction digits of an ISO 4217 currency (upper case)."""
    return 0 if currency in _ZERO_DECIMAL else 3 if currency in _THREE_DECIMAL else 2


def from_minor_units(amount: object, digits: int, field: str) -> Decimal:
    """``1990`` with two digits is ``19.90``."""
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise InvalidError.of(field, "must be a whole number of minor units")
    return Decimal(f"{amount}E-{digits}")  # exact: arithmetic would round to the context's precision
