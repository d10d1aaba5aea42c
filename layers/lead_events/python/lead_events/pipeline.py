"""The road of every event, stage by stage: read, translate, enrich, resolve the lead, append, outcome."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from aws_lambda_powertools.utilities.idempotency import idempotent_function
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyValidationError

from lead_events import catalogue, enrichment, providers, webhook_message
from lead_events.admission import Admission
from lead_events.envelope import Envelope
from lead_events.erasure import Leftover
from lead_events.errors import (
    ConflictError,
    ErasedError,
    InvalidError,
    LeadEventsError,
    ObjectMissingError,
    RejectedError,
    RetentionExpiredError,
)
from lead_events.event import (
    Delivery,
    EventDraft,
    LeadEvent,
    OrganizationEvent,
    Outcome,
    OutcomeKind,
    StoredEvent,
    Translation,
)
from lead_events.idempotency import Claim, ClaimPersistence, own_errors
from lead_events.identity import Resolver
from lead_events.instants import Clock
from lead_events.limits import check_payload
from lead_events.ports import Bus, ClaimStore, EventStore, ObjectStore, Rejection, RejectionStore, WorkQueue
from lead_events.reading import draft_of_envelope, envelope_of, lead_of, organization_of
from lead_events.sources import source_of_domain


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sent a message, as far as it tells, and its original text."""

    organization_id: str | None
    source: str
    text: str
    event_type: str | None = None
    external_event_id: str | None = None
    lead_id: str | None = None
    """The lead that it names, whether or not it is an id as ours are."""
    happened_at: datetime | None = None


def sender_of(message: Envelope) -> Sender:
    """Who sent a CloudEvent."""
    named = lead_of(message)
    return Sender(
        organization_id=organization_of(message),
        source=(message.source or source_of_domain(message.type.partition(".")[0])).lower(),
        text=message.text,
        event_type=message.type,
        external_event_id=message.id,
        lead_id=named if isinstance(named, str) else None,
        happened_at=message.time or message.sent_at,
    )


class Pipeline:
    """From a delivery to its outcomes. Safe to use from several threads."""

    def __init__(
        self,
        *,
        events: EventStore,
        claims: ClaimStore,
        objects: ObjectStore,
        resolver: Resolver,
        rejections: RejectionStore,
        bus: Bus,
        admission: Admission,
        leftovers: WorkQueue,
        clock: Clock,
    ) -> None:
        self._events = events
        self._objects = objects
        self._resolver = resolver
        self._rejections = rejections
        self._bus = bus
        self._admission = admission
        self._leftovers = leftovers
        self._clock = clock
        self._claimed_append = idempotent_function(
            self._append_new, data_keyword_argument="claim", persistence_store=ClaimPersistence(claims.claim)
        )

    def process_message(self, message: Envelope) -> list[Outcome]:
        """One queue message, whole: what cannot become an event is kept among the rejected, so nothing is lost with it.

        Raises ``RejectedError`` where the message does not even tell its organisation: the queue keeps it.
        """
        if message.type == webhook_message.TYPE and not message.from_bus:  # nobody verified what the bus brings
            return self._process_webhook(message)
        try:
            draft: Translation = draft_of_envelope(message, None, self._clock())
        except RejectedError as error:
            draft = error
        return [self.take(draft, sender_of(message))]

    def _process_webhook(self, message: Envelope) -> list[Outcome]:
        try:
            delivery = webhook_message.read(message, self._objects)
        except ObjectMissingError:  # a body only goes when all that it held is stored, or erased
            return [Outcome.rejected(ErasedError())]
        outcomes = self.process_delivery(delivery)
        if (key := webhook_message.body_key(message)) is not None:
            self._leftovers.send(Leftover(delivery.organization_id, key).write())
        return outcomes

    def process_delivery(self, delivery: Delivery) -> list[Outcome]:
        """A provider's delivery: each event in it goes its own road."""
        sender = Sender(
            delivery.organization_id,
            delivery.provider,
            delivery.body,
            lead_id=delivery.lead_id,
            happened_at=delivery.received_at,
        )
        try:
            translations = providers.find(delivery.provider).translate(delivery)
        except RejectedError as error:
            translations = [error]
        if not translations:  # nothing ends in silence
            translations = [InvalidError.of("body", "holds nothing that could become an event")]
        return [self.take(each, sender) for each in translations]

    def take(self, translation: Translation, sender: Sender) -> Outcome:
        """One thing that a message holds, to its end."""
        if isinstance(translation, OrganizationEvent):
            self._bus.publish([envelope_of(translation)])
            return Outcome(OutcomeKind.FORWARDED)
        if isinstance(translation, RejectedError):
            outcome = Outcome.rejected(translation)
        else:
            outcome = self.process(translation)
        if outcome.error is None or outcome.kind is OutcomeKind.ERASED:
            return outcome
        return self._keep(outcome, outcome.error, sender, translation if isinstance(translation, EventDraft) else None)

    def process(self, draft: EventDraft) -> Outcome:
        """Take one event through enrichment to the store; a broken rule is an outcome, an unanswering service an exception."""
        try:
            self._admission.check(draft)  # first: what is erased is not even told what is wrong with it
            event, conflicts = self.resolve(self.enrich(draft))
            if draft.lead_id is None:  # whom its identities do not lead to yet: the id may be that of somebody who goes
                self._admission.check_lead(event.organization_id, event.lead_id, event.occurred_at)
            return replace(self.append(event), identity_conflicts=conflicts)
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
        if draft.shared_fact is not None:  # it may come to be stored in this form
            check_payload(draft.shared_fact.payload)
        enriched = enrichment.enrich(draft)
        check_payload(enriched.payload)
        catalogue.check(enriched.event_type, enriched.payload)
        return enriched

    def resolve(self, draft: EventDraft) -> tuple[LeadEvent, tuple[str, ...]]:
        """Find whose event it is, and which of its identities say otherwise."""
        found = self._resolver.resolve(draft.organization_id, draft.lead_id, draft.identities, proven=draft.proven)
        return LeadEvent.of(draft, found.lead_id), found.conflicts

    def append(self, event: LeadEvent) -> Outcome:
        """Store ``event`` exactly once."""
        new = StoredEvent.first(event)
        claim = Claim.of(new)
        if claim is None:
            return self._append_new(event=new)
        try:
            with own_errors():
                first = self._claimed_append(event=new, claim=asdict(claim))
        except IdempotencyValidationError:
            if (retold := event.retold()) is not None:
                return self.append(retold)
            raise ConflictError("This external id was used before, for other content.") from None
        return first if isinstance(first, Outcome) else self._append_claimed(event, Claim(**first))

    def _append_new(self, *, event: StoredEvent, claim: object = None) -> Outcome:  # noqa: ARG002  # Powertools reads it
        first = self._events.append(event)
        # Taken, though its id is new: another delivery met our claim and has completed it already.
        return Outcome(OutcomeKind.STORED, event) if first is None else Outcome(OutcomeKind.DUPLICATE, first)

    def _append_claimed(self, event: LeadEvent, claim: Claim) -> Outcome:
        """The id was claimed before: give back its event, or complete it where whoever claimed it died in between."""
        if claim.erased:
            raise ErasedError
        if (first := self._events.get(claim.key)) is not None:
            return Outcome(OutcomeKind.DUPLICATE, first)
        completed = claim.completed_by(event)
        self._admission.check_lead(completed.organization_id, completed.lead_id, completed.occurred_at)
        return self._append_new(event=completed)

    def _keep(self, outcome: Outcome, error: LeadEventsError, sender: Sender, draft: EventDraft | None) -> Outcome:
        if sender.organization_id is None:
            raise error
        if self._admission.is_closed(sender.organization_id):
            return Outcome.rejected(RetentionExpiredError())
        try:
            self._check_erased(sender, draft)
        except ErasedError as erased:
            return Outcome.rejected(erased)
        self._rejections.keep(
            Rejection(
                organization_id=sender.organization_id,
                code=error.code,
                detail=error.detail,
                errors=error.errors,
                source=sender.source,
                raw_payload=(draft and draft.raw_payload) or sender.text,  # of a batch, its own part
                seen_at=self._clock(),
                event_type=draft.event_type if draft else sender.event_type,
                external_event_id=draft.external_event_id if draft else sender.external_event_id,
            )
        )
        return outcome

    def _check_erased(self, sender: Sender, draft: EventDraft | None) -> None:
        """Raise ``ErasedError`` where what is refused is of somebody erased: not even that it was refused is kept then."""
        if draft is not None:
            self._admission.check_erased(draft)
        elif sender.organization_id is not None and sender.lead_id:
            happened_at = sender.happened_at or self._clock()
            self._admission.check_lead(sender.organization_id, sender.lead_id, happened_at)
