"""Rejected events: texts of which nobody knows whose they are, so each is looked into."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.erasure import Erasure, Store
from lead_events.errors import ObjectMissingError
from lead_events.instants import format_instant, now
from lead_events.mentions import Mentions, Person
from lead_events.names import RejectionAttribute
from lead_events.raw_payload import RawReference
from lead_events.store.items import Item, raw_form
from lead_events.store.shelves.objects import RawObjects
from lead_events.store.shelves.tables import AGAIN, Table, lead_of, position_at
from lead_events.store.wire import item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_KEY: Final = (RejectionAttribute.ORGANIZATION_ID, RejectionAttribute.REJECTED_EVENT_ID)
_READ: Final = (
    RejectionAttribute.SOURCE,
    RejectionAttribute.EVENT_TYPE,
    RejectionAttribute.EXTERNAL_EVENT_ID,
    RejectionAttribute.RAW_PAYLOAD,
    RejectionAttribute.ERASED_AT,
)
_PAGE: Final = 50
_CHARACTERS: Final = 1_000_000
"""Of texts that are looked into in one go; the last of them may be longer."""


class Rejected:
    """The rejected events table. Those about a lead stay as tombstones: the same delivery again leaves nothing."""

    def __init__(
        self,
        client: DynamoDBClient,
        table_name: str,
        erasures_table: str,
        *,
        objects: RawObjects,
        mentions: Mentions,
    ) -> None:
        self._table = Table(client, table_name, _KEY, erasures_table)
        self._objects = objects
        self._mentions = mentions

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        owner = erasure.organization_id
        lead_id = lead_of(erasure)
        if lead_id is None:  # its texts outside the table go with the other objects
            return self._table.clear_partition(erasure, Store.REJECTED_EVENTS, owner, position)
        items, after = self._table.query(owner, position, attributes=_READ, Limit=_PAGE)
        person = self._mentions.person(owner, lead_id)
        characters = 0
        for item in items:
            if characters >= _CHARACTERS:
                return position
            if RejectionAttribute.ERASED_AT not in item:
                text = self._text(item)
                characters += len(text or "")
                if self._is_about(person, item, text) and not self._replace(erasure, item):
                    return position or AGAIN
            elif RejectionAttribute.RAW_PAYLOAD in item:  # whoever erased it died in between
                self._remove_text(erasure, item)
            position = position_at(self._table.key_of(item))
        return after

    def refers_to(self, organization_id: str, key: str) -> bool:
        """Whether the text of a rejected event that is there, and no tombstone, is the object ``key``."""
        read, position = (RejectionAttribute.RAW_PAYLOAD, RejectionAttribute.ERASED_AT), None
        while True:
            items, position = self._table.query(organization_id, position, attributes=read)
            raws = [
                each.get(RejectionAttribute.RAW_PAYLOAD) for each in items if RejectionAttribute.ERASED_AT not in each
            ]
            if any(isinstance(each, dict) and each["key"] == key for each in raws):
                return True
            if position is None:
                return False

    def _text(self, item: Item) -> str | None:
        form = raw_form(item)
        if not isinstance(form, RawReference):
            return form or ""
        try:
            return self._objects.get(form.key)
        except ObjectMissingError:
            return None

    def _is_about(self, person: Person, item: Item, text: str | None) -> bool:
        if text is None:
            # Rejections of one delivery share their text, and nothing but an erasure ever takes it away.
            return True
        source, external_id = item[RejectionAttribute.SOURCE], item.get(RejectionAttribute.EXTERNAL_EVENT_ID)
        if self._mentions.find(person, text, source, external_id):
            return True
        return any(
            self._mentions.find(person, each) for each in (external_id, item.get(RejectionAttribute.EVENT_TYPE)) if each
        )

    def _replace(self, erasure: Erasure, item: Item) -> bool:
        """Leave nothing of a rejected event but its key.

        Where its text is outside, the tombstone says where until the text has gone: so it is found again if we die.
        """
        tombstone = self._table.key_of(item) | {RejectionAttribute.ERASED_AT: format_instant(now())}
        outside = isinstance(raw_form(item), RawReference)
        kept = {RejectionAttribute.RAW_PAYLOAD: item[RejectionAttribute.RAW_PAYLOAD]} if outside else {}
        put: dict[str, Any] = {
            "TableName": self._table.name,
            "Item": item_to_wire(tombstone | kept),
            "ConditionExpression": "attribute_exists(#key) AND attribute_not_exists(#erased)",
            "ExpressionAttributeNames": {
                "#key": RejectionAttribute.REJECTED_EVENT_ID,
                "#erased": RejectionAttribute.ERASED_AT,
            },
        }
        if not self._table.take(erasure, {Store.REJECTED_EVENTS: 1}, [{"Put": put}]):
            return False
        if outside:
            self._remove_text(erasure, tombstone | kept)
        return True

    def _remove_text(self, erasure: Erasure, tombstone: Item) -> None:
        form = raw_form(tombstone)
        assert isinstance(form, RawReference)
        if form.key in self._objects.keys(form.key):
            self._objects.remove(erasure, [form.key])
        rest = {name: value for name, value in tombstone.items() if name != RejectionAttribute.RAW_PAYLOAD}
        client = self._table.client
        with translated("DynamoDB"), suppress(client.exceptions.ConditionalCheckFailedException):  # then it is all gone
            client.put_item(
                TableName=self._table.name,
                Item=item_to_wire(rest),
                ConditionExpression="attribute_exists(#erased)",
                ExpressionAttributeNames={"#erased": RejectionAttribute.ERASED_AT},
            )
