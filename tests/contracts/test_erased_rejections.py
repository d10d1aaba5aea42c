"""An erased rejection stays erased, however often it is delivered again."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.ports import Rejection, RejectionStore
from lead_events.rejecting import rejected_event_id
from lead_events.store.memory import InMemoryObjects, InMemoryRejections
from lead_events.store.rejections import DynamoDbRejections
from tests.contracts.conftest import Aws
from tests.support.aws import create_rejected
from tests.support.builders import ORGANIZATION, OTHER_ORGANIZATION
from tests.support.clock import START

NOISE = random.Random(7).randbytes(450_000).hex()
_EXAMPLES = count()

Erase = Callable[[str, str], None]


def rejection(**changes: Any) -> Rejection:
    values: dict[str, Any] = {
        "organization_id": ORGANIZATION, "code": "invalid", "detail": "It breaks a rule.", "source": "hotmart",
        "raw_payload": "{}", "seen_at": START,
    }  # fmt: skip
    return Rejection(**values | changes)


@pytest.fixture
def erase(rejections: RejectionStore, request: pytest.FixtureRequest) -> Erase:
    """Leave of a rejection what an erasure leaves of it."""
    if isinstance(rejections, InMemoryRejections):
        return rejections.erase
    aws: Aws = request.getfixturevalue("aws")
    return lambda organization_id, rejected_id: put_tombstone(aws, organization_id, rejected_id)


def put_tombstone(aws: Aws, organization_id: str, rejected_id: str) -> None:
    aws.dynamodb.put_item(
        TableName=aws.name,
        Item={
            "organizationId": {"S": organization_id},
            "rejectedEventId": {"S": rejected_id},
            "erasedAt": {"S": "2026-03-25T14:00:00.000000Z"},
        },
    )


@pytest.mark.parametrize("raw", ["{}", "a" * 100_000, NOISE])
def test_an_erased_one_is_gone_and_its_redelivery_keeps_nothing(
    rejections: RejectionStore, erase: Erase, raw: str
) -> None:
    gone, other = rejection(raw_payload=raw), rejection(raw_payload="[]")
    rejected_id, kept = rejections.keep(gone), rejections.keep(other)
    erase(ORGANIZATION, rejected_id)
    for number in range(3):
        assert rejections.keep(replace(gone, seen_at=START + timedelta(hours=number))) == rejected_id
        assert rejections.get(ORGANIZATION, rejected_id, raw=True) is None
        assert [each.rejected_event_id for each in rejections.page(ORGANIZATION, None, 10).rejections] == [kept]


def test_it_is_its_organisations_alone(rejections: RejectionStore, erase: Erase) -> None:
    mine, theirs = rejection(), rejection(organization_id=OTHER_ORGANIZATION)
    rejected_id = rejections.keep(mine)
    erase(ORGANIZATION, rejected_id)
    assert rejections.keep(theirs) == rejected_id
    assert rejections.get(OTHER_ORGANIZATION, rejected_id) is not None


def test_of_many_redeliveries_at_once_none_brings_it_back(rejections: RejectionStore, erase: Erase) -> None:
    rejected_id = rejections.keep(rejection())
    erase(ORGANIZATION, rejected_id)
    with ThreadPoolExecutor(12) as threads:
        assert set(threads.map(lambda _: rejections.keep(rejection()), range(12))) == {rejected_id}
    assert rejections.get(ORGANIZATION, rejected_id) is None


STEPS = st.lists(st.tuples(st.sampled_from(["keep", "erase"]), st.sampled_from(["a", "b" * 40_000, "c"])), max_size=10)


@settings(max_examples=40)
@given(steps=STEPS)
def test_through_any_deliveries_and_erasures_what_was_erased_stays_so_and_the_rest_is_counted(
    rejections: RejectionStore, erase: Erase, steps: list[tuple[str, str]]
) -> None:
    organization_id = f"org_{next(_EXAMPLES)}"
    deliveries: dict[str, int] = {}
    erased: set[str] = set()
    for step, raw in steps:
        each = rejection(organization_id=organization_id, raw_payload=raw)
        if step == "erase":
            erase(organization_id, rejected_event_id(each))
            erased.add(raw)
            deliveries.pop(raw, None)
        else:
            rejections.keep(each)
            deliveries |= {} if raw in erased else {raw: deliveries.get(raw, 0) + 1}
    found = {
        raw: rejections.get(
            organization_id, rejected_event_id(rejection(organization_id=organization_id, raw_payload=raw))
        )
        for raw in ["a", "b" * 40_000, "c"]
    }
    assert {raw: each.deliveries for raw, each in found.items() if each} == deliveries
    assert len(rejections.page(organization_id, None, 10).rejections) == len(deliveries)


class CountedObjects(InMemoryObjects):
    """Objects that remember what was put."""

    def __init__(self) -> None:
        super().__init__()
        self.puts: list[str] = []

    def put(self, key: str, text: str) -> None:
        self.puts.append(key)
        super().put(key, text)


def test_of_an_erased_one_no_object_is_written_and_its_item_stays_a_key_and_a_time(aws: Aws) -> None:
    create_rejected(aws.dynamodb, aws.name)
    objects = CountedObjects()
    store = DynamoDbRejections(aws.dynamodb, aws.name, objects)
    gone = rejection(raw_payload=NOISE)
    store.keep(gone)
    put_tombstone(aws, ORGANIZATION, rejected_event_id(gone))
    for _ in range(3):
        store.keep(gone)
    assert len(objects.puts) == 1
    [item] = aws.dynamodb.scan(TableName=aws.name)["Items"]
    assert set(item) == {"organizationId", "rejectedEventId", "erasedAt"}
