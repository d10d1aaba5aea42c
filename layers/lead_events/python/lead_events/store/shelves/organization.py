"""The state of an organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lead_events.aws_errors import translated
from lead_events.erasure import Erasure, Store
from lead_events.names import OrganizationAttribute
from lead_events.organizations.state import entries_in, only_lifecycle, without_lead
from lead_events.store.organizations import organization_of
from lead_events.store.shelves.tables import AGAIN, Table, lead_of
from lead_events.store.wire import item_from_wire, item_to_wire, to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class OrganizationState:
    """An item of the organizations table: a lead's things go out of it, or everything but the organisation's life cycle.

    What it keeps out stays as it is.
    """

    def __init__(self, client: DynamoDBClient, table_name: str, erasures_table: str) -> None:
        self._table = Table(client, table_name, (OrganizationAttribute.ORGANIZATION_ID,), erasures_table)

    def clear(self, erasure: Erasure, position: str | None) -> str | None:  # noqa: ARG002  # there is one item
        key = item_to_wire({OrganizationAttribute.ORGANIZATION_ID: erasure.organization_id})
        with translated("DynamoDB"):
            found = self._table.client.get_item(TableName=self._table.name, Key=key, ConsistentRead=True)
        if "Item" not in found:
            return None
        stored = organization_of(item_from_wire(found["Item"]))
        lead_id = lead_of(erasure)
        state = only_lifecycle(stored.state) if lead_id is None else without_lead(stored.state, lead_id)
        if state == stored.state or not stored.state:
            return None
        update = {
            "TableName": self._table.name,
            "Key": key,
            "UpdateExpression": "SET #state = :state, #version = :after",
            "ConditionExpression": "#version = :before",
            "ExpressionAttributeNames": {
                "#state": OrganizationAttribute.STATE,
                "#version": OrganizationAttribute.VERSION,
            },
            "ExpressionAttributeValues": {
                ":state": to_wire(state),
                ":before": to_wire(stored.version),
                ":after": to_wire(stored.version + 1),
            },
        }
        went = entries_in(stored.state) - entries_in(state)
        return None if self._table.take(erasure, {Store.ORGANIZATION: went}, [{"Update": update}]) else AGAIN
