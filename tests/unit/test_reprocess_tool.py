"""The terminal command for reprocessings."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lead_events.errors import LeadEventsError, problem
from lead_events.jobs import Difference, Kind, LeadResult
from tests.support.reprocessing import Reprocessing
from tools import reprocess
from tools.reprocess import Api, ReprocessError, main

ENDPOINT = ("--api", "https://api.example.org", "--token", "t")


class Terminal:
    """Runs the command against reprocessings in memory; each poll lets one message be worked on."""

    def __init__(self) -> None:
        self.world = Reprocessing(segments=2, step=timedelta(seconds=3))
        self.world.store({("org_A", f"lead_{number}"): 2 for number in range(40)})
        self.calls: list[tuple[str, str]] = []
        self.interrupt_after = 10**6

    def call(self, _: Api, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        self.calls.append((method, path))
        parts = path.split("/")
        organization = parts[3] if parts[2] == "organizations" else None
        rest = parts[parts.index("reprocessings") + 1 :]
        api = self.world.api
        try:
            match method, rest:
                case "POST", []:
                    return 202, api.start(organization, json.dumps(body).encode())
                case "GET", []:
                    return 200, api.page(organization, {})
                case "GET", [job_id]:
                    return 200, api.one(organization, job_id)
                case _:
                    return 200, api.act(organization, rest[0], rest[1])
        except LeadEventsError as error:
            return error.status, problem(error)

    def sleep(self, _: float) -> None:
        self.interrupt_after -= 1
        if self.interrupt_after == 0:
            raise KeyboardInterrupt
        if self.world.queue.sent:
            self.world.deliver(self.world.queue.sent.pop(0))

    def run(self, *arguments: str) -> tuple[int, str]:
        out = io.StringIO()
        code = main([*arguments, *ENDPOINT], Console(file=out, width=200))
        return code, out.getvalue()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = Terminal()

    def call(self: Api, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return made.call(self, method, path, body)

    monkeypatch.setattr(Api, "call", call)
    init = Api.__init__
    monkeypatch.setattr(Api, "__init__", lambda self, url, token: init(self, url, token, made.sleep))
    return made


@pytest.mark.parametrize(
    ("arguments", "scope", "leads"),
    [
        (("--scope", "all"), "everything", 40),
        (("--scope", "organization", "--organization", "org_A"), "org_A", 40),
        (("start", "--organization", "org_A"), "org_A", 40),
        (("--scope", "lead", "--organization", "org_A", "--lead", "lead_3"), "lead_3", 1),
    ],
)
def test_a_reprocessing_is_started_and_watched_to_its_end(
    terminal: Terminal, arguments: tuple[str, ...], scope: str, leads: int
) -> None:
    code, text = terminal.run(*arguments)
    assert code == 0
    assert f"memories of {scope}" in text
    assert f"leads {leads} · events {leads * 2} · changed {leads}" in text
    assert "100 %" in text
    assert "done" in text


def test_a_dry_run_shows_what_would_change(terminal: Terminal) -> None:
    fields = {"total": {"is": None, "wouldBe": "[bold]3[/bold]"}}
    differing = lambda org, lead: LeadResult(2, 1, [Difference(org, lead, "ticket", fields)])  # noqa: E731
    terminal.world.worker._tasks = {(Kind.RETRANSLATION, True): differing}
    code, text = terminal.run("--organization", "org_A", "--kind", "retranslation", "--dry-run")
    assert code == 0
    assert "retranslation (dry run) of org_A" in text
    assert "would change 40" in text
    assert 'total: null → "[bold]3[/bold]"' in text


def test_failed_leads_are_named_and_the_command_says_so(terminal: Terminal) -> None:
    terminal.world.leads.broken["lead_3"] = ValueError
    code, text = terminal.run("--scope", "all")
    assert code == 1
    assert "✗ lead_3 of org_A: internal_error" in text


def test_an_interrupt_ends_the_watching_and_not_the_work(terminal: Terminal) -> None:
    terminal.interrupt_after = 2
    code, text = terminal.run("--scope", "all")
    assert code == 0
    job_id = next(word for word in text.split() if word.startswith("rep_"))
    assert f"reprocess watch {job_id}" in text
    assert terminal.run("status", job_id, "--scope", "all")[1].count("running") == 1
    assert "done" in terminal.run("watch", job_id, "--scope", "all")[1]


def test_a_reprocessing_is_paused_resumed_cancelled_and_listed(terminal: Terminal) -> None:
    text = terminal.run("--scope", "all", "--no-watch")[1]
    job_id = text.split()[0]
    assert "paused" in terminal.run("pause", job_id, "--scope", "all")[1]
    assert "running" in terminal.run("resume", job_id, "--scope", "all", "--no-watch")[1]
    assert "cancelled" in terminal.run("cancel", job_id, "--scope", "all")[1]
    assert f"{job_id}  cancelled" in terminal.run("list", "--scope", "all")[1]


def test_a_refusal_is_told_in_words(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    terminal.run("--scope", "all", "--no-watch")
    assert terminal.run("--scope", "all")[0] == 1
    assert "409 reprocessing_running: The reprocessing rep_" in capsys.readouterr().err


def test_a_stalled_one_is_told_how_it_goes_on(terminal: Terminal) -> None:
    job_id = terminal.run("--scope", "all", "--no-watch")[1].split()[0]
    terminal.world.clock.instant += timedelta(minutes=10)
    assert "`resume` takes it up" in terminal.run("status", job_id, "--scope", "all")[1]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--scope", "organization"),
        ("--scope", "lead", "--organization", "o"),
        ("watch", "--scope", "all"),
        ("stop",),
    ],
)
def test_what_is_missing_is_asked_for(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        main([*arguments, *ENDPOINT])


def test_without_api_or_token_the_environment_is_read_and_then_the_twins_description(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(Api, "call", lambda self, *_: (200, asked.append((self.url, self.token)) or {"items": []}))
    stack = tmp_path / "stack.json"
    monkeypatch.setattr(reprocess, "STACK", stack)
    for name in ("LEAD_EVENTS_API", "LEAD_EVENTS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert main(["list", "--scope", "all"]) == 1
    assert "--token" in capsys.readouterr().err
    stack.write_text('{"apiUrl": "http://twin", "tokens": {"platform": "t1"}}')
    assert main(["list", "--scope", "all"]) == 0
    monkeypatch.setenv("LEAD_EVENTS_API", "http://env")
    monkeypatch.setenv("LEAD_EVENTS_TOKEN", "t2")
    assert main(["list", "--scope", "all"]) == 0
    assert asked == [("http://twin", "t1"), ("http://env", "t2")]


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[int, str]], list[str]]]:
    answers: list[tuple[int, str]] = []
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"] or 0)).decode()
            seen.append(f"{self.path} {self.headers['authorization']} {body}")
            status, text = answers.pop(0)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/", answers, seen
        http.shutdown()
        thread.join()


def test_a_call_that_is_not_answered_is_made_again(server: tuple[str, list[tuple[int, str]], list[str]]) -> None:
    url, answers, seen = server
    waited: list[float] = []
    api = Api(url, "t", waited.append)
    answers += [(503, "{}"), (429, "busy"), (202, '{"a": 1}')]
    assert api.call("POST", "/v1/x", {"b": 2}) == (202, {"a": 1})
    assert seen == ['/v1/x Bearer t {"b": 2}'] * 3
    assert waited == [2, 4]
    answers += [(409, '{"code": "c", "detail": "d"}'), (502, "Bad Gateway")]
    with pytest.raises(ReprocessError, match="409 c: d"):
        api.ask("POST", "/v1/x", {})
    with pytest.raises(ReprocessError, match="Bad Gateway"):
        api.ask("POST", "/v1/x", {})
    answers += [(503, "{}")] * 5
    with pytest.raises(ReprocessError, match="does not answer"):
        api.ask("POST", "/v1/x", {})


def test_an_api_that_is_not_there_is_told() -> None:
    with pytest.raises(ReprocessError, match="does not answer"):
        Api("http://127.0.0.1:9", "t", lambda _: None).ask("GET", "/")
