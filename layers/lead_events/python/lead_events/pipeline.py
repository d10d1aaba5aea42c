"""The road of every event, stage by stage: read, translate, enrich, resolve the lead, append, outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict

from aws_lambda_powertools.utilities.idempotency import idempotent_function
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyPersistenceLayerError,
    IdempotencyValidationError,
)

from lead_events import catalogue, providers, webhook_message
from lead_events.envelope import Envelope
from lead_events.errors import ConflictError, LeadEventsError, RejectedError, UnresolvedLeadError
from lead_events.event import Delivery, EventDraft, LeadEvent, Outcome, OutcomeKind, StoredEvent
from lead_events.idempotency import Claim, ClaimPersistence
from lead_events.instants import Clock
from lead_events.limits import check_payload
from lead_events.ports import ClaimStore, EventStore, ObjectStore
from lead_events.reading import draft_of_envelope


class Pipeline:
    """From a delivery to its outcomes. Safe to use from several threads."""

    def __init__(self, events: EventStore, claims: ClaimStore, objects: ObjectStore, clock: Clock) -> None:
        self._events = events
        self._objects = objects
        self._clock = clock
        self._claimed_append = idempotent_function(
            self._append_new, data_keyword_argument="claim", persistence_store=ClaimPersistence(claims.claim)
        )

    def process_message(self, message: Envelope) -> list[Outcome]:
        """One queue message: a webhook delivery, or an event of another domain."""
        return [self.process(draft) for draft in self.read(message)]

    def read(self, message: Envelope) -> list[EventDraft]:
        """Read a message and, where a provider sent it, translate it."""
        if message.type == webhook_message.TYPE and not message.from_bus:  # nobody verified what the bus brings
            return self.translate(webhook_message.read(message, self._objects))
        return [draft_of_envelope(message, None, self._clock())]

    def translate(self, delivery: Delivery) -> list[EventDraft]:
        """Put a provider's delivery in our terms."""
        return providers.find(delivery.provider).translate(delivery)

    def process(self, draft: EventDraft) -> Outcome:
        """Take one event the rest of the road; a broken rule is an outcome, an unanswering service an exception."""
        try:
            return self.append(self.resolve(self.enrich(draft)))
        except RejectedError as error:
            return Outcome.rejected(error)

    def process_all(self, drafts: Sequence[EventDraft], executor: Executor) -> list[Outcome]:
        """Process several events at once, in order where they share an external id; outcomes in the given order."""
        groups: dict[object, list[int]] = {}
        for index, draft in enumerate(drafts):
            claimed = draft.shared_fact.id if draft.shared_fact else draft.external_event_id
            same = (draft.organization_id, draft.source, claimed) if claimed else index
            groups.setdefault(same, []).append(index)
        done = executor.map(lambda indexes: [(i, self.process(drafts[i])) for i in indexes], groups.values())
        return [outcome for _, outcome in sorted(pair for pairs in done for pair in pairs)]

    def enrich(self, draft: EventDraft) -> EventDraft:
        """Hold the payload to what can be stored, and to its type's contract."""
        check_payload(draft.payload)
        catalogue.check(draft.event_type, draft.payload)
        return draft

    def resolve(self, draft: EventDraft) -> LeadEvent:
        """Find whose event it is."""
        if draft.lead_id is None:
            raise UnresolvedLeadError("The delivery names no lead.")
        return LeadEvent.of(draft, draft.lead_id)

    def append(self, event: LeadEvent) -> Outcome:
        """Store ``event`` exactly once."""
        new = StoredEvent.first(event)
        claim = Claim.of(new)
        if claim is None:
            return self._append_new(event=new)
        try:
            first = self._claimed_append(event=new, claim=asdict(claim))
        except IdempotencyValidationError:
            if (retold := event.retold()) is not None:
                return self.append(retold)
            raise ConflictError("This external id was used before, for other content.") from None
        except IdempotencyPersistenceLayerError as error:
            raise (error.__cause__ if isinstance(error.__cause__, LeadEventsError) else error) from None
        return first if isinstance(first, Outcome) else self._append_claimed(event, Claim(**first))

    def _append_new(self, *, event: StoredEvent, claim: object = None) -> Outcome:  # noqa: ARG002  # Powertools reads it
        first = self._events.append(event)
        # Taken, though its id is new: another delivery met our claim and has completed it already.
        return Outcome(OutcomeKind.STORED, event) if first is None else Outcome(OutcomeKind.DUPLICATE, first)

    def _append_claimed(self, event: LeadEvent, claim: Claim) -> Outcome:
        """The id was claimed before: give back its event, or complete it where whoever claimed it died in between."""
        first = self._events.get(claim.key)
        return Outcome(OutcomeKind.DUPLICATE, first) if first else self._append_new(event=claim.completed_by(event))


def raise_first_error(outcomes: Iterable[Outcome]) -> None:
    """Raise the first error among ``outcomes``, so that a queue keeps the message."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
