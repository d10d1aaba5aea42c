"""Starts, watches and steers reprocessings from a terminal: `python -m tools.reprocess --help`.

Speaks the HTTP API alone. URL and token are options, or the environment's LEAD_EVENTS_API and LEAD_EVENTS_TOKEN (better: an
option is seen by whoever lists processes), or else those of the running local twin.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

STACK: Final = Path(__file__).resolve().parents[1] / ".local" / "stack.json"
ACTIONS: Final = ("start", "watch", "status", "pause", "resume", "cancel", "list")
POLL_SECONDS: Final = 1.0
_TRIES: Final = 5
"""Answers 429 and 503 in a row, and lost connections, before a call is given up."""


class ReprocessError(Exception):
    """Something a person can put right; the text says what."""


@dataclass(frozen=True, slots=True)
class Api:
    """The HTTP API with an administrator's token."""

    url: str
    token: str
    sleep: Callable[[float], None] = time.sleep

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of an answer. A call that was not answered is made again, for nothing is started twice."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        request = urllib.request.Request(self.url.rstrip("/") + path, data, headers, method=method)
        problem = ""
        for attempt in range(_TRIES):
            if attempt:
                self.sleep(2.0**attempt)
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    return response.status, json.load(response)
            except urllib.error.HTTPError as error:
                text = error.read().decode(errors="replace")
                if error.code not in (429, 503):
                    return error.code, _json(text)
                problem = f"{error.code} {text}"
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                problem = str(error)
        raise ReprocessError(f"{self.url} does not answer: {problem}")

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of a good answer."""
        status, answer = self.call(method, path, body)
        if status >= 400:
            raise ReprocessError(f"{status} {answer.get('code', '')}: {answer.get('detail') or answer.get('message')}")
        return answer


def main(arguments: Sequence[str], console: Console | None = None) -> int:
    """Run; 1 where leads failed or the API refused."""
    options = _options(arguments)
    console = console or Console()
    try:
        api = Api(*_endpoint(options))
        path = _path(options)
        if options.action == "list":
            for job in api.ask("GET", path)["items"]:
                console.print(_line(job), highlight=False)
            return 0
        if options.action == "start":
            shown = _start(api, path, options)
        elif options.action in ("pause", "resume", "cancel"):
            shown = api.ask("POST", f"{path}/{options.id}/{options.action}")
        else:
            shown = api.ask("GET", f"{path}/{options.id}")
        if options.action in ("start", "watch", "resume") and not options.no_watch:
            shown = watch(api, path, shown, console)
        return report(shown, console)
    except ReprocessError as error:
        print(error, file=sys.stderr)
        return 1


def watch(api: Api, path: str, shown: dict[str, Any], console: Console) -> dict[str, Any]:
    """Show a bar until the job is no longer running. Ctrl-C ends the watching, not the job."""
    job_id = shown["reprocessingId"]
    console.print(f"{job_id}  Ctrl-C ends the watching, not the work.", highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
               TextColumn("{task.fields[figures]}"), TimeElapsedColumn())  # fmt: skip
    try:
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("", total=100, figures="")
            _show(bar, task, shown)
            while shown["status"] == "running":
                api.sleep(POLL_SECONDS)
                shown = api.ask("GET", f"{path}/{job_id}")
                _show(bar, task, shown)
    except KeyboardInterrupt:
        console.print(f"It goes on. Watch it again: python -m tools.reprocess watch {job_id} …", highlight=False)
    return shown


def report(shown: dict[str, Any], console: Console) -> int:
    """Say where a job stands and what it found; 1 where leads failed."""
    progress, dry = shown["progress"], shown["dryRun"]
    console.print(_line(shown), highlight=False)
    console.print(f"  {_figures(progress, dry_run=dry)}", highlight=False)
    if progress["stalled"]:
        console.print("  Stalled: its messages are lost. `resume` takes it up where it stands.", style="yellow")
    for sample in shown["samples"]:
        console.print(f"  ≠ {sample['leadId']} {sample['subject']}", highlight=False)
        for name, values in sample["fields"].items():
            changes = " → ".join(json.dumps(values.get(each), ensure_ascii=False) for each in ("is", "wouldBe"))
            console.print(f"      {name}: {changes}", highlight=False, markup=False)
    for failure in shown["failures"]:
        console.print(f"  ✗ {failure['leadId']} of {failure['organizationId']}: {failure['code']}", style="red")
    return 1 if progress["failed"] else 0


def _start(api: Api, path: str, options: argparse.Namespace) -> dict[str, Any]:
    body: dict[str, Any] = {"kind": options.kind, "leadId": options.lead if options.scope == "lead" else None}
    if options.dry_run:
        body["dryRun"] = True
    started: dict[str, Any] = api.ask("POST", path, body)
    return started


def _show(bar: Progress, task: TaskID, shown: dict[str, Any]) -> None:
    progress = shown["progress"]
    bar.update(task, description=shown["status"], completed=progress["percent"],
               figures=_figures(progress, dry_run=shown["dryRun"]))  # fmt: skip


def _figures(progress: dict[str, Any], *, dry_run: bool) -> str:
    segments, rate, end = progress["segments"], progress["eventsPerSecond"], progress["estimatedEndAt"]
    parts = [
        f"segments {segments['done']}/{segments['total']}",
        f"leads {progress['leads']:,}",
        f"events {progress['events']:,}",
        f"{'would change' if dry_run else 'changed'} {progress['changed']:,}",
        f"failed {progress['failed']:,}" if progress["failed"] else "",
        f"{rate:,}/s" if rate is not None else "",
        f"until about {end[11:19]} UTC" if end else "",
        "STALLED" if progress["stalled"] else "",
    ]
    return " · ".join(filter(None, parts))


def _line(job: dict[str, Any]) -> str:
    scope = job["leadId"] or job["organizationId"] or "everything"
    kind = f"{job['kind']}{' (dry run)' if job['dryRun'] else ''}"
    return f"{job['reprocessingId']}  {job['status']:<9}  {kind} of {scope}, started {job['startedAt'][:19]}Z"


def _path(options: argparse.Namespace) -> str:
    if options.scope == "all":
        return "/v1/reprocessings"
    return f"/v1/organizations/{urllib.parse.quote(options.organization, safe='')}/reprocessings"


def _endpoint(options: argparse.Namespace) -> tuple[str, str]:
    stack = json.loads(STACK.read_text(encoding="utf-8")) if STACK.exists() else {}
    url = options.api or os.environ.get("LEAD_EVENTS_API") or stack.get("apiUrl")
    token = options.token or os.environ.get("LEAD_EVENTS_TOKEN") or stack.get("tokens", {}).get("platform")
    if not url or not token:
        raise ReprocessError(
            "Say where the API is and who you are: --api and --token (or the environment's variables)."
        )
    return url, token


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.reprocess", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, default="start", help="start is what is done if none is named"
    )
    parser.add_argument("id", nargs="?", help="of the reprocessing: rep_…; for all but start and list")
    parser.add_argument("--api", help="URL of the API; or LEAD_EVENTS_API; or the local twin's")
    parser.add_argument(
        "--token", help="access token with lead-events/admin; or LEAD_EVENTS_TOKEN; or the local twin's"
    )
    parser.add_argument("--scope", choices=("lead", "organization", "all"), help="what it is about")
    parser.add_argument("--organization", help="for the scopes lead and organization")
    parser.add_argument("--lead", help="for the scope lead")
    parser.add_argument("--kind", choices=("memories", "retranslation"), default="memories")
    parser.add_argument("--dry-run", action="store_true", help="write nothing; show what would change")
    parser.add_argument("--no-watch", action="store_true", help="do not wait for the end")
    options = parser.parse_args(arguments)
    options.scope = options.scope or ("lead" if options.lead else "organization" if options.organization else None)
    if options.scope is None:
        parser.error("--scope is missing: lead, organization or all")
    if options.scope != "all" and not options.organization:
        parser.error("--organization is missing")
    if options.scope == "lead" and options.action == "start" and not options.lead:
        parser.error("--lead is missing")
    if options.action not in ("start", "list") and not options.id:
        parser.error(f"which one? python -m tools.reprocess {options.action} rep_…")
    return options


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"detail": text}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
