"""What would an event be, if it were translated today? For each stored raw payload of a provider; nothing is changed.

The stored text is all there is (``providers.stored_delivery``). An event is compared with the translation of the same
external id, or with the only one there is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from lead_events import catalogue, enrichment, providers
from lead_events.errors import RejectedError
from lead_events.event import EventDraft, StoredEvent
from lead_events.jobs import MAX_SAMPLES, Difference, LeadResult, bounded
from lead_events.ports import EventStore, TimelineQuery
from lead_events.strict_json import Json
from lead_events.timelines import events_of

_PAGE: Final = 100


class Retranslation:
    """Compares a lead's events with what they would be."""

    def __init__(self, events: EventStore) -> None:
        self._events = events

    def __call__(self, organization_id: str, lead_id: str) -> LeadResult:
        """Compare; ``events`` counts those that a provider's text is stored of."""
        translated = changed = 0
        differences: list[Difference] = []
        query = TimelineQuery(organization_id=organization_id, lead_id=lead_id)
        for event in events_of(self._events, query, _PAGE, raw=True):
            if event.raw_payload is None or event.source not in providers.names():
                continue
            translated += 1
            if fields := differing_fields(event):
                changed += 1
                if len(differences) < MAX_SAMPLES:
                    differences.append(Difference(organization_id, lead_id, event.event_id, fields))
        return LeadResult(translated, changed, differences)


def differing_fields(event: StoredEvent) -> dict[str, Any]:
    """What is and what would be, by ``eventType`` or ``payload.…``; empty where today's translation is the same.

    An event that could not be translated any more differs in ``translation``.
    """
    try:
        draft = _translated(event)
    except RejectedError as error:
        return {"translation": {"is": event.event_type, "wouldBe": None, "code": error.code}}
    if draft is None:
        return {"translation": {"is": event.event_type, "wouldBe": None}}
    would_be = {"eventType": draft.event_type, **_payload(draft.payload)}
    is_now = {"eventType": event.event_type, **_payload(event.payload)}
    return {
        name: {"is": bounded(is_now.get(name)), "wouldBe": bounded(would_be.get(name))}
        for name in sorted(is_now.keys() | would_be.keys())
        if is_now.get(name) != would_be.get(name)
    }


def _translated(event: StoredEvent) -> EventDraft | None:
    """The event of today's translation that stands for ``event``, in the form that is compared with it."""
    delivery = providers.stored_delivery(
        event.source, event.organization_id, event.raw_payload or "", event.received_at, event.external_event_id
    )
    translations = providers.find(event.source).translate(delivery)
    drafts = [each for each in translations if isinstance(each, EventDraft)]
    same = [each for each in drafts if each.external_event_id == event.external_event_id]
    chosen = same or (drafts if len(drafts) == 1 else [])
    if not chosen:
        error = next((each for each in translations if isinstance(each, RejectedError)), None)
        if error is not None:
            raise error
        return None
    enriched = [_enriched(each) for each in chosen]
    # A fact that several events tell is stored once under its type, and under the provider's own name from then on.
    voices = [*enriched, *filter(None, map(_retold, enriched))]
    return next((each for each in voices if each.event_type == event.event_type), voices[0])


def _enriched(draft: EventDraft) -> EventDraft:
    enriched = enrichment.enrich(draft)
    catalogue.check(enriched.event_type, enriched.payload)
    return enriched


def _retold(draft: EventDraft) -> EventDraft | None:
    fact = draft.shared_fact
    return None if fact is None else replace(draft, event_type=fact.event_type, payload=fact.payload)


def _payload(payload: Json) -> dict[str, Json]:
    return (
        {f"payload.{name}": value for name, value in payload.items()}
        if isinstance(payload, dict)
        else {"payload": payload}
    )
