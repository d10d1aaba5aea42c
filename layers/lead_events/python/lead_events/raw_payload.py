"""How a raw payload is kept: always the exact text, in the cheapest of three forms.

A DynamoDB write costs one unit per started KB of the whole item. So the text stands in the item as it is (a string) unless
compressing it saves a unit (binary: raw DEFLATE under a dictionary of what providers repeat); what is still large goes to S3,
and the item holds a reference (a map). The attribute's type tells the form.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from lead_events.names import ORGANIZATIONS_PREFIX

MAX_INLINE_BYTES: Final = 16 * 1024
"""Beyond this an S3 request is cheaper than the write units, and every read of the timeline would pay for the bytes."""

UNIT: Final = 1024
"""Bytes of one DynamoDB write unit."""

_VERSION: Final = 1
"""First byte of what is compressed: the dictionary it needs. A dictionary is part of the stored format and never changes."""


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
    """A version byte and raw DEFLATE under that version's dictionary."""
    compressor = _compressor().copy()
    deflated: bytes = compressor.compress(plain) + compressor.flush()
    return bytes([_VERSION]) + deflated


def decompress(compressed: bytes) -> str:
    """Inverse of ``compress``."""
    decompressor = zlib.decompressobj(-zlib.MAX_WBITS, dictionary(compressed[0]))
    return (decompressor.decompress(compressed[1:]) + decompressor.flush()).decode()


@cache
def dictionary(version: int) -> bytes:
    """What deliveries of providers repeat, made by ``tools.raw_dictionary``."""
    return (Path(__file__).parent / f"raw_dictionary_{version}.bin").read_bytes()


@cache
def _compressor() -> Any:
    # Copied for every text: reading the dictionary in costs more than compressing.
    return zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, dictionary(_VERSION))


def _units(size: int) -> int:
    return -(-size // UNIT)
