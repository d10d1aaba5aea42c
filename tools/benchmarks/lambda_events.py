"""Lambda events for the measured functions, as JSON texts; ``@RUN@`` in them becomes a new id at every invocation."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from datetime import datetime, timedelta
from typing import Any

from lead_events.event import SourceType, StoredEvent, new_event_id
from lead_events.instants import now
from lead_events.names import Attribute
from lead_events.store.items import item_of
from lead_events.store.wire import item_to_wire
from lead_events.strict_json import loads
from tools.benchmarks.stub import ORGANIZATION, SECRET

LEAD = "lead_bench"


def append() -> str:
    """One event appended through the API."""
    body = {
        "source": "billing_service",
        "sourceType": "INTERNAL",
        "eventType": "purchase_completed",
        "occurredAt": "2026-03-25T14:00:00Z",
        "externalEventId": "ext_@RUN@",
        "payload": _purchase(),
    }
    path = f"/v1/organizations/{ORGANIZATION}/leads/{LEAD}/events"
    return json.dumps(_http("POST", path, json.dumps(body)))


def messages(count: int) -> str:
    """A batch of ``count`` CloudEvents from the queue."""
    return json.dumps({"Records": [_record(number, message(f"@RUN@-{number}")) for number in range(count)]})


def message(event_id: str) -> str:
    """A CloudEvent as another domain sends it."""
    data = {"organizationId": ORGANIZATION, "leadId": LEAD, **_purchase()}
    return json.dumps(
        {
            "specversion": "1.0",
            "type": "billing.purchase-completed",
            "source": "billing_service",
            "id": f"evt_{event_id}",
            "time": "2026-03-25T14:00:00Z",
            "datacontenttype": "application/json",
            "data": data,
        }
    )


def webhook(sample: str) -> str:
    """A Stripe delivery, signed now."""
    moment = int(time.time())
    signature = hmac.new(SECRET.encode(), f"{moment}.{sample}".encode(), hashlib.sha256).hexdigest()
    event = _http("POST", f"/v1/webhooks/stripe/{ORGANIZATION}", sample)
    event["headers"]["stripe-signature"] = f"t={moment},v1={signature}"
    return json.dumps(event)


def stored(count: int, lead_id: str = LEAD) -> list[StoredEvent]:
    """The last ``count`` purchases of a lead, a minute apart, as they were stored just now."""
    moment = now()
    return [_stored(moment - timedelta(minutes=number), lead_id) for number in range(count)]


def stream(count: int) -> str:
    """A batch of ``count`` events that were just stored, of a lead that is new at every invocation."""
    lead_id = "lead_bench"  # of a length that an id may have; ids are checked where an event is made
    records = [_stream_record(number, each) for number, each in enumerate(stored(count, lead_id))]
    return json.dumps({"Records": records}).replace(f"#LEAD#{lead_id}", f"#LEAD#{lead_id}_@RUN@")


def slice_of(message: str) -> str:
    """A message of the reprocessing queue."""
    return json.dumps({"Records": [_record(0, message)]})


def token() -> str:
    """Cognito asks before it signs a token."""
    event = {
        "version": "3",
        "triggerSource": "TokenGeneration_ClientCredentials",
        "region": "us-east-1",
        "userPoolId": "us-east-1_bench",
        "callerContext": {"awsSdkVersion": "1", "clientId": "client"},
        "request": {"userAttributes": {}, "scopes": ["lead-events/write"]},
        "response": {"claimsAndScopeOverrideDetails": None},
    }
    return json.dumps(event)


def _purchase() -> dict[str, Any]:
    return {
        "productId": "prod_42",
        "productName": "Enterprise plan",
        "category": "software",
        "amount": 199.9,
        "currency": "BRL",
        "paymentMethod": "credit_card",
    }


def _stored(moment: datetime, lead_id: str) -> StoredEvent:
    payload: Any = loads(json.dumps(_purchase()))
    return StoredEvent(
        organization_id=ORGANIZATION,
        lead_id=lead_id,
        source_type=SourceType.INTERNAL,
        source="billing_service",
        event_type="purchase_completed",
        payload=payload,
        occurred_at=moment,
        received_at=moment,
        stored_at=now(),
        event_id=new_event_id(moment),
    )


def _stream_record(number: int, event: StoredEvent) -> dict[str, Any]:
    image = item_to_wire(item_of(event, None)[0])
    keys = (Attribute.LEAD_ORGANIZATION_ID, Attribute.OCCURRED_AT_ID)
    return {
        "eventID": f"{number:032d}",
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/2026-03-25T14:00:00.000",
        "dynamodb": {
            "ApproximateCreationDateTime": event.stored_at.timestamp(),
            "Keys": {key: image[key] for key in keys},
            "NewImage": image,
            "SequenceNumber": f"{number:021d}",
            "SizeBytes": len(json.dumps(image)),
            "StreamViewType": "NEW_IMAGE",
        },
    }


def _record(number: int, body: str) -> dict[str, Any]:
    return {
        "messageId": f"00000000-0000-4000-8000-{number:012d}",
        "receiptHandle": "handle",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1774447200000",
            "SenderId": "AIDAEXAMPLE",
            "ApproximateFirstReceiveTimestamp": "1774447200001",
        },
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:ingest",
        "awsRegion": "us-east-1",
    }


def _http(method: str, path: str, body: str) -> dict[str, Any]:
    claims = {"scope": "lead-events/read lead-events/write", "organization_id": ORGANIZATION, "client_id": "bench"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "host": "api.example"},
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "api",
            "authorizer": {"jwt": {"claims": claims, "scopes": None}},
            "domainName": "api.example",
            "domainPrefix": "api",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "bench",
            },
            "requestId": "request",
            "routeKey": "$default",
            "stage": "$default",
            "time": "25/Mar/2026:14:00:00 +0000",
            "timeEpoch": 1774447200000,
        },
        "body": body,
        "isBase64Encoded": False,
    }
