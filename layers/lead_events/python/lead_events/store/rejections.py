"""Rejected deliveries in DynamoDB, raw text included.

Of an erased one the key stays, so that no redelivery brings it back. Two deliveries of one may be written in either order,
whichever was seen first: what is shown as first and last seen never depends on it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.errors import FieldError
from lead_events.instants import format_instant, parse_instant
from lead_events.names import Index, RejectionAttribute, rejected_texts_prefix
from lead_events.ports import ObjectStore, Rejection, RejectionPage, StoredRejection
from lead_events.raw_payload import RawReference, choose
from lead_events.rejecting import rejected_event_id
from lead_events.store.items import Item, raw_form
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_OTHER_BYTES: Final = 600
_FIRST: Final = RejectionAttribute.FIRST_SEEN_AT
_LAST: Final = RejectionAttribute.LAST_SEEN_AT
_ERASED: Final = RejectionAttribute.ERASED_AT


class DynamoDbRejections:
    """The rejected events table. The first delivery writes everything, later ones count; none does of an erased one."""

    def __init__(self, client: DynamoDBClient, table_name: str, objects: ObjectStore) -> None:
        self._client = client
        self._table = table_name
        self._objects = objects

    def keep(self, rejection: Rejection) -> str:
        raw = rejection.raw_payload
        key = rejected_texts_prefix(rejection.organization_id) + hashlib.sha256(raw.encode()).hexdigest()
        form = choose(raw, _OTHER_BYTES, key=key)
        rejected_id = rejected_event_id(rejection)
        if isinstance(form, RawReference):
            if self._is_erased(rejection.organization_id, rejected_id):
                return rejected_id
            self._objects.put(form.key, raw)
        stored: Any = {"key": form.key, "size": form.size} if isinstance(form, RawReference) else form
        seen_at = format_instant(rejection.seen_at)
        first: Item = {
            RejectionAttribute.CODE: rejection.code,
            RejectionAttribute.DETAIL: rejection.detail,
            RejectionAttribute.ERRORS: [{"field": each.field, "rule": each.rule} for each in rejection.errors],
            RejectionAttribute.SOURCE: rejection.source,
            RejectionAttribute.EVENT_TYPE: rejection.event_type,
            RejectionAttribute.EXTERNAL_EVENT_ID: rejection.external_event_id,
            RejectionAttribute.RAW_PAYLOAD: stored,
            RejectionAttribute.FIRST_SEEN_AT: seen_at,
        }
        first = {name: value for name, value in first.items() if value is not None}
        self._count(item_to_wire(_key(rejection.organization_id, rejected_id)), first, seen_at)
        return rejected_id

    def _count(self, key: dict[str, Any], first: Item, seen_at: str) -> None:
        """One delivery more, with all of ``first`` if it is the first to arrive. Nothing at all of an erased one.

        Most were seen after all that arrived. One that was overtaken was seen before all, or between them. ``lastSeenAt``
        only grows and ``firstSeenAt`` only falls: a condition that did not hold does not hold later either.
        """
        named = {f"#f{index}": str(name) for index, name in enumerate(first)}
        values = {f":f{index}": value for index, value in enumerate(first.values())}
        sets = ", ".join(f"#f{index} = if_not_exists(#f{index}, :f{index})" for index in range(len(first)))
        newest = f"attribute_not_exists({_ERASED}) AND (attribute_not_exists({_LAST}) OR {_LAST} <= :seen)"
        seen = {":seen": seen_at}
        _ = (
            self._add(key, f"SET {sets}, {_LAST} = :seen ADD #count :one", newest, values | seen, named)
            or self._add(key, f"SET {_FIRST} = :seen ADD #count :one", f"{_FIRST} > :seen", seen, {})
            or self._add(key, "ADD #count :one", f"attribute_exists({_FIRST})", {}, {})
        )

    def _add(self, key: dict[str, Any], update: str, condition: str, values: Item, names: dict[str, str]) -> bool:
        with translated("DynamoDB"):
            try:
                self._client.update_item(
                    TableName=self._table,
                    Key=key,
                    UpdateExpression=update,
                    ConditionExpression=condition,
                    ExpressionAttributeNames=names | {"#count": RejectionAttribute.DELIVERIES},
                    ExpressionAttributeValues=item_to_wire(values | {":one": 1}),
                )
            except self._client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def _is_erased(self, organization_id: str, rejected_id: str) -> bool:
        with translated("DynamoDB"):
            found = self._client.get_item(
                TableName=self._table,
                Key=item_to_wire(_key(organization_id, rejected_id)),
                ProjectionExpression="#erased",
                ExpressionAttributeNames={"#erased": RejectionAttribute.ERASED_AT},
                ConsistentRead=True,
            )
        return RejectionAttribute.ERASED_AT in found.get("Item", {})

    def get(self, organization_id: str, rejected_event_id: str, *, raw: bool = False) -> StoredRejection | None:
        key = item_to_wire(_key(organization_id, rejected_event_id))
        with translated("DynamoDB"):
            found = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        item = item_from_wire(found.get("Item", {}))
        if not item or RejectionAttribute.ERASED_AT in item:
            return None
        form = raw_form(item) if raw else None
        return _stored(item, self._objects.get(form.key) if isinstance(form, RawReference) else form or "")

    def page(self, organization_id: str, after: tuple[str, str] | None, limit: int) -> RejectionPage:
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": Index.LAST_SEEN,  # an erased one was seen at no time: it is not in there
            "KeyConditionExpression": "#organization = :organization",
            "ExpressionAttributeNames": {"#organization": RejectionAttribute.ORGANIZATION_ID},
            "ExpressionAttributeValues": {":organization": {"S": organization_id}},
            "ScanIndexForward": False,
            "Limit": limit,
        }
        if after is not None:
            last_seen_at, rejected_id = after
            start = _key(organization_id, rejected_id) | {RejectionAttribute.LAST_SEEN_AT: last_seen_at}
            request["ExclusiveStartKey"] = item_to_wire(start)
        with translated("DynamoDB"):
            answer = self._client.query(**request)
        items = [item_from_wire(each) for each in answer["Items"]]
        more = "LastEvaluatedKey" in answer and bool(items)
        last = items[-1] if more else {}
        return RejectionPage(
            [_stored(item, "") for item in items],
            (last[RejectionAttribute.LAST_SEEN_AT], last[RejectionAttribute.REJECTED_EVENT_ID]) if more else None,
        )


def _key(organization_id: str, rejected_id: str) -> Item:
    return {
        RejectionAttribute.ORGANIZATION_ID: organization_id,
        RejectionAttribute.REJECTED_EVENT_ID: rejected_id,
    }


def _stored(item: Item, raw: str) -> StoredRejection:
    return StoredRejection(
        organization_id=item[RejectionAttribute.ORGANIZATION_ID],
        rejected_event_id=item[RejectionAttribute.REJECTED_EVENT_ID],
        code=item[RejectionAttribute.CODE],
        detail=item[RejectionAttribute.DETAIL],
        errors=tuple(FieldError(each["field"], each["rule"]) for each in item.get(RejectionAttribute.ERRORS, [])),
        source=item[RejectionAttribute.SOURCE],
        event_type=item.get(RejectionAttribute.EVENT_TYPE),
        external_event_id=item.get(RejectionAttribute.EXTERNAL_EVENT_ID),
        raw_payload=raw,
        seen_at=parse_instant(item[RejectionAttribute.FIRST_SEEN_AT], RejectionAttribute.FIRST_SEEN_AT),
        last_seen_at=parse_instant(item[RejectionAttribute.LAST_SEEN_AT], RejectionAttribute.LAST_SEEN_AT),
        deliveries=int(item[RejectionAttribute.DELIVERIES]),
    )
