"""Exactly one stored event per ``(organizationId, source, externalEventId)``.

The triple is *claimed* by a conditional put before its event is put. The claim records, for ever, the key of the event that
it belongs to and a fingerprint of the content. So a later delivery learns from one failed write where the first event is,
even if it carries another time or resolves to another lead, and whether it is the same event again or another in its name.

It runs through Powertools Idempotency: ``ClaimPersistence`` is a persistence layer whose records never expire, and which it
never updates or deletes. (Erasure does: what it leaves of a claim keeps the event out.) There is no *in progress*: a claim
without its event is completed by the next delivery, because the event's put is itself conditional.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, Final

from aws_lambda_powertools.utilities.idempotency import BasePersistenceLayer
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyItemAlreadyExistsError,
    IdempotencyPersistenceLayerError,
    IdempotencyValidationError,
)
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import STATUS_CONSTANTS, DataRecord

from lead_events.errors import LeadEventsError
from lead_events.event import EventKey, LeadEvent, StoredEvent
from lead_events.instants import parse_instant
from lead_events.names import ids_of
from lead_events.strict_json import Json

FINGERPRINT_VERSION: Final = "1"
"""Raised when normalisation changes what a fingerprint covers: fingerprints of two versions are not compared."""


@dataclass(frozen=True, slots=True)
class Claim:
    """``claim_id`` belongs to the event at this key, with this content."""

    claim_id: str
    lead_organization_id: str
    occurred_at_id: str
    fingerprint: str
    erased: bool = False
    """Whether its event was erased: then the claim holds nothing else, and keeps the event out."""

    @classmethod
    def of_erased(cls, claim_id: str) -> Claim:
        """What stays of a claim whose event was erased."""
        return cls(claim_id, "", "", "", erased=True)

    @classmethod
    def of(cls, event: StoredEvent) -> Claim | None:
        """The claim that ``event`` needs: of its fact, else of its external id; ``None`` where it has neither."""
        if event.shared_fact is not None:
            claimed, content = event.shared_fact.id, fact_fingerprint(event)
        elif event.external_event_id is not None:
            claimed, content = event.external_event_id, fingerprint(event)
        else:
            return None
        key = event.key
        return cls(
            claim_id(event.organization_id, event.source, claimed),
            key.lead_organization_id,
            key.occurred_at_id,
            content,
        )

    @property
    def key(self) -> EventKey:
        return EventKey(self.lead_organization_id, self.occurred_at_id)

    def completed_by(self, event: LeadEvent) -> StoredEvent:
        """``event`` at the claimed key: the first delivery's lead, time and id, which others may have been told."""
        organization_id, lead_id = ids_of(self.lead_organization_id)
        occurred_at, _, uuid = self.occurred_at_id.partition("#")
        instant = parse_instant(occurred_at, "occurredAtId")
        first = replace(event, organization_id=organization_id, lead_id=lead_id, occurred_at=instant)
        return StoredEvent.known(first, f"evt_{uuid}")

    def contradicts(self, other: Claim) -> bool:
        """Whether the two claim one id for different content."""
        mine, theirs = self.fingerprint.partition(":"), other.fingerprint.partition(":")
        return mine[0] == theirs[0] and mine[2] != theirs[2]


def claim_id(organization_id: str, source: str, external_event_id: str) -> str:
    """Key of a claim. The tenant is visible, the rest hashed: fixed length, and no personal data in an id outlives it."""
    digest = hashlib.sha256(f"{source}#{external_event_id}".encode()).digest()  # a source holds no '#'
    return f"ORG#{organization_id}#{urlsafe_b64encode(digest[:24]).decode()}"


def fingerprint(event: LeadEvent) -> str:
    """Hash of what makes an event *the same*: type, object ids and payload; no times, no key order, ``1`` is ``1.0``."""
    payload = event.payload
    if isinstance(payload, dict):  # whether the sender's clock was ahead depends on when we received it
        payload = {name: value for name, value in payload.items() if name != "clockSkew"}
    return fingerprint_of([event.event_type, event.object_id, event.object_id_ref, payload])


def fingerprint_of(content: Json) -> str:
    """Hash of JSON: no key order, ``1`` is ``1.0``."""
    canonical = json.dumps(_canonical(content), sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).digest()
    return f"{FINGERPRINT_VERSION}:{urlsafe_b64encode(digest[:24]).decode()}"


def fact_fingerprint(event: LeadEvent) -> str:
    """Hash of who tells a shared fact: the same event again is a duplicate, another one tells the fact anew."""
    digest = hashlib.sha256((event.external_event_id or "").encode()).digest()
    return f"{FINGERPRINT_VERSION}:{urlsafe_b64encode(digest[:24]).decode()}"


def _canonical(value: Json) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_canonical(child) for child in value]
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        # Not Decimal.normalize: it rounds to the context's precision. A list cannot be mistaken for a string of digits.
        sign, digits, exponent = Decimal(value).as_tuple()
        text = "".join(map(str, digits)).lstrip("0")
        stripped = text.rstrip("0")
        return [sign if stripped else 0, stripped, int(exponent) + len(text) - len(stripped) if stripped else 0, "n"]
    return value


@contextmanager
def own_errors() -> Iterator[None]:
    """Raise our own errors as the claims' store raised them: Powertools wraps whatever its persistence layer raises."""
    try:
        yield
    except IdempotencyPersistenceLayerError as error:
        raise (error.__cause__ if isinstance(error.__cause__, LeadEventsError) else error) from None


class ClaimPersistence(BasePersistenceLayer):
    """Powertools persistence layer over claims. The idempotent function takes ``asdict(claim)`` as its data.

    New: the function runs. Same content: the first claim is returned as the function's result. Other content:
    ``IdempotencyValidationError``.
    """

    def __init__(self, put_claim: Callable[[Claim], Claim | None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped
        self._put_claim = put_claim

    def save_inprogress(self, data: dict[str, Any], remaining_time_in_millis: int | None = None) -> None:
        del remaining_time_in_millis  # only an *in progress* would need it
        claim = Claim(**data)
        first = self._put_claim(claim)
        if first is None:
            return
        if claim.contradicts(first):
            raise IdempotencyValidationError("The id is claimed for other content.")
        raise IdempotencyItemAlreadyExistsError(old_data_record=self._record(first))

    def save_success(self, data: dict[str, Any], result: dict[str, Any]) -> None:
        """Nothing to save: the claim already says everything, and that the event is there is checked, not recorded."""

    def delete_record(self, data: dict[str, Any], exception: Exception) -> None:
        """Keep the claim: the next delivery completes it under the same key."""

    def _get_record(self, idempotency_key: str) -> DataRecord:
        raise NotImplementedError  # never asked: a failed claim brings the earlier record with it

    def _put_record(self, data_record: DataRecord) -> None:
        raise NotImplementedError  # save_inprogress puts the claim itself: a DataRecord has no place for its key

    def _update_record(self, data_record: DataRecord) -> None:
        raise NotImplementedError  # claims are never updated

    def _delete_record(self, data_record: DataRecord) -> None:
        raise NotImplementedError  # claims are never deleted

    @staticmethod
    def _record(claim: Claim) -> DataRecord:
        return DataRecord(
            idempotency_key=claim.claim_id,
            status=STATUS_CONSTANTS["COMPLETED"],
            response_data=json.dumps(asdict(claim)),
            payload_hash=claim.fingerprint,
        )
