"""The recorded shape of tables and secrets, and what a change of it would do to what they hold.

CloudFormation replaces a table whose logical id or key schema changes, refuses an update that adds or removes more than
one index of a table, and gives a secret a new value when its generator changes. None of it shows when a fresh stack is
deployed, so all of it is compared with what was recorded.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

TABLE_TYPES = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
SECRET_TYPE = "AWS::SecretsManager::Secret"
TWO_STEPS = "deploy them one at a time, and record the baseline after each deployment (see recorded/README.md)"


def shape_of(template: Json) -> Json:
    """What the baseline records: each resource's type, a table's keys and indexes, how a secret is generated."""
    shape: Json = {}
    for logical_id, resource in sorted(template["Resources"].items()):
        if resource["Type"] == "AWS::CDK::Metadata":
            continue
        entry: Json = {"type": resource["Type"]}
        if resource["Type"] in TABLE_TYPES:
            properties = resource["Properties"]
            entry["keys"] = _keys(properties["KeySchema"])
            entry["indexes"] = {
                index["IndexName"]: {
                    "keys": _keys(index["KeySchema"]),
                    "projection": index["Projection"]["ProjectionType"],
                    "attributes": sorted(index["Projection"].get("NonKeyAttributes", [])),
                }
                for index in properties.get("GlobalSecondaryIndexes", [])
            }
        elif resource["Type"] == SECRET_TYPE:
            entry["generator"] = resource["Properties"].get("GenerateSecretString")
        shape[logical_id] = entry
    return shape


def problems(recorded: Json, current: Json) -> list[str]:
    """Why the current shape must not be deployed over the recorded one; empty if it may."""
    found: list[str] = []
    for logical_id, was in recorded.items():
        now = current.get(logical_id)
        if now is None:
            found.append(
                f"{logical_id} ({was['type']}) is gone: a removed or renamed resource loses its data from the stack. "
                "Give the construct its old path back."
            )
        elif now["type"] != was["type"]:
            found.append(f"{logical_id} changes its type from {was['type']} to {now['type']}: it would be replaced.")
        elif "keys" in was:
            found += _table_problems(logical_id, was, now)
        elif "generator" in was and now["generator"] != was["generator"]:
            found.append(
                f"{logical_id}: its generator changes, so it would be given a new value: identities keyed with the old "
                "one would become unknown, cursors invalid."
            )
    return found


def _table_problems(table: str, was: Json, now: Json) -> list[str]:
    found: list[str] = []
    if now["keys"] != was["keys"]:
        found.append(
            f"{table}: the key schema changes from {was['keys']} to {now['keys']}: the table would be replaced and "
            "its events deleted. Make a new table and move the data."
        )
    old, new = was["indexes"], now["indexes"]
    differing = sorted(set(old) ^ set(new))
    if len(differing) > 1:
        found.append(
            f"{table}: {len(differing)} indexes differ from the recorded ones ({', '.join(differing)}), and "
            f"CloudFormation creates or deletes one in an update: {TWO_STEPS}."
        )
    found += [
        f"{table}: the index {index} changes in place, which is a deletion and a creation: add it under a new name, "
        f"then remove the old one; {TWO_STEPS}."
        for index in sorted(set(old) & set(new))
        if old[index] != new[index]
    ]
    return found


def _keys(schema: list[Json]) -> dict[str, str]:
    return {key["KeyType"]: key["AttributeName"] for key in schema}
