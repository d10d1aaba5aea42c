"""Recorded deliveries of providers as the events that the pipeline would store, and as the literal design would."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_DNS, NAMESPACE_URL, uuid5

from lead_events import providers
from lead_events.errors import RejectedError
from lead_events.event import Delivery, EventDraft, SourceType
from lead_events.instants import format_instant, parse_instant
from lead_events.sources import SOURCE_TYPES
from lead_events.strict_json import loads
from tools.benchmarks.approximations import approximate
from tools.benchmarks.tables import ROOT

RECEIVED_AT: Final = parse_instant("2026-11-30T00:00:00Z", "receivedAt")
LEAD: Final = "lead_01J8ZQ4W"
SHARED: Final = "LEAD_EVENTS_SHARED"
SHARED_NAME: Final = "shared"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Drafts of one folder of samples."""

    name: str
    drafts: tuple[EventDraft, ...]
    files: int
    translated: int
    """Files of which a provider module read lead events; the payloads of the others are approximations."""


def all_corpora() -> Iterator[Corpus]:
    """The repository's samples, and those of the folder that LEAD_EVENTS_SHARED names, where it is set."""
    yield read("repository", ROOT / "tests" / "samples", "org_repository")
    if shared := os.environ.get(SHARED):
        yield read(SHARED_NAME, Path(shared) / "providers" / "samples", "org_shared")


def read(name: str, folder: Path, organization_id: str) -> Corpus:
    """Read ``{provider}/{name}.json`` below ``folder``. Every draft has a lead and an external id of its own."""
    drafts: list[EventDraft] = []
    files = translated = 0
    for file in sorted(folder.glob("*/*.json")):
        delivery = Delivery(
            provider=file.parent.name,
            organization_id=organization_id,
            body=file.read_text(encoding="utf-8"),
            received_at=RECEIVED_AT,
            headers=_headers(file) if file.parent.name == "shopify" else {},
            lead_id=LEAD,
        )
        files += 1
        found = _translated(delivery)
        translated += bool(found)
        for draft in found or [_approximated(delivery, file.stem)]:
            # Some samples are variants of one event, or tell of one fact: each is to be a new event here.
            own = f"{draft.external_event_id or file.stem}"[:245] + f":{len(drafts)}"
            drafts.append(replace(draft, lead_id=draft.lead_id or LEAD, external_event_id=own, shared_fact=None))
    return Corpus(name, tuple(drafts), files, translated)


def literal_event(draft: EventDraft) -> dict[str, Any]:
    """The same event as the literal design takes it: same payload, the raw payload as a map."""
    raw = json.loads(draft.raw_payload or "null", parse_float=Decimal)
    return {
        "organizationId": draft.organization_id,
        "leadId": draft.lead_id,
        "sourceType": draft.source_type.value,
        "source": draft.source,
        "eventType": draft.event_type,
        "occurredAt": format_instant(draft.occurred_at),
        "externalEventId": draft.external_event_id,
        "objectId": draft.object_id,
        "objectIdRef": draft.object_id_ref,
        "payload": draft.payload,
        "rawPayload": raw,
    }


def _translated(delivery: Delivery) -> list[EventDraft]:
    """The lead events that the provider's module reads out of it; none where there is no module, or it reads none."""
    if delivery.provider not in providers.names():
        return []
    try:
        translations = providers.find(delivery.provider).translate(delivery)
    except RejectedError:
        return []
    return [each for each in translations if isinstance(each, EventDraft)]


def _headers(file: Path) -> dict[str, str]:
    """What Shopify says in headers alone."""
    return {
        "x-shopify-topic": file.stem.replace(".", "/"),
        "x-shopify-shop-domain": "demo.myshopify.com",
        "x-shopify-webhook-id": str(uuid5(NAMESPACE_URL, file.stem)),
        "x-shopify-event-id": str(uuid5(NAMESPACE_DNS, file.stem)),
        "x-shopify-triggered-at": "2026-03-29T18:00:27.877041743Z",
        "x-shopify-api-version": "2026-07",
    }


def _approximated(delivery: Delivery, name: str) -> EventDraft:
    event_type, external_id, payload = approximate(delivery.provider, name, loads(delivery.body))
    return EventDraft(
        organization_id=delivery.organization_id,
        source_type=SOURCE_TYPES.get(delivery.provider, SourceType.EXTERNAL),
        source=delivery.provider,
        event_type=event_type,
        payload=payload,
        occurred_at=_some_moment(delivery.received_at),
        received_at=delivery.received_at,
        external_event_id=external_id,
        raw_payload=delivery.body,
    )


def _some_moment(received_at: datetime) -> datetime:
    return received_at.replace(second=1, microsecond=0)
