"""The templates against what was recorded of them: tables are never replaced by accident, no change goes unread."""

from __future__ import annotations

import copy
import difflib
import json
from typing import Any

import pytest

from tests.infrastructure.baseline import problems, shape_of
from tests.infrastructure.record import BASELINE, RECORDED, masked
from tests.infrastructure.synthesis import STACKS, Json, Synthesis

EVENTS = "TablesEventsE8DD42EA"
IDENTITY_SECRET = "IdentitySecret"


@pytest.fixture(scope="module")
def recorded() -> Json:
    content: Json = json.loads(BASELINE.read_text())
    return content


def test_no_table_would_be_replaced(prod: Synthesis, recorded: Json) -> None:
    assert problems(recorded, shape_of(prod.templates["stateful"])) == []


@pytest.mark.parametrize("stage", ["dev", "local"])
def test_all_stages_have_the_same_logical_ids(stage: str, prod: Synthesis, request: pytest.FixtureRequest) -> None:
    other: Synthesis = request.getfixturevalue(stage)
    assert set(shape_of(prod.templates["stateful"])) - set(shape_of(other.templates["stateful"])) <= {
        # Denies plain HTTP, which the local twin speaks.
        "RawBucketPolicy61C50A52"
    }


@pytest.mark.parametrize("stack", STACKS)
def test_template_is_the_recorded_one(stack: str, prod: Synthesis) -> None:
    recorded_text = (RECORDED / f"prod.{stack}.json").read_text()
    current = masked(prod.templates[stack])
    difference = "\n".join(difflib.unified_diff(recorded_text.splitlines(), current.splitlines(), "recorded", "now"))
    assert current == recorded_text, f"{difference}\n\nRead it; if it is meant, record it: see recorded/README.md"


def changed(shape: Json, **entries: Any) -> Json:
    return {**copy.deepcopy(shape), **entries}


def index(partition: str, sort: str) -> Json:
    return {"keys": {"HASH": partition, "RANGE": sort}, "projection": "KEYS_ONLY", "attributes": []}


def test_a_renamed_table_is_reported(recorded: Json) -> None:
    renamed = changed(recorded)
    renamed["TablesEvents00000000"] = renamed.pop(EVENTS)
    (problem,) = problems(recorded, renamed)
    assert EVENTS in problem
    assert "renamed" in problem


def test_a_changed_key_schema_is_reported(recorded: Json) -> None:
    current = changed(recorded)
    current[EVENTS]["keys"]["RANGE"] = "receivedAt"
    (problem,) = problems(recorded, current)
    assert "replaced" in problem


def test_a_changed_generator_of_a_secret_is_reported(recorded: Json) -> None:
    current = changed(recorded)
    (secret,) = (logical_id for logical_id in current if logical_id.startswith(IDENTITY_SECRET))
    current[secret]["generator"]["PasswordLength"] = 32
    (problem,) = problems(recorded, current)
    assert "new value" in problem


def test_a_secret_that_is_gone_is_reported(recorded: Json) -> None:
    current = {name: entry for name, entry in recorded.items() if not name.startswith(IDENTITY_SECRET)}
    (problem,) = problems(recorded, current)
    assert "is gone" in problem


def test_two_new_indexes_at_once_are_reported(recorded: Json) -> None:
    current = changed(recorded)
    current[EVENTS]["indexes"] |= {"gsi3": index("a", "b"), "gsi4": index("c", "d")}
    (problem,) = problems(recorded, current)
    assert "2 indexes differ" in problem
    assert "one at a time" in problem


def test_an_index_swapped_for_another_is_two_changes(recorded: Json) -> None:
    current = changed(recorded)
    indexes = current[EVENTS]["indexes"]
    indexes["gsi3"] = indexes.pop("event-type-index")
    assert len(problems(recorded, current)) == 1


def test_an_index_changed_in_place_is_reported(recorded: Json) -> None:
    current = changed(recorded)
    current[EVENTS]["indexes"]["idempotency-index"]["projection"] = "ALL"
    (problem,) = problems(recorded, current)
    assert "in place" in problem


def test_one_new_index_and_new_tables_may_be_deployed(recorded: Json) -> None:
    current = changed(recorded)
    current[EVENTS]["indexes"]["gsi3"] = index("a", "b")
    current["TablesNew"] = {"type": "AWS::DynamoDB::Table", "keys": {"HASH": "a"}, "indexes": {"x": {}, "y": {}}}
    assert problems(recorded, current) == []
