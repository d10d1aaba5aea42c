"""Cursors of timeline pages: opaque, bound to their query, tamper-evident.

A cursor is 24 bytes of position (time and UUID of the last event read) and a 16-byte HMAC-SHA256 over the position, the
tenant, the lead and the whole query. It works for nothing but the query that gave it, and holds no key and no personal data.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from lead_events.errors import UnreadableError
from lead_events.instants import format_instant, from_microseconds, to_microseconds
from lead_events.ports import Position, TimelineQuery

_MAC_BYTES: Final = 16


class Cursors:
    """Writes and reads cursors with one secret, asked for when it is first needed."""

    def __init__(self, secret: Callable[[], str]) -> None:
        self._secret = secret

    def write(self, query: TimelineQuery, position: Position) -> str:
        """The cursor that continues ``query`` behind ``position``."""
        uuid = UUID(position.event_id.removeprefix("evt_"))
        return self.seal(_bound(query), to_microseconds(position.occurred_at).to_bytes(8, "big") + uuid.bytes)

    def read(self, query: TimelineQuery, cursor: str) -> Position:
        """The position of a cursor that ``query`` gave. Raises ``UnreadableError`` (``invalid_cursor``) for any other."""
        where = self.open(_bound(query), cursor)
        return Position(from_microseconds(int.from_bytes(where[:8], "big")), f"evt_{UUID(bytes=where[8:])}")

    def seal(self, bound: Sequence[object], where: bytes) -> str:
        """A cursor for the position ``where`` that works for nothing but what ``bound`` names."""
        return urlsafe_b64encode(where + self._mac(bound, where)).rstrip(b"=").decode()

    def open(self, bound: Sequence[object], cursor: str) -> bytes:
        """Inverse of ``seal``. Raises ``UnreadableError`` (``invalid_cursor``)."""
        try:
            data = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        except ValueError:
            data = b""
        where, mac = data[:-_MAC_BYTES], data[-_MAC_BYTES:]
        # Compared before anything of it is used; re-encoded, because Base64 has several spellings of the same bytes.
        canonical = urlsafe_b64encode(data).rstrip(b"=").decode() == cursor
        if not where or not hmac.compare_digest(mac, self._mac(bound, where)) or not canonical:
            raise UnreadableError("The cursor is not one of this query.", code="invalid_cursor")
        return where

    def _mac(self, bound: Sequence[object], where: bytes) -> bytes:
        message = json.dumps(bound).encode() + b"\0" + where
        return hmac.new(self._secret().encode(), message, hashlib.sha256).digest()[:_MAC_BYTES]


def _bound(query: TimelineQuery) -> list[object]:
    return [
        "timeline",
        query.organization_id,
        query.lead_id,
        query.event_type,
        query.start and format_instant(query.start),
        query.end and format_instant(query.end),
        query.descending,
    ]
