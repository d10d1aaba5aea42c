"""What the shelves of tables have in common: pages of keys, and transactions in which what goes is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.erasure import Erasure, Store
from lead_events.errors import UnavailableError
from lead_events.store.erasures import counting
from lead_events.store.items import Item
from lead_events.store.transactions import CONTENDED, FAILED, pause, transact
from lead_events.store.wire import item_from_wire, item_to_wire
from lead_events.strict_json import dumps, loads

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

AT_ONCE: Final = 40
"""Items of one transaction. It may have 100 actions and 4 MB; a page never has much more than 1 MB."""
TRANSACTIONS: Final = 10
"""Transactions for one page of a scan; then there is a position."""
AGAIN: Final = "again"
"""The position at the beginning, for whoever has to come back there."""

_OVER: Final = "The erasure does not run any more."


class Table:
    """A table from which an erasure takes things away."""

    def __init__(self, client: DynamoDBClient, name: str, key: Sequence[str], erasures_table: str) -> None:
        """``key`` are the names of its primary key, the partition's first."""
        self.client = client
        self.name = name
        self._key = key
        self._erasures_table = erasures_table

    def query(
        self,
        partition: str,
        position: str | None = None,
        *,
        begins: str | None = None,
        attributes: Sequence[str] = (),
        **request: Any,
    ) -> tuple[list[Item], str | None]:
        """Items of a partition from ``position`` on, and where there may be more: their keys, or ``attributes`` too.

        With ``begins`` only those whose sort key begins so.
        """
        names, values = {"#partition": self._key[0]}, {":partition": {"S": partition}}
        condition = "#partition = :partition"
        if begins is not None:
            condition += " AND begins_with(#sort, :begins)"
            names |= {"#sort": self._key[1]}
            values |= {":begins": {"S": begins}}
        request = {"KeyConditionExpression": condition, "ConsistentRead": True, **request}
        return self._page(self.client.query, request, names, values, attributes, position)

    def scan(self, prefix: str, position: str | None) -> tuple[list[Item], str | None]:
        """Keys of those items of a page of the table whose partition begins with ``prefix``, and where there may be more."""
        names, values = {"#partition": self._key[0]}, {":prefix": {"S": prefix}}
        request = {"FilterExpression": "begins_with(#partition, :prefix)", "ConsistentRead": True}
        return self._page(self.client.scan, request, names, values, (), position)

    def sweep(self, erasure: Erasure, store: Store, prefix: str, position: str | None) -> str | None:
        """Delete what a page of the whole table has under ``prefix``; where to go on."""
        items, after = self.scan(prefix, position)
        for start in range(0, len(items), AT_ONCE):
            if start >= AT_ONCE * TRANSACTIONS:
                return position_at(self.key_of(items[start - 1]))
            batch = items[start : start + AT_ONCE]
            if not self.take(erasure, {store: len(batch)}, [self.deletion(each) for each in batch]):
                return position or AGAIN
        return after

    def clear_partition(self, erasure: Erasure, store: Store, partition: str, position: str | None) -> str | None:
        """Delete some items of a partition; where to go on."""
        items, after = self.query(partition, position, Limit=AT_ONCE)
        if items and not self.take(erasure, {store: len(items)}, [self.deletion(each) for each in items]):
            return position or AGAIN
        return after

    def deletion(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """The action that deletes an item which is there: so none is counted twice."""
        return {
            "Delete": {
                "TableName": self.name,
                "Key": item_to_wire(self.key_of(item)),
                "ConditionExpression": "attribute_exists(#key)",
                "ExpressionAttributeNames": {"#key": self._key[0]},
            }
        }

    def key_of(self, item: Mapping[str, Any]) -> Item:
        """The primary key of an item."""
        return {name: item[name] for name in self._key}

    def take(self, erasure: Erasure, counts: Mapping[Store, int], actions: Sequence[Any]) -> bool:
        """Do ``actions`` and count them, all in one; ``False`` where somebody else was faster, or is at it."""
        return not self.attempt(erasure, counts, actions)

    def attempt(
        self, erasure: Erasure, counts: Mapping[Store, int], actions: Sequence[Any]
    ) -> Sequence[dict[str, Any]]:
        """Do ``actions`` and count them, all in one; else give back what each of them has met with."""
        cancelled = transact(self.client, [*actions, counting(self._erasures_table, erasure, counts)])
        if cancelled is None:
            return []
        codes = cancelled.codes
        if codes and codes[-1] == FAILED:
            raise UnavailableError(_OVER)
        if not {FAILED, CONTENDED} & {*codes}:
            cancelled.give_up()
        if CONTENDED in codes:
            pause()
        return cancelled.reasons

    def _page(
        self,
        read: Any,
        request: dict[str, Any],
        names: dict[str, str],
        values: dict[str, Any],
        attributes: Sequence[str],
        position: str | None,
    ) -> tuple[list[Item], str | None]:
        wanted = {f"#a{index}": str(name) for index, name in enumerate((*self._key, *attributes))}
        request = {
            "TableName": self.name,
            "ProjectionExpression": ", ".join(wanted),
            "ExpressionAttributeNames": names | wanted,
            "ExpressionAttributeValues": values,
            **request,
        }
        if (start := _start(position)) is not None:
            request["ExclusiveStartKey"] = start
        with translated("DynamoDB"):
            answer = read(**request)
        last = answer.get("LastEvaluatedKey")
        items = [item_from_wire(each) for each in answer["Items"]]
        return items, None if last is None else position_at(item_from_wire(last))


def lead_of(erasure: Erasure) -> str | None:
    """The lead that an erasure is of; ``None`` for an organisation's, never for one that has forgotten its lead."""
    if erasure.of_lead and erasure.lead_id is None:
        raise UnavailableError(_OVER)
    return erasure.lead_id


def position_at(key: Item) -> str:
    """The position behind the item of this key."""
    return dumps(key)


def _start(position: str | None) -> Any:
    if position is None or position == AGAIN:
        return None
    key = loads(position)
    assert isinstance(key, dict)
    return item_to_wire(key)
