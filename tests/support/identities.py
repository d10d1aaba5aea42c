"""People as identities, and identity stores that count, wait and die."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from lead_events.event import Identity, IdentityKind
from lead_events.identity import Resolver
from lead_events.ports import IdentityRecord
from lead_events.store.memory import InMemoryIdentities
from tests.support.builders import ORGANIZATION
from tests.support.fakes import Killed

T = TypeVar("T")

CUSTOMER, PHONE, EMAIL = IdentityKind
ANA: Final = (
    Identity(CUSTOMER, "stripe:cus_ana"),
    Identity(PHONE, "+55 (82) 90000-0001"),
    Identity(EMAIL, "ana.teste@example.org"),
)
BOB: Final = (
    Identity(CUSTOMER, "stripe:cus_bob"),
    Identity(PHONE, "+55 11 90000-0002"),
    Identity(EMAIL, "bob.teste@example.org"),
)


class Watched(InMemoryIdentities):
    """Identities that count their calls, take their time, and may die behind a claim."""

    def __init__(self, *, seconds: float = 0, die_behind: str = "") -> None:
        super().__init__()
        self.calls: list[str] = []
        self._seconds = seconds
        self._die_behind = die_behind

    def _passed(self, call: str, then: Callable[[], T]) -> T:
        self.calls.append(call)
        time.sleep(self._seconds)
        found = then()
        if call == self._die_behind:
            self._die_behind = ""
            raise Killed
        return found

    def records(self, keys: Sequence[str]) -> dict[str, IdentityRecord]:
        return self._passed("records", lambda: InMemoryIdentities.records(self, keys))

    def claim(self, organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> str | None:
        return self._passed("claim", lambda: InMemoryIdentities.claim(self, organization_id, lead_id, key, kind))

    def claim_all(self, organization_id: str, lead_id: str, keys: Mapping[str, IdentityKind]) -> bool:
        return self._passed("claim_all", lambda: InMemoryIdentities.claim_all(self, organization_id, lead_id, keys))


def resolver(store: InMemoryIdentities | None = None, secret: str = "s") -> Resolver:
    return Resolver(store or InMemoryIdentities(), lambda: secret)


def lead_of(of: Resolver, *identities: Identity, planted: str | None = None, organization: str = ORGANIZATION) -> str:
    return of.resolve(organization, planted, identities).lead_id


def at_once(actions: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call all of them, each in its thread, starting together."""
    start = threading.Barrier(len(actions))

    def begin(action: Callable[[], Any]) -> Any:
        start.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(begin, actions))
