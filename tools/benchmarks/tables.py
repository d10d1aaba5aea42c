"""Definitions of the tables, as CreateTable takes them: ours as deployed, and those of the literal design."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from lead_events.names import (
    EVENT_TYPE_INDEX_PROJECTION,
    Attribute,
    ClaimAttribute,
    Index,
    MemoryAttribute,
    OrganizationAttribute,
    ReprocessingAttribute,
)

ROOT: Final = Path(__file__).resolve().parents[2]
Definition = dict[str, Any]

EVENTS: Final = "bench-events"
CLAIMS: Final = "bench-claims"
LITERAL_EVENTS: Final = "bench-literal-events"
IDEMPOTENCY: Final = "bench-idempotency"
MEMORIES: Final = "bench-memories"
LITERAL_MEMORIES: Final = "bench-literal-memories"
REPROCESSINGS: Final = "bench-reprocessings"
ORGANIZATIONS: Final = "bench-organizations"


def ours() -> tuple[Definition, Definition]:
    """Events and claims: of the synthesised template where ``cdk.out`` has one, else by the names that it is made of."""
    for template in sorted((ROOT / "cdk.out").glob("*stateful*.template.json")):
        found = _of_template(json.loads(template.read_text(encoding="utf-8")))
        if found is not None:
            return found
    events = table(
        EVENTS,
        (Attribute.LEAD_ORGANIZATION_ID, Attribute.OCCURRED_AT_ID),
        {
            Index.IDEMPOTENCY: (Attribute.SOURCE, Attribute.EXTERNAL_EVENT_ID, {"ProjectionType": "KEYS_ONLY"}),
            Index.EVENT_TYPE: (
                Attribute.LEAD_ORGANIZATION_ID,
                Attribute.EVENT_TYPE_OCCURRED_AT,
                {"ProjectionType": "INCLUDE", "NonKeyAttributes": [str(each) for each in EVENT_TYPE_INDEX_PROJECTION]},
            ),
        },
    )
    return events, table(CLAIMS, (ClaimAttribute.CLAIM_ID,))


def literal() -> tuple[Definition, Definition]:
    """The seeds' table with both indexes projecting everything, and the stock idempotency table."""
    everything = {"ProjectionType": "ALL"}
    events = table(
        LITERAL_EVENTS,
        ("leadOrganizationId", "occurredAtId"),
        {
            "idempotency-index": ("source", "externalEventId", everything),
            "event-type-index": ("leadOrganizationId", "eventType#occurredAt", everything),
        },
    )
    return events, table(IDEMPOTENCY, ("id",))


def others() -> tuple[Definition, ...]:
    """Memories of both sides, reprocessings, which both know by the same keys, and our state of organisations."""
    memory_keys = (MemoryAttribute.LEAD_ORGANIZATION_ID, MemoryAttribute.CATEGORY)
    return (
        table(MEMORIES, memory_keys),
        table(LITERAL_MEMORIES, memory_keys),
        table(REPROCESSINGS, (ReprocessingAttribute.SCOPE, ReprocessingAttribute.JOB_ID)),
        table(ORGANIZATIONS, (OrganizationAttribute.ORGANIZATION_ID,)),
    )


def table(
    name: str, keys: Sequence[str], indexes: dict[Any, tuple[str, str, dict[str, Any]]] | None = None
) -> Definition:
    """An on-demand table whose keys are all strings."""
    named = {str(each): _schema(definition[:2]) for each, definition in (indexes or {}).items()}
    attributes = {str(key) for key in keys} | {str(k) for each in (indexes or {}).values() for k in each[:2]}
    definition: Definition = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _schema(keys),
        "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in sorted(attributes)],
    }
    if indexes:
        projections = {str(each): parts[2] for each, parts in indexes.items()}
        definition["GlobalSecondaryIndexes"] = [
            {"IndexName": each, "KeySchema": schema, "Projection": projections[each]} for each, schema in named.items()
        ]
    return definition


def _schema(keys: Sequence[str]) -> list[dict[str, str]]:
    return [{"AttributeName": str(key), "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)]


def _of_template(template: dict[str, Any]) -> tuple[Definition, Definition] | None:
    events = claims = None
    for resource in template.get("Resources", {}).values():
        if resource["Type"] != "AWS::DynamoDB::Table":
            continue
        properties = resource["Properties"]
        wanted = ("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "BillingMode")
        definition = {name: properties[name] for name in wanted if name in properties}
        keys = [each["AttributeName"] for each in properties["KeySchema"]]
        if keys == [Attribute.LEAD_ORGANIZATION_ID, Attribute.OCCURRED_AT_ID]:
            events = {"TableName": EVENTS, **definition}
        elif keys == [ClaimAttribute.CLAIM_ID]:
            claims = {"TableName": CLAIMS, **definition}
    return (events, claims) if events and claims else None
