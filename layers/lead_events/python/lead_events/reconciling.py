"""Keeps the state of organisations: each event about one is applied exactly once, in whatever order events arrive.

The envelope's ``id`` is the key, as the platform's contract wants it, through Powertools Idempotency. Its claim is written
in one transaction with the state that the event leads to. So there is nothing between the two that a crash could hit: either
the event is applied and claimed, or neither, and the next delivery applies it.

Events of one organisation that arrive together are applied together: whoever's turn it is takes along all that wait, in one
transaction. A batch of a hundred costs a few writes of the state, not a hundred that collide.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any, Final

from aws_lambda_powertools.utilities.idempotency import idempotent_function
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyValidationError

from lead_events.envelope import Envelope
from lead_events.errors import ConflictError, InvalidError, RetentionExpiredError, UnavailableError
from lead_events.event import Outcome, OutcomeKind, check_id
from lead_events.idempotency import Claim, ClaimPersistence, claim_id, fingerprint_of, own_errors
from lead_events.instants import Clock
from lead_events.names import OrganizationCategory, organization_key
from lead_events.organizations import contract
from lead_events.organizations.state import OrganizationFact
from lead_events.ports import ClaimStore, OrganizationStore
from lead_events.presence import Presence
from lead_events.reading import lead_of

MAX_AHEAD: Final = timedelta(hours=24)
"""How far a sender's clock may be ahead: an event of the far future would win for ever."""

_NAMESPACE: Final = "#organization"
"""Stands for the source in a claim of an organisation's event. No source holds a ``#``: an event that is a lead's as well is
claimed there under its source, and here under this."""
_ATTEMPTS: Final = 25
_PAUSE_SECONDS: Final = 0.2
_STRIPES: Final = 64
_TOGETHER: Final = 50
"""Events of one transaction; it may have 100 items."""

_Waiting = tuple[OrganizationFact, Claim, "Future[bool]"]


class Reconciler:
    """Applies events to organisations. Safe to use from several threads."""

    def __init__(
        self,
        *,
        organizations: OrganizationStore,
        claims: ClaimStore,
        presence: Presence,
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._organizations = organizations
        self._presence = presence
        self._clock = clock
        self._sleep = sleep
        self._turns = [threading.Lock() for _ in range(_STRIPES)]
        self._waiting: dict[str, list[_Waiting]] = {}
        self._waiting_lock = threading.Lock()
        self._apply_once = idempotent_function(
            self._apply,
            data_keyword_argument="claim",
            persistence_store=ClaimPersistence(lambda claim: claims.get(claim.claim_id)),
        )

    def take(self, message: Envelope) -> Outcome:
        """Apply the event of an organisation.

        Raises ``RejectedError`` for one that breaks its contract or contradicts an earlier one of its id, and
        ``RetentionExpiredError`` where everything of the organisation is erased.
        """
        fact, claim = read(message, self._clock())
        if fact.lead_id is not None and self._presence.is_erased(fact.organization_id, fact.lead_id, fact.time):
            fact = replace(fact, lead_erased=True)
        kind = OutcomeKind.APPLIED if self._applied(fact, claim) else OutcomeKind.DUPLICATE
        return Outcome(kind, organization_id=fact.organization_id)

    def _applied(self, fact: OrganizationFact, claim: Claim) -> bool:
        """Whether it was new."""
        for attempt in range(_ATTEMPTS):
            if attempt:  # other processes write too: not all of them at once again
                self._sleep(random.uniform(0, _PAUSE_SECONDS * min(attempt, 5) / 5))  # noqa: S311  # jitter
            try:
                with own_errors():
                    done = self._apply_once(fact=fact, claim=asdict(claim))
            except IdempotencyValidationError:
                raise ConflictError("This id was used before, for other content.") from None
            if done is not False:
                return done is True  # else the earlier claim
        raise UnavailableError("The organization's state is contended; send again.")

    def _apply(self, *, fact: OrganizationFact, claim: dict[str, Any]) -> bool:
        """Wait for a turn, unless somebody takes the event along; ``False`` where it has to be tried again."""
        mine: Future[bool] = Future()
        with self._waiting_lock:
            self._waiting.setdefault(fact.organization_id, []).append((fact, Claim(**claim), mine))
        with self._turns[hash(fact.organization_id) % _STRIPES]:
            while not mine.done():
                self._apply_waiting(fact.organization_id)
        return mine.result()

    def _apply_waiting(self, organization_id: str) -> None:
        with self._waiting_lock:
            waiting = self._waiting.pop(organization_id)
            if waiting[_TOGETHER:]:
                self._waiting[organization_id] = waiting[_TOGETHER:]
        taken: dict[str, _Waiting] = {}
        for each in waiting[:_TOGETHER]:
            again = taken.setdefault(each[1].claim_id, each) is not each
            if again:  # the same event twice: when it is tried again, it is found to be done
                each[2].set_result(False)
        try:
            before = self._organizations.get(organization_id, consistent=True)
            if before.fence.closed:  # its life cycle is all that is left of it
                taken = _refuse_others(taken)
            after = before.applied(*(fact for fact, _, _ in taken.values()))
            done = not taken or self._organizations.put(after, [claim for _, claim, _ in taken.values()])
        except BaseException as error:  # whoever waits must hear of it
            for _, _, future in taken.values():
                future.set_exception(error)
            raise
        for _, _, future in taken.values():
            future.set_result(done)


def _refuse_others(waiting: dict[str, _Waiting]) -> dict[str, _Waiting]:
    """Those that tell of the life cycle; the others are told that the organisation is gone for good."""
    kept: dict[str, _Waiting] = {}
    for key, each in waiting.items():
        if each[0].type.startswith(f"{OrganizationCategory.OFFBOARDING}."):
            kept[key] = each
        else:
            each[2].set_exception(RetentionExpiredError())
    return kept


def read(message: Envelope, received_at: datetime) -> tuple[OrganizationFact, Claim]:
    """The event about an organisation in a CloudEvent of a type that the contract has, and its claim."""
    model = contract.find(message.type)
    if model is None:
        raise InvalidError.of("type", "is not of an event about an organization")
    if not isinstance(message.data, dict):
        raise InvalidError.of("data", "must be an object")
    if message.time is None:
        raise InvalidError.of("time", "is required: events are ordered by it", code="invalid_time")
    if message.time - received_at > MAX_AHEAD:
        raise InvalidError.of("time", "must not be more than 24 hours ahead", code="invalid_time")
    fields = dict(message.data)
    organization_id = check_id(fields.pop("organizationId", None), "data.organizationId")
    lead_id = lead_of(message)
    fields.pop("leadId", None)
    told = contract.read(model, fields).model_dump(by_alias=True, exclude_none=True)
    fact = OrganizationFact(
        organization_id=organization_id,
        type=model.type,
        id=message.id,
        time=message.time,
        rank=model.rank,
        fields=told,
        lead_id=None if lead_id is None else check_id(lead_id, "data.leadId"),
    )
    claim = Claim(
        claim_id(organization_id, _NAMESPACE, message.id),
        organization_key(organization_id),
        fact.stamp,
        fingerprint_of([model.type, message.data]),
    )
    return fact, claim
