"""The twin's tooling: it stops only what it started, says what is in the way, and describes what the stacks tell."""

from __future__ import annotations

import base64
import io
import json
import socket
import subprocess
import sys
import urllib.error
from collections.abc import Iterator
from contextlib import nullcontext
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from tools.local import aws, deploy, describe, process, tokens
from tools.local.config import Twin, clean_environment, twin_from
from tools.local.console import TwinError


@pytest.fixture
def here(tmp_path: Path) -> Twin:
    return Twin(folder=tmp_path, port=4599)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """Somebody else's process."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        yield other
        other.communicate(b"\n")


def token_with(**claims: str) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"header.{payload}.signature"


def test_a_process_that_it_did_not_start_is_neither_its_own_nor_stopped(
    here: Twin, sleeper: subprocess.Popen[bytes]
) -> None:
    """The process id of a dead MiniStack may have been given to another process since."""
    process.remember(here, process.Instance(pid=sleeper.pid, born="long ago", port=here.port, deployed="x"))
    assert process.running(here) is None
    assert process.stop(here) is False
    assert sleeper.poll() is None


@pytest.mark.parametrize("text", ["", "not json", '{"pid": 1}'])
def test_an_unreadable_note_of_the_process_counts_as_down(here: Twin, text: str) -> None:
    (here.folder / "ministack.json").write_text(text, encoding="utf-8")
    assert process.running(here) is None


def test_a_taken_port_is_named_with_the_way_out(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(TwinError, match=rf"Port {port} .* taken .* make up PORT="):
            process.check_port(Twin(folder=tmp_path, port=port))


@pytest.mark.parametrize("port", ["abc", "0", "-1", "65536"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(TwinError, match=port):
        twin_from({"LEAD_EVENTS_LOCAL_PORT": port})


def test_folder_and_port_come_from_the_environment(tmp_path: Path) -> None:
    found = twin_from({"LEAD_EVENTS_LOCAL_DIR": str(tmp_path), "LEAD_EVENTS_LOCAL_PORT": "4601"})
    assert found == Twin(folder=tmp_path, port=4601)
    assert twin_from({}).endpoint == "http://127.0.0.1:4566"


def test_no_aws_or_python_setting_of_the_caller_reaches_the_lambdas(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_REGION", "POWERTOOLS_DEV", "PYTHONPATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "x")
    assert not [name for name in clean_environment() if name.startswith(("AWS_", "POWERTOOLS_", "PYTHON"))]


def test_the_description_follows_from_the_outputs_of_the_stacks(here: Twin) -> None:
    outputs = {
        "ApiUrl": "https://abc123.execute-api.us-east-1.amazonaws.com/",
        "EventBusName": "lead-events",
        "WebhookSecretPrefix": "lead-events/local/webhooks",
        "IngestQueueUrl": "q",
        "IngestDlqUrl": "d",
        "EventsTableName": "e",
        "RejectedEventsTableName": "r",
        "RawBucketName": "b",
        "UserPoolId": "p",
    }
    granted = {"org_b": "t1", "org_a": "t2", "platform": "t3"}
    secrets = {"org_a": {"stripe": "whsec_a"}, "org_b": {"stripe": "whsec_b"}}
    described = describe.describe(here, outputs, granted, secrets)
    assert described == {
        "endpointUrl": "http://127.0.0.1:4599",
        "region": "us-east-1",
        "apiUrl": "http://127.0.0.1:4599/_aws/execute-api/abc123",
        "eventBusName": "lead-events",
        "queues": {"ingest": "q", "ingestDlq": "d"},
        "tables": {"events": "e", "rejectedEvents": "r"},
        "buckets": {"raw": "b"},
        "tokens": granted,
        "webhookSecrets": {"stripe": "whsec_a"},
        "webhookSecretPrefix": "lead-events/local/webhooks",
        "organizationId": "org_a",
    }
    describe.write(here, described)
    assert describe.read(here.stack_file) == described
    assert here.stack_file.stat().st_mode & 0o077 == 0


def test_exports_between_stacks_are_no_outputs_of_ours(here: Twin) -> None:
    stacks = {"stateful": {"EventsTableName": "e", "ExportsOutputRefTable": "x"}, "services": {"ApiUrl": "u"}}
    here.outputs_file.write_text(json.dumps(stacks), encoding="utf-8")
    assert deploy.outputs(here) == {"EventsTableName": "e", "ApiUrl": "u"}


def test_a_token_tells_the_organisation_that_it_is_bound_to() -> None:
    assert tokens.organization_of(token_with(organization_id="org_demo")) == "org_demo"
    assert tokens.organization_of(token_with(client_id="x")) is None


def test_a_missing_description_says_how_to_get_one(here: Twin) -> None:
    with pytest.raises(TwinError, match="make up"):
        describe.read(here.stack_file)


class Logs:
    """Log groups as MiniStack gives them: the oldest lines of a range, and nothing that says where to go on."""

    def __init__(self, instants: list[int]) -> None:
        self.lines = [{"timestamp": instant, "message": str(number)} for number, instant in enumerate(instants)]

    def get_paginator(self, _operation: str) -> Logs:
        return self

    def paginate(self, *, logGroupName: str, startTime: int) -> list[dict[str, Any]]:
        assert logGroupName == "api"
        return [{"events": [each for each in self.lines if each["timestamp"] >= startTime][: aws.MOST_LINES]}]


@pytest.mark.parametrize("a_millisecond", [1, 7, 9_999])
@pytest.mark.parametrize("lines", [0, 1, 9_999, 10_000, 10_001, 35_000])
def test_every_line_of_a_log_is_read_once_however_many_there_are(lines: int, a_millisecond: int) -> None:
    logs = Logs([number // a_millisecond for number in range(lines)])
    assert list(aws.log_events(logs, "api")) == logs.lines


def test_lines_that_cannot_be_read_are_told_of() -> None:
    with pytest.raises(TwinError, match="api has 10000 lines of one millisecond"):
        list(aws.log_events(Logs([5] * 10_001), "api"))


@pytest.mark.parametrize(("failures", "granted"), [(0, True), (2, True), (3, False)])
def test_a_token_is_asked_for_until_the_trigger_has_started(
    here: Twin, monkeypatch: pytest.MonkeyPatch, failures: int, *, granted: bool
) -> None:
    answers = iter([urllib.error.HTTPError("u", 400, "x", Message(), io.BytesIO(b"timed out"))] * failures)

    def answer(*_: object, **__: object) -> io.BytesIO:
        for failure in answers:
            raise failure
        return io.BytesIO(b'{"access_token": "t"}')

    monkeypatch.setattr("urllib.request.urlopen", answer)
    with nullcontext() if granted else pytest.raises(TwinError, match="refused client c 3 times, last with 400"):
        assert tokens._grant(here, "c", "s") == "t"
