"""boto3 clients that speak to a twin as the root of its account, as an operator with full rights would to AWS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config

from tools.local.config import REGION, ROOT_ACCESS_KEY, ROOT_SECRET_KEY, Twin
from tools.local.console import TwinError

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

MOST_LINES: Final = 10_000
"""What the twin gives of a log group at once: the oldest of a range, and nothing that says where to go on."""

CONFIG = Config(retries={"max_attempts": 3, "mode": "standard"}, connect_timeout=5, read_timeout=30)


def _session() -> boto3.Session:
    return boto3.Session(aws_access_key_id=ROOT_ACCESS_KEY, aws_secret_access_key=ROOT_SECRET_KEY, region_name=REGION)


def cognito(twin: Twin) -> CognitoIdentityProviderClient:
    """User pools and their clients."""
    return _session().client("cognito-idp", endpoint_url=twin.endpoint, config=CONFIG)


def events(twin: Twin) -> EventBridgeClient:
    """The event bus."""
    return _session().client("events", endpoint_url=twin.endpoint, config=CONFIG)


def logs(twin: Twin) -> CloudWatchLogsClient:
    """What the functions wrote."""
    return _session().client("logs", endpoint_url=twin.endpoint, config=CONFIG)


def log_events(client: Any, group: str, since: int = 0) -> Iterator[Mapping[str, Any]]:
    """Every event of a log group since an instant in milliseconds, oldest first, however many there are.

    Raises:
        TwinError: more were written in one millisecond than the twin gives at once.
    """
    while True:
        pages = client.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since)
        found = [event for page in pages for event in page["events"]]
        if len(found) < MOST_LINES:
            yield from found
            return
        since = found[-1]["timestamp"]  # of that millisecond there may be more
        whole = [event for event in found if event["timestamp"] < since]
        if not whole:
            raise TwinError(f"{group} has {MOST_LINES} lines of one millisecond, and nothing gives the others.")
        yield from whole


def secrets_manager(twin: Twin) -> SecretsManagerClient:
    """Secrets."""
    return _session().client("secretsmanager", endpoint_url=twin.endpoint, config=CONFIG)


def sqs(twin: Twin) -> SQSClient:
    """Queues."""
    return _session().client("sqs", endpoint_url=twin.endpoint, config=CONFIG)
