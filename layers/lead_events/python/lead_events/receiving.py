"""What becomes of a queue message, whichever of our queues brings it.

Queues keep apart what must not wait for each other; they do not decide what a message is. An event about an organisation
keeps that organisation's state, and where it names a lead it is an event of that lead as well. Everything else is the
pipeline's. Each part is recognised when it comes again, so a message that failed in the middle is simply taken anew.
"""

from __future__ import annotations

from lead_events.envelope import Envelope
from lead_events.erasures import Erasures
from lead_events.errors import RejectedError
from lead_events.event import Outcome
from lead_events.organizations import contract
from lead_events.pipeline import Pipeline, sender_of
from lead_events.reading import lead_of
from lead_events.reconciling import Reconciler


class Reception:
    """Takes messages off the queues."""

    def __init__(self, pipeline: Pipeline, reconciler: Reconciler, erasures: Erasures) -> None:
        self._pipeline = pipeline
        self._reconciler = reconciler
        self._erasures = erasures

    def process_message(self, message: Envelope) -> list[Outcome]:
        """One message, whole. Raises where it must stay on the queue."""
        if contract.find(message.type) is None:
            return self._pipeline.process_message(message)
        refusal: RejectedError | None = None
        outcomes: list[Outcome] = []
        try:
            outcomes = [self._applied(message)]
        except RejectedError as error:
            refusal = error
        if lead_of(message) is not None:  # then what becomes of the lead's event is the end of the message
            outcomes = self._pipeline.process_message(message)
        if refusal is not None and not any(outcome.error for outcome in outcomes):  # kept once, whoever refuses it
            outcomes.append(self._pipeline.take(refusal, sender_of(message)))
        return outcomes

    def _applied(self, message: Envelope) -> Outcome:
        """The event told to its organisation. One that ends the organisation's retention starts its erasure: also when it
        comes again, as whoever took it first may have died before that."""
        outcome = self._reconciler.take(message)
        expired = contract.RetentionExpired
        if contract.find(message.type) is expired and outcome.organization_id is not None:
            self._erasures.erase_organization(outcome.organization_id, requested_by=expired.type)
        return outcome
