"""Breaks the rules that nobody forgives, one at a time, and expects a test to notice each.

``python -m tools.mutations`` copies the library, changes one line of the copy, and runs the tests of that rule against it. It
fails where they stay green, and where they are red already without the change. It works on a copy alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
LIBRARY: Final = ROOT / "layers/lead_events/python"
TESTS_FAILED: Final = 1
"""pytest's exit code for red tests; every other one but 0 means that they could not be run."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One line that must not be otherwise, and the tests that say so."""

    name: str
    module: str
    line: str
    instead: str
    tests: str


MUTATIONS: Final = (
    Mutation(
        "the claim's condition: a claim may overwrite another",
        "store/dynamodb.py",
        'ConditionExpression="attribute_not_exists(#key)",',
        'ConditionExpression="attribute_not_exists(#key) OR attribute_exists(#key)",',
        "tests/contracts/test_claim_store.py",
    ),
    Mutation(
        "the cursor's binding: a cursor works for every organisation",
        "cursors.py",
        "        query.organization_id,\n",
        "",
        "tests/unit/test_cursors.py",
    ),
    Mutation(
        "the tenant check: a token reads every organisation",
        "access.py",
        "        if self.bound_organization not in (None, organization_id):\n            raise NotFoundError\n",
        "",
        "tests/unit/test_access.py",
    ),
    Mutation(
        "the tombstone: what was erased comes in again",
        "erasure.py",
        "return self.until is None or occurred_at <= self.until",
        "return self.until is None",
        "tests/unit/test_admission.py",
    ),
    Mutation(
        "the last walk: an erasure ends though something turned up",
        "erasing.py",
        "found = stored is None or stored.found",
        "found = False",
        "tests/unit/test_erasing.py",
    ),
)


class MutationError(Exception):
    """A mutation cannot be applied, or its tests cannot be run."""


def survives(mutation: Mutation) -> bool:
    """Whether the tests stay green though the rule is broken."""
    with tempfile.TemporaryDirectory() as folder:
        library = _copy(Path(folder))
        module = library / "lead_events" / mutation.module
        source = module.read_text(encoding="utf-8")
        if source.count(mutation.line) != 1:
            raise MutationError(f"{mutation.module} no longer holds, exactly once: {mutation.line.strip()}")
        module.write_text(source.replace(mutation.line, mutation.instead), encoding="utf-8")
        return _green(library, [mutation.tests])


def baseline_is_green() -> bool:
    """Whether the same tests are green where nothing is broken."""
    with tempfile.TemporaryDirectory() as folder:
        return _green(_copy(Path(folder)), [each.tests for each in MUTATIONS])


def _copy(folder: Path) -> Path:
    return Path(shutil.copytree(LIBRARY, folder / "python", ignore=shutil.ignore_patterns("__pycache__")))


def _green(library: Path, tests: list[str]) -> bool:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-o", f"pythonpath=. {library}", *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(library), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, TESTS_FAILED):
        raise MutationError(f"The tests could not be run:\n{done.stdout}\n{done.stderr}")
    return done.returncode == 0


def main() -> int:
    """Run every mutation; the exit code is the number of those that no test noticed."""
    if not baseline_is_green():
        print("The tests are red already.")
        return len(MUTATIONS)
    survivors = 0
    for mutation in MUTATIONS:
        alive = survives(mutation)
        survivors += alive
        print(f"{'NOT NOTICED' if alive else 'noticed':>11}  {mutation.name}")
    return survivors


if __name__ == "__main__":
    sys.exit(main())
