"""Gives the e2e tests a deployed twin that enforces IAM, as black-box clients see it: by its description alone.

The tests have a twin of their own, in `.local/e2e` on a free port, so that a developer's `make up` is left alone. It
is stopped at the end, also after a failure; one that a killed run left behind is stopped first. For quick turns while
writing tests, `LEAD_EVENTS_E2E_STACK=.local/stack.json` uses the twin described there and leaves it running.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from tests.e2e.client import Client

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".local" / "e2e"


@dataclass(frozen=True, slots=True)
class RunningTwin:
    """A deployed twin."""

    stack: dict[str, Any]
    """The content of its stack.json."""
    environment: dict[str, str]
    """With these variables `make up` and `python -m tools.local` mean this twin."""
    folder: Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Look into the logs when everybody else has sent what they send."""
    items.sort(key=lambda item: item.path == Path(__file__).with_name("test_privacy.py"))


@pytest.fixture(scope="session")
def twin() -> Iterator[RunningTwin]:
    """A twin with AUTH=true onto which the CDK app of the working tree is deployed."""
    if given := os.environ.get("LEAD_EVENTS_E2E_STACK"):
        folder = (ROOT / given).resolve().parent
        yield _described(folder, {"LEAD_EVENTS_LOCAL_DIR": str(folder)})
        return
    ours = {"LEAD_EVENTS_LOCAL_DIR": str(FOLDER), "LEAD_EVENTS_LOCAL_PORT": str(_free_port())}
    # pytest unwinds its fixtures after an interrupt; a terminated run shall do so too.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _local(ours, "down")
        _local(ours, "up")
        yield _described(FOLDER, ours)
    finally:
        _local(ours, "down")
        signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def stack(twin: RunningTwin) -> dict[str, Any]:
    """The twin's description: URLs, names, tokens, secrets."""
    return twin.stack


@pytest.fixture(scope="session")
def client(stack: dict[str, Any]) -> Client:
    """Calls the twin."""
    return Client(stack)


def _described(folder: Path, environment: dict[str, str]) -> RunningTwin:
    stack = cast("dict[str, Any]", json.loads((folder / "stack.json").read_text(encoding="utf-8")))
    return RunningTwin(stack=stack, environment=environment, folder=folder)


def _local(environment: dict[str, str], command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.local", command],
        cwd=ROOT,
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT / "layers/lead_events/python")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.fail(f"the twin: {command} failed\n{done.stdout}\n{done.stderr}", pytrace=False)


def _free_port() -> int:
    """None of those that the system gives to whoever asks for any, as somebody might before the twin is up."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            port = random.randint(20_000, 30_000)
            probe.bind(("127.0.0.1", port))
            return port
