"""A twin's life: up, down, status. `up` may be called at any time and does only what is missing."""

from __future__ import annotations

import fcntl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from tools.local import deploy, describe, process, seed, tokens
from tools.local.config import Twin
from tools.local.console import TwinError, say, tail, timed

SERVING_SECONDS: Final = 60.0


def up(wanted: Twin) -> tuple[Twin, describe.Description]:
    """Starts, deploys and seeds what is missing, renews the tokens and returns when requests are served.

    Answers the twin on the port where it runs, and its description.

    Raises:
        TwinError: something that a person has to put right; a twin that was never deployed is stopped again.
    """
    with _alone(wanted):
        twin = _deployed(wanted)
        outputs = deploy.outputs(twin)
        granted = tokens.fetch(twin, outputs)
        secrets = seed.seed(twin, outputs, sorted(set(granted) - {tokens.PLATFORM}))
        description = describe.describe(twin, outputs, granted, secrets)
        _wait_until_served(twin, description["apiUrl"])
        describe.write(twin, description)
    return twin, description


def _deployed(wanted: Twin) -> Twin:
    """The twin with the present stacks on it, started where it was down."""
    instance = process.running(wanted)
    if instance is not None and instance.deployed:
        twin = replace(wanted, port=instance.port)
        try:
            deploy.deploy(twin, instance)
            return twin
        except deploy.DeploymentError as error:
            # MiniStack misses some changes of deployed stacks, exports for example, and then fails on their users.
            say(f"the update failed, so the twin starts afresh without its data\n{error}")
    process.stop(wanted)
    with timed(f"starting MiniStack on 127.0.0.1:{wanted.port}"):
        instance = process.start(wanted)
    try:
        deploy.deploy(wanted, instance)
    except TwinError:
        process.stop(wanted)
        raise
    return wanted


def down(twin: Twin) -> bool:
    """Stops the twin and removes its description; False where it did not run."""
    with _alone(twin):
        stopped = process.stop(twin)
        twin.stack_file.unlink(missing_ok=True)
        return stopped


@contextmanager
def _alone(twin: Twin) -> Iterator[None]:
    """One `up` or `down` of a twin at a time: others wait for it and then find its work done."""
    twin.folder.mkdir(parents=True, exist_ok=True)
    with (twin.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another `make up` or `make down` of this twin")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _wait_until_served(twin: Twin, api_url: str) -> None:
    """Waits for the first 200 of /health, which also starts the API's first Lambda worker."""
    deadline = time.monotonic() + SERVING_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"{api_url}/health", timeout=SERVING_SECONDS):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
            answer = error.read().decode(errors="replace") if isinstance(error, urllib.error.HTTPError) else ""
            if time.monotonic() > deadline:
                raise TwinError(
                    f"The API does not serve {api_url}/health ({error}) {answer}"
                    f"\nthe end of {twin.log}:\n{tail(twin.log)}"
                ) from None
        time.sleep(0.5)
