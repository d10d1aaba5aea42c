"""The functions wired as they are deployed, with AWS as moto plays it. Tests of a module share it, each with an organisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.retries.standard import ExponentialBackoff
from moto import mock_aws

from lead_events import wiring
from lead_events.names import Env
from tests.support.aws import CREDENTIALS, create_world, fresh_observability
from tests.support.functions import Functions

_NUMBERS = count(1)


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Tables, bucket, queue, bus and secrets, and the environment variables that the stacks set."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(boto3, "DEFAULT_SESSION", None)
        patched.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)  # botocore tries again at once
        for name, value in CREDENTIALS.items():
            patched.setenv(name, value)
        for name in Env:
            patched.delenv(name, raising=False)
        with mock_aws():
            made = create_world()
            for name, value in made.items():
                patched.setenv(name, value)
            wiring.reset()
            yield made
            wiring.reset()


@pytest.fixture
def functions(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Functions:
    """The functions for an organisation that has no events yet."""
    fresh_observability(monkeypatch, level="DEBUG")
    return Functions(f"org_{next(_NUMBERS)}", environment[Env.INGEST_QUEUE_URL])


class _Raw:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._body


Throttle = Callable[..., list[str]]


@pytest.fixture
def throttle(functions: Functions) -> Iterator[Throttle]:
    """Make the next ``times`` calls of an operation be throttled, after letting ``after`` of them through."""
    registered: list[tuple[Any, str, Any]] = []

    def start(service: str, operation: str, times: int, after: int = 0) -> list[str]:
        seen: list[str] = []

        def answer(request: Any, **_: Any) -> AWSResponse | None:
            seen.append(operation)
            if not after < len(seen) <= after + times:
                return None
            body = b'{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}'
            return AWSResponse(request.url, 400, {"x-amzn-RequestId": "r", "Content-Type": "application/x-amz-json-1.0"}, _Raw(body))

        event = f"before-send.{service}.{operation}"
        client = wiring.client(service)
        client.meta.events.register_first(event, answer)
        registered.append((client, event, answer))
        return seen

    yield start
    for client, event, answer in registered:
        client.meta.events.unregister(event, answer)
