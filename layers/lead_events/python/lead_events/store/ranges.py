"""Timeline queries as bounds of sort keys. Both ends of a DynamoDB ``BETWEEN`` are inclusive; ours is half-open."""

from __future__ import annotations

from lead_events.instants import END, EPOCH, MICROSECOND, format_instant
from lead_events.ports import TimelineQuery

_LAST = "~"  # sorts behind every uuid


def table_bounds(query: TimelineQuery) -> tuple[str, str]:
    """Lowest and highest ``occurredAtId`` of the range; ``…#`` stands before every id of its instant."""
    low = format_instant(query.start or EPOCH)
    high = f"{format_instant(query.end)}#" if query.end else f"{format_instant(END)}#{_LAST}"
    return f"{low}#", high


def type_bounds(query: TimelineQuery) -> tuple[str, str]:
    """Lowest and highest ``eventType#occurredAt`` of the range; it has no id behind its instant."""
    low, high = query.start or EPOCH, (query.end - MICROSECOND) if query.end else END
    return f"{query.event_type}#{format_instant(low)}", f"{query.event_type}#{format_instant(high)}"


def is_empty(query: TimelineQuery) -> bool:
    """Whether no instant is in the range: DynamoDB refuses such bounds instead of finding nothing."""
    return query.end is not None and query.end <= (query.start or EPOCH)
