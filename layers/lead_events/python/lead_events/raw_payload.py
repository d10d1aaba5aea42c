"""How a raw payload is kept: always the exact text, in the cheapest of three forms.

A DynamoDB write costs one unit per started KB of the whole item. So the text stands in the item as it is (a string) unless
compressing it saves a unit (binary: raw DEFLATE with a preset dictionary); what is still large goes to S3, and the item holds
a reference (a map). The attribute's type tells the form.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import Final

from lead_events.names import ORGANIZATIONS_PREFIX

MAX_INLINE_BYTES: Final = 16 * 1024
"""Beyond this an S3 request is cheaper than the write units, and every read of the timeline would pay for the bytes."""

UNIT: Final = 1024
"""Bytes of one DynamoDB write unit."""

# What webhooks repeat most. Part of the stored format: changing it makes what is stored unreadable.
_DICTIONARY: Final = (
    b'"},"metadata":{},"object":"event","livemode":false,"type":"messages","messaging_product":"whatsapp","contacts":[{"profile":'
    b'{"name":"","wa_id":"55"}],"statuses":[{"id":"wamid.HBgN","status":"delivered","timestamp":"17","recipient_id":"'
    b'"entry":[{"id":"","changes":[{"value":{"metadata":{"display_phone_number":"","phone_number_id":"'
    b'"messaging":[{"sender":{"id":"},"recipient":{"id":"","timestamp":17,"message":{"mid":"","text":{"body":"'
    b'"currency_value":"BRL","created_at":"2026-01-01T00:00:00Z","updated_at":"","email":null,"phone":null,"first_name":"'
    b'"customer":null,"customer_details":{"email":"","payment_intent":null,"payment_status":"paid","amount_total":'
    b'"specversion":"1.0","time":"2026-01-01T00:00:00Z","datacontenttype":"application/json","detail-type":"","detail":{"'
    b'"version":"0","account":"","region":"us-east-1","resources":[],"source":"","id":"evt_","data":{"object":{"id":"'
    b'"organizationId":"org_","leadId":"lead_","productId":"","productName":"","amount":,"currency":"brl","status":"'
)


@dataclass(frozen=True, slots=True)
class RawReference:
    """A raw payload that is in the raw bucket."""

    key: str
    size: int
    """Bytes of the text in UTF-8."""


def object_key(organization_id: str, lead_id: str, text: bytes) -> str:
    """S3 key by content: the same text is the same object, so writing it again changes nothing."""
    return f"{ORGANIZATIONS_PREFIX}{organization_id}/leads/{lead_id}/{hashlib.sha256(text).hexdigest()}"


def choose(text: str, other_bytes: int, *, key: str) -> str | bytes | RawReference:
    """The form for ``text`` beside ``other_bytes`` of the item: as it is, compressed, or a reference to ``key``."""
    plain = text.encode()
    compressed = compress(plain)
    if min(len(plain), len(compressed)) > MAX_INLINE_BYTES:
        return RawReference(key, len(plain))
    if _units(other_bytes + len(compressed)) < _units(other_bytes + len(plain)):
        return compressed
    return text if len(plain) <= MAX_INLINE_BYTES else compressed


def compress(plain: bytes) -> bytes:
    """Raw DEFLATE with the preset dictionary."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    return compressor.compress(plain) + compressor.flush()


def decompress(compressed: bytes) -> str:
    """Inverse of ``compress``."""
    decompressor = zlib.decompressobj(-zlib.MAX_WBITS, _DICTIONARY)
    return (decompressor.decompress(compressed) + decompressor.flush()).decode()


def _units(size: int) -> int:
    return -(-size // UNIT)
