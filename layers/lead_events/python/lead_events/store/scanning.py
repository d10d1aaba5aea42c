"""All leads of the events table, by a parallel scan that reads no more than it must.

Behind the last lead of each page the scan jumps: its start key is that lead with a sort key above every event's. So a lead of
a million events costs as little as one of ten. A start key need not be an item's; it must be of the segment, and all items of
a partition key are ("Generate a distinct set of partition keys for an Amazon DynamoDB table efficiently", AWS Database Blog).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.jobs import LeadKey
from lead_events.names import Attribute, ids_of, lead_key
from lead_events.ports import LeadPage
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_ITEMS: Final = 10
"""Items of one page: a few leads where leads have few events, little waste where they have many."""
_BEHIND: Final = "~"
"""Above every sort key: those begin with a year."""


class DynamoDbLeads:
    """The leads of the events table."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._table = table_name

    def page(self, segment: int, segments: int, after: LeadKey | None) -> LeadPage:
        request: dict[str, Any] = {
            "TableName": self._table,
            "Segment": segment,
            "TotalSegments": segments,
            "Limit": _ITEMS,
            "ProjectionExpression": "#lead",
            "ExpressionAttributeNames": {"#lead": Attribute.LEAD_ORGANIZATION_ID},
            "ConsistentRead": True,  # whoever has an event now is found
        }
        if after is not None:
            request["ExclusiveStartKey"] = item_to_wire(
                {Attribute.LEAD_ORGANIZATION_ID: lead_key(*after), Attribute.OCCURRED_AT_ID: _BEHIND}
            )
        while True:
            with translated("DynamoDB"):
                answer = self._client.scan(**request)
            keys = dict.fromkeys(item_from_wire(each)[Attribute.LEAD_ORGANIZATION_ID] for each in answer["Items"])
            more = "LastEvaluatedKey" in answer
            if keys or not more:
                return LeadPage([ids_of(key) for key in keys], more)
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def count(self) -> int | None:
        """DynamoDB counts every six hours or so; a young table has none."""
        with translated("DynamoDB"):
            answer = self._client.describe_table(TableName=self._table)
        return answer["Table"].get("ItemCount") or None
