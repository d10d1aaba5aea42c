"""What every store of rejected deliveries promises."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lead_events.errors import FieldError
from lead_events.ports import Rejection, RejectionStore
from tests.support.builders import ORGANIZATION, OTHER_ORGANIZATION
from tests.support.clock import START

NOISE = random.Random(2).randbytes(450_000).hex()


def rejection(**changes: Any) -> Rejection:
    values: dict[str, Any] = {
        "organization_id": ORGANIZATION, "code": "lead_unresolved", "detail": "The event names no lead.", "source": "stripe",
        "raw_payload": "{}", "seen_at": START, "errors": (FieldError("payload.a", "must be a number"),),
    }  # fmt: skip
    return Rejection(**values | changes)


@pytest.mark.parametrize("raw", ["", "{}", "not json \x00 😀", "a" * 100_000, NOISE[:17_000], NOISE])
def test_a_rejected_delivery_is_kept_with_its_reason_and_its_text_byte_for_byte(
    rejections: RejectionStore, raw: str
) -> None:
    kept = rejection(raw_payload=raw, event_type="x", external_event_id="e-1")
    found = rejections.get(ORGANIZATION, rejections.keep(kept), raw=True)
    assert found is not None
    assert (found.raw_payload, found.code, found.detail, found.errors) == (raw, kept.code, kept.detail, kept.errors)
    assert (found.source, found.event_type, found.external_event_id) == ("stripe", "x", "e-1")
    assert (found.seen_at, found.last_seen_at, found.deliveries) == (START, START, 1)


def test_the_same_delivery_again_only_counts(rejections: RejectionStore) -> None:
    later = START + timedelta(hours=1)
    ids = {rejections.keep(rejection()), rejections.keep(rejection(seen_at=later))}
    assert len(ids) == 1
    found = rejections.get(ORGANIZATION, ids.pop())
    assert found is not None
    assert (found.seen_at, found.last_seen_at, found.deliveries) == (START, later, 2)


def test_another_text_source_or_reason_is_another_rejection(rejections: RejectionStore) -> None:
    others = [{}, {"raw_payload": "[]"}, {"source": "hotmart"}, {"code": "invalid"}, {"external_event_id": "e"}]
    assert len({rejections.keep(rejection(**each)) for each in others}) == 5


def test_a_rejection_is_its_organisations_alone(rejections: RejectionStore) -> None:
    mine = rejections.keep(rejection())
    assert rejections.get(OTHER_ORGANIZATION, mine) is None
    assert rejections.get(ORGANIZATION, "rej_unknown") is None
    assert rejections.page(OTHER_ORGANIZATION, None, 10).rejections == []


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_give_each_rejection_once_last_seen_first_and_without_text(
    rejections: RejectionStore, limit: int
) -> None:
    ids = [rejections.keep(rejection(raw_payload=f"{n}", seen_at=START + timedelta(seconds=n))) for n in range(5)]
    rejections.keep(replace(rejection(raw_payload="0"), seen_at=START + timedelta(seconds=9)))
    found, after = [], None
    for _ in range(20):
        page = rejections.page(ORGANIZATION, after, limit)
        assert len(page.rejections) <= limit
        found += page.rejections
        after = page.after
        if after is None:
            break
    assert [each.rejected_event_id for each in found] == [ids[0], *reversed(ids[1:])]
    assert {each.raw_payload for each in found} == {""}
