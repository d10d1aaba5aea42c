"""Erasures: the receipt of one, and a page of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from lead_events.cursors import Cursors
from lead_events.erasure import Erasure, Status, Store, lead_hash_of
from lead_events.erasures import Erasures
from lead_events.names import ID_PATTERN
from lead_events.openapi_schemas._parts import Schema, cursor, many, obj, own_id, ref, text, time
from lead_events.openapi_schemas.samples import LEAD, ORGANIZATION
from lead_events.store.memory import InMemoryClaims
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_organizations import InMemoryOrganizations
from lead_events.store.memory_queue import InMemoryQueue

ERASURE_ID_PATTERN: Final = "^era_[0-9a-f-]{36}$"

_BEGIN: Final = datetime(2026, 3, 25, 14, tzinfo=UTC)
_TOOK: Final = timedelta(minutes=21)
_COUNTED: Final = {
    Store.EVENTS: "Events",
    Store.CLAIMS: "External ids of events; of a lead each stays taken, by a number that tells nothing",
    Store.MEMORIES: "Memories",
    Store.IDENTITIES: "Identities; of a lead each stays, as a hash that is nobody's",
    Store.REJECTED_EVENTS: "Rejected events",
    Store.OBJECTS: "Raw payloads and bodies outside the tables",
    Store.REPROCESSINGS: "What reprocessings had written down: samples, failures, reprocessings of the lead alone",
    Store.ORGANIZATION: "Entries in the state of the organization",
    Store.DEAD_LETTERS: "Messages that had been given up",
}
_GONE: Final = {
    Store.EVENTS: 214, Store.CLAIMS: 209, Store.MEMORIES: 7, Store.IDENTITIES: 3, Store.REJECTED_EVENTS: 1, Store.OBJECTS: 2,
}  # fmt: skip


def schemas() -> dict[str, Schema]:
    """A receipt and a page."""
    return {
        "Erasure": _erasure(),
        "ErasurePage": obj(
            "A page, newest first. The next one is asked for with the same parameters and the `cursor`.",
            {"items": many(ref("Erasure")), "cursor": cursor()},
        ),
    }


def erasure_sample(*, done: bool = True) -> dict[str, Any]:
    """The receipt of the erasure of a lead, at its end or at its beginning."""
    return _service(done=done).one(ORGANIZATION, sample_erasure().erasure_id)


def erasure_page_sample() -> dict[str, Any]:
    """A page with the first."""
    return _service(done=True).page(ORGANIZATION, {})


def sample_erasure(*, of_lead: bool = True) -> Erasure:
    """What was asked for: to erase the lead of the samples, or its organisation."""
    return Erasure(
        organization_id=ORGANIZATION,
        erasure_id="era_019d254b-8700-7000-8000-0123456789ab",
        lead_id=LEAD if of_lead else None,
        lead_hash=lead_hash_of(ORGANIZATION, LEAD) if of_lead else None,
        requested_at=_BEGIN,
        requested_by="4k2vexample" if of_lead else "offboarding.retention-expired",
    )


def ended(erasure: Erasure) -> Erasure:
    """``erasure`` when it is done."""
    return replace(
        erasure, status=Status.DONE, until=_BEGIN + _TOOK, completed_at=_BEGIN + _TOOK + timedelta(milliseconds=250)
    )


def _service(*, done: bool) -> Erasures:
    erasures, asked = InMemoryErasures(InMemoryOrganizations(InMemoryClaims())), sample_erasure()
    erasures.start(asked)
    if done:
        for store, number in _GONE.items():
            erasures.count(asked, store, number)
        erasures.finish(ended(asked))
    return Erasures(erasures=erasures, queue=InMemoryQueue(), cursors=Cursors(lambda: ""), clock=lambda: _BEGIN)


def _erasure() -> Schema:
    return obj(
        "The receipt of an erasure. It stays for ever; once the erasure is done it names no lead any more.",
        {
            "erasureId": text("Id; sorts by time", pattern=ERASURE_ID_PATTERN),
            "organizationId": own_id("Organization"),
            "scope": text("Who is erased") | {"enum": ["lead", "organization"]},
            "leadId": text("The lead, while its erasure is under way", null=True, pattern=f"^{ID_PATTERN}$"),
            "status": text("Whether it is under way") | {"enum": [each.value for each in Status]},
            "requestedAt": time("When it was asked for"),
            "requestedBy": text("Id of the client that asked for it, or the event that demands it", maxLength=128),
            "erasedUntil": _time_or_null("What happened until then is gone and stays out; known when it is done"),
            "completedAt": _time_or_null("When it was done"),
            "counts": obj(
                "What has gone so far, by where it was. Exact for all that is in tables; of `objects` and `deadLetters` a "
                "crash may leave some uncounted.",
                {store.value: _count(store) for store in Store},
            ),
        },
    )


def _count(store: Store) -> Schema:
    return {"description": f"{_COUNTED[store]}.", "type": "integer", "minimum": 0}


def _time_or_null(description: str) -> Schema:
    return {**time(description), "type": ["string", "null"]}
