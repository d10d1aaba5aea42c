"""What every object store promises."""

from __future__ import annotations

import pytest

from lead_events.errors import ObjectMissingError, UnavailableError
from lead_events.ports import ObjectStore
from lead_events.store.s3 import S3Objects
from tests.contracts.conftest import Aws


@pytest.mark.parametrize("text", ["", "a", "\x00\x01\r\n\ufeff", "é😀\u2028" * 100_000, "a" * 1_048_576])
def test_a_text_is_read_back_byte_for_byte(objects: ObjectStore, text: str) -> None:
    objects.put("inbox/org_A/evt_1", text)
    assert objects.get("inbox/org_A/evt_1") == text


def test_the_same_key_and_text_may_be_put_again(objects: ObjectStore) -> None:
    for _ in range(2):
        objects.put("organizations/org_A/leads/l/hash", "text")
    assert objects.get("organizations/org_A/leads/l/hash") == "text"


def test_an_object_that_is_not_there_is_missing(objects: ObjectStore) -> None:
    with pytest.raises(ObjectMissingError):
        objects.get("inbox/org_A/never")


def test_a_bucket_that_is_not_there_is_not_taken_for_a_missing_object(aws: Aws) -> None:
    with pytest.raises(UnavailableError) as caught:
        S3Objects(lambda: aws.s3, "another-bucket").get("inbox/org_A/never")
    assert type(caught.value) is UnavailableError
