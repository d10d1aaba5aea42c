"""CloudEvents to EventBridge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lead_events.aws_errors import translated
from lead_events.errors import NotPublishedError, UnavailableError
from lead_events.limits import MAX_BUS_ENTRY_BYTES
from lead_events.names import OWN_EVENT_SOURCE
from lead_events.strict_json import dumps

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

ENTRIES: Final = 10
"""Most entries of one PutEvents call."""
CALL_BYTES: Final = MAX_BUS_ENTRY_BYTES
"""Most bytes of one call: EventBridge takes 256 KB, of all its entries together."""
_ATTEMPTS: Final = 4
_PAUSE_SECONDS: Final = 0.05
"""Before the second attempt; doubled before each further one. Entries fail where the bus throttles."""


class _Entry(NamedTuple):
    """An envelope on its way."""

    id: str
    request: dict[str, str]


class EventBridgeBus:
    """One event bus. ``PutEvents`` answers 200 though entries fail: exactly those are sent again."""

    def __init__(self, client: Callable[[], EventBridgeClient], bus_name: str) -> None:
        self._client = client
        self._bus = bus_name

    def publish(self, entries: Sequence[dict[str, Any]]) -> None:
        pending = [
            _Entry(
                envelope["id"],
                {
                    "EventBusName": self._bus,
                    "Source": OWN_EVENT_SOURCE,
                    "DetailType": envelope["type"],
                    "Detail": dumps(envelope),
                },
            )
            for envelope in entries
        ]
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE_SECONDS * 2 ** (attempt - 1))
            pending = self._attempt(pending)
            if not pending:
                return
        raise NotPublishedError("EventBridge refused some events.", _ids(pending))

    def _attempt(self, entries: list[_Entry]) -> list[_Entry]:
        """Send all ``entries``; those that failed. A call without an answer, which botocore has repeated, ends it."""
        failed: list[_Entry] = []
        calls = list(_calls(entries))
        for number, call in enumerate(calls):
            try:
                failed += self._put(call)
            except UnavailableError as error:
                left = [entry for each in calls[number:] for entry in each]
                raise NotPublishedError(error.detail, _ids([*failed, *left])) from error
        return failed

    def _put(self, entries: list[_Entry]) -> list[_Entry]:
        """The entries that failed."""
        requested: list[Any] = [entry.request for entry in entries]
        with translated("EventBridge"):
            answer = self._client().put_events(Entries=requested)
        results = zip(entries, answer["Entries"], strict=True)
        return [entry for entry, result in results if result.get("ErrorCode")]


def _ids(entries: Iterable[_Entry]) -> frozenset[str]:
    return frozenset(entry.id for entry in entries)


def _calls(entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    """``entries`` in their order, as many in one call as it may hold."""
    call: list[_Entry] = []
    size = 0
    for entry in entries:
        # "Calculating Amazon EventBridge event size", user guide: the texts in UTF-8.
        entry_size = sum(len(entry.request[name].encode()) for name in ("Source", "DetailType", "Detail"))
        if call and (len(call) == ENTRIES or size + entry_size > CALL_BYTES):
            yield call
            call, size = [], 0
        call.append(entry)
        size += entry_size
    if call:
        yield call
