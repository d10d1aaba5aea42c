"""Identities in DynamoDB."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.errors import UnavailableError
from lead_events.event import IdentityKind
from lead_events.instants import format_instant, now, parse_instant
from lead_events.names import IdentityAttribute, Index, ids_of, lead_key
from lead_events.ports import KnownIdentity
from lead_events.store.dynamodb import put_if_absent
from lead_events.store.items import Item
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_BATCH_GET_KEYS: Final = 100
_BATCH_GET_ROUNDS: Final = 10  # two would be enough for the keys of any event; the rest is for throttling
_CONTENDED: Final = "TransactionConflictException"
_ATTEMPTS: Final = 5
_PAUSE_MILLISECONDS: Final = 50
"""Longest pause while another transaction holds an identity: it takes some ten milliseconds."""
_NOT_TAKEN: Final = "attribute_not_exists(#key)"


class DynamoDbIdentities:
    """The identities table."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._table = table_name

    def owners(self, keys: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        pending: list[Any] = [item_to_wire({IdentityAttribute.IDENTITY_ID: key}) for key in dict.fromkeys(keys)]
        for _ in range(_BATCH_GET_ROUNDS):
            if not pending:
                return found
            request: Any = {self._table: {"Keys": pending[:_BATCH_GET_KEYS], "ConsistentRead": True}}
            with translated("DynamoDB"):
                answer = self._client.batch_get_item(RequestItems=request)
            for item in map(item_from_wire, answer["Responses"].get(self._table, [])):
                found[item[IdentityAttribute.IDENTITY_ID]] = ids_of(item[IdentityAttribute.LEAD_ORGANIZATION_ID])[1]
            left = answer["UnprocessedKeys"].get(self._table)
            pending = [*(left["Keys"] if left else []), *pending[_BATCH_GET_KEYS:]]
        if pending:
            raise UnavailableError("DynamoDB left keys unread.")
        return found

    def claim(self, organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> str | None:
        first = self._put(_item(organization_id, lead_id, key, kind))
        return None if first is None else ids_of(first[IdentityAttribute.LEAD_ORGANIZATION_ID])[1]

    def claim_all(self, organization_id: str, lead_id: str, keys: Mapping[str, IdentityKind]) -> bool:
        if len(keys) == 1:  # a transaction costs twice as much
            [(key, kind)] = keys.items()
            return self.claim(organization_id, lead_id, key, kind) is None
        puts: list[Any] = [
            {
                "Put": {
                    "TableName": self._table,
                    "Item": item_to_wire(_item(organization_id, lead_id, key, kind)),
                    "ConditionExpression": _NOT_TAKEN,
                    "ExpressionAttributeNames": {"#key": IdentityAttribute.IDENTITY_ID},
                }
            }
            for key, kind in keys.items()
        ]
        with translated("DynamoDB"):
            try:
                self._client.transact_write_items(TransactItems=puts)
            except self._client.exceptions.TransactionCanceledException as error:
                reasons = {each.get("Code") for each in error.response.get("CancellationReasons", [])}
                if "ConditionalCheckFailed" not in reasons:  # nobody has them yet, but somebody is about to
                    _pause()
                return False  # taken, or contended: the caller reads again and finds out
        return True

    def _put(self, item: Item) -> Item | None:
        """Put ``item`` unless its key is taken; while a transaction holds the key, DynamoDB refuses, and it is tried again."""
        for attempt in range(_ATTEMPTS):
            try:
                return put_if_absent(self._client, self._table, item, IdentityAttribute.IDENTITY_ID)
            except UnavailableError as error:
                answer: Any = getattr(error.__cause__, "response", {})
                if answer.get("Error", {}).get("Code") != _CONTENDED or attempt == _ATTEMPTS - 1:
                    raise
                _pause()
        raise AssertionError  # the last attempt returned or raised

    def of_lead(self, organization_id: str, lead_id: str) -> list[KnownIdentity]:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=Index.LEAD,
            KeyConditionExpression="#lead = :lead",
            ExpressionAttributeNames={"#lead": IdentityAttribute.LEAD_ORGANIZATION_ID},
            ExpressionAttributeValues={":lead": {"S": lead_key(organization_id, lead_id)}},
        )
        with translated("DynamoDB"):
            items = [item_from_wire(item) for page in pages for item in page["Items"]]
        return [_known(item) for item in items]


def _pause() -> None:
    """Wait a moment, each for another one: those that collided must not collide again."""
    time.sleep(secrets.randbelow(_PAUSE_MILLISECONDS) / 1_000)


def _item(organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> Item:
    return {
        IdentityAttribute.IDENTITY_ID: key,
        IdentityAttribute.LEAD_ORGANIZATION_ID: lead_key(organization_id, lead_id),
        IdentityAttribute.KIND: kind.value,
        IdentityAttribute.SINCE: format_instant(now()),
    }


def _known(item: Item) -> KnownIdentity:
    kind, since = item[IdentityAttribute.KIND], item[IdentityAttribute.SINCE]
    return KnownIdentity(IdentityKind(kind), parse_instant(since, IdentityAttribute.SINCE))
