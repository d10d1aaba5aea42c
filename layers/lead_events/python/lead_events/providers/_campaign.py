"""Campaign attribution in a URL: what a click brought along. Personal data and tokens in a query stay where they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl, urlsplit

MAX_VALUE_LENGTH: Final = 500

_PARAMETER: Final = re.compile(r"utm_[a-z0-9_]{1,40}|src|sck|xcod|ref|ad_id|gclid|fbclid|ttclid|msclkid", re.ASCII)


def parameters(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The campaign parameters among named values: names in lower case, the first of a name counts."""
    found: dict[str, str] = {}
    for name, value in pairs:
        kept = value.strip()
        if _PARAMETER.fullmatch(name.lower()) and 0 < len(kept) <= MAX_VALUE_LENGTH:
            found.setdefault(name.lower(), kept)
    return found


def of_url(url: str | None) -> dict[str, str]:
    """The campaign parameters in the query of ``url``, whole or from its path on; none where it cannot be read."""
    try:
        return parameters(parse_qsl(urlsplit(url or "").query, max_num_fields=100))
    except ValueError:
        return {}


def page(url: str | None) -> str | None:
    """``url`` without user, query and fragment: they may hold keys, tokens or an e-mail address."""
    try:
        parts = urlsplit((url or "").strip())
    except ValueError:
        return None
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return shown if 0 < len(shown) <= MAX_VALUE_LENGTH else None
