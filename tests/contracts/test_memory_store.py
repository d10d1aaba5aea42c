"""The promises of a memory store, in memory and on DynamoDB."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from lead_events.categories import Category
from lead_events.memory import MAX_WINDOW_IDS, Memory, Window
from lead_events.ports import MemoryStore
from lead_events.store.memories import item_of
from lead_events.strict_json import dumps
from tests.support.builders import LEAD, ORGANIZATION, stored_event
from tests.support.clock import START

STATE = {"seen": {"n": 2}, "known": {"sum": Decimal("12.50"), "rows": [{"key": "ç\u0000", "none": None, "yes": True}]}}


def memory(category: Category = Category.PURCHASE, **changes: Any) -> Memory:
    return Memory(**{"organization_id": ORGANIZATION, "lead_id": LEAD, "category": category} | changes)


def window(count: int = 3) -> Window:
    return Window().with_events([replace(stored_event(), stored_at=START) for _ in range(count)], START)


def test_a_memory_that_was_never_written_has_version_0_and_nothing_in_it(memories: MemoryStore) -> None:
    assert memories.get(ORGANIZATION, LEAD, Category.FORM) == memory(Category.FORM)
    assert memories.of_lead(ORGANIZATION, LEAD) == []


def test_what_is_written_is_read(memories: MemoryStore) -> None:
    written = memory().changed(STATE, window())
    assert memories.put(written)
    read = memories.get(ORGANIZATION, LEAD, Category.PURCHASE)
    assert (read.version, read.rebuilt, read.state, dict(read.window.hours)) == (
        1, False, STATE, dict(written.window.hours),
    )  # fmt: skip
    assert dumps(read.state) == dumps(STATE).replace("12.50", "12.5")  # numbers have one form
    assert memories.put(read.changed({}, Window(), rebuilt=True))
    assert memories.get(ORGANIZATION, LEAD, Category.PURCHASE) == memory(version=2, rebuilt=True)


def test_a_window_that_overflows_comes_back_as_one(memories: MemoryStore) -> None:
    assert memories.put(memory().changed(STATE, Window(overflowing=True)))
    assert memories.get(ORGANIZATION, LEAD, Category.PURCHASE).window.overflowing


def test_a_full_window_fits(memories: MemoryStore) -> None:
    full = Window({1: bytes(8 * MAX_WINDOW_IDS)})
    assert memories.put(memory().changed({"known": "x" * 200_000}, full))
    assert len(memories.get(ORGANIZATION, LEAD, Category.PURCHASE).window) == MAX_WINDOW_IDS


@pytest.mark.parametrize("version", [1, 2, 4])
def test_only_the_version_after_the_stored_one_is_written(memories: MemoryStore, version: int) -> None:
    assert memories.put(memory(version=1, state={"is": "first"}))
    assert memories.put(memory(version=2, state={"is": "second"}))
    assert not memories.put(memory(version=version, state={"is": "late"}))
    assert memories.get(ORGANIZATION, LEAD, Category.PURCHASE).state == {"is": "second"}


def test_a_later_version_is_not_written_where_there_is_none(memories: MemoryStore) -> None:
    assert not memories.put(memory(version=2))
    assert memories.of_lead(ORGANIZATION, LEAD) == []


def test_of_many_who_write_the_same_version_one_does(memories: MemoryStore) -> None:
    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(lambda number: memories.put(memory(version=1, state={"n": number})), range(16)))
    assert done.count(True) == 1


def test_the_memories_of_a_lead_come_in_the_order_of_the_categories_and_no_others_with_them(
    memories: MemoryStore,
) -> None:
    for category in reversed(Category):
        assert memories.put(memory(category, version=1))
    assert memories.put(memory(lead_id="lead_2", version=1))
    assert memories.put(memory(organization_id="org_B", version=1))
    assert [each.category for each in memories.of_lead(ORGANIZATION, LEAD)] == list(Category)
    assert len(memories.of_lead("org_B", LEAD)) == 1


def test_more_than_one_page_of_the_store_is_read(memories: MemoryStore) -> None:
    for category in Category:
        assert memories.put(memory(category, version=1, state={"known": category.value * 30_000}))
    assert [each.category for each in memories.of_lead(ORGANIZATION, LEAD)] == list(Category)


def test_the_item_names_what_the_infrastructure_knows() -> None:
    assert set(item_of(memory())) == {"leadOrganizationId", "category", "state", "window", "version", "rebuilt"}
