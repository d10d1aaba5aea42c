"""Enrichment: pure steps in a fixed order, one module each.

A step takes a draft and gives back a draft; it adds or normalises fields of the payload and never takes one away. It raises
``InvalidError`` where the event breaks a rule. What a caller already says in a field of the same meaning is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from lead_events.enrichment import attribution, channel, clock, contacts, money, objects
from lead_events.enrichment._payload import fields
from lead_events.event import EventDraft

Step = Callable[[EventDraft], EventDraft]

STEPS: Final[tuple[Step, ...]] = (
    clock.check_clock,
    money.normalise_money,
    contacts.normalise_contacts,
    channel.name_channel,
    attribution.attribute,
    objects.name_objects,
)
"""The order: first what may refuse the event, then what later steps read."""


def enrich(draft: EventDraft) -> EventDraft:
    """Take ``draft`` through every step. Where one rewrites a field, the caller's own text stays in the raw payload."""
    enriched = draft
    for step in STEPS:
        enriched = step(enriched)
    before, after = fields(draft), fields(enriched)
    if draft.raw_payload is None and any(after[name] != value for name, value in before.items()):
        return replace(enriched, raw_payload=draft.request_text)
    return enriched
