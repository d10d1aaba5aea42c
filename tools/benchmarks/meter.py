"""Counts the DynamoDB calls and units of a boto3 session, without the measured code knowing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import boto3
from boto3.dynamodb.types import Binary

from tools.benchmarks import units

CAPACITY_CALLS = ("PutItem", "UpdateItem", "GetItem", "Query", "BatchGetItem")


class Meter:
    """Hooks itself into every client made of ``session`` from now on; ``definitions`` are the tables it will meet.

    Write units come from the answers (``ReturnConsumedCapacity=INDEXES``); those of a refused put, whose answer has none,
    from AWS's rule over the item that was met.
    """

    def __init__(self, session: boto3.Session, *definitions: dict[str, Any]) -> None:
        self.calls: Counter[str] = Counter()
        self.write_units = 0.0
        self.read_units = 0.0
        self.refused_units = 0.0
        self.by_rule = 0
        """What the rule says that all puts and refusals cost; updates, which have no item to look at, as measured."""
        self._definitions = {each["TableName"]: each for each in definitions}
        self._seen: dict[tuple[str, ...], Any] = {}
        self._asked: dict[str, Any] = {}
        for operation in CAPACITY_CALLS:
            session.events.register(f"provide-client-params.dynamodb.{operation}", self._ask)
        # Last of all: the resource has turned Python values into DynamoDB's by then.
        session.events.register_last("before-parameter-build.dynamodb", self._remember)
        session.events.register("after-call.dynamodb", self._count)

    def reset(self) -> None:
        """Start from nothing; what is in the tables stays known."""
        self.calls.clear()
        self.write_units = self.read_units = self.refused_units = 0.0
        self.by_rule = 0

    @property
    def total_units(self) -> float:
        """Write units of all calls."""
        return self.write_units + self.refused_units

    def _ask(self, params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"

    def _remember(self, params: dict[str, Any], **_: Any) -> None:
        self._asked = params

    def _count(self, parsed: dict[str, Any], model: Any, http_response: Any, **_: Any) -> None:
        self.calls[model.name] += 1
        capacity = parsed.get("ConsumedCapacity", {})
        consumed = float(capacity.get("CapacityUnits", 0)) if isinstance(capacity, dict) else 0.0
        if model.name in ("GetItem", "Query"):
            self.read_units += consumed
            return
        table = self._asked["TableName"]
        definition = self._definitions[table]
        if http_response.status_code == 400 and model.name == "PutItem":
            first = self._seen[_key(definition, self._asked["Item"])]
            self.refused_units += units.refused_units(first)
            self.by_rule += units.refused_units(first)
            return
        self.write_units += consumed
        if model.name == "PutItem":
            item = {str(name): _bytes(value) for name, value in self._asked["Item"].items()}
            self._seen[_key(definition, item)] = item
            base, indexes = units.put_units(item, definition)
            self.by_rule += base + sum(indexes.values())
        else:
            self.by_rule += int(consumed)


def _key(definition: dict[str, Any], item: dict[str, Any]) -> tuple[str, ...]:
    return (definition["TableName"], *(item[each["AttributeName"]]["S"] for each in definition["KeySchema"]))


def _bytes(value: Any) -> Any:
    """DynamoDB JSON with boto3's wrapper of binary values taken off."""
    ((kind, content),) = value.items()
    if kind == "B" and isinstance(content, Binary):
        wrapped: Any = content  # its stub does not know its methods
        return {"B": bytes(wrapped)}
    return {kind: content}
