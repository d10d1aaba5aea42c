"""The read side of the rejected events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from lead_events.cursors import Cursors
from lead_events.errors import NotFoundError
from lead_events.ports import RejectionStore
from lead_events.queries import read_limit
from lead_events.rejecting import rejection_json

_ID: Final = re.compile(r"rej_[0-9a-f]{40}", re.ASCII)


class RejectedEvents:
    """Shows the deliveries that could not become events. Whose they are is settled before."""

    def __init__(self, rejections: RejectionStore, cursors: Cursors) -> None:
        self._rejections = rejections
        self._cursors = cursors

    def page(self, organization_id: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """A page, last seen first: ``{"items": […], "cursor": …}``; ``cursor`` is null at the end."""
        limit, cursor = read_limit(parameters), parameters.get("cursor")
        bound = ["rejected-events", organization_id]
        after = None
        if cursor:
            last_seen_at, _, rejected_id = self._cursors.open(bound, cursor).decode().partition("#")
            after = (last_seen_at, rejected_id)
        page = self._rejections.page(organization_id, after, limit)
        following = self._cursors.seal(bound, "#".join(page.after).encode()) if page.after else None
        return {"items": [rejection_json(each) for each in page.rejections], "cursor": following}

    def one(self, organization_id: str, rejected_event_id: str, *, raw: bool = False) -> dict[str, Any]:
        """One of them; with its original text where asked for."""
        known = _ID.fullmatch(rejected_event_id)  # asked for anything longer than a key, DynamoDB answers with an error
        found = self._rejections.get(organization_id, rejected_event_id, raw=raw) if known else None
        if found is None:
            raise NotFoundError
        return rejection_json(found, raw=raw)
