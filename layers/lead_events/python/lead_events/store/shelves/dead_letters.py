"""Dead-letter queues: whatever waits there for an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.erasure import Erasure, Store
from lead_events.mentions import Mentions
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
"""Of messages in one go: a text that is made to be hard to read takes some seconds for so many."""
_GOES: Final = 40
"""For one queue: with more than fits into them, messages come back into sight, and it would never end."""


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
    ) -> None:
        """``wait_seconds`` lets SQS ask all its servers before it says that a queue is empty."""
        self._client = client
        self._urls = urls
        self._objects = objects
        self._letters = Letters(objects, mentions)
        self._mentions = mentions
        self._erasures = erasures
        self._wait_seconds = wait_seconds

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        queue, go = map(int, (position or "0 0").split())
        if queue >= len(self._urls):
            return None
        held: dict[str, str] = {}
        try:
            more = self._look_through(self._urls[queue], erasure, held)
        except Exception:
            self._show(self._urls[queue], held)
            raise
        if more and go + 1 < _GOES:
            return f"{queue} {go + 1}"
        self._show(self._urls[queue], held)
        return f"{queue + 1} 0"

    def _look_through(self, url: str, erasure: Erasure, held: dict[str, str]) -> bool:
        """Receive and judge; whether there may be more. ``held`` are the handles of what was received and is still there."""
        owner, lead_id = erasure.organization_id, lead_of(erasure)
        person = None if lead_id is None else self._mentions.person(owner, lead_id)
        characters = 0
        for _ in range(_RECEIVES):
            if characters >= _CHARACTERS:
                return True
            messages = self._receive(url)
            new = [each for each in messages if each["MessageId"] not in held]
            held.update({each["MessageId"]: each["ReceiptHandle"] for each in messages})
            if not new:
                return False
            characters += sum(len(each["Body"]) for each in new)
            judged = [(each["MessageId"], self._letters.judge(each["Body"], erasure, person)) for each in new]
            bodies = [each.body_key for _, each in judged if each.theirs and each.body_key]
            if bodies:  # first: a message without its body is recognised, a body without its message never
                self._objects.remove(erasure, bodies)
            self._delete(url, erasure, held, [message_id for message_id, each in judged if each.theirs])
        return True

    def _receive(self, url: str) -> list[Any]:
        with translated("SQS"):
            answer = self._client.receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=_AT_ONCE,
                VisibilityTimeout=HIDDEN_SECONDS,
                WaitTimeSeconds=self._wait_seconds,
            )
        return answer.get("Messages", [])

    def _delete(self, url: str, erasure: Erasure, held: dict[str, str], message_ids: Sequence[str]) -> None:
        # One by one: the local twin takes a batch for an action of its own, which no policy on AWS can name.
        for each in message_ids:
            with translated("SQS"):
                self._client.delete_message(QueueUrl=url, ReceiptHandle=held[each])
            del held[each]
            self._erasures.count(erasure, Store.DEAD_LETTERS, 1)

    def _show(self, url: str, held: dict[str, str]) -> None:
        """Let operators see again what stays; what cannot be shown shows itself in half a minute."""
        for handle in held.values():
            with translated("SQS"):
                self._client.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
