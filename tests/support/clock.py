"""A clock that tests turn by hand."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2026, 3, 25, 14, 0, tzinfo=UTC)


class FakeClock:
    """Gives its instant and steps on by ``step``: no two readings are the same unless ``step`` is zero."""

    def __init__(self, instant: datetime = START, step: timedelta = timedelta(milliseconds=1)) -> None:
        self.instant = instant
        self.step = step
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        with self._lock:
            now = self.instant
            self.instant += self.step
            return now
