"""The webhook entrance: verify the bytes as they came, hand them over durably, say so. Translation is the pipeline's.

Every refusal looks the same from outside: an unknown organisation, a missing secret and a wrong signature are one 401.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lead_events import providers, webhook_message
from lead_events.errors import ForbiddenError, InvalidError, LeadEventsError, NotFoundError, UnauthenticatedError
from lead_events.event import Delivery, check_id
from lead_events.instants import Clock
from lead_events.ports import ObjectStore, WebhookQueue
from lead_events.strict_json import decode_text, loads

FORM_TYPE = "application/x-www-form-urlencoded"


class WebhookSecrets(Protocol):
    """Secrets by provider and organisation."""

    def get(self, provider: str, organization_id: str, *, fresh: bool = False) -> list[str]:
        """All secrets valid now, possibly minutes old unless ``fresh``; none where there is no such secret."""
        ...


class Webhooks:
    """Receives deliveries of every provider."""

    def __init__(self, secrets: WebhookSecrets, queue: WebhookQueue, objects: ObjectStore, clock: Clock) -> None:
        self._secrets = secrets
        self._queue = queue
        self._objects = objects
        self._clock = clock

    def receive(
        self,
        provider_name: str,
        organization_id: str,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        body: bytes,
    ) -> None:
        """Take one delivery; returning means that it is durable. ``headers`` has lower-case names.

        Raises ``NotFoundError`` for a provider that does not exist, ``UnauthenticatedError`` for what is not signed,
        ``UnreadableError`` for what is signed but no text, ``UnavailableError`` where it could not be kept.
        """
        provider = providers.find(provider_name)
        received_at = self._clock()
        self._verify(provider, provider_name, _organization(organization_id), headers, body)
        text = decode_text(body)
        if not headers.get("content-type", "").startswith(FORM_TYPE):
            loads(text)  # what nobody can read later is refused now, while the sender still listens
        if (redact := getattr(provider, "redact", None)) is not None:
            text = redact(text, headers.get("content-type", ""))  # a secret that its provider puts into the body
        kept = {name: headers[name] for name in getattr(provider, "HEADERS", ()) if name in headers}
        delivery = Delivery(
            provider=provider_name,
            organization_id=organization_id,
            body=text,
            received_at=received_at,
            headers=kept,
            lead_id=_lead(query.get("leadId")),
        )
        self._queue.send(webhook_message.write(delivery, self._objects))

    def handshake(self, provider_name: str, organization_id: str, query: Mapping[str, str]) -> str:
        """Answer a provider's check of the URL. Raises ``NotFoundError`` where the provider makes none."""
        handshake = getattr(providers.find(provider_name), "handshake", None)
        if handshake is None:
            raise NotFoundError
        organization = _organization(organization_id)
        try:
            answer: str = handshake(query, self._secrets.get(provider_name, organization))
        except ForbiddenError:  # the token may be newer than what we have read
            answer = handshake(query, self._secrets.get(provider_name, organization, fresh=True))
        return answer

    def response_headers(
        self, provider_name: str, organization_id: str, headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Headers that a provider wants on every answer, refusals included: CORS, where browsers are its senders."""
        try:
            wanted = getattr(providers.find(provider_name), "response_headers", None)
            secrets = self._secrets.get(provider_name, _organization(organization_id)) if wanted else []
        except LeadEventsError:
            return {}  # the answer itself already says what is wrong
        found: Mapping[str, str] = wanted(headers, secrets) if wanted else {}
        return found

    def _verify(
        self,
        provider: providers.Provider,
        provider_name: str,
        organization_id: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> None:
        secrets = self._secrets.get(provider_name, organization_id)
        try:
            provider.verify(headers, body, secrets, self._clock())
        except UnauthenticatedError:
            # The sender may already sign with a secret that was added since ours were read.
            fresh = self._secrets.get(provider_name, organization_id, fresh=True)
            if fresh == secrets:
                raise
            provider.verify(headers, body, fresh, self._clock())


def _organization(organization_id: str) -> str:
    try:
        return check_id(organization_id, "organizationId")
    except InvalidError:
        raise UnauthenticatedError("The signature is missing, wrong or too old.") from None


def _lead(lead_id: str | None) -> str | None:
    try:
        return check_id(lead_id, "leadId") if lead_id else None
    except InvalidError:
        return None  # the provider cannot mend its URL; the delivery may still name its lead itself
