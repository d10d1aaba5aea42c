"""A cold start pays for what its first event needs, and importing does nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "layers/lead_events/python"
FUNCTIONS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/handler.py"))
# Powertools itself imports the bare package botocore, for a user agent; what costs is its client and session.
HEAVY = ("boto3", "botocore.client", "botocore.session", "pydantic", "aws_xray_sdk", "phonenumbers", "simplejson")
HANDLERS_THAT_NEED = {"tokens": {"boto3", "botocore.client", "botocore.session"}}
"""The function of Cognito's trigger reads a parameter on every call: it imports its client at once."""

IMPORT_HANDLER = "import json, sys; import handler; print(json.dumps(sorted(sys.modules)))"
IMPORT_ALL = """
import datetime, json, os, socket, sys, time

class Watched(dict):
    def __getitem__(self, name): raise AssertionError("the environment was read")
    get = __getitem__

def refuse(*_, **__): raise AssertionError("a connection was made")

import aws_lambda_powertools.event_handler, aws_lambda_powertools.utilities.idempotency, boto3, pydantic, simplejson
import importlib, pkgutil, lead_events
socket.socket.connect = refuse
boto3.client = boto3.resource = refuse
names = [each.name for each in pkgutil.walk_packages(lead_events.__path__, "lead_events.")]
kept = dict(os.environ)
os.environ.clear()
os.getenv = refuse
for name in names:
    importlib.import_module(name)
import threading
assert threading.active_count() == 1
print(json.dumps(names))
"""


def run(code: str, *folders: Path) -> list[str]:
    path = os.pathsep.join(map(str, folders))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_importing_a_handler_imports_nothing_heavy(function: str) -> None:
    modules = run(IMPORT_HANDLER, ROOT / "functions" / function, LIBRARY)
    assert "handler" in modules
    found = {each for each in HEAVY if each in modules} - HANDLERS_THAT_NEED.get(function, set())
    assert found == set()


def test_importing_any_module_reads_no_environment_makes_no_client_and_starts_no_thread() -> None:
    assert "lead_events.wiring" in run(IMPORT_ALL, LIBRARY)
