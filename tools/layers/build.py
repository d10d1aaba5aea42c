#!/usr/bin/env python3
"""Builds the third-party layer of the Lambda functions with pip alone: no Docker, no compiler.

    python tools/layers/build.py [lambda] [local]

``lambda`` holds the wheels of the runtime that the stacks declare (Python 3.13 on arm64), whatever machine builds it;
``local`` those of the interpreter that runs this script, for the local twin. Without arguments both are built.

The result is ``layers/dependencies/build/{target}/python`` and is a function of its inputs alone: the lock file, the
target and this script. Their hash is kept beside it, so a second run does nothing. Files that no import needs are
removed (tests, type stubs, byte code, installer records), because every byte is unpacked at a cold start. Only the local
layer is compiled again: its byte code is that of the interpreter which builds it.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LOCK: Final = ROOT / "layers" / "dependencies" / "requirements.txt"
BUILD: Final = ROOT / "layers" / "dependencies" / "build"
STAMP: Final = ".inputs.sha256"

LAMBDA: Final = "lambda"
LOCAL: Final = "local"
TARGETS: Final = (LAMBDA, LOCAL)

LAMBDA_PLATFORM: Final = (
    "--python-version=3.13",
    "--implementation=cp",
    "--abi=cp313",
    "--abi=abi3",
    "--abi=none",
    # Lambda's Python 3.13 runs on Amazon Linux 2023 (glibc 2.34): every manylinux up to that is fine.
    "--platform=manylinux_2_34_aarch64",
    "--platform=manylinux_2_28_aarch64",
    "--platform=manylinux_2_17_aarch64",
    "--platform=manylinux2014_aarch64",
    "--only-binary=:all:",
)

UNUSED_FOLDERS: Final = frozenset({"__pycache__", "tests", "test", "bin"})
UNUSED_SUFFIXES: Final = (".pyc", ".pyi", ".c", ".h", ".pyx")
UNUSED_FILES: Final = ("phonenumbers/shortdata/region_*.py",)
"""Patterns of data files that are read when asked for, and nobody asks: those of emergency and other short numbers."""
UNUSED_RECORDS: Final = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "WHEEL"})


class BuildError(Exception):
    """The layer cannot be built; the message says why."""


def inputs_hash(target: str) -> str:
    """Hash of all that the layer depends on. The local layer also depends on the interpreter and its platform."""
    digest = hashlib.sha256()
    for part in (LOCK.read_bytes(), Path(__file__).read_bytes(), target.encode()):
        digest.update(hashlib.sha256(part).digest())
    if target == LOCAL:
        digest.update(f"{sys.implementation.cache_tag} {sysconfig.get_platform()}".encode())
    return digest.hexdigest()


def is_current(target: str) -> bool:
    """Whether the layer on disk was built from the present inputs."""
    stamp = BUILD / target / STAMP
    return stamp.is_file() and stamp.read_text() == inputs_hash(target)


def build(target: str) -> Path:
    """Build the layer of ``target`` unless it is current. Answers its folder, the one that holds ``python/``.

    Raises BuildError if pip fails, for example because a package has no wheel for the target.
    """
    destination = BUILD / target
    if is_current(target):
        return destination
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as temporary:
        # Built aside and moved: an interrupted build leaves no half layer behind.
        staged = Path(temporary) / target
        _install(target, staged / "python")
        strip(staged / "python")
        if target == LOCAL:  # the machine that builds has the interpreter that runs; for Lambda's it may have none
            _compile(staged / "python")
        (staged / STAMP).write_text(inputs_hash(target))
        shutil.rmtree(destination, ignore_errors=True)
        staged.rename(destination)
    return destination


def _install(target: str, folder: Path) -> None:
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"),
        # The lock is complete but for what the runtime brings, so nothing is to be resolved.
        *("--no-deps", "--require-hashes", "--no-compile", "--target", str(folder), "--requirement", str(LOCK)),
        *(LAMBDA_PLATFORM if target == LAMBDA else ("--only-binary=:all:",)),
    ]
    environment = {**os.environ, "PIP_USER": "0", "PYTHONPATH": ""}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise BuildError(f"layer '{target}': pip failed\n{finished.stderr.strip()}")


def _compile(folder: Path) -> None:
    """Byte code that is not checked against the sources' times: whoever unpacks the layer changes those."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(folder, quiet=2, stripdir=folder, invalidation_mode=mode)


def strip(folder: Path) -> None:
    """Remove what no import needs. Distribution names and versions stay: ``importlib.metadata`` reads them."""
    for path in _bottom_up(folder):
        if path.is_dir():
            if path.name in UNUSED_FOLDERS:
                shutil.rmtree(path)
        elif (
            path.name.endswith(UNUSED_SUFFIXES)
            or any(path.match(pattern) for pattern in UNUSED_FILES)
            or (path.parent.suffix == ".dist-info" and path.name in UNUSED_RECORDS)
        ):
            path.unlink()


def _bottom_up(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in sorted((*folders, *files)):
            yield Path(parent) / name


def main(arguments: Sequence[str]) -> int:
    """Build the named targets; 1 if one of them fails."""
    parser = argparse.ArgumentParser(description="Build the third-party layer of the Lambda functions.")
    parser.add_argument("targets", nargs="*", metavar="target", help=f"one of {', '.join(TARGETS)}; all by default")
    targets = parser.parse_args(arguments).targets or list(TARGETS)
    if unknown := sorted(set(targets) - set(TARGETS)):
        parser.error(f"unknown target: {', '.join(unknown)}")
    for target in targets:
        fresh = is_current(target)
        try:
            folder = build(target)
        except BuildError as error:
            print(error, file=sys.stderr)
            return 1
        # On standard error: the CDK CLI's standard output is for templates.
        print(f"layer {target}: {folder.relative_to(ROOT)}{' (unchanged)' if fresh else ''}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
