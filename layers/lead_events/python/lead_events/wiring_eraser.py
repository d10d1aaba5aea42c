"""The eraser's part of the composition root: a shelf for each store, in the order in which a walk comes to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lead_events import settings
from lead_events.erasing import Eraser
from lead_events.identity import Resolver
from lead_events.instants import now
from lead_events.mentions import Mentions
from lead_events.ports import Bus, ErasureStore, IdentityStore, Shelf, WorkQueue
from lead_events.store.shelves.dead_letters import DeadLetters
from lead_events.store.shelves.events import Claims, Events
from lead_events.store.shelves.identities import Identities
from lead_events.store.shelves.memories import Memories
from lead_events.store.shelves.objects import Objects, RawObjects
from lead_events.store.shelves.organization import OrganizationState
from lead_events.store.shelves.rejected import Rejected
from lead_events.store.shelves.rejected_texts import RejectedTexts
from lead_events.store.shelves.reprocessings import Reprocessings


def build(
    client: Callable[[str], Any],
    *,
    erasures: ErasureStore,
    identities: IdentityStore,
    resolver: Resolver,
    queue: WorkQueue,
    bus: Bus,
) -> Eraser:
    """The eraser, with the settings of its function."""
    tables, dynamodb, receipts = settings.StoreSettings.read(), client("dynamodb"), settings.erasures_table()
    mentions = Mentions(resolver, identities)
    bucket = RawObjects(client("s3"), settings.raw_bucket(), erasures)
    events = Events(dynamodb, tables.events_table, tables.claims_table, receipts)
    known = Identities(dynamodb, tables.identities_table, receipts)
    rejected = Rejected(dynamodb, tables.rejected_events_table, receipts, objects=bucket, mentions=mentions)
    others: list[Shelf] = [
        Memories(dynamodb, settings.memories_table(), receipts),
        Objects(bucket),
        rejected,
        RejectedTexts(bucket, mentions, rejected),
        Reprocessings(dynamodb, settings.reprocessings_table(), receipts, mentions=mentions),
        OrganizationState(dynamodb, settings.organizations_table(), receipts),
        DeadLetters(
            client("sqs"),
            settings.dead_letter_urls(),
            objects=bucket,
            mentions=mentions,
            erasures=erasures,
        ),
    ]
    return Eraser(
        erasures=erasures,
        queue=queue,
        shelves_of_lead=[events, *others],
        shelves_of_organization=[events, Claims(dynamodb, tables.claims_table, receipts), known, *others],
        identities=known,
        remove_body=bucket.remove_body,
        bus=bus,
        clock=now,
        quiet_period=settings.erasure_quiet_period(),
    )
