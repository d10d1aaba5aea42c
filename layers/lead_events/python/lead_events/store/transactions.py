"""Transactions of DynamoDB: all of their actions take effect, or none; and then each has its reason."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from lead_events.aws_errors import translated

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

FAILED: Final = "ConditionalCheckFailed"
"""Code of an action whose condition does not hold."""
CONTENDED: Final = "TransactionConflict"
"""Code of an action on an item that another transaction is about to write."""

_PAUSE_MILLISECONDS: Final = 50
"""Longest pause while another transaction holds an item: it takes some ten milliseconds."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Why nothing took effect."""

    reasons: Sequence[dict[str, Any]]
    """Of each action in turn: its ``Code``, and its ``Item`` where that was asked for."""
    error: Exception

    @property
    def codes(self) -> list[str]:
        """Of each action; ``None``, as text, where nothing stood in its way."""
        return [each.get("Code", "None") for each in self.reasons]

    def give_up(self) -> NoReturn:
        """Raise what DynamoDB said as any other error of it."""
        with translated("DynamoDB"):
            raise self.error
        raise AssertionError  # translated lets nothing pass


def transact(client: DynamoDBClient, actions: Sequence[Any]) -> Cancelled | None:
    """Do all of ``actions``, at most 100, or none; ``None`` where they are done.

    Botocore gives the call a token: if it sends it again, it is one transaction still.
    """
    with translated("DynamoDB"):
        try:
            client.transact_write_items(TransactItems=actions)
        except client.exceptions.TransactionCanceledException as error:
            answer: dict[str, Any] = {**error.response}
            return Cancelled(answer.get("CancellationReasons", []), error)
    return None


def pause() -> None:
    """Wait a moment, each for another one: those that collided must not collide again."""
    time.sleep(secrets.randbelow(_PAUSE_MILLISECONDS) / 1_000)
