"""Puts onto a fresh twin what operators make on AWS, and what MiniStack's CloudFormation does not know."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from typing import Final

from lead_events.names import webhook_secret_name
from tools.local import aws
from tools.local.config import Twin

PROVIDERS: Final = ("stripe",)
"""The webhook providers for which every demo organisation gets a signing secret."""

ARCHIVE: Final = "lead-events"


def seed(twin: Twin, outputs: dict[str, str], organizations: Iterable[str]) -> dict[str, dict[str, str]]:
    """Makes what is missing, and only that. Answers the webhook secrets by organisation and provider."""
    _archive(twin, outputs["EventBusName"])
    prefix = outputs["WebhookSecretPrefix"]
    return {
        organization: {provider: _webhook_secret(twin, prefix, provider, organization) for provider in PROVIDERS}
        for organization in organizations
    }


def _webhook_secret(twin: Twin, prefix: str, provider: str, organization: str) -> str:
    """The provider's signing secret of that organisation, made up where there is none."""
    client = aws.secrets_manager(twin)
    name = webhook_secret_name(prefix, provider, organization)
    try:
        stored = client.get_secret_value(SecretId=name)["SecretString"]
    except client.exceptions.ResourceNotFoundException:
        stored = json.dumps({"secrets": [f"whsec_{secrets.token_hex(16)}"]})
        client.create_secret(Name=name, SecretString=stored)
    valid: list[str] = json.loads(stored)["secrets"]
    return valid[0]


def _archive(twin: Twin, bus: str) -> None:
    """The archive of the bus: its CloudFormation type is unknown to MiniStack, its API is not."""
    client = aws.events(twin)
    if any(archive["ArchiveName"] == ARCHIVE for archive in client.list_archives(NamePrefix=ARCHIVE)["Archives"]):
        return
    client.create_archive(ArchiveName=ARCHIVE, EventSourceArn=client.describe_event_bus(Name=bus)["Arn"])
