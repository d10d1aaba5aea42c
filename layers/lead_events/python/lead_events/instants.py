"""Instants: strict reading, one fixed width, safe bounds.

An instant is an aware ``datetime`` in UTC with microsecond precision. On the wire and in keys it is written with exactly
six fraction digits (``2026-01-15T14:00:00.000000Z``), so that string order is time order. Finer digits are cut off, never
rounded into the next second. Leap seconds (``:60``), ``24:00`` and local times without an offset are not supported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_DOWN, Decimal
from typing import Final

from lead_events.errors import InvalidError

Clock = Callable[[], datetime]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
END: Final = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

# RFC 3339 section 5.6; lower-case t and z are allowed by its note.
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII
)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MAX_UNIX: Final = 10**16  # digits enough for milliseconds of the year 9999
_RULE: Final = "must be an RFC 3339 date-time with an offset, between 1970 and 9999"


def now() -> datetime:
    """The current instant."""
    return datetime.now(UTC)


def parse_instant(value: object, field: str) -> datetime:
    """Read an RFC 3339 string; raise ``InvalidError`` (code ``invalid_time``) that names ``field`` otherwise."""
    match = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InvalidError.of(field, _RULE, code="invalid_time")
    year, month, day, hour, minute, second = (int(group) for group in match.groups()[:6])
    fraction, zulu, sign, offset_hours, offset_minutes = match.groups()[6:]
    try:
        zone = UTC if zulu else _zone(sign, int(offset_hours), int(offset_minutes))
        microsecond = int((fraction or "")[:6].ljust(6, "0"))
        instant = datetime(year, month, day, hour, minute, second, microsecond, zone).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidError.of(field, _RULE, code="invalid_time") from None
    return _bounded(instant, field)


def parse_bound(value: str, field: str, *, end: bool) -> datetime:
    """Read one end of a half-open range: an instant, or a date that stands for its whole day in UTC.

    As the lower end a date means its first instant; as the upper end the first instant of the next day.
    """
    if not _DATE.fullmatch(value):
        return parse_instant(value, field)
    try:
        day = date.fromisoformat(value)
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return _bounded(start + timedelta(days=1) if end else start, field)
    except (ValueError, OverflowError):
        raise InvalidError.of(field, _RULE, code="invalid_time") from None


def from_unix_seconds(value: object, field: str) -> datetime:
    """Read whole or fractional seconds since 1970 (a number, or a string of digits as WhatsApp sends it)."""
    return _from_unix(value, 1_000_000, field)


def from_unix_milliseconds(value: object, field: str) -> datetime:
    """Read milliseconds since 1970 (a number, or a string of digits)."""
    return _from_unix(value, 1_000, field)


def format_instant(instant: datetime) -> str:
    """Write an instant in its one fixed width of 27 characters."""
    return f"{instant.year:04d}" + instant.strftime("-%m-%dT%H:%M:%S.%fZ")


def to_microseconds(instant: datetime) -> int:
    """Whole microseconds since 1970, exact."""
    return (instant - EPOCH) // MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """Inverse of ``to_microseconds``."""
    return EPOCH + timedelta(microseconds=microseconds)


def _zone(sign: str, hours: int, minutes: int) -> timezone:
    if hours > 23 or minutes > 59:
        raise ValueError("offset out of range")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if sign == "-" else offset)


def _from_unix(value: object, microseconds_per_unit: int, field: str) -> datetime:
    rule = "must be a time in seconds or milliseconds since 1970, as the provider documents it"
    if isinstance(value, str) and re.fullmatch(r"\d{1,16}", value, re.ASCII):
        value = int(value)
    # Bounded before it is computed with: an exponent can make a number of a few bytes endless.
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value <= _MAX_UNIX:
        raise InvalidError.of(field, rule, code="invalid_time")
    whole = Decimal(value).quantize(Decimal(1) / microseconds_per_unit, rounding=ROUND_DOWN)
    try:
        return _bounded(from_microseconds(int(whole * microseconds_per_unit)), field)
    except OverflowError:
        raise InvalidError.of(field, rule, code="invalid_time") from None


def _bounded(instant: datetime, field: str) -> datetime:
    if not EPOCH <= instant <= END:
        raise InvalidError.of(field, _RULE, code="invalid_time")
    return instant
