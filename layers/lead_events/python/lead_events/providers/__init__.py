"""Webhook providers: one module each, found by its name.

A provider module has the two functions of ``Provider`` and, where its provider asks for one, a ``handshake``. Adding a
provider means adding its module here, its samples and its test; nothing else lists providers. Modules whose name starts with
an underscore are shared helpers. Providers do not know each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from lead_events.errors import NotFoundError
from lead_events.event import Delivery, Translation


class Provider(Protocol):
    """What a provider module offers."""

    def verify(self, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:
        """Raise ``UnauthenticatedError`` unless ``body``, as received, is signed with one of ``secrets``.

        ``headers`` has lower-case names. Several secrets are valid while they rotate; an empty or blank one never is, and
        no secret at all refuses everything.
        """
        ...

    def translate(self, delivery: Delivery) -> Sequence[Translation]:
        """Normalise a verified delivery: every event it holds. Raises ``RejectedError`` where it cannot be read at all."""
        ...


@cache
def names() -> frozenset[str]:
    """Names of all providers, as they stand in the webhook's URL."""
    return frozenset(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))


def find(name: str) -> Provider:
    """The provider of this name, imported when it is first needed. Raises ``NotFoundError``."""
    if not re.fullmatch(r"[a-z0-9_]{1,40}", name, re.ASCII) or name not in names():
        raise NotFoundError
    return cast("Provider", import_module(f"{__name__}.{name}"))


def stored_delivery(
    provider: str, organization_id: str, text: str, received_at: datetime, external_event_id: str | None
) -> Delivery:
    """A delivery of which only its text is left, and of its headers what the external id of its event tells.

    A provider whose translation reads headers has a ``stored_headers`` for that.
    """
    stored_headers = getattr(find(provider), "stored_headers", None)
    return Delivery(
        provider=provider,
        organization_id=organization_id,
        body=text,
        received_at=received_at,
        headers=stored_headers(external_event_id or "") if stored_headers else {},
    )
