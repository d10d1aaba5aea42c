"""What the README tells a reader to paste works as it stands, and does what it says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.e2e.client import Client, eventually
from tests.e2e.conftest import ROOT, RunningTwin

pytestmark = pytest.mark.e2e

README: Final = Path(ROOT, "README.md").read_text(encoding="utf-8")
BLOCK: Final = re.compile(r"(?:<!-- (?P<mark>[^\n]*) -->\n)?```bash\n(?P<script>.*?)```", re.DOTALL)
STATUS: Final = re.compile(r"HTTP/[\d.]+ (\d{3})\b")
LEAD: Final = "lead_readme"


class Example(NamedTuple):
    """A block to paste, and the status codes that its requests are said to get."""

    script: str
    statuses: tuple[int, ...]


class Ran(NamedTuple):
    """What became of an example."""

    example: Example
    output: str


def examples() -> list[Example]:
    """The blocks that are marked ``<!-- test: 201 200 -->``, in their order."""
    found = []
    for block in BLOCK.finditer(README):
        kind, _, statuses = (block["mark"] or "").partition(":")
        if kind == "test":
            found.append(Example(block["script"], tuple(map(int, statuses.split()))))
    return found


EXAMPLES: Final = examples()


@pytest.fixture(scope="module")
def ran(twin: RunningTwin) -> list[Ran]:
    """All examples pasted into one shell, one after the other."""
    script = "".join(f"printf '\\n@@@\\n'\n{each.script}" for each in EXAMPLES)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        # A reader's shell is not inside of a running make.
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")} | twin.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    _, *outputs = done.stdout.split("\n@@@\n")
    return [Ran(*each) for each in zip(EXAMPLES, outputs, strict=True)]


def test_every_block_is_run_or_says_why_not() -> None:
    marks = [block["mark"] or "" for block in BLOCK.finditer(README)]
    assert all(re.fullmatch(r"test(: \d{3}( \d{3})*)?|untested: .+", mark) for mark in marks), marks
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("index", range(len(EXAMPLES)))
def test_an_example_gets_the_answers_that_it_promises(ran: list[Ran], index: int) -> None:
    example, output = ran[index]
    found = tuple(map(int, STATUS.findall(output)))
    if os.environ.get("LEAD_EVENTS_E2E_STACK"):  # a twin that lives on may have seen the README before
        assert [200 if each == 201 else each for each in found] == [
            200 if each == 201 else each for each in example.statuses
        ], output
    else:
        assert found == example.statuses, output


def test_what_the_examples_send_is_in_the_timeline_once(ran: list[Ran], client: Client) -> None:
    def complete() -> list[str]:
        found = sorted(event["eventType"] for event in client.timeline(LEAD))
        return found if len(found) >= 5 else []

    assert ran
    assert eventually(complete) == [
        "agent_insight",
        "campaign_delivered",
        "conversation_ended",
        "purchase_completed",
        "ticket_opened",
    ]
