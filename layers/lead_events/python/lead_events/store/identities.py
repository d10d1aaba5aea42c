"""Identities in DynamoDB.

An identity whose person was erased keeps its item, with nothing in it but until when. Whoever claims it writes beside that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.errors import UnavailableError
from lead_events.event import IdentityKind
from lead_events.instants import format_instant, now, parse_instant
from lead_events.names import IdentityAttribute, Index, ids_of, lead_key
from lead_events.ports import IdentityRecord, KnownIdentity
from lead_events.store.items import Item
from lead_events.store.transactions import FAILED, pause, transact
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_BATCH_GET_KEYS: Final = 100
_BATCH_GET_ROUNDS: Final = 10  # two would be enough for the keys of any event; the rest is for throttling
_CONTENDED: Final = "TransactionConflictException"
_ATTEMPTS: Final = 5


class DynamoDbIdentities:
    """The identities table."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._table = table_name

    def records(self, keys: Sequence[str]) -> dict[str, IdentityRecord]:
        found: dict[str, IdentityRecord] = {}
        pending: list[Any] = [item_to_wire({IdentityAttribute.IDENTITY_ID: key}) for key in dict.fromkeys(keys)]
        for _ in range(_BATCH_GET_ROUNDS):
            if not pending:
                return found
            request: Any = {self._table: {"Keys": pending[:_BATCH_GET_KEYS], "ConsistentRead": True}}
            with translated("DynamoDB"):
                answer = self._client.batch_get_item(RequestItems=request)
            for item in map(item_from_wire, answer["Responses"].get(self._table, [])):
                found[item[IdentityAttribute.IDENTITY_ID]] = _record(item)
            left = answer["UnprocessedKeys"].get(self._table)
            pending = [*(left["Keys"] if left else []), *pending[_BATCH_GET_KEYS:]]
        if pending:
            raise UnavailableError("DynamoDB left keys unread.")
        return found

    def claim(self, organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> str | None:
        update = self._pointing(organization_id, lead_id, key, kind)
        for attempt in range(_ATTEMPTS):
            try:
                return self._claim(update)
            except UnavailableError as error:  # while a transaction holds the key, DynamoDB refuses
                answer: Any = getattr(error.__cause__, "response", {})
                if answer.get("Error", {}).get("Code") != _CONTENDED or attempt == _ATTEMPTS - 1:
                    raise
                pause()
        raise AssertionError  # the last attempt returned or raised

    def claim_all(self, organization_id: str, lead_id: str, keys: Mapping[str, IdentityKind]) -> bool:
        if len(keys) == 1:  # a transaction costs twice as much
            [(key, kind)] = keys.items()
            return self.claim(organization_id, lead_id, key, kind) is None
        updates: list[Any] = [
            {"Update": self._pointing(organization_id, lead_id, key, kind)} for key, kind in keys.items()
        ]
        cancelled = transact(self._client, updates)
        if cancelled is not None and FAILED not in cancelled.codes:  # nobody has them yet, but somebody is about to
            pause()
        return cancelled is None  # taken, or contended: the caller reads again and finds out

    def of_lead(self, organization_id: str, lead_id: str) -> list[KnownIdentity]:
        return [_known(item) for item in self._items_of_lead(organization_id, lead_id)]

    def keys_of_lead(self, organization_id: str, lead_id: str) -> frozenset[str]:
        items = self._items_of_lead(organization_id, lead_id)
        return frozenset(item[IdentityAttribute.IDENTITY_ID] for item in items)

    def _pointing(self, organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> dict[str, Any]:
        """The update that points ``key`` at a lead unless it points at one. No put: what is known of its erasure stays."""
        return {
            "TableName": self._table,
            "Key": item_to_wire({IdentityAttribute.IDENTITY_ID: key}),
            "UpdateExpression": "SET #lead = :lead, #kind = :kind, #since = :since",
            "ConditionExpression": "attribute_not_exists(#lead)",
            "ExpressionAttributeNames": {
                "#lead": IdentityAttribute.LEAD_ORGANIZATION_ID,
                "#kind": IdentityAttribute.KIND,
                "#since": IdentityAttribute.SINCE,
            },
            "ExpressionAttributeValues": item_to_wire(
                {
                    ":lead": lead_key(organization_id, lead_id),
                    ":kind": kind.value,
                    ":since": format_instant(now()),
                }
            ),
        }

    def _claim(self, update: dict[str, Any]) -> str | None:
        with translated("DynamoDB"):
            try:
                self._client.update_item(**update, ReturnValuesOnConditionCheckFailure="ALL_OLD")
            except self._client.exceptions.ConditionalCheckFailedException as error:
                answer: dict[str, Any] = {**error.response}
                first, mine = answer["Item"], update["ExpressionAttributeValues"]
                lead, since = first[IdentityAttribute.LEAD_ORGANIZATION_ID], first[IdentityAttribute.SINCE]
                if (lead, since) == (mine[":lead"], mine[":since"]):
                    return None  # our own update, which botocore sent again
                return ids_of(lead["S"])[1]
        return None

    def _items_of_lead(self, organization_id: str, lead_id: str) -> list[Item]:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=Index.LEAD,
            KeyConditionExpression="#lead = :lead",
            ExpressionAttributeNames={"#lead": IdentityAttribute.LEAD_ORGANIZATION_ID},
            ExpressionAttributeValues={":lead": {"S": lead_key(organization_id, lead_id)}},
        )
        with translated("DynamoDB"):
            return [item_from_wire(item) for page in pages for item in page["Items"]]


def _record(item: Item) -> IdentityRecord:
    lead, until = item.get(IdentityAttribute.LEAD_ORGANIZATION_ID), item.get(IdentityAttribute.ERASED_UNTIL)
    return IdentityRecord(
        None if lead is None else ids_of(lead)[1],
        None if until is None else parse_instant(until, IdentityAttribute.ERASED_UNTIL),
    )


def identity_tombstone(identity_id: str, erased_until: str) -> Item:
    """What stays of an identity whose person was erased, until it is somebody's again."""
    return {IdentityAttribute.IDENTITY_ID: identity_id, IdentityAttribute.ERASED_UNTIL: erased_until}


def _known(item: Item) -> KnownIdentity:
    kind, since = item[IdentityAttribute.KIND], item[IdentityAttribute.SINCE]
    return KnownIdentity(IdentityKind(kind), parse_instant(since, IdentityAttribute.SINCE))
