"""Deploys the real CDK app onto a twin with the real CDK CLI, and only when something of it changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tools.local.config import ACCOUNT, REGION, ROOT, STAGE, Twin, clean_environment, root_credentials
from tools.local.console import TwinError, say, tail, timed
from tools.local.process import Instance, remember

INPUTS: Final = (
    "app.py",
    "cdk.json",
    "package-lock.json",
    "requirements.txt",
    "stacks",
    "functions",
    "layers",
    "tools/layers",
)
"""Files and folders that the deployed stacks are made of."""

NOT_INPUTS: Final = frozenset({"__pycache__", "build"})
"""Folders below them that are made from the others."""

EXPORTS: Final = "ExportsOutput"
"""Outputs by which CDK hands values from stack to stack."""

PROGRESS_MARKS: Final = (" ✅", " ❌", ": deploying...", ": creating CloudFormation changeset...")


class DeploymentError(TwinError):
    """The CDK CLI failed; the text has the end of its log."""


def deploy(twin: Twin, instance: Instance) -> Instance:
    """Bootstraps and deploys all stacks unless exactly these sources are deployed already.

    Raises:
        DeploymentError: the CDK CLI failed to deploy; what is on the twin now is not known.
        TwinError: Node.js or the CDK CLI is missing, or the app does not synthesise; the twin is as it was.
    """
    wanted = fingerprint()
    if instance.deployed == wanted and twin.outputs_file.exists():
        return instance
    if shutil.which("node") is None:
        raise TwinError("Node.js is missing: install version 20 or newer (the AWS CDK's command line needs it).")
    cdk = ROOT / "node_modules" / ".bin" / "cdk"
    if not cdk.exists():
        raise TwinError("The CDK command line is missing; `make up` installs it (npm ci).")
    twin.deploy_log.unlink(missing_ok=True)
    assembly = twin.folder / "cdk.out"
    with timed("synthesising the CDK app"):
        command = (str(cdk), "synth", "--quiet", "--context", f"stage={STAGE}", "--output", str(assembly))
        if not _cdk(twin, ROOT, command):
            raise TwinError(f"The CDK app does not synthesise; the end of {twin.deploy_log}:\n{tail(twin.deploy_log)}")
    # From here on away from cdk.json: the CLI would build and synthesise the app again.
    plain = ("--ci", "--progress", "events", "--no-color")
    if not instance.deployed:
        with timed("bootstrapping"):
            _deploying(twin, (str(cdk), "bootstrap", f"aws://{ACCOUNT}/{REGION}", *plain))
    with timed("deploying"):
        options = ("--all", "--require-approval", "never", "--outputs-file", str(twin.outputs_file))
        _deploying(twin, (str(cdk), "deploy", "--app", str(assembly), *options, *plain))
    return remember(twin, instance, deployed=wanted)


def outputs(twin: Twin) -> dict[str, str]:
    """The outputs of all stacks by name."""
    stacks: dict[str, dict[str, str]] = json.loads(twin.outputs_file.read_text(encoding="utf-8"))
    return {name: value for stack in stacks.values() for name, value in stack.items() if not name.startswith(EXPORTS)}


def fingerprint() -> str:
    """A hash over paths and contents of everything that the deployed stacks are made of."""
    digest = hashlib.sha256()
    for path in _inputs():
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _inputs() -> Iterator[Path]:
    for name in INPUTS:
        top = ROOT / name
        if top.is_file():
            yield top
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(set(folders) - NOT_INPUTS)
            yield from (Path(folder) / file for file in sorted(files))


def _deploying(twin: Twin, command: Sequence[str]) -> None:
    if not _cdk(twin, twin.folder, command):
        raise DeploymentError(f"The deployment failed; the end of {twin.deploy_log}:\n{tail(twin.deploy_log)}")


def _cdk(twin: Twin, folder: Path, command: Sequence[str]) -> bool:
    """Runs the CDK CLI, writes all it says to the log and passes on the lines that tell how far it is.

    Answers whether it succeeded.
    """
    environment = clean_environment(
        **root_credentials(twin),
        CDK_DEFAULT_ACCOUNT=ACCOUNT,
        CDK_DEFAULT_REGION=REGION,
        CDK_DISABLE_CLI_TELEMETRY="true",
        JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION="1",
    )
    with (
        twin.deploy_log.open("a", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        for line in process.stdout or ():
            log.write(line)
            if any(mark in line for mark in PROGRESS_MARKS):
                say(f"  {line.strip()}")
    return process.returncode == 0
