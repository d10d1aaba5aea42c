"""Events as DynamoDB items, and back."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from lead_events.errors import TooLargeError
from lead_events.event import SCHEMA_VERSION, EventKey, SourceType, StoredEvent
from lead_events.instants import format_instant, from_unix_seconds, parse_instant
from lead_events.limits import MAX_ITEM_BYTES, size_of
from lead_events.names import Attribute, ids_of
from lead_events.raw_payload import RawReference, choose, decompress, object_key

Item = dict[str, Any]
"""Attribute values by name, in Python types."""

_HEADROOM: Final = 256
"""Bytes kept free for what an item costs beyond its attributes' own sizes."""


def item_of(event: StoredEvent, ttl: int | None) -> tuple[Item, RawReference | None]:
    """The item of ``event``, and the reference if its raw payload must be in S3 before the item is written.

    Raises ``TooLargeError`` where the event does not fit an item even without its raw payload.
    """
    key = event.key
    occurred_at = format_instant(event.occurred_at)
    optional: Item = {
        Attribute.OBJECT_ID: event.object_id,
        Attribute.OBJECT_ID_REF: event.object_id_ref,
        Attribute.EXTERNAL_EVENT_ID: event.external_event_id,  # key of a sparse index: absent, never empty
        Attribute.DATA_CONTENT_TYPE: event.data_content_type,
        Attribute.SHARED_FACT_ID: event.shared_fact.id if event.shared_fact else None,
        Attribute.TTL: ttl,
    }
    item: Item = {
        Attribute.LEAD_ORGANIZATION_ID: key.lead_organization_id,
        Attribute.OCCURRED_AT_ID: key.occurred_at_id,
        Attribute.SOURCE_TYPE: event.source_type.value,
        Attribute.SOURCE: event.source,
        Attribute.EVENT_TYPE: event.event_type,
        Attribute.PAYLOAD: event.payload,
        Attribute.RECEIVED_AT: format_instant(event.received_at),
        Attribute.OCCURRED_AT: occurred_at,
        Attribute.EVENT_ID: event.event_id,
        Attribute.EVENT_TYPE_OCCURRED_AT: f"{event.event_type}#{occurred_at}",
        Attribute.SCHEMA_VERSION: event.schema_version,
        Attribute.STORED_AT: int(event.stored_at.timestamp()),
    } | {name: value for name, value in optional.items() if value not in (None, "")}
    size = sum(len(name) + size_of(value) for name, value in item.items())
    if size > MAX_ITEM_BYTES - _HEADROOM:
        raise TooLargeError("The event does not fit an item of 400 KB.")
    if event.raw_payload is None:
        return item, None
    raw_key = object_key(event.organization_id, event.lead_id, event.raw_payload.encode())
    form = choose(event.raw_payload, size + len(Attribute.RAW_PAYLOAD), key=raw_key)
    if isinstance(form, RawReference) or size + len(Attribute.RAW_PAYLOAD) + _bytes(form) > MAX_ITEM_BYTES - _HEADROOM:
        reference = form if isinstance(form, RawReference) else RawReference(raw_key, len(event.raw_payload.encode()))
        return item | {Attribute.RAW_PAYLOAD: {"key": reference.key, "size": reference.size}}, reference
    return item | {Attribute.RAW_PAYLOAD: form}, None


def raw_form(item: Item) -> str | RawReference | None:
    """The raw payload of an item: its text, or where it is."""
    value = item.get(Attribute.RAW_PAYLOAD)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return RawReference(value["key"], int(value["size"]))
    return decompress(bytes(value))


def event_of(item: Item, raw_payload: str | None = None) -> StoredEvent:
    """The event of an item."""
    organization_id, lead_id = ids_of(item[Attribute.LEAD_ORGANIZATION_ID])
    return StoredEvent(
        organization_id=organization_id,
        lead_id=lead_id,
        source_type=SourceType(item[Attribute.SOURCE_TYPE]),
        source=item[Attribute.SOURCE],
        event_type=item[Attribute.EVENT_TYPE],
        payload=item[Attribute.PAYLOAD],
        occurred_at=_instant(item, Attribute.OCCURRED_AT),
        received_at=_instant(item, Attribute.RECEIVED_AT),
        external_event_id=item.get(Attribute.EXTERNAL_EVENT_ID),
        object_id=item.get(Attribute.OBJECT_ID),
        object_id_ref=item.get(Attribute.OBJECT_ID_REF),
        data_content_type=item.get(Attribute.DATA_CONTENT_TYPE),
        raw_payload=raw_payload,
        event_id=item[Attribute.EVENT_ID],
        schema_version=int(item.get(Attribute.SCHEMA_VERSION, SCHEMA_VERSION)),
        stored_at=from_unix_seconds(item.get(Attribute.STORED_AT, 0), Attribute.STORED_AT),
    )


def key_of(item: Item) -> EventKey:
    """The primary key of an item."""
    return EventKey(item[Attribute.LEAD_ORGANIZATION_ID], item[Attribute.OCCURRED_AT_ID])


def _bytes(form: str | bytes) -> int:
    return len(form.encode() if isinstance(form, str) else form)


def _instant(item: Item, name: str) -> datetime:
    return parse_instant(item[name], name)
