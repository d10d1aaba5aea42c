"""Identities in DynamoDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
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
_NOT_TAKEN: Final = "attribute_not_exists(#key)"


class DynamoDbIdentities:
    """The identities table."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._table = table_name

    def owners(self, keys: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        pending: list[Any] = [item_to_wire({IdentityAttribute.IDENTITY_ID: key}) for key in dict.fromkeys(keys)]
        while pending:
            request: Any = {self._table: {"Keys": pending[:_BATCH_GET_KEYS], "ConsistentRead": True}}
            with translated("DynamoDB"):
                answer = self._client.batch_get_item(RequestItems=request)
            for item in map(item_from_wire, answer["Responses"].get(self._table, [])):
                found[item[IdentityAttribute.IDENTITY_ID]] = ids_of(item[IdentityAttribute.LEAD_ORGANIZATION_ID])[1]
            left = answer["UnprocessedKeys"].get(self._table)
            pending = [*(left["Keys"] if left else []), *pending[_BATCH_GET_KEYS:]]
        return found

    def claim(self, organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> str | None:
        item = _item(organization_id, lead_id, key, kind)
        first = put_if_absent(self._client, self._table, item, IdentityAttribute.IDENTITY_ID)
        return None if first is None else ids_of(first[IdentityAttribute.LEAD_ORGANIZATION_ID])[1]

    def claim_all(self, organization_id: str, lead_id: str, keys: Mapping[str, IdentityKind]) -> bool:
        if len(keys) == 1:  # a transaction costs twice as much
            [(key, kind)] = keys.items()
            return self.claim(organization_id, lead_id, key, kind) in (None, lead_id)
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
            except self._client.exceptions.TransactionCanceledException:
                return False  # taken, or contended: the caller reads again and finds out
        return True

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
