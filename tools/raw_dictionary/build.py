"""A preset dictionary from sampled deliveries.

It holds the skeletons of the deliveries (what they say apart from long values, which differ every time), each fragment once.
DEFLATE looks back 32 KB at most: the longest deliveries come first, so that of too many the ends of the longest are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

SIZE: Final = 32 * 1024 - 262
"""As far back as zlib looks ("deflateSetDictionary", zlib manual)."""

_SHORT: Final = 30
"""Longest value that is worth keeping: states, names of fields and types, formats of times and ids."""
_FRAGMENT: Final = 20
"""Shortest run of bytes that is taken as said already."""


def build(texts: Iterable[str]) -> bytes:
    """The dictionary of these deliveries."""
    skeletons = [skeleton(text) for text in texts]
    chosen = b""
    for each in sorted(skeletons, key=len, reverse=True):
        chosen = _added(chosen, each.encode())
    return chosen[-SIZE:]


def skeleton(text: str) -> str:
    """``text`` with every long string emptied and every number zero, in its own white space."""

    def blank(match: re.Match[str]) -> str:
        value = match[0]
        return value if len(value) <= _SHORT + 2 else '""'

    blanked = re.sub(r'"(?:[^"\\]|\\.)*"(?!\s*:)', blank, text)
    return re.sub(r"-?\d[\d.eE+-]*", "0", blanked)


def _added(known: bytes, text: bytes) -> bytes:
    """``known`` and what of ``text`` it does not hold, in pieces of some length."""
    fresh: list[bytes] = []
    position = 0
    while position < len(text):
        piece = text[position : position + _FRAGMENT]
        if piece in known:
            end = position + _FRAGMENT
            while end < len(text) and text[position : end + 1] in known:
                end += 1
            position = end
        else:
            fresh.append(text[position : position + 1])
            position += 1
    return known + b"".join(fresh)
