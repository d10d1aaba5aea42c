"""Money as providers write it, to decimal amounts in major units."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from lead_events.errors import InvalidError
from lead_events.strict_json import Json

_MAJOR_UNITS: Final = re.compile(r"\d{1,15}(\.\d{1,10})?", re.ASCII)


def from_minor_units(amount: object, digits: int, field: str) -> Decimal:
    """``1990`` with two digits is ``19.90``."""
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise InvalidError.of(field, "must be a whole number of minor units")
    return Decimal(f"{amount}E-{digits}")  # exact: arithmetic would round to the context's precision


def from_major_units(amount: Json) -> Decimal | None:
    """An amount that is in major units already, a JSON number or a string such as ``25.50``; ``None`` for anything else.

    Below 10^15 with at most ten decimals, so that sums and differences stay exact.
    """
    if isinstance(amount, str) and _MAJOR_UNITS.fullmatch(amount):
        return Decimal(amount)
    if isinstance(amount, bool) or not isinstance(amount, int | Decimal):
        return None
    exact = Decimal(amount)
    exponent = exact.as_tuple().exponent
    return exact if 0 <= exact < 10**15 and isinstance(exponent, int) and -10 <= exponent <= 15 else None


def percent(part: Decimal, whole: Decimal) -> Decimal | None:
    """``part`` of ``whole`` in percent, where two decimals hold it exactly. Both as ``from_major_units`` gives them."""
    if not 0 < part <= whole:
        return None
    hundredths, rest = divmod(int(part.scaleb(10)) * 10_000, int(whole.scaleb(10)))
    return None if rest else from_minor_units(hundredths, 2, "percent")
