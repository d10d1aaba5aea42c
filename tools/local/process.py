"""Starts MiniStack in the background, knows whether it runs, and stops it: never a process that it did not start."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tools.local.config import REGION, ROOT, Twin, clean_environment
from tools.local.console import TwinError, tail

START_SECONDS = 60.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Instance:
    """A running MiniStack that this tool started."""

    pid: int
    born: str
    """When the process was born, as the system tells it: a later process with the same id differs."""
    port: int
    deployed: str = ""
    """Fingerprint of what was deployed onto it; the state is in memory, so it dies with the process."""


def running(twin: Twin) -> Instance | None:
    """The twin's MiniStack, if it lives."""
    instance = _read(twin)
    if instance is None or _born(instance.pid) != instance.born:
        return None
    return instance


def start(twin: Twin) -> Instance:
    """Starts MiniStack and waits until it answers.

    Raises:
        TwinError: the port is taken, its virtual environment is missing, or it does not come up.
    """
    python = ROOT / ".venv-twin" / "bin" / "python"
    if not python.exists():
        raise TwinError("The twin's virtual environment .venv-twin is missing; `make up` makes it.")
    check_port(twin)
    # The Lambdas' bundles are unpacked below the twin's own folder, and leave with it.
    scratch = twin.folder / "tmp"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    environment = clean_environment(
        GATEWAY_PORT=str(twin.port),
        BIND_HOST="127.0.0.1",
        MINISTACK_REGION=REGION,
        AUTH="true",  # IAM policies of the functions' roles are enforced, as on AWS
        MINISTACK_COGNITO_PRETOKEN_STRICT="1",  # no token at all where its trigger fails, as on AWS
        IOT_MTLS_ENABLED="0",
        SFTP_ENABLED="0",
        LAMBDA_ACCOUNT_CONCURRENCY="150",  # its own default shrinks with memory; a throttled call would be a 429
        LAMBDA_WARM_TTL_SECONDS="120",  # surplus workers of a burst are 60 to 90 MB each
        PYTHONDONTWRITEBYTECODE="1",  # every worker unpacks its own copy, so its byte code serves nobody
        TMPDIR=str(scratch),
        PYTHONUNBUFFERED="1",
    )
    with twin.log.open("wb") as log:
        process = subprocess.Popen(
            [str(python), "-m", "ministack"],
            cwd=scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C at the terminal is ours to handle
        )
    instance = Instance(pid=process.pid, born=_born(process.pid) or "", port=twin.port)
    remember(twin, instance)
    deadline = time.monotonic() + START_SECONDS
    while not _answers(twin):
        if process.poll() is not None or time.monotonic() > deadline:
            stop(twin)
            raise TwinError(f"MiniStack did not come up; the end of {twin.log}:\n{tail(twin.log)}")
        time.sleep(POLL_SECONDS)
    return instance


def check_port(twin: Twin) -> None:
    """Raises TwinError, which names a way out, where another program has the twin's port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose last connections still fade out counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", twin.port))
        except OSError:
            raise TwinError(
                f"Port {twin.port} on 127.0.0.1 is taken by another program."
                " Stop that one, or choose another port: make up PORT=4580"
            ) from None


def stop(twin: Twin) -> bool:
    """Stops the twin's MiniStack and its Lambda workers; False where none ran."""
    instance = running(twin)
    _instance_file(twin).unlink(missing_ok=True)
    if instance is None:
        return False
    for sign in (signal.SIGTERM, signal.SIGKILL):
        _signal_group(instance, sign)
        deadline = time.monotonic() + STOP_SECONDS
        while _born(instance.pid) == instance.born and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        if _born(instance.pid) != instance.born:
            break
    shutil.rmtree(twin.folder / "tmp", ignore_errors=True)
    return True


def remember(twin: Twin, instance: Instance, *, deployed: str | None = None) -> Instance:
    """Writes down which process is ours, and what is deployed onto it."""
    known = instance if deployed is None else replace(instance, deployed=deployed)
    twin.folder.mkdir(parents=True, exist_ok=True)
    _instance_file(twin).write_text(json.dumps(asdict(known), indent=2) + "\n", encoding="utf-8")
    return known


def _instance_file(twin: Twin) -> Path:
    return twin.folder / "ministack.json"


def _read(twin: Twin) -> Instance | None:
    try:
        return Instance(**json.loads(_instance_file(twin).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _born(pid: int) -> str | None:
    """The moment of a living process's birth in the system's own terms; None where it is dead or a zombie."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            # The name in parentheses may hold blanks; state is the 1st field after it, start time the 20th.
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    told = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, moment = told.stdout.strip().partition(" ")
    return None if not moment or state.startswith("Z") else moment.strip()


def _signal_group(instance: Instance, sign: signal.Signals) -> None:
    """Signals the session that we made: MiniStack and the Lambda workers that it spawned."""
    try:
        os.killpg(instance.pid, sign)
    except (ProcessLookupError, PermissionError):
        return


def _answers(twin: Twin) -> bool:
    try:
        with urllib.request.urlopen(f"{twin.endpoint}/_ministack/ready", timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
