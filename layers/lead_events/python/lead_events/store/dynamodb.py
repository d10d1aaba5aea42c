"""Events and claims in DynamoDB.

Both are written by conditional puts alone. A failed condition brings the item that is there with it
(``ReturnValuesOnConditionCheckFailure``), so nothing is read before it is written.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.errors import UnavailableError
from lead_events.event import EventKey, StoredEvent
from lead_events.idempotency import Claim
from lead_events.instants import format_instant, now
from lead_events.names import Attribute, ClaimAttribute, Index, lead_key
from lead_events.ports import ObjectStore, Page, Position, TimelineQuery
from lead_events.raw_payload import RawReference
from lead_events.store.items import Item, event_of, item_of, key_of, raw_form
from lead_events.store.ranges import is_empty, table_bounds, type_bounds
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_BATCH_GET_KEYS: Final = 100  # most keys of one BatchGetItem
_BATCH_GET_ROUNDS: Final = 10  # an answer has at most 16 MB, 100 items at most 40 MB; the rest is for throttling


class DynamoDbEvents:
    """The events table, with large raw payloads beside it in an object store."""

    def __init__(
        self, client: DynamoDBClient, table_name: str, objects: ObjectStore, retention: timedelta | None = None
    ) -> None:
        self._client = client
        self._table = table_name
        self._objects = objects
        self._retention = retention

    def append(self, event: StoredEvent) -> StoredEvent | None:
        ttl = int((event.received_at + self._retention).timestamp()) if self._retention else None
        item, reference = item_of(replace(event, stored_at=now()), ttl)
        if reference is not None:
            # Before the item, so that no item refers to nothing; the key is the content's hash, so doing it again is harmless.
            self._objects.put(reference.key, event.raw_payload or "")
        first = put_if_absent(self._client, self._table, item, Attribute.LEAD_ORGANIZATION_ID)
        if first is None or first[Attribute.EVENT_ID] != event.event_id:
            return None if first is None else event_of(first)
        # The id is ours: either an answer was lost and botocore sent the put again, or this event was redelivered in between.
        return None if first[Attribute.RECEIVED_AT] == item[Attribute.RECEIVED_AT] else event_of(first)

    def get(self, key: EventKey, *, raw: bool = False) -> StoredEvent | None:
        with translated("DynamoDB"):
            found = self._client.get_item(TableName=self._table, Key=item_to_wire(_key_item(key)), ConsistentRead=True)
        if "Item" not in found:
            return None
        item = item_from_wire(found["Item"])
        return event_of(item, self._raw_text(item) if raw else None)

    def find(self, organization_id: str, source: str, external_event_id: str) -> EventKey | None:
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": Index.IDEMPOTENCY,
            "KeyConditionExpression": "#source = :source AND #external = :external",
            # The index is keyed as the seeds say, without the tenant; another tenant's event of this id is not ours to see.
            "FilterExpression": "begins_with(#partition, :tenant)",
            "ExpressionAttributeNames": {
                "#source": Attribute.SOURCE,
                "#external": Attribute.EXTERNAL_EVENT_ID,
                "#partition": Attribute.LEAD_ORGANIZATION_ID,
            },
            "ExpressionAttributeValues": {
                ":source": {"S": source},
                ":external": {"S": external_event_id},
                ":tenant": {"S": lead_key(organization_id, "")},
            },
        }
        while True:
            with translated("DynamoDB"):
                answer = self._client.query(**request)
            if answer["Items"]:
                return key_of(item_from_wire(answer["Items"][0]))
            if "LastEvaluatedKey" not in answer:
                return None
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def page(self, query: TimelineQuery, after: Position | None, limit: int, *, raw: bool = False) -> Page:
        if is_empty(query):
            return Page([], more=False)
        by_type = query.event_type is not None
        low, high = type_bounds(query) if by_type else table_bounds(query)
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "#partition = :partition AND #sort BETWEEN :low AND :high",
            "ExpressionAttributeNames": {
                "#partition": Attribute.LEAD_ORGANIZATION_ID,
                "#sort": Attribute.EVENT_TYPE_OCCURRED_AT if by_type else Attribute.OCCURRED_AT_ID,
            },
            "ExpressionAttributeValues": {
                ":partition": {"S": lead_key(query.organization_id, query.lead_id)},
                ":low": {"S": low},
                ":high": {"S": high},
            },
            "ScanIndexForward": not query.descending,
            "Limit": limit,
        }
        # A reader must find what was stored before it asked; an index cannot promise that, the table can.
        request |= {"IndexName": Index.EVENT_TYPE} if by_type else {"ConsistentRead": True}
        if after is not None:
            request["ExclusiveStartKey"] = item_to_wire(_start_key(query, after))
        with translated("DynamoDB"):
            answer = self._client.query(**request)
        items = [item_from_wire(each) for each in answer["Items"]]
        if raw and by_type:
            items = self._whole(items)
        events = [event_of(each, self._raw_text(each) if raw else None) for each in items]
        return Page(events, more="LastEvaluatedKey" in answer)

    def _raw_text(self, item: Item) -> str | None:
        form = raw_form(item)
        return self._objects.get(form.key) if isinstance(form, RawReference) else form

    def _whole(self, projected: list[Item]) -> list[Item]:
        """The full items behind projected ones of an index, in the same order."""
        whole: dict[EventKey, Item] = {}
        pending = [item_to_wire(_key_item(key_of(each))) for each in projected]
        for _ in range(_BATCH_GET_ROUNDS):
            if not pending:
                break
            batch, pending = pending[:_BATCH_GET_KEYS], pending[_BATCH_GET_KEYS:]
            with translated("DynamoDB"):
                answer = self._client.batch_get_item(
                    RequestItems={self._table: {"Keys": batch, "ConsistentRead": True}}
                )
            found, left = answer["Responses"].get(self._table, []), answer["UnprocessedKeys"].get(self._table)
            whole |= {key_of(item): item for item in map(item_from_wire, found)}
            pending += [dict(key) for key in left["Keys"]] if left else []
        if pending:
            raise UnavailableError("DynamoDB left keys unread.")
        keys = map(key_of, projected)
        return [whole[key] for key in keys if key in whole]  # one may have expired since the index was read


class DynamoDbClaims:
    """The claims table."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._table = table_name

    def claim(self, claim: Claim) -> Claim | None:
        found = put_if_absent(self._client, self._table, claim_item(claim), ClaimAttribute.CLAIM_ID)
        first = None if found is None else _claim_of(found)
        return None if first == claim else first  # equal: our own put, which botocore sent again

    def get(self, claim_id: str) -> Claim | None:
        key = item_to_wire({ClaimAttribute.CLAIM_ID: claim_id})
        with translated("DynamoDB"):
            found = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return _claim_of(item_from_wire(found["Item"])) if "Item" in found else None


def put_if_absent(client: DynamoDBClient, table: str, item: Item, key_attribute: str) -> Item | None:
    """Put ``item`` unless its key is taken; give back the item that has it, or ``None``. One write."""
    with translated("DynamoDB"):
        try:
            client.put_item(
                TableName=table,
                Item=item_to_wire(item),
                ConditionExpression="attribute_not_exists(#key)",
                ExpressionAttributeNames={"#key": key_attribute},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except client.exceptions.ConditionalCheckFailedException as error:
            answer: dict[str, Any] = {**error.response}
            return item_from_wire(answer["Item"])
    return None


def claim_item(claim: Claim) -> Item:
    """The item of a claim."""
    return {
        ClaimAttribute.CLAIM_ID: claim.claim_id,
        ClaimAttribute.LEAD_ORGANIZATION_ID: claim.lead_organization_id,
        ClaimAttribute.OCCURRED_AT_ID: claim.occurred_at_id,
        ClaimAttribute.FINGERPRINT: claim.fingerprint,
    }


def claim_tombstone(claim_id: str, erased_at: datetime) -> Item:
    """What stays of a claim whose event was erased."""
    return {ClaimAttribute.CLAIM_ID: claim_id, ClaimAttribute.ERASED_AT: format_instant(erased_at)}


def _claim_of(item: Item) -> Claim:
    if ClaimAttribute.ERASED_AT in item:
        return Claim.of_erased(item[ClaimAttribute.CLAIM_ID])
    return Claim(
        item[ClaimAttribute.CLAIM_ID],
        item[ClaimAttribute.LEAD_ORGANIZATION_ID],
        item[ClaimAttribute.OCCURRED_AT_ID],
        item[ClaimAttribute.FINGERPRINT],
    )


def _start_key(query: TimelineQuery, after: Position) -> Item:
    occurred_at = format_instant(after.occurred_at)
    key = _key_item(
        EventKey(lead_key(query.organization_id, query.lead_id), f"{occurred_at}#{after.event_id.removeprefix('evt_')}")
    )
    if query.event_type is None:
        return key
    return key | {Attribute.EVENT_TYPE_OCCURRED_AT: f"{query.event_type}#{occurred_at}"}


def _key_item(key: EventKey) -> Item:
    return {
        Attribute.LEAD_ORGANIZATION_ID: key.lead_organization_id,
        Attribute.OCCURRED_AT_ID: key.occurred_at_id,
    }
