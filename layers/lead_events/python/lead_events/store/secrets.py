"""Webhook secrets in Secrets Manager, through Powertools Parameters with its cache."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from lead_events.aws_errors import translated
from lead_events.errors import UnavailableError
from lead_events.names import webhook_secret_name

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

MAX_AGE_SECONDS: Final = 300
"""How long a secret is used before it is read again."""
MIN_AGE_SECONDS: Final = 10
"""A secret this young is fresh: a flood of wrong signatures does not become a flood of calls."""

MAX_KNOWN: Final = 1_000
"""Secrets, or absences of secrets, kept in memory."""


class SecretsManagerWebhookSecrets:
    """Secrets ``{prefix}/{provider}/{organizationId}``, each JSON ``{"secrets": ["…", …]}``."""

    def __init__(self, provider: SecretsProvider, prefix: str) -> None:
        self._provider = provider
        self._prefix = prefix
        self._read: dict[str, tuple[float, list[str]]] = {}

    def get(self, provider: str, organization_id: str, *, fresh: bool = False) -> list[str]:
        name = webhook_secret_name(self._prefix, provider, organization_id)
        read_at, known = self._read.get(name, (float("-inf"), []))
        if time.monotonic() - read_at < (MIN_AGE_SECONDS if fresh else MAX_AGE_SECONDS):
            return known  # includes the absence of a secret, which Parameters does not cache
        secrets = self._fetch(name)
        if len(self._read) >= MAX_KNOWN:
            self._read.clear()  # names come from URLs, and anybody can invent them
        self._read[name] = (time.monotonic(), secrets)
        return secrets

    def _fetch(self, name: str) -> list[str]:
        from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError, TransformParameterError

        with translated("Secrets Manager"):
            try:
                value = self._provider.get(name, max_age=MIN_AGE_SECONDS, transform="json", force_fetch=True)
            except GetParameterError as error:
                if _is_missing(error):
                    return []
                raise UnavailableError("Secrets Manager did not give a webhook secret.") from error
            except TransformParameterError:
                return []  # not JSON: see below
        secrets = value.get("secrets") if isinstance(value, dict) else None
        if not isinstance(secrets, list) or not all(isinstance(each, str) for each in secrets):
            return []  # as good as none: everything is refused until an operator mends it
        return secrets


def _is_missing(error: Exception) -> bool:
    cause = error.__cause__ or error.__context__
    response = getattr(cause, "response", {})
    return bool(response.get("Error", {}).get("Code") == "ResourceNotFoundException")
