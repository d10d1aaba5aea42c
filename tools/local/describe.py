"""Writes and reads a twin's description, `.local/stack.json`: all that a client of the twin needs to know."""

from __future__ import annotations

import json
import os
import urllib.parse
from pathlib import Path
from typing import Any, Final, TypedDict, cast

from tools.local.config import REGION, Twin
from tools.local.console import TwinError
from tools.local.tokens import PLATFORM


class Description(TypedDict):
    """The content of `.local/stack.json`."""

    endpointUrl: str
    region: str
    apiUrl: str
    eventBusName: str
    queues: dict[str, str]
    tables: dict[str, str]
    buckets: dict[str, str]
    tokens: dict[str, str]
    webhookSecrets: dict[str, str]
    webhookSecretPrefix: str
    organizationId: str


SUFFIXES: Final = (("queues", "QueueUrl", ""), ("queues", "DlqUrl", "Dlq"), ("tables", "TableName", ""))
"""Outputs such as ``RejectedEventsTableName`` become entries such as ``tables.rejectedEvents``."""

BUCKETS: Final = ("buckets", "BucketName", "")


def describe(
    twin: Twin, outputs: dict[str, str], tokens: dict[str, str], secrets: dict[str, dict[str, str]]
) -> Description:
    """The description of a deployed twin; its organisation is the first of the demo organisations."""
    named: dict[str, dict[str, str]] = {"queues": {}, "tables": {}, "buckets": {}}
    for output, value in sorted(outputs.items()):
        for group, suffix, kind in (*SUFFIXES, BUCKETS):
            if output.endswith(suffix):
                short = output.removesuffix(suffix) + kind
                named[group][short[:1].lower() + short[1:]] = value
                break
    organization = demo_organization(tokens)
    return {
        "endpointUrl": twin.endpoint,
        "region": REGION,
        "apiUrl": api_url(twin, outputs["ApiUrl"]),
        "eventBusName": outputs["EventBusName"],
        "queues": named["queues"],
        "tables": named["tables"],
        "buckets": named["buckets"],
        "tokens": tokens,
        "webhookSecrets": secrets[organization],
        "webhookSecretPrefix": outputs["WebhookSecretPrefix"],
        "organizationId": organization,
    }


def demo_organization(tokens: dict[str, str]) -> str:
    """The organisation of the demo and the checks: the first by name."""
    return min(set(tokens) - {PLATFORM})


def api_url(twin: Twin, deployed: str) -> str:
    """The API on the twin's port: the host name that AWS gives it does not resolve here, so its id is in the path."""
    api_id = (urllib.parse.urlsplit(deployed).hostname or "").partition(".")[0]
    return f"{twin.endpoint}/_aws/execute-api/{api_id}"


def write(twin: Twin, description: Description) -> None:
    """Replaces the file in one step, so that nobody reads half of it; other users may not read it, for its tokens."""
    draft = twin.stack_file.with_suffix(".draft")
    with open(draft, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        json.dump(description, file, indent=2)
        file.write("\n")
    draft.replace(twin.stack_file)


def read(file: Path) -> Description:
    """Reads a description.

    Raises:
        TwinError: there is none.
    """
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TwinError(f"{file} is missing: no twin was started there. `make up` starts one.") from None
    return cast("Description", content)
