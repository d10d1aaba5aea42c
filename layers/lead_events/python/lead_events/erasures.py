"""Erasures as they are asked for and watched: of one lead by the API, of an organisation when its retention expires."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from lead_events.cursors import Cursors
from lead_events.erasure import Erasure, Slice, Status, lead_hash_of
from lead_events.errors import InvalidError, NotFoundError
from lead_events.event import check_id, new_event_id
from lead_events.instants import Clock, format_instant
from lead_events.names import ID_PATTERN
from lead_events.observability import logger
from lead_events.ports import ErasureStore, WorkQueue
from lead_events.queries import invalid_parameter, read_limit

_ID: Final = re.compile(r"era_[0-9a-f-]{36}", re.ASCII)
_PAGES: Final = 20
"""Pages of the store that are looked through for the erasures of one lead."""


class Erasures:
    """Starts erasures and shows their receipts. Who may is settled before."""

    def __init__(self, *, erasures: ErasureStore, queue: WorkQueue, cursors: Cursors, clock: Clock) -> None:
        self._erasures = erasures
        self._queue = queue
        self._cursors = cursors
        self._clock = clock

    def erase_lead(self, organization_id: str, lead_id: str, requested_by: str) -> dict[str, Any]:
        """Erase a lead; the receipt. Whether anything is known of the lead makes no difference, and is not told."""
        return self._receipt(self._start(organization_id, lead_id, requested_by))

    def erase_organization(self, organization_id: str, requested_by: str) -> None:
        """Erase everything of an organisation, once and for all; asked again, the erasure goes on if it had got lost."""
        self._start(organization_id, None, requested_by)

    def one(self, organization_id: str, erasure_id: str) -> dict[str, Any]:
        """A receipt."""
        found = self._erasures.get(organization_id, erasure_id) if _ID.fullmatch(erasure_id) else None
        if found is None:
            raise NotFoundError
        return self._receipt(found)

    def page(self, organization_id: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Receipts, newest first: ``{"items": […], "cursor": …}``; of one lead with ``leadId``."""
        limit, cursor = read_limit(parameters), parameters.get("cursor")
        lead = parameters.get("leadId")
        wanted = lead_hash_of(organization_id, _lead(lead)) if lead else None
        bound = ["erasures", organization_id, wanted or ""]
        after = self._cursors.open(bound, cursor).decode() if cursor else None
        found: list[Erasure] = []
        for _ in range(_PAGES):
            page = self._erasures.page(organization_id, after, limit - len(found))
            found += [each for each in page.erasures if wanted in (None, each.lead_hash)]
            after = page.after
            if after is None or len(found) == limit:
                break
        following = self._cursors.seal(bound, after.encode()) if after else None
        return {"items": [self._receipt(each) for each in found], "cursor": following}

    def _start(self, organization_id: str, lead_id: str | None, requested_by: str) -> Erasure:
        now = self._clock()
        asked = Erasure(
            organization_id=organization_id,
            erasure_id=f"era_{new_event_id(now).removeprefix('evt_')}",
            lead_id=lead_id,
            lead_hash=lead_hash_of(organization_id, lead_id) if lead_id else None,
            requested_at=now,
            requested_by=requested_by,
        )
        erasure = self._erasures.start(asked)
        if erasure.erasure_id == asked.erasure_id:
            ids = {"organizationId": organization_id, "erasureId": erasure.erasure_id, "requestedBy": requested_by}
            logger().info("erasure requested", extra=ids)
        if erasure.status is Status.RUNNING:  # sent again for one that runs: its own message may have got lost
            self._queue.send(Slice.next_of(erasure).write())
        return erasure

    def _receipt(self, erasure: Erasure) -> dict[str, Any]:
        def at(name: str) -> str | None:
            instant = getattr(erasure, name)
            return None if instant is None else format_instant(instant)

        return {
            "erasureId": erasure.erasure_id,
            "organizationId": erasure.organization_id,
            "scope": "lead" if erasure.of_lead else "organization",
            "leadId": erasure.lead_id,
            "status": erasure.status.value,
            "requestedAt": at("requested_at"),
            "requestedBy": erasure.requested_by,
            "erasedUntil": at("until") if erasure.status is Status.DONE else None,
            "completedAt": at("completed_at"),
            "counts": {store.value: number for store, number in erasure.counts.items()},
        }


def _lead(lead_id: str) -> str:
    try:
        return check_id(lead_id, "leadId")
    except InvalidError:
        raise invalid_parameter("leadId", f"must match {ID_PATTERN}") from None
