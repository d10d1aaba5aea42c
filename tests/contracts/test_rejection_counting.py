"""Rejections that come again, at once, in crowds, or in sizes: what both stores promise, and how DynamoDB keeps them."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from lead_events.errors import FieldError
from lead_events.ports import Rejection, RejectionStore
from lead_events.store.rejections import DynamoDbRejections
from lead_events.store.s3 import S3Objects
from tests.contracts.conftest import Aws
from tests.support.aws import BUCKET, create_rejected
from tests.support.builders import ORGANIZATION
from tests.support.clock import START

NOISE = random.Random(5).randbytes(450_000).hex()


def rejection(**changes: Any) -> Rejection:
    values: dict[str, Any] = {
        "organization_id": ORGANIZATION, "code": "invalid", "detail": "It breaks a rule.", "source": "hotmart",
        "raw_payload": "{}",
        "seen_at": START,
    }  # fmt: skip
    return Rejection(**values | changes)


def test_twenty_five_deliveries_of_one_at_once_are_one_rejection_that_counts_them(rejections: RejectionStore) -> None:
    with ThreadPoolExecutor(25) as threads:
        ids = set(threads.map(lambda n: rejections.keep(rejection(seen_at=START + timedelta(seconds=n))), range(25)))
    [rejected_id] = ids
    found = rejections.get(ORGANIZATION, rejected_id, raw=True)
    assert found is not None
    assert (found.deliveries, found.raw_payload) == (25, "{}")
    assert (found.seen_at, found.last_seen_at) == (START, START + timedelta(seconds=24))


@pytest.mark.parametrize("order", sorted(set(permutations([0, 1, 1, 2]))))
def test_deliveries_that_overtake_one_another_are_first_and_last_seen_when_they_were(
    rejections: RejectionStore, order: tuple[int, ...]
) -> None:
    for seconds in order:
        rejected_id = rejections.keep(rejection(seen_at=START + timedelta(seconds=seconds)))
    [found] = rejections.page(ORGANIZATION, None, 10).rejections
    assert (found.rejected_event_id, found.deliveries) == (rejected_id, 4)
    assert (found.seen_at, found.last_seen_at) == (START, START + timedelta(seconds=2))


@pytest.mark.parametrize("size", [0, 1, 1_000, 16_384, 16_385, 40_000, 400_000, 900_000])
@pytest.mark.parametrize("text", ["a", NOISE, 'é"\\\n', "😀\x00"])
def test_a_text_of_any_size_is_kept_to_the_byte_however_often_it_comes(
    rejections: RejectionStore, text: str, size: int
) -> None:
    raw = (text * (size // len(text) + 1))[:size]
    for _ in range(2):
        rejected_id = rejections.keep(rejection(raw_payload=raw))
    found = rejections.get(ORGANIZATION, rejected_id, raw=True)
    assert found is not None
    assert (found.raw_payload == raw, found.deliveries) == (True, 2)


def test_a_reason_of_fifty_long_fields_is_kept_whole(rejections: RejectionStore) -> None:
    errors = tuple(FieldError(f"payload.{'x' * 1_000}.{number}", "must be a number") for number in range(50))
    found = rejections.get(ORGANIZATION, rejections.keep(rejection(errors=errors)))
    assert found is not None
    assert found.errors == errors


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_those_seen_at_one_instant_are_paged_each_once(rejections: RejectionStore, limit: int) -> None:
    ids = {rejections.keep(rejection(raw_payload=str(number))) for number in range(5)}
    found: list[str] = []
    after = None
    for _ in range(20):
        page = rejections.page(ORGANIZATION, after, limit)
        found += [each.rejected_event_id for each in page.rejections]
        after = page.after
        if after is None:
            break
    assert sorted(found) == sorted(ids)


def test_a_page_of_none_has_no_cursor(rejections: RejectionStore) -> None:
    page = rejections.page(ORGANIZATION, None, 10)
    assert (list(page.rejections), page.after) == ([], None)


# ------------------------------------------------------------------------------------------------- how DynamoDB has it


@pytest.fixture
def store(aws: Aws) -> DynamoDbRejections:
    create_rejected(aws.dynamodb, aws.name)
    return DynamoDbRejections(aws.dynamodb, aws.name, S3Objects(lambda: aws.s3, BUCKET))


def item(aws: Aws) -> dict[str, Any]:
    [found] = aws.dynamodb.scan(TableName=aws.name)["Items"]
    return dict(found)


@pytest.mark.parametrize(("raw", "form"), [("{}", "S"), ("a" * 5_000, "B"), (NOISE, "M")])
def test_the_text_has_the_form_that_costs_least(aws: Aws, store: DynamoDbRejections, raw: str, form: str) -> None:
    store.keep(rejection(raw_payload=raw))
    assert list(item(aws)["rawPayload"]) == [form]


def test_a_large_text_is_an_object_of_its_organisation(aws: Aws, store: DynamoDbRejections) -> None:
    store.keep(rejection(raw_payload=NOISE))
    key = item(aws)["rawPayload"]["M"]["key"]["S"]
    assert key.startswith(f"organizations/{ORGANIZATION}/rejected/")
    assert aws.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read().decode() == NOISE


def test_what_is_unknown_is_no_attribute(aws: Aws, store: DynamoDbRejections) -> None:
    store.keep(rejection())
    assert not {"eventType", "externalEventId"} & set(item(aws))


def test_a_redelivery_writes_only_when_and_how_often(aws: Aws, store: DynamoDbRejections) -> None:
    store.keep(rejection(errors=(FieldError("a", "b"),)))
    before = item(aws)
    store.keep(rejection(errors=(FieldError("c", "d"),), event_type=None, seen_at=START + timedelta(hours=1)))
    after = item(aws)
    assert {name for name in after if after[name] != before.get(name)} == {"lastSeenAt", "deliveries"}
    assert after["deliveries"] == {"N": "2"}
