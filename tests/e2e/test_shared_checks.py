"""Where LEAD_EVENTS_SHARED names a folder with black-box checks, those of the features that exist hold.

The checks expect the project's root: they call `make` and read `.local/stack.json` there. They run in a folder that
answers both and leads to the twin of these tests, so that a developer's own twin is left alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, RunningTwin

SHARED = os.environ.get("LEAD_EVENTS_SHARED")
CHECKS = ("template.py", "exactly_once.py", "raw_bytes.py", "corpus.py", "memory_order.py", "organization_orders.py")
SECONDS = 300

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(SHARED is None, reason="LEAD_EVENTS_SHARED is not set")]


@pytest.fixture
def root_of_twin(twin: RunningTwin, tmp_path: Path) -> Path:
    """A folder that looks like the project's root to a client, with the e2e twin as its twin."""
    (tmp_path / "Makefile").write_text(f"%:\n\t@$(MAKE) --no-print-directory -C {ROOT} $@\n", encoding="utf-8")
    (tmp_path / ".local").symlink_to(twin.folder)
    (tmp_path / "cdk.out").symlink_to(ROOT / "cdk.out")
    return tmp_path


@pytest.mark.parametrize("check", CHECKS)
def test_check_holds(check: str, root_of_twin: Path, twin: RunningTwin) -> None:
    """The check exits 0."""
    script = (ROOT / (SHARED or "") / "checks" / check).resolve()
    if not script.exists():
        pytest.skip(f"{script} does not exist")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=root_of_twin,
        env={**os.environ, **twin.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
