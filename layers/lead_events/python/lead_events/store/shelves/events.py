"""Events, and the claims by which they are recognised when they come again."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from lead_events.erasure import Erasure, Store
from lead_events.idempotency import claim_id
from lead_events.instants import now
from lead_events.names import Attribute, ClaimAttribute, lead_key, organization_key
from lead_events.store.dynamodb import claim_tombstone
from lead_events.store.items import Item
from lead_events.store.shelves.tables import AGAIN, AT_ONCE, Table, lead_of
from lead_events.store.wire import item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_KEY = (Attribute.LEAD_ORGANIZATION_ID, Attribute.OCCURRED_AT_ID)
_CLAIMED_BY = (Attribute.SOURCE, Attribute.EXTERNAL_EVENT_ID, Attribute.SHARED_FACT_ID)


class Events:
    """The events table. The claims of a lead's events stay as tombstones: they keep out what comes again."""

    def __init__(self, client: DynamoDBClient, table_name: str, claims_table: str, erasures_table: str) -> None:
        self._table = Table(client, table_name, _KEY, erasures_table)
        self._claims_table = claims_table

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        lead_id = lead_of(erasure)
        if lead_id is None:
            return self._table.sweep(erasure, Store.EVENTS, lead_key(erasure.organization_id, ""), position)
        partition = lead_key(erasure.organization_id, lead_id)
        items, after = self._table.query(partition, position, attributes=_CLAIMED_BY, Limit=AT_ONCE)
        if not items:
            return after
        claims = dict.fromkeys(each for item in items if (each := _claim_of(erasure.organization_id, item)))
        erased_at = now()
        actions = [
            *map(self._table.deletion, items),
            *(self._tombstone(each, erased_at) for each in claims),
        ]
        counts = {Store.EVENTS: len(items)} | ({Store.CLAIMS: len(claims)} if claims else {})
        return after if self._table.take(erasure, counts, actions) else position or AGAIN

    def _tombstone(self, claim: str, erased_at: datetime) -> dict[str, Any]:
        return {"Put": {"TableName": self._claims_table, "Item": item_to_wire(claim_tombstone(claim, erased_at))}}


class Claims:
    """The claims table, of which an organisation leaves nothing. A lead's claims go with its events."""

    def __init__(self, client: DynamoDBClient, table_name: str, erasures_table: str) -> None:
        self._table = Table(client, table_name, (ClaimAttribute.CLAIM_ID,), erasures_table)

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        if lead_of(erasure) is not None:
            return None
        return self._table.sweep(erasure, Store.CLAIMS, f"{organization_key(erasure.organization_id)}#", position)


def _claim_of(organization_id: str, item: Item) -> str | None:
    """Key of the claim of an event: of its fact, else of its external id."""
    claimed = item.get(Attribute.SHARED_FACT_ID) or item.get(Attribute.EXTERNAL_EVENT_ID)
    return claim_id(organization_id, item[Attribute.SOURCE], claimed) if claimed else None
