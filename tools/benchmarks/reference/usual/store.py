"""The literal design: Powertools' stock idempotency in front of one put of a boto3 resource.

Each event is put as in progress, put, and updated to completed. Payload validation tells a conflict from a duplicate. The
raw payload is a map beside the payload, and both indexes of its table project everything (``tools.benchmarks.tables``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import uuid4

import boto3
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from boto3.dynamodb.conditions import Key

from tools.benchmarks.reference.usual.models import CloudEvent, NewEvent

KEPT_SECONDS: Final = 90 * 24 * 3600
"""Stock records expire: how long an id is remembered."""

SHOWN: Final = (
    *("leadOrganizationId", "occurredAtId", "eventId", "sourceType", "source", "eventType", "occurredAt", "receivedAt"),
    *("externalEventId", "objectId", "objectIdRef", "payload"),
)
"""What a page shows: everything but the raw payload."""


class LiteralStore:
    """Events by the literal design. ``session`` is for measuring; without one it is made as the documentation does."""

    def __init__(self, events_table: str, idempotency_table: str, session: boto3.Session | None = None) -> None:
        resource = session.resource("dynamodb") if session else boto3.resource("dynamodb")
        self._table = resource.Table(events_table)
        self._config = IdempotencyConfig(
            event_key_jmespath="[organizationId, source, externalEventId]",
            payload_validation_jmespath="[eventType, objectId, objectIdRef, payload]",
            expires_after_seconds=KEPT_SECONDS,
            raise_on_no_idempotency_key=True,
        )
        self._append_once = idempotent_function(
            self._put,
            data_keyword_argument="event",
            persistence_store=DynamoDBPersistenceLayer(idempotency_table, boto3_session=session),
            config=self._config,
        )

    def register(self, context: Any) -> None:
        """Tell idempotency how much time the function has left."""
        self._config.register_lambda_context(context)

    def append(self, event: dict[str, Any]) -> dict[str, Any]:
        """Store ``event`` unless its id is known; give back ids of the first. Numbers must be Decimal or int.

        Raises ``IdempotencyValidationError`` where the id was used for other content.
        """
        if event.get("externalEventId") is None:
            return self._put(event=event)
        first: dict[str, Any] = self._append_once(event=event)
        return first

    def _put(self, *, event: dict[str, Any]) -> dict[str, Any]:
        uuid = str(uuid4())
        attributes = {name: value for name, value in event.items() if value not in (None, "")}
        organization_id, lead_id = attributes.pop("organizationId"), attributes.pop("leadId")
        keys = {
            "leadOrganizationId": f"ORG#{organization_id}#LEAD#{lead_id}",
            "occurredAtId": f"{event['occurredAt']}#{uuid}",
        }
        self._table.put_item(
            Item={
                **attributes,
                **keys,
                "eventId": f"evt_{uuid}",
                "eventType#occurredAt": f"{event['eventType']}#{event['occurredAt']}",
                "receivedAt": datetime.now(UTC).isoformat(),
            },
            ConditionExpression="attribute_not_exists(occurredAtId)",
        )
        return {"eventId": f"evt_{uuid}", **keys}

    def timeline(self, organization_id: str, lead_id: str, *, limit: int = 50, descending: bool = False) -> str:
        """A page of a lead's events as JSON text, without their raw payloads."""
        names = {f"#{number}": name for number, name in enumerate(SHOWN)}
        answer = self._table.query(
            KeyConditionExpression=Key("leadOrganizationId").eq(f"ORG#{organization_id}#LEAD#{lead_id}"),
            ScanIndexForward=not descending,
            ConsistentRead=True,
            Limit=limit,
            ProjectionExpression=", ".join(names),
            ExpressionAttributeNames=names,
        )
        return json.dumps({"items": answer["Items"], "cursor": answer.get("LastEvaluatedKey")}, default=number)


def number(value: object) -> int | float:
    """JSON's number of a Decimal: what everybody passes to ``json.dumps`` as ``default``."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def decimals(value: Mapping[str, Any]) -> dict[str, Any]:
    """``value`` with Decimal in place of float, which boto3 refuses."""
    converted: dict[str, Any] = json.loads(json.dumps(value), parse_float=Decimal)
    return converted


def of_new_event(organization_id: str, lead_id: str, event: NewEvent) -> dict[str, Any]:
    """What is stored of an API request."""
    fields = decimals(event.model_dump(mode="json", by_alias=True))
    return {**fields, "source": event.source.lower(), "organizationId": organization_id, "leadId": lead_id}


def of_cloud_event(event: CloudEvent) -> dict[str, Any]:
    """What is stored of a queue message: the raw payload is the message as a map."""
    raw = decimals(event.model_dump(mode="json"))
    payload = dict(raw["data"])
    return {
        "organizationId": payload.pop("organizationId"),
        "leadId": payload.pop("leadId"),
        "source": event.source.lower(),
        "sourceType": "INTERNAL",
        "eventType": event.type.partition(".")[2].replace("-", "_") or event.type,
        "occurredAt": raw["time"],
        "externalEventId": event.id,
        "payload": payload,
        "rawPayload": raw,
    }
