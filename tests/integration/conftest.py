"""The functions wired as they are deployed, with AWS as moto plays it; each test has an organisation of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.retries.standard import ExponentialBackoff
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber, MockRawResponse

from lead_events import wiring
from lead_events.names import Env
from tests.support.aws import CREDENTIALS, create_world, fresh_observability, one_call_at_a_time
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
        one_call_at_a_time(patched)
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


class Throttled(list[str]):
    """The calls that were seen; once it is ``over``, no more are throttled."""

    over = False


Throttle = Callable[..., Throttled]


@pytest.fixture
def throttle(functions: Functions, monkeypatch: pytest.MonkeyPatch) -> Throttle:
    """Make the next ``times`` calls of an operation be throttled, after letting ``after`` of them through.

    In the place of moto, which would take effect first if it were only asked after another handler of botocore's event.
    """
    answer_of_moto = BotocoreStubber.__call__

    def start(service: str, operation: str, times: int, after: int = 0) -> Throttled:
        seen = Throttled()

        def answer(stubber: BotocoreStubber, event_name: str, request: Any, **rest: Any) -> AWSResponse | None:
            if event_name == f"before-send.{service}.{operation}":
                seen.append(operation)
                if not seen.over and after < len(seen) <= after + times:
                    body = b'{"__type":"x#ThrottlingException","message":"slow down"}'
                    headers = {"x-amzn-RequestId": "r", "Content-Type": "application/x-amz-json-1.0"}
                    return AWSResponse(request.url, 400, headers, MockRawResponse(body))  # type: ignore[arg-type]
            return answer_of_moto(stubber, event_name, request, **rest)

        monkeypatch.setattr(BotocoreStubber, "__call__", answer)
        return seen

    return start
