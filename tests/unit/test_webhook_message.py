"""A verified delivery comes out of the queue as it went in, whatever its size."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events import webhook_message
from lead_events.envelope import read_message
from lead_events.errors import ObjectMissingError, RejectedError
from lead_events.event import Delivery
from lead_events.store.memory import InMemoryObjects
from tests.support.clock import START

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
IDS = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
QUEUE_LIMIT = 262_144


def delivery(**changes: Any) -> Delivery:
    values: dict[str, Any] = {"provider": "stripe", "organization_id": "org_A", "body": "{}", "received_at": START}
    return Delivery(**values | changes)


def message_of(data: dict[str, Any], objects: InMemoryObjects | None = None) -> Delivery:
    good = {
        "provider": "stripe",
        "organizationId": "org_A",
        "headers": {},
        "receivedAt": "2026-03-25T14:00:00Z",
        "body": "{}",
    }
    changed = {name: value for name, value in (good | data).items() if value is not ...}
    text = json.dumps(
        {"specversion": "1.0", "id": "evt_1", "type": webhook_message.TYPE, "source": "lead_events", "data": changed}
    )
    return webhook_message.read(read_message(text), objects or InMemoryObjects())


@given(
    st.builds(
        Delivery,
        provider=st.sampled_from(["stripe", "hotmart"]),
        organization_id=IDS,
        body=TEXTS,
        received_at=st.datetimes(datetime(1970, 1, 1), datetime(9999, 1, 1)).map(lambda each: each.replace(tzinfo=UTC)),  # noqa: DTZ001
        headers=st.dictionaries(st.text("abc-", min_size=1), TEXTS),
        lead_id=st.none() | IDS,
    )
)
def test_any_delivery_is_read_back_exactly(sent: Delivery) -> None:
    objects = InMemoryObjects()
    assert webhook_message.read(read_message(webhook_message.write(sent, objects)), objects) == sent


@pytest.mark.parametrize(
    "body", ["a" * 900_000, '"' * 150_000, "\\" * 150_000, "é" * 120_000, "\x01" * 50_000, "😀" * 60_000]
)
def test_a_message_never_passes_the_queues_limit_and_a_large_body_waits_in_the_inbox(body: str) -> None:
    objects = InMemoryObjects()
    message = webhook_message.write(delivery(body=body), objects)
    assert len(message.encode()) < QUEUE_LIMIT
    key = json.loads(message)["data"]["bodyKey"]
    assert key.startswith("inbox/org_A/evt_")
    assert objects.get(key) == body
    assert webhook_message.read(read_message(message), objects).body == body


@pytest.mark.parametrize("count", [1, 100_000])
@pytest.mark.parametrize("refused", ["\ufffe", "\uffff"])
def test_what_sqs_refuses_travels_escaped_and_comes_back_as_it_was(refused: str, count: int) -> None:
    """SendMessage takes #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and #x10000 to #x10FFFF."""
    objects, sent = (
        InMemoryObjects(),
        delivery(body=json.dumps({"note": f"a{refused * count}\u007f\x00😀"}, ensure_ascii=False)),
    )
    message = webhook_message.write(sent, objects)
    assert not re.search("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", message)
    assert len(message.encode()) < QUEUE_LIMIT
    assert webhook_message.read(read_message(message), objects) == sent


@pytest.mark.parametrize("body", ["a" * 199_000, '"' * 99_000])
def test_a_body_below_the_limit_travels_in_the_message(body: str) -> None:
    message = webhook_message.write(delivery(body=body), InMemoryObjects())
    assert json.loads(message)["data"]["body"] == body
    assert len(message.encode()) < QUEUE_LIMIT


def test_the_message_is_an_envelope_like_every_other() -> None:
    read = read_message(webhook_message.write(delivery(lead_id="lead_1", headers={"x": "y"}), InMemoryObjects()))
    assert (read.type, read.source, read.time) == ("webhook.received", "lead_events", START)
    assert read.id.startswith("evt_")


@pytest.mark.parametrize(
    "data",
    [
        {"organizationId": ...}, {"organizationId": "a#b"}, {"headers": ...}, {"headers": []}, {"body": ...}, {"body": 5},
        {"receivedAt": ...}, {"receivedAt": 1}, {"leadId": "a#b"}, {"leadId": 5},
        {"body": ..., "bodyKey": "organizations/org_A/leads/l/x"}, {"body": ..., "bodyKey": "inbox/org_B/evt_1"},
        {"body": ..., "bodyKey": "inbox/org_A"}, {"body": ..., "bodyKey": 5},
    ],
)  # fmt: skip
def test_a_message_that_holds_no_delivery_or_anothers_object_is_rejected(data: dict[str, Any]) -> None:
    with pytest.raises(RejectedError):
        message_of(data)


@pytest.mark.parametrize("data", [[], "x", None])
def test_a_message_without_object_data_is_rejected(data: object) -> None:
    text = json.dumps({"specversion": "1.0", "id": "evt_1", "type": webhook_message.TYPE, "data": data})
    with pytest.raises(RejectedError):
        webhook_message.read(read_message(text), InMemoryObjects())


def test_a_body_that_is_not_in_the_inbox_is_told_apart_from_one_that_cannot_be_had() -> None:
    with pytest.raises(ObjectMissingError):
        message_of({"body": ..., "bodyKey": "inbox/org_A/evt_1"})


def test_headers_that_are_no_text_are_left_out() -> None:
    assert message_of({"headers": {"a": "b", "c": 5}}).headers == {"a": "b"}
