"""A verified webhook delivery as a queue message: a CloudEvents envelope like every other message.

A body too large for a message waits in the raw bucket, under ``inbox/``, and the message holds its key.
"""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from lead_events import envelope
from lead_events.envelope import Envelope
from lead_events.errors import InvalidError
from lead_events.event import Delivery, check_id
from lead_events.instants import format_instant, parse_instant
from lead_events.names import INBOX_PREFIX, OWN_EVENT_SOURCE
from lead_events.ports import ObjectStore
from lead_events.strict_json import dumps

TYPE: Final = "webhook.received"
MAX_MESSAGE_BYTES: Final = 200_000
"""Below the 256 KB that every SQS region takes (newer ones take 1 MiB), with room for the envelope's escapes."""


def write(delivery: Delivery, objects: ObjectStore) -> str:
    """The message of ``delivery``; a large body is put into ``objects`` first."""
    delivery_id = f"evt_{uuid4()}"
    body = {"body": delivery.body}
    if len(_message(delivery.body).encode()) > MAX_MESSAGE_BYTES:
        key = f"{INBOX_PREFIX}{delivery.organization_id}/{delivery_id}"
        objects.put(key, delivery.body)
        body = {"bodyKey": key}
    data = {
        "provider": delivery.provider,
        "organizationId": delivery.organization_id,
        "headers": dict(delivery.headers),
        "receivedAt": format_instant(delivery.received_at),
    } | body
    if delivery.lead_id is not None:
        data["leadId"] = delivery.lead_id
    return _message(
        envelope.write(type=TYPE, id=delivery_id, source=OWN_EVENT_SOURCE, time=delivery.received_at, data=data)
    )


def _message(value: object) -> str:
    """JSON that SQS takes: of all characters that JSON may hold as they are it refuses two.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
    """
    return dumps(value).translate({0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"})


def read(message: Envelope, objects: ObjectStore) -> Delivery:
    """The delivery of a message."""
    data = message.data
    headers = data.get("headers") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(headers, dict):
        raise InvalidError.of("data", "is not a webhook delivery")
    body, lead_id = data.get("body"), data.get("leadId")
    organization_id = check_id(data.get("organizationId"), "data.organizationId")
    if (key := body_key(message)) is not None:
        body = objects.get(key)
    if not isinstance(body, str):
        raise InvalidError.of("data.body", "must be a string, or data.bodyKey a key of the inbox")
    return Delivery(
        provider=str(data.get("provider")),
        organization_id=organization_id,
        body=body,
        received_at=parse_instant(data.get("receivedAt"), "data.receivedAt"),
        headers={name: value for name, value in headers.items() if isinstance(value, str)},
        lead_id=None if lead_id is None else check_id(lead_id, "data.leadId"),
    )


def body_key(message: Envelope) -> str | None:
    """Where the body of a message waits, if it is not in the message; never anywhere else than in its organisation's inbox."""
    data = message.data if isinstance(message.data, dict) else {}
    key = data.get("bodyKey")
    return key if isinstance(key, str) and key.startswith(f"{INBOX_PREFIX}{data.get('organizationId')}/") else None
