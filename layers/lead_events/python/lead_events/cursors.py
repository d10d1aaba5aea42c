"""Cursors of timeline pages: opaque, bound to their query, tamper-evident.

A cursor is 24 bytes of position (time and UUID of the last event read) and a 16-byte HMAC-SHA256 over the position, the
tenant, the lead and the whole query. It works for nothing but the query that gave it, and holds no key and no personal data.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Final
from uuid import UUID

from lead_events.errors import UnreadableError
from lead_events.instants import format_instant, from_microseconds, to_microseconds
from lead_events.ports import Position, TimelineQuery

_POSITION_BYTES: Final = 24
_MAC_BYTES: Final = 16


class Cursors:
    """Writes and reads cursors with one secret, asked for when it is first needed."""

    def __init__(self, secret: Callable[[], str]) -> None:
        self._secret = secret

    def write(self, query: TimelineQuery, position: Position) -> str:
        """The cursor that continues ``query`` behind ``position``."""
        uuid = UUID(position.event_id.removeprefix("evt_"))
        where = to_microseconds(position.occurred_at).to_bytes(8, "big") + uuid.bytes
        return urlsafe_b64encode(where + self._mac(query, where)).rstrip(b"=").decode()

    def read(self, query: TimelineQuery, cursor: str) -> Position:
        """The position of a cursor that ``query`` gave. Raises ``UnreadableError`` (``invalid_cursor``) for any other."""
        try:
            data = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        except ValueError:
            data = b""
        where, mac = data[:_POSITION_BYTES], data[_POSITION_BYTES:]
        # Compared before anything of it is used; re-encoded, because Base64 has several spellings of the same bytes.
        canonical = urlsafe_b64encode(data).rstrip(b"=").decode() == cursor
        if len(mac) != _MAC_BYTES or not hmac.compare_digest(mac, self._mac(query, where)) or not canonical:
            raise UnreadableError("The cursor is not one of this query.", code="invalid_cursor")
        return Position(from_microseconds(int.from_bytes(where[:8], "big")), f"evt_{UUID(bytes=where[8:])}")

    def _mac(self, query: TimelineQuery, where: bytes) -> bytes:
        bound = [
            query.organization_id,
            query.lead_id,
            query.event_type,
            query.start and format_instant(query.start),
            query.end and format_instant(query.end),
            query.descending,
        ]
        message = json.dumps(bound).encode() + where
        return hmac.new(self._secret().encode(), message, hashlib.sha256).digest()[:_MAC_BYTES]
