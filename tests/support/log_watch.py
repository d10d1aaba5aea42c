"""Watches what the product logs while the suites run, and fails the run where somebody's data stands in it.

It hears what Lambda would write: every record of our own logger at any level, those of all other loggers from INFO on (the
level of the functions; see ``stacks/constructs/function.py``), and whatever a test lets through to standard output and
standard error, which is where metrics go. Where a run has several processes, each hears its own tests and tells the first one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pytest

from lead_events.names import SERVICE
from tests.support import privacy

SUITES: Final = ("tests/unit/", "tests/contracts/", "tests/integration/")
"""Those that run the product in this process."""


class Leak(NamedTuple):
    """Something that should not have been logged."""

    where: str
    """The test, and the place in the code."""
    found: list[str]
    line: str

    def __str__(self) -> str:
        return f"{self.where} logged {', '.join(self.found)}:\n    {self.line[:1_000]}"


class LogWatch(logging.Handler):
    """A plugin of pytest, and the handler through which it hears of records."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self._test = ""
        self._elsewhere = False
        """Whether the tests run in other processes."""
        self._lines: dict[str, tuple[str, str]] = {}
        self._secrets: set[str] = set()
        self._leaks: list[str] = []
        self.heard = 0

    # What is written.

    def addFilter(self, filter: Any) -> None:
        """Take none: Powertools would keep the lines of our own logger from the root's handlers."""

    def emit(self, record: logging.LogRecord) -> None:
        """A record, as its own handler writes it."""
        if self._test.startswith(SUITES) and (record.levelno >= logging.INFO or record.name == SERVICE):
            formatters = [each.formatter for each in logging.getLogger(record.name).handlers if each.formatter]
            for formatter in formatters or [logging.Formatter()]:
                self._hear(formatter.format(record), f"{record.pathname}:{record.lineno}")

    def _hear(self, line: str, place: str) -> None:
        self.heard += 1
        self._lines.setdefault(privacy.CHANGING.sub("", line), (f"{self._test} ({place})", line))

    # The life of a run.

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._elsewhere = session.config.pluginmanager.hasplugin("dsession")
        root = logging.getLogger()
        root.addHandler(self)
        root.setLevel(logging.INFO)
        self._note_secrets()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test = nodeid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self._elsewhere and report.when == "teardown" and report.nodeid.startswith(SUITES):
            for text, stream in ((report.capstdout, "standard output"), (report.capstderr, "standard error")):
                for line in text.splitlines():
                    self._hear(line, stream)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        logging.getLogger().removeHandler(self)
        self._leaks += map(str, self.leaks())
        told: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if told is not None:
            told["leaks"] = self._leaks
        if self._leaks:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Another process has ended its tests."""
        self._leaks += getattr(node, "workeroutput", {}).get("leaks", [])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for leak in self._leaks:
            terminalreporter.write_line(f"LEAK {leak}", red=True)

    def leaks(self) -> Iterator[Leak]:
        """What was heard and may not be."""
        told = privacy.Privacy({*privacy.everything_told(), *self._secrets})
        for where, line in self._lines.values():
            if found := told.found_in(line):
                yield Leak(where, found, line)

    def _note_secrets(self) -> None:
        """Remember every webhook secret that the product reads: tests make them up as they go."""
        from lead_events.store.secrets import SecretsManagerWebhookSecrets as Secrets

        read: Callable[..., list[str]] = Secrets.get

        def noted(*arguments: Any, **named: Any) -> list[str]:
            secrets = read(*arguments, **named)
            self._secrets.update(each for each in secrets if len(each) > privacy.START)
            return secrets

        Secrets.get = noted  # type: ignore[method-assign]
