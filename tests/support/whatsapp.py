"""What the tests of WhatsApp share: its notices, and what becomes of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.support import meta

drafts_of = partial(meta.drafts_of, "whatsapp")
main = partial(meta.main, "whatsapp")
payload_of = partial(meta.payload_of, "whatsapp")
identities = partial(meta.identities, "whatsapp")


def value_of(body: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = body["entry"][0]["changes"][0]["value"]
    return value


def sample(name: str, **changes: Any) -> dict[str, Any]:
    """A sample as JSON; ``changes`` replace fields of its first message, status or preference (``None`` drops them)."""
    body = meta.sample("whatsapp", name)
    lists = ("messages", "statuses", "user_preferences", "message_echoes")
    [first] = [found[0] for each in lists if (found := value_of(body).get(each))] or [{}]
    first.update(changes)
    for field in [field for field, change in changes.items() if change is None]:
        del first[field]
    return body
