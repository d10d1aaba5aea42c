"""Identities: hashes that point at leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.erasure import Erasure, Store
from lead_events.instants import format_instant
from lead_events.names import IdentityAttribute, Index, lead_key, organization_key
from lead_events.store.identities import identity_tombstone
from lead_events.store.shelves.tables import AGAIN, AT_ONCE, Table, lead_of
from lead_events.store.transactions import CONTENDED, FAILED
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_ROUNDS: Final = 5


class Identities:
    """The identities table. Those of a lead let go of it at the end of its erasure, and remember until when it was."""

    def __init__(self, client: DynamoDBClient, table_name: str, erasures_table: str) -> None:
        self._table = Table(client, table_name, (IdentityAttribute.IDENTITY_ID,), erasures_table)
        self._by_lead = Table(client, table_name, (IdentityAttribute.LEAD_ORGANIZATION_ID,), erasures_table)

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        lead_id = lead_of(erasure)
        if lead_id is None:
            prefix = f"{organization_key(erasure.organization_id)}#"
            return self._table.sweep(erasure, Store.IDENTITIES, prefix, position)
        assert erasure.until is not None  # an identity is let go last: until then it leads to the lead's fence
        lead = lead_key(erasure.organization_id, lead_id)
        items, after = self._by_lead.query(
            lead,
            position,
            attributes=(IdentityAttribute.IDENTITY_ID,),
            IndexName=Index.LEAD,
            ConsistentRead=False,  # an index knows no other reading
            Limit=AT_ONCE,
        )
        until = format_instant(erasure.until)
        pending = {item[IdentityAttribute.IDENTITY_ID]: until for item in items}
        for _ in range(_ROUNDS):
            if not pending:
                return after
            actions = [self._tombstone(key, lead, each) for key, each in pending.items()]
            reasons = self._table.attempt(erasure, {Store.IDENTITIES: len(pending)}, actions)
            if not reasons:
                return after
            if CONTENDED not in {each.get("Code") for each in reasons}:
                pending = _corrected(pending, reasons, lead)
        return position or AGAIN

    def _tombstone(self, key: str, lead: str, until: str) -> dict[str, Any]:
        """Replace an identity that points at the lead, unless the person was erased with a later end before."""
        return {
            "Put": {
                "TableName": self._table.name,
                "Item": item_to_wire(identity_tombstone(key, until)),
                "ConditionExpression": "#lead = :lead AND (attribute_not_exists(#until) OR #until <= :until)",
                "ExpressionAttributeNames": {
                    "#lead": IdentityAttribute.LEAD_ORGANIZATION_ID,
                    "#until": IdentityAttribute.ERASED_UNTIL,
                },
                "ExpressionAttributeValues": item_to_wire({":lead": lead, ":until": until}),
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }


def _corrected(pending: dict[str, str], reasons: Sequence[dict[str, Any]], lead: str) -> dict[str, str]:
    """What is left to do, now that is known what is really there: the index may be a moment behind."""
    corrected: dict[str, str] = {}
    for (key, until), reason in zip(pending.items(), reasons, strict=False):
        if reason.get("Code") != FAILED:
            corrected[key] = until
            continue
        there = item_from_wire(reason.get("Item", {}))
        if there.get(IdentityAttribute.LEAD_ORGANIZATION_ID) == lead:
            corrected[key] = max(until, there.get(IdentityAttribute.ERASED_UNTIL, ""))
    return corrected
