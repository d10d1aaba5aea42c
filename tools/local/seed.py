"""Puts onto a fresh twin what operators make on AWS, and what MiniStack's CloudFormation does not know."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterable, Sequence
from typing import Final

from lead_events import providers
from lead_events.names import webhook_secret_name
from tools.local import aws
from tools.local.config import Twin

ARCHIVE: Final = "lead-events"

SITE: Final = "http://localhost:3000"
"""Origin of the demo organisations' own site: pages of a developer's machine may send as browsers do."""

BESIDE_SIGNING: Final = ("verify:", "browser:")
"""How those entries of a secret begin that sign nothing: Meta's handshake tokens, and sites of browsers."""


def seed(twin: Twin, outputs: dict[str, str], organizations: Iterable[str]) -> dict[str, dict[str, str]]:
    """Makes what is missing, and only that. Answers the signing secrets by organisation and provider."""
    _archive(twin, outputs["EventBusName"])
    prefix = outputs["WebhookSecretPrefix"]
    return {
        organization: {
            provider: _webhook_secret(twin, webhook_secret_name(prefix, provider, organization), provider)
            for provider in sorted(providers.names())
        }
        for organization in organizations
    }


def completed(provider: str, stored: Sequence[str]) -> list[str]:
    """The entries of a provider's secret: those that are stored, and a new one of each kind that it has and is missing.

    The first of them signs.
    """
    signing = [entry for entry in stored if not entry.startswith(BESIDE_SIGNING)]
    others = [entry for entry in stored if entry.startswith(BESIDE_SIGNING)]
    for entry in _beside_signing(provider):
        if not any(each.startswith(entry.partition(":")[0]) for each in others):
            others.append(entry)
    return [*(signing or [_signing_secret(provider)]), *others]


def _signing_secret(provider: str) -> str:
    """A new signing secret as the provider writes its own."""
    if provider == "stripe":
        return f"whsec_{secrets.token_hex(16)}"
    if provider == "web":  # Standard Webhooks
        return f"whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}"
    # Hotmart's hottok, Meta's app secret, Typeform's and Shopify's: any text.
    return secrets.token_hex(16)


def _beside_signing(provider: str) -> list[str]:
    """What else a provider's secret holds; see the provider's module."""
    if provider in ("whatsapp", "instagram"):
        return [f"verify:{secrets.token_hex(8)}"]
    if provider == "web":
        return ["browser:" + json.dumps({"key": f"pk_{secrets.token_hex(8)}", "origins": [SITE]})]
    return []


def _webhook_secret(twin: Twin, name: str, provider: str) -> str:
    """The signing secret of a provider and an organisation; the secret is made or completed where that is needed."""
    client = aws.secrets_manager(twin)
    try:
        stored: list[str] = json.loads(client.get_secret_value(SecretId=name)["SecretString"])["secrets"]
        wanted = completed(provider, stored)
        if wanted != stored:
            client.put_secret_value(SecretId=name, SecretString=json.dumps({"secrets": wanted}))
    except client.exceptions.ResourceNotFoundException:
        wanted = completed(provider, [])
        client.create_secret(Name=name, SecretString=json.dumps({"secrets": wanted}))
    return wanted[0]


def _archive(twin: Twin, bus: str) -> None:
    """The archive of the bus: its CloudFormation type is unknown to MiniStack, its API is not."""
    client = aws.events(twin)
    if any(archive["ArchiveName"] == ARCHIVE for archive in client.list_archives(NamePrefix=ARCHIVE)["Archives"]):
        return
    client.create_archive(ArchiveName=ARCHIVE, EventSourceArn=client.describe_event_bus(Name=bus)["Arn"])
