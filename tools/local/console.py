"""What the tools say, and how they say that something went wrong."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TAIL_LINES = 30


class TwinError(Exception):
    """Something a person can put right; the text says what happened and what to do."""


def say(text: str) -> None:
    """Prints one line of progress at once, so that a waiting reader sees where it stands."""
    print(f"· {text}", flush=True)


def complain(text: str) -> None:
    """Prints an error to stderr."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def timed(text: str) -> Iterator[None]:
    """Says what begins, and in how many seconds it was done."""
    say(f"{text} …")
    begun = time.monotonic()
    yield
    say(f"{text}: {time.monotonic() - begun:.1f} s")


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log file, indented; empty where there is none."""
    if not log.exists():
        return ""
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in text[-lines:])
