"""The state of organisations in DynamoDB: one item each, written in one transaction with the claims of its events.

The item holds what the organisation's erasures keep out as well; only their store writes that (``store/erasures``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lead_events.aws_errors import translated
from lead_events.erasure import Fence
from lead_events.idempotency import Claim
from lead_events.instants import parse_instant
from lead_events.names import ClaimAttribute, OrganizationAttribute
from lead_events.organizations.state import Organization
from lead_events.store.dynamodb import claim_item
from lead_events.store.items import Item
from lead_events.store.transactions import CONTENDED, FAILED, transact
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDbOrganizations:
    """The organizations table, and the claims table, which writing wants."""

    def __init__(self, client: DynamoDBClient, table_name: str, claims_table: str = "") -> None:
        """``claims_table`` is for those who write."""
        self._client = client
        self._table = table_name
        self._claims_table = claims_table

    def get(self, organization_id: str, *, consistent: bool = False) -> Organization:
        key = item_to_wire({OrganizationAttribute.ORGANIZATION_ID: organization_id})
        with translated("DynamoDB"):
            found = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=consistent)
        if "Item" not in found:
            return Organization(organization_id=organization_id)
        return organization_of(item_from_wire(found["Item"]))

    def put(self, organization: Organization, claims: Sequence[Claim]) -> bool:
        # Botocore gives the call a token: if it repeats it, it is one write still.
        before = organization.version - 1
        item = item_to_wire(item_of(organization))
        state: Any = {
            "TableName": self._table,
            "Key": {str(OrganizationAttribute.ORGANIZATION_ID): item[OrganizationAttribute.ORGANIZATION_ID]},
            # Not a put: what erasures keep out stays as it is.
            "UpdateExpression": "SET #state = :state, #version = :version",
            "ConditionExpression": "#version = :before" if before else "attribute_not_exists(#version)",
            "ExpressionAttributeNames": {
                "#state": OrganizationAttribute.STATE,
                "#version": OrganizationAttribute.VERSION,
            },
            "ExpressionAttributeValues": {
                ":state": item[OrganizationAttribute.STATE],
                ":version": item[OrganizationAttribute.VERSION],
            },
        }
        if before:
            state["ExpressionAttributeValues"][":before"] = {"N": str(before)}
        claimed: list[Any] = [
            {
                "Put": {
                    "TableName": self._claims_table,
                    "Item": item_to_wire(claim_item(claim)),
                    "ConditionExpression": "attribute_not_exists(#key)",
                    "ExpressionAttributeNames": {"#key": ClaimAttribute.CLAIM_ID},
                }
            }
            for claim in claims
        ]
        cancelled = transact(self._client, [{"Update": state}, *claimed])
        if cancelled is not None and not {*cancelled.codes} <= {"None", FAILED, CONTENDED}:
            cancelled.give_up()
        return cancelled is None  # else another has written since, or is about to


def item_of(organization: Organization) -> Item:
    """The item of an organisation, without its fence."""
    return {
        OrganizationAttribute.ORGANIZATION_ID: organization.organization_id,
        OrganizationAttribute.STATE: organization.state,
        OrganizationAttribute.VERSION: organization.version,
    }


def organization_of(item: Item) -> Organization:
    """The organisation of an item, which an erasure may have made before anything was told of it."""
    until = item.get(OrganizationAttribute.ERASED_UNTIL)
    return Organization(
        organization_id=item[OrganizationAttribute.ORGANIZATION_ID],
        state=item.get(OrganizationAttribute.STATE, {}),
        version=int(item.get(OrganizationAttribute.VERSION, 0)),
        fence=Fence(
            closed=item.get(OrganizationAttribute.ERASED, False),
            erasing=bool(item.get(OrganizationAttribute.ERASING)),
            until=None if until is None else parse_instant(until, OrganizationAttribute.ERASED_UNTIL),
        ),
    )
