"""The page of memories tells every field and category, with samples that are true; nothing lists the categories."""

from __future__ import annotations

import json
import random
from pkgutil import iter_modules
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lead_events import memories
from lead_events.categories import Category
from lead_events.memory import State
from tests.support.memory_events import events
from tools.docs import memories as page

PAGE = page.text()


@pytest.mark.parametrize("category", Category)
def test_a_category_has_its_section_with_every_field_and_a_true_sample(category: Category) -> None:
    section = PAGE.split(f"\n## {category}\n")[1].split("\n## ")[0]
    for path, told in memories.fold_of(category).FIELDS.items():
        assert f"| `{path}` |" in section
        assert f"| {told.partition(': ')[2]} |" in section
    sample = json.loads(section.split("```json\n")[1].split("```")[0])
    Draft202012Validator(memories.schema(category)).validate(sample)
    assert sample["eventCount"] == len(memories.fold_of(category).FOLDS)


def test_the_page_tells_what_every_category_has_and_how_to_add_a_field() -> None:
    assert [path for path in memories.COMMON_FIELDS if f"| `{path}` |" not in PAGE] == []
    assert "## How to add a field" in PAGE
    assert "## As a text" in PAGE


def test_there_is_one_module_for_each_category() -> None:
    names = {each.name for each in iter_modules(memories.__path__) if not each.name.startswith("_")}
    assert names == set(Category)


@given(seed=st.integers(0, 2**16))
def test_a_state_of_before_a_field_was_added_is_read_and_goes_on(seed: int) -> None:
    rnd = random.Random(seed)
    history = events("lead_1", 120, rnd)
    for category, state in memories.fold(history[:60]).items():
        known = {name: without_some(part, rnd) for name, part in state["known"].items() if rnd.random() < 0.6}
        older: State = {"seen": state["seen"], "known": known}
        for each in history[60:]:
            if memories.category_of(each) is category:
                older = memories.apply(category, older, each)
        view = memories.view(category, older)
        assert view["eventCount"] == memories.event_count(older) >= 1
        memories.text({category: view})


def without_some(part: Any, rnd: random.Random) -> Any:
    """A part whose entries know less; what orders them and says what they are about was always there."""
    if isinstance(part, list):
        return [without_some(each, rnd) for each in part]
    if not isinstance(part, dict):
        return part
    always = {"at", "keys", "rows", "n", "sum", "key", "currency", "plan", "ticket", "ids", "state", "outcome"}
    return {
        name: each if name == "keys" else without_some(each, rnd)
        for name, each in part.items()
        if name in always or len(name) == 16 or rnd.random() < 0.7
    }
