"""Memories as they are usually kept: a stored event as a parser model, and one item for each lead and category.

The fold is an update of a few counters and of what came last. A write names the version that was read.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import boto3
from aws_lambda_powertools.utilities.parser import BaseModel, Field
from aws_lambda_powertools.utilities.parser.models import DynamoDBStreamChangedRecordModel, DynamoDBStreamRecordModel
from boto3.dynamodb.conditions import Attr, Key
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

CATEGORIES: Final = {"purchase_completed": "purchase", "purchase_abandoned": "purchase", "product_viewed": "product"}
LAST: Final = 20
"""Events that a memory names."""


class StoredEvent(BaseModel):
    """An item of the events table."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    lead_organization_id: str = Field(pattern="^ORG#[^#]+#LEAD#[^#]+$")
    event_id: str
    event_type: str
    source: str
    source_type: str
    occurred_at: datetime
    payload: dict[str, Any]
    external_event_id: str | None = None
    object_id: str | None = None
    object_id_ref: str | None = None


class Change(DynamoDBStreamChangedRecordModel):
    """What a record of the stream tells."""

    NewImage: StoredEvent


class Record(DynamoDBStreamRecordModel):
    """A record of the events table's stream."""

    dynamodb: Change


class LiteralMemories:
    """Memories in a boto3 table."""

    def __init__(self, memories_table: str, events_table: str) -> None:
        resource = boto3.resource("dynamodb")
        self._memories = resource.Table(memories_table)
        self._events = resource.Table(events_table)

    def add(self, event: StoredEvent) -> None:
        """Fold one event into its memory."""
        key = {"leadOrganizationId": event.lead_organization_id, "category": CATEGORIES.get(event.event_type, "other")}
        memory = self._memories.get_item(Key=key, ConsistentRead=True).get("Item", {**key, "version": Decimal()})
        self._put(folded(memory, event))

    def rebuild(self, lead_organization_id: str) -> int:
        """Fold all events of a lead anew; how many there were."""
        request: dict[str, Any] = {
            "KeyConditionExpression": Key("leadOrganizationId").eq(lead_organization_id),
            "ConsistentRead": True,
        }
        memories: dict[str, dict[str, Any]] = {}
        found = 0
        while True:
            answer = self._events.query(**request)
            for item in answer["Items"]:
                event = StoredEvent.model_validate(item)
                category = CATEGORIES.get(event.event_type, "other")
                key = {"leadOrganizationId": lead_organization_id, "category": category, "version": Decimal()}
                memories[category] = folded(memories.get(category, key), event)
                found += 1
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        for memory in memories.values():
            self._memories.put_item(Item=memory | {"version": Decimal(1)})
        return found

    def _put(self, memory: dict[str, Any]) -> None:
        read = memory["version"] - 1
        condition = Attr("version").eq(read) if read else Attr("version").not_exists()
        self._memories.put_item(Item=memory, ConditionExpression=condition)


def folded(memory: dict[str, Any], event: StoredEvent) -> dict[str, Any]:
    """``memory`` with one more event."""
    occurred_at = event.occurred_at.astimezone(UTC).isoformat()
    latest = event.payload if occurred_at >= memory.get("lastSeen", "") else memory["last"]
    return {
        **memory,
        "version": memory["version"] + 1,
        "eventCount": memory.get("eventCount", Decimal()) + 1,
        "total": memory.get("total", Decimal()) + event.payload.get("amount", Decimal()),
        "firstSeen": min(occurred_at, memory.get("firstSeen", occurred_at)),
        "lastSeen": max(occurred_at, memory.get("lastSeen", occurred_at)),
        "last": latest,
        "eventIds": [event.event_id, *memory.get("eventIds", [])][:LAST],
    }
