"""What the measurements share: bundles, stub endpoints and one MiniStack, each made when first asked for and ended together."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
from botocore.config import Config

from tools.benchmarks import tables
from tools.benchmarks.bundles import Bundles, lay_out
from tools.local import process
from tools.local.config import NO_PROXY_HERE, REGION, Twin


class Lab:
    """A temporary folder and the processes of one run of the benchmarks."""

    def __init__(self, *, quick: bool = False, say: Callable[[str], None] = print) -> None:
        self.quick = quick
        self.say = say
        self._stack = ExitStack()
        os.environ.update(NO_PROXY_HERE)
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="lead-events-bench-")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    @cached_property
    def bundles(self) -> Bundles:
        """Every function of both sides, laid out as in Lambda."""
        self.say("laying the bundles out")
        return lay_out(self.folder / "bundles")

    @cached_property
    def ministack(self) -> int:
        """The port of a MiniStack of our own, with all tables."""
        self.say("starting MiniStack")
        twin = Twin(folder=self.folder / "ministack", port=_free_port())
        twin.folder.mkdir()
        process.start(twin)
        self._stack.callback(process.stop, twin)
        make_tables(session().client("dynamodb", **endpoint(twin.port)))
        return twin.port

    @contextmanager
    def stub(self, delay: float = 0.0) -> Iterator[int]:
        """The port of a new stub endpoint, with all tables, that answers after ``delay`` seconds."""
        with subprocess.Popen(
            [sys.executable, "-m", "tools.benchmarks.stub", "--delay", str(delay)],
            cwd=tables.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as served:
            assert served.stdout is not None
            port = int(served.stdout.readline())
            try:
                make_tables(session().client("dynamodb", **endpoint(port)))
                yield port
            finally:
                assert served.stdin is not None
                served.stdin.close()


def session() -> boto3.Session:
    """A new session with credentials that mean nothing outside."""
    return boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)


def endpoint(port: int) -> dict[str, Any]:
    """Arguments of a client of what listens at ``port``."""
    return {"endpoint_url": f"http://127.0.0.1:{port}", "config": Config(retries={"max_attempts": 1})}


@contextmanager
def aws_at(port: int) -> Iterator[None]:
    """Clients made meanwhile speak to ``port``, whoever makes them."""
    before = os.environ.get("AWS_ENDPOINT_URL")
    os.environ["AWS_ENDPOINT_URL"] = endpoint(port)["endpoint_url"]
    try:
        yield
    finally:
        del os.environ["AWS_ENDPOINT_URL"]
        if before is not None:
            os.environ["AWS_ENDPOINT_URL"] = before


def make_tables(client: Any) -> None:
    """Create the tables of both sides."""
    for definition in (*tables.ours(), *tables.literal(), *tables.others()):
        client.create_table(**definition)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
