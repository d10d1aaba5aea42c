"""Dead-letter queues: whatever waits there for an operator.

Who receives messages hides them from all others. So a queue that answers with nothing need not be empty: somebody else may hold
what is in it, another erasure, an operator, or a worker that has died. It is only through if no more is out of sight than we
hide ourselves; else we let go of what we hold, wait a little and begin anew.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.erasure import Erasure, Store
from lead_events.instants import Clock, now
from lead_events.mentions import Mentions, Person
from lead_events.observability import logger
from lead_events.ports import ErasureStore
from lead_events.store.shelves.letters import Letters
from lead_events.store.shelves.objects import RawObjects
from lead_events.store.shelves.tables import lead_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

HIDDEN_SECONDS: Final = 30
"""How long a message that was received is out of sight if we die: shorter than the eraser's own message."""
_AT_ONCE: Final = 10
"""Most messages that SQS gives in one call."""
_RECEIVES: Final = 50
"""Calls in one go. What a queue has beyond is looked at in the next, while what was seen is still out of sight."""
_CHARACTERS: Final = 1_000_000
"""Of messages and their bodies in one go: a text that is made to be hard to read takes some seconds for so many."""
_SECONDS: Final = 8.0
"""Of looking in one go: with the slice before it, the last text and letting go it fits into the eraser's time, local 30 s."""
_RECEIVES_IN_ALL: Final = 2_000
"""For one queue: with more than fits into them, messages come back into sight, and it would never end."""
_LONGEST_PAUSE_SECONDS: Final = 2.0
"""Before a queue is looked through again of which somebody else holds messages."""
_MOST_REMEMBERED: Final = 100
"""Queues under way of which this process remembers what it has read."""


class _End(Enum):
    """Why a go has come to its end."""

    MORE = auto()
    """There may be more to look at."""
    CONTESTED = auto()
    """There is nothing to be seen, but somebody else holds messages."""
    THROUGH = auto()


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a walk has come in the queues."""

    queue: int = 0
    receives: int = 0
    """How often it has asked for messages of this queue."""
    hidden: Mapping[int, int] = field(default_factory=dict)
    """How many messages it has left out of sight, by the Unix second until which they surely are."""

    @classmethod
    def read(cls, position: str | None) -> _Place:
        """Inverse of ``write``."""
        queue, receives, *hidden = (position or "0 0").split()
        pairs = (each.split(":") for each in hidden)
        return cls(int(queue), int(receives), {int(until): int(number) for until, number in pairs})

    def write(self) -> str:
        return " ".join(
            (f"{self.queue} {self.receives}", *(f"{until}:{count}" for until, count in self.hidden.items()))
        )

    def after(self, receives: int, until: int, number: int) -> _Place:
        """So many calls later, which leave ``number`` messages out of sight."""
        hidden = {**self.hidden, until: self.hidden.get(until, 0) + number}
        return replace(self, receives=self.receives + receives, hidden=hidden)

    def at(self, second: float) -> _Place:
        """Without what may be in sight again."""
        return replace(self, hidden={until: number for until, number in self.hidden.items() if second < until})


@dataclass(slots=True)
class _Go:
    """One go through a queue."""

    url: str
    erasure: Erasure
    person: Person | None
    place: _Place
    until: int
    """The Unix second until which everything that is received is surely out of sight."""
    ends: float
    kept: set[str]
    """Ids of messages whose bodies were read before, and that stay."""
    held: dict[str, str] = field(default_factory=dict)
    """Handles of what was received, was looked at and is still there."""
    receives: int = 0
    characters: int = 0
    """How many were looked at: none before the first message was judged, which each go does."""


class DeadLetters:
    """The dead-letter queues. A message goes if everything in it is of those who are erased; it is counted right after."""

    def __init__(
        self,
        client: SQSClient,
        urls: Sequence[str],
        *,
        objects: RawObjects,
        mentions: Mentions,
        erasures: ErasureStore,
        wait_seconds: int = 1,
        clock: Clock = now,
        seconds: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``wait_seconds`` lets SQS ask all its servers before it says that a queue is empty."""
        self._client = client
        self._urls = urls
        self._objects = objects
        self._letters = Letters(objects, mentions)
        self._mentions = mentions
        self._erasures = erasures
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._seconds = seconds
        self._sleep = sleep
        self._kept: dict[tuple[object, ...], set[str]] = {}

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        place = _Place.read(position)
        if place.queue >= len(self._urls):
            return None
        go = self._go(erasure, place)
        try:
            end = self._look_through(go)
        except Exception:
            self._show(go.url, go.held.values())
            raise
        if end is _End.MORE:
            further = place.at(self._clock().timestamp()).after(go.receives, go.until, len(go.held))
            if further.receives < _RECEIVES_IN_ALL:
                return further.write()
            queue = go.url.rpartition("/")[2]
            ids = {"organizationId": erasure.organization_id, "erasureId": erasure.erasure_id, "queue": queue}
            logger().error("dead letters left", extra=ids)
        self._show(go.url, go.held.values())
        if end is _End.CONTESTED:
            # For a random time: two who wait in step would share the queue's messages again, for ever.
            self._sleep(random.uniform(0, _LONGEST_PAUSE_SECONDS))  # noqa: S311  # jitter
            return place.write()
        self._kept.pop(_walk_through(erasure, place), None)
        return _Place(place.queue + 1).write()

    def _go(self, erasure: Erasure, place: _Place) -> _Go:
        owner, lead_id = erasure.organization_id, lead_of(erasure)
        if len(self._kept) > _MOST_REMEMBERED:  # of walks that went on in other processes
            self._kept.clear()
        return _Go(
            url=self._urls[place.queue],
            erasure=erasure,
            person=None if lead_id is None else self._mentions.person(owner, lead_id),
            place=place,
            until=int(self._clock().timestamp()) + HIDDEN_SECONDS,
            ends=self._seconds() + _SECONDS,
            kept=self._kept.setdefault(_walk_through(erasure, place), set()),
        )

    def _look_through(self, go: _Go) -> _End:
        """Receive and judge."""
        asked_again = False
        while go.receives < _RECEIVES:
            if go.characters and self._is_over(go):
                return _End.MORE
            messages = self._receive(go)
            new = [each for each in messages if each["MessageId"] not in go.held]
            go.held.update({each["MessageId"]: each["ReceiptHandle"] for each in messages})
            if new:
                asked_again = False
                self._judge(go, new)
                continue
            visible, hidden = self._count(go.url)
            if hidden > self._hidden_by_us(go):
                return _End.CONTESTED
            if not visible or asked_again:
                return _End.THROUGH
            # Somebody else may have let go of them right now. Not for ever: the count may also be of a moment ago.
            asked_again = True
        return _End.MORE

    def _is_over(self, go: _Go) -> bool:
        return go.characters >= _CHARACTERS or self._seconds() >= go.ends

    def _judge(self, go: _Go, messages: Sequence[Any]) -> None:
        """Take what is theirs; let go of what there is no time to look at."""
        theirs, bodies, rest = list[str](), list[str](), list[str]()
        for each in messages:
            message_id, text = each["MessageId"], each["Body"]
            if message_id in go.kept:
                continue
            if go.characters and self._is_over(go):
                rest.append(message_id)
                continue
            judgement = self._letters.judge(text, go.erasure, go.person)
            go.characters += len(text) + judgement.body_characters
            if judgement.theirs:
                theirs.append(message_id)
                bodies += [judgement.body_key] if judgement.body_key else []
            elif judgement.body_characters:  # it takes so long to look at that it may come back before the last is seen
                go.kept.add(message_id)
        if bodies:  # first: a message without its body is recognised, a body without its message never
            self._objects.remove(go.erasure, bodies)
        self._delete(go, theirs)
        self._show(go.url, [go.held.pop(each) for each in rest])

    def _receive(self, go: _Go) -> list[Any]:
        with translated("SQS"):
            answer = self._client.receive_message(
                QueueUrl=go.url,
                MaxNumberOfMessages=_AT_ONCE,
                VisibilityTimeout=HIDDEN_SECONDS,
                WaitTimeSeconds=self._wait_seconds,
            )
        go.receives += 1
        return answer.get("Messages", [])

    def _count(self, url: str) -> tuple[int, int]:
        """About how many messages are in sight, and out of it, whoever hides them."""
        with translated("SQS"):
            told = self._client.get_queue_attributes(
                QueueUrl=url,
                AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
            )["Attributes"]
        return int(told["ApproximateNumberOfMessages"]), int(told["ApproximateNumberOfMessagesNotVisible"])

    def _hidden_by_us(self, go: _Go) -> int:
        """How many messages are surely out of sight because of this walk: now, and since earlier goes."""
        hidden = go.place.after(go.receives, go.until, len(go.held)).at(self._clock().timestamp()).hidden
        return sum(hidden.values())

    def _delete(self, go: _Go, message_ids: Sequence[str]) -> None:
        # One by one: the local twin takes a batch for an action of its own, which no policy on AWS can name.
        for each in message_ids:
            with translated("SQS"):
                self._client.delete_message(QueueUrl=go.url, ReceiptHandle=go.held[each])
            del go.held[each]
            self._erasures.count(go.erasure, Store.DEAD_LETTERS, 1)

    def _show(self, url: str, handles: Iterable[str]) -> None:
        """Let others see again what stays; what cannot be shown shows itself in half a minute."""
        for handle in handles:
            with translated("SQS"):
                self._client.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)


def _walk_through(erasure: Erasure, place: _Place) -> tuple[object, ...]:
    """Names what is remembered together: another walk looks at everything again."""
    return erasure.erasure_id, erasure.walk_started_at, place.queue
