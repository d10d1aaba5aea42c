"""CloudEvents to EventBridge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.errors import UnavailableError
from lead_events.names import OWN_EVENT_SOURCE
from lead_events.strict_json import dumps

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

ENTRIES: Final = 10
"""Most entries of one PutEvents call."""
_ATTEMPTS: Final = 4


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
        for _ in range(_ATTEMPTS):
            pending = [
                entry for start in range(0, len(pending), ENTRIES) for entry in self._put(pending[start:][:ENTRIES])
            ]
            if not pending:
                return
        raise UnavailableError("EventBridge refused some events.")

    def _put(self, entries: list[Any]) -> list[Any]:
        """The entries that failed."""
        with translated("EventBridge"):
            answer = self._client().put_events(Entries=entries)
        results = zip(entries, answer["Entries"], strict=True)
        return [entry for entry, result in results if result.get("ErrorCode")]
