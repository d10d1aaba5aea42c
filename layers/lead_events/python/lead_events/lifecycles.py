"""Whether an organisation is still there, and what its erasures keep out: remembered for seconds, so that asking costs nothing
on the hot path."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from lead_events.errors import GoneError, RetentionExpiredError
from lead_events.instants import Clock
from lead_events.ports import OrganizationStore

if TYPE_CHECKING:
    from lead_events.erasure import Fence
    from lead_events.organizations.lifecycle import Lifecycle

REMEMBERED_SECONDS: Final = 30
"""How long a process may still take an organisation for what it was."""
_REMEMBERED: Final = 10_000


class Lifecycles:
    """Asks the store once in a while. Safe to use from several threads."""

    def __init__(
        self, organizations: OrganizationStore, clock: Clock, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._organizations = organizations
        self._clock = clock
        self._seconds = seconds
        self._known: dict[str, tuple[float, Lifecycle, Fence]] = {}

    def check(self, organization_id: str) -> None:
        """Raise ``GoneError`` where the organisation has left. One that nobody has told of is there."""
        self.check_retained(organization_id)
        if self._found(organization_id)[0].is_gone(self._clock()):
            raise GoneError

    def check_retained(self, organization_id: str) -> None:
        """Raise ``RetentionExpiredError`` where everything of the organisation goes, or is gone."""
        if not self.is_retained(organization_id):
            raise RetentionExpiredError

    def is_retained(self, organization_id: str) -> bool:
        """Whether anything of the organisation is kept."""
        lifecycle, fence = self._found(organization_id)
        return not fence.closed and not lifecycle.is_expired

    def fence(self, organization_id: str) -> Fence:
        """What the organisation's erasures keep out."""
        return self._found(organization_id)[1]

    def forget(self, organization_id: str) -> None:
        """Ask anew the next time: this process knows that something has changed."""
        self._known.pop(organization_id, None)

    def _found(self, organization_id: str) -> tuple[Lifecycle, Fence]:
        known = self._known.get(organization_id)
        if known is not None and self._seconds() < known[0]:
            return known[1:]
        asked = self._seconds()  # the answer may be as old as the question
        found = self._organizations.get(organization_id)
        if len(self._known) >= _REMEMBERED:
            self._known = {}
        self._known[organization_id] = (asked + REMEMBERED_SECONDS, found.lifecycle, found.fence)
        return found.lifecycle, found.fence
