"""Lead memories in DynamoDB: one item for each category of a lead, written only over the version that was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lead_events.aws_errors import translated
from lead_events.categories import Category
from lead_events.memory import Memory, Window
from lead_events.names import MemoryAttribute, ids_of, lead_key
from lead_events.store.items import Item
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDbMemories:
    """The memories table."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._table = table_name

    def get(self, organization_id: str, lead_id: str, category: Category) -> Memory:
        key = item_to_wire(
            {
                MemoryAttribute.LEAD_ORGANIZATION_ID: lead_key(organization_id, lead_id),
                MemoryAttribute.CATEGORY: category.value,
            }
        )
        with translated("DynamoDB"):
            found = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        if "Item" not in found:
            return Memory(organization_id=organization_id, lead_id=lead_id, category=category)
        return memory_of(item_from_wire(found["Item"]))

    def of_lead(self, organization_id: str, lead_id: str) -> list[Memory]:
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "#lead = :lead",
            "ExpressionAttributeNames": {"#lead": MemoryAttribute.LEAD_ORGANIZATION_ID},
            "ExpressionAttributeValues": {":lead": {"S": lead_key(organization_id, lead_id)}},
            "ConsistentRead": True,
        }
        found: list[Memory] = []
        while True:
            with translated("DynamoDB"):
                answer = self._client.query(**request)
            found += [memory_of(item_from_wire(item)) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                return in_order(found)
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def put(self, memory: Memory) -> bool:
        before = memory.version - 1
        condition: dict[str, Any] = {
            "ConditionExpression": "#version = :before",
            "ExpressionAttributeNames": {"#version": MemoryAttribute.VERSION},
            "ExpressionAttributeValues": {":before": {"N": str(before)}},
        }
        if before == 0:
            condition["ConditionExpression"] = "attribute_not_exists(#version)"
            del condition["ExpressionAttributeValues"]
        with translated("DynamoDB"):
            try:
                self._client.put_item(TableName=self._table, Item=item_to_wire(item_of(memory)), **condition)
            except self._client.exceptions.ConditionalCheckFailedException:
                return False
        return True


def item_of(memory: Memory) -> Item:
    """The item of a memory. A window that overflows is null."""
    hours = {str(hour): ids for hour, ids in memory.window.hours.items()}
    return {
        MemoryAttribute.LEAD_ORGANIZATION_ID: lead_key(memory.organization_id, memory.lead_id),
        MemoryAttribute.CATEGORY: memory.category.value,
        MemoryAttribute.STATE: memory.state,
        MemoryAttribute.WINDOW: None if memory.window.overflowing else hours,
        MemoryAttribute.VERSION: memory.version,
        MemoryAttribute.REBUILT: memory.rebuilt,
    }


def memory_of(item: Item) -> Memory:
    """The memory of an item."""
    organization_id, lead_id = ids_of(item[MemoryAttribute.LEAD_ORGANIZATION_ID])
    hours = item[MemoryAttribute.WINDOW]
    return Memory(
        organization_id=organization_id,
        lead_id=lead_id,
        category=Category(item[MemoryAttribute.CATEGORY]),
        state=item[MemoryAttribute.STATE],
        window=Window(overflowing=True) if hours is None else Window({int(hour): ids for hour, ids in hours.items()}),
        version=int(item[MemoryAttribute.VERSION]),
        rebuilt=item[MemoryAttribute.REBUILT],
    )


def in_order(memories: list[Memory]) -> list[Memory]:
    """Memories in the order of the categories."""
    places = {category: place for place, category in enumerate(Category)}
    return sorted(memories, key=lambda each: places[each.category])
