"""CloudEvents to EventBridge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.errors import UnavailableError
from lead_events.names import OWN_EVENT_SOURCE
from lead_events.strict_json import dumps

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

ENTRIES: Final = 10
"""Most entries of one PutEvents call."""
CALL_BYTES: Final = 250_000
"""Most bytes of one call: EventBridge takes 256 KB, of all its entries together."""
_ATTEMPTS: Final = 4
_PAUSE_SECONDS: Final = 0.05
"""Before the second attempt; doubled before each further one. Entries fail where the bus throttles."""


class EventBridgeBus:
    """One event bus. ``PutEvents`` answers 200 though entries fail: exactly those are sent again."""

    def __init__(self, client: Callable[[], EventBridgeClient], bus_name: str) -> None:
        self._client = client
        self._bus = bus_name

    def publish(self, entries: Sequence[dict[str, Any]]) -> None:
        pending: list[Any] = [
            {
                "EventBusName": self._bus,
                "Source": OWN_EVENT_SOURCE,
                "DetailType": envelope["type"],
                "Detail": dumps(envelope),
            }
            for envelope in entries
        ]
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE_SECONDS * 2 ** (attempt - 1))
            pending = [entry for call in _calls(pending) for entry in self._put(call)]
            if not pending:
                return
        raise UnavailableError("EventBridge refused some events.")

    def _put(self, entries: list[Any]) -> list[Any]:
        """The entries that failed."""
        with translated("EventBridge"):
            answer = self._client().put_events(Entries=entries)
        results = zip(entries, answer["Entries"], strict=True)
        return [entry for entry, result in results if result.get("ErrorCode")]


def _calls(entries: Sequence[Any]) -> Iterator[list[Any]]:
    """``entries`` in their order, as many in one call as it may hold."""
    call: list[Any] = []
    size = 0
    for entry in entries:
        # "Calculating Amazon EventBridge event size", user guide: the texts in UTF-8.
        entry_size = sum(len(entry[name].encode()) for name in ("Source", "DetailType", "Detail"))
        if call and (len(call) == ENTRIES or size + entry_size > CALL_BYTES):
            yield call
            call, size = [], 0
        call.append(entry)
        size += entry_size
    if call:
        yield call
