"""Lead memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lead_events.erasure import Erasure, Store
from lead_events.names import MemoryAttribute, lead_key
from lead_events.store.shelves.tables import Table, lead_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Memories:
    """The memories table."""

    def __init__(self, client: DynamoDBClient, table_name: str, erasures_table: str) -> None:
        key = (MemoryAttribute.LEAD_ORGANIZATION_ID, MemoryAttribute.CATEGORY)
        self._table = Table(client, table_name, key, erasures_table)

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        lead_id = lead_of(erasure)
        if lead_id is None:
            return self._table.sweep(erasure, Store.MEMORIES, lead_key(erasure.organization_id, ""), position)
        partition = lead_key(erasure.organization_id, lead_id)
        return self._table.clear_partition(erasure, Store.MEMORIES, partition, position)
