"""Settings that every suite shares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from tests.support.log_watch import LogWatch

# The same examples in every run: a red build is red for everybody. Deadlines measure the machine, not the code.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Let the run fail where somebody's data is logged."""
    config.pluginmanager.register(LogWatch(), "log-watch")


def pytest_make_parametrize_id(config: pytest.Config, val: object) -> str | None:
    """Name a long text by its beginning and its length."""
    if isinstance(val, str | bytes) and len(val) > 60:
        return f"{val[:20]!r}~{len(val)}"
    return None


class _Together(LoadScopeScheduling):
    """How the tests are dealt out to several processes: the twin's to one of them, as there is one twin.

    The rest file by file, as a file's tests share what they need; those of the templates share all of it.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((each for each in ("tests/e2e", "tests/infrastructure") if file.startswith(f"{each}/")), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Deal the tests out as above."""
    return _Together(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the twin's: they take the longest."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/e2e/"))
