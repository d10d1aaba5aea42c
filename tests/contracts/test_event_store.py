"""What every event store promises."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from lead_events.errors import TooLargeError
from lead_events.event import EventKey, StoredEvent
from lead_events.instants import END, EPOCH, now
from lead_events.ports import EventStore, Position, TimelineQuery
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION, nested, query, stored_event
from tests.support.clock import START

FREE = {"event_type": "free.form"}
NOISE = random.Random(1).randbytes(450_000).hex()
SECOND = timedelta(seconds=1)


def plain(event: StoredEvent | None) -> dict[str, Any]:
    """What is stored of an event, without its raw payload."""
    assert event is not None
    unstored = {"raw_payload", "shared_fact", "identities", "tracking", "stored_at"}
    return {each.name: getattr(event, each.name) for each in fields(event) if each.name not in unstored}


def read_all(events: EventStore, asked: TimelineQuery, limit: int = 100, *, raw: bool = False) -> list[StoredEvent]:
    """Every event of a query, page by page."""
    found: list[StoredEvent] = []
    for _ in range(200):
        after = Position(found[-1].occurred_at, found[-1].event_id) if found else None
        page = events.page(asked, after, limit, raw=raw)
        assert len(page.events) <= limit
        found += page.events
        if not page.more:
            return found
    raise AssertionError("no end in sight")


def test_a_stored_event_is_read_back_at_once_and_whole(events: EventStore) -> None:
    event = stored_event(
        object_id="o", object_id_ref="r", data_content_type="application/json; charset=utf-8", raw_payload="{ }"
    )
    assert events.append(event) is None
    assert plain(events.get(event.key)) == plain(event)
    assert events.get(event.key, raw=True) == replace(event, raw_payload="{ }")


def test_a_key_is_taken_once_and_the_first_event_is_given_back(events: EventStore) -> None:
    first = stored_event(payload={"planId": "first"}, raw_payload="first")
    events.append(first)
    second = replace(first, payload={"planId": "second"}, raw_payload="second", received_at=START + SECOND)
    assert plain(events.append(second)) == plain(first)
    assert events.get(first.key, raw=True) == first


def test_the_very_same_write_sent_twice_is_one_stored_event(events: EventStore) -> None:
    event = stored_event()
    assert [events.append(event), events.append(event)] == [None, None]  # as where an answer was lost on its way
    assert len(read_all(events, query())) == 1


def test_of_twenty_five_simultaneous_appends_to_one_key_one_is_stored(events: EventStore) -> None:
    event = stored_event(**FREE)
    rivals = [replace(event, payload={"n": n}, received_at=START + n * SECOND) for n in range(25)]
    with ThreadPoolExecutor(25) as threads:
        answers = list(threads.map(events.append, rivals))
    assert answers.count(None) == 1
    winner = plain(rivals[answers.index(None)])
    assert all(plain(each) == winner for each in answers if each)
    assert [plain(each) for each in read_all(events, query())] == [winner]


def test_what_is_not_there_is_none(events: EventStore) -> None:
    event = stored_event()
    events.append(event)
    for organization_id, lead_id in ((OTHER_ORGANIZATION, LEAD), (ORGANIZATION, "lead_2")):
        assert events.get(replace(event, organization_id=organization_id, lead_id=lead_id).key) is None
    assert events.get(EventKey("ORG#x#LEAD#y", "z")) is None


PAYLOADS = [
    None, True, "", [], {}, "text", Decimal("1E-7"), 0, [None, False, "", [], {}],
    {"email": "", "phone": None, "tags": []},
    {"score": Decimal("30.40"), "w": [Decimal("0.1"), Decimal("1e-7")], "total": Decimal("0.30000000000000004")},
    {"big": 10**60, "small": Decimal("1E-130"), "zero": Decimal("0E-400"), "digits": Decimal("1." + "7" * 37), "n": -5},
    {"Ana": "Ana 😀 João", "a\x00b": "a\x00b", "": ""} | {"é" * 100: "\u2028\u2029\ufeff\uffff"},
    dict.fromkeys(("utm.source", "lead-score", "name", "ADD", "#x", ":y", "a b", "__proto__", "constructor"), 1),
    {f"field {number}": str(number) for number in range(600)},
    nested(31), nested(30, inside={}),
]  # fmt: skip


@pytest.mark.parametrize(
    "payload", [each if not isinstance(each, dict) else {k: v for k, v in each.items() if k} for each in PAYLOADS]
)
def test_any_payload_is_read_back_exactly(events: EventStore, payload: Any) -> None:
    event = stored_event(payload=payload, **FREE)
    events.append(event)
    for found in (
        events.get(event.key),
        read_all(events, query())[0],
        read_all(events, query(event_type="free.form"))[0],
    ):
        assert found is not None
        assert found.payload == payload
        assert [type(found.payload)] == [type(payload)] or isinstance(payload, int | Decimal)


RAWS = [
    "", "{}", ' { "a" : 1.50, "a" : 2 }\r\n',
    '{"note":"R\\u0026D caf\\u00e9 \\ud83d\\ude00","url":"https:\\/\\/x","total":10.00 }\n',
    "\x00\x01\x7f", "é😀" * 300, "\\" * 5_000, json.dumps([{"name": "Ana", "n": n} for n in range(60)]),
    "a" * 1_000, NOISE[:1_000], "a" * 100_000, NOISE[:100_000], NOISE[:16_385], "a" * 900_000, NOISE, "é" * 450_000,
]  # fmt: skip


@pytest.mark.parametrize("raw", RAWS, ids=lambda raw: f"{raw[:8]!r} {len(raw)}")
def test_a_raw_payload_is_read_back_byte_for_byte_only_where_asked_for(events: EventStore, raw: str) -> None:
    event = stored_event(raw_payload=raw)
    events.append(event)
    by_type = query(event_type=event.event_type)
    found = [
        events.get(event.key, raw=True),
        *read_all(events, query(), raw=True),
        *read_all(events, by_type, raw=True),
    ]
    assert [each and each.raw_payload for each in found] == [raw] * 3
    quiet = [events.get(event.key), *read_all(events, query()), *read_all(events, by_type)]
    assert [each and each.raw_payload for each in quiet] == [None] * 3


@pytest.mark.parametrize("note", ["é" * 205_000, "a" * 409_500])
def test_what_does_not_fit_an_item_is_too_large_before_anything_is_written(events: EventStore, note: str) -> None:
    event = stored_event(payload={"note": note}, raw_payload=NOISE, **FREE)
    with pytest.raises(TooLargeError):
        events.append(event)
    assert events.get(event.key) is None


@pytest.mark.parametrize("raw", [None, "é" * 100_000, NOISE, "😀" * 2_000])
def test_what_fits_an_item_is_stored_and_a_raw_payload_beside_it_never_in_the_way(
    events: EventStore, raw: str | None
) -> None:
    for note in ("é" * 100_000, "a" * 399_900):
        event = stored_event(payload={"note": note}, raw_payload=raw, **FREE)
        assert events.append(event) is None
        assert events.get(event.key, raw=True) == event


def add(events: EventStore, *seconds: float, **changes: Any) -> list[StoredEvent]:
    added = [stored_event(occurred_at=START + each * SECOND, external_event_id=None, **changes) for each in seconds]
    assert [events.append(each) for each in added] == [None] * len(added)
    return added


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 100])
def test_pages_give_every_event_once_in_order(events: EventStore, limit: int, descending: bool) -> None:
    added = add(events, 3, 0, 0.000001, 1, 1, 2, 5)
    expected = sorted(added, key=lambda each: each.key, reverse=descending)
    assert [each.event_id for each in read_all(events, query(descending=descending), limit)] == [
        each.event_id for each in expected
    ]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 4, 100])
def test_pages_of_one_type_give_that_types_events_once_in_order(
    events: EventStore, limit: int, descending: bool
) -> None:
    won = add(events, 3, 0, 0.000001, 1, 5, event_type="lead.won")
    add(events, 0, 1, 2, event_type="lead.wonder")
    add(events, 0, 1, 2, event_type="lead")
    add(events, 1, event_type="lead.won", lead_id="lead_2")
    expected = sorted(won, key=lambda each: each.occurred_at, reverse=descending)
    asked = query(event_type="lead.won", descending=descending)
    assert [each.event_id for each in read_all(events, asked, limit)] == [each.event_id for each in expected]
    assert [each.event_id for each in read_all(events, asked, limit, raw=True)] == [each.event_id for each in expected]


def test_events_of_one_type_and_one_instant_are_each_given_once(events: EventStore) -> None:
    added = add(events, *[0] * 12, event_type="lead.won")
    for limit in (1, 5, 100):
        found = read_all(events, query(event_type="lead.won"), limit)
        assert sorted(each.event_id for each in found) == sorted(each.event_id for each in added)


@pytest.mark.parametrize("event_type", [None, "lead.won"])
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (None, None, [0, 1, 2, 3]), (0, 0, []), (1, 0, []), (0, 1, [0]), (1, 3, [1, 2]), (1, None, [1, 2, 3]),
        (None, 2, [0, 1]),
        (3, 4, [3]), (4, None, []), (None, 0, []), (0.000001, 1.000001, [1]), (0.000001, 1, []),
    ],
)  # fmt: skip
def test_ranges_are_half_open(
    events: EventStore, start: float | None, end: float | None, expected: list[int], event_type: str | None
) -> None:
    added = add(events, 0, 1, 2, 3, event_type="lead.won")
    asked = query(
        start=None if start is None else START + start * SECOND, end=None if end is None else START + end * SECOND,
        event_type=event_type,
    )  # fmt: skip
    for descending in (False, True):
        found = [each.event_id for each in read_all(events, replace(asked, descending=descending), 2)]
        wanted = [added[each].event_id for each in expected]
        assert found == (wanted[::-1] if descending else wanted)


def test_the_first_and_the_last_instant_are_inside_an_open_range_and_a_range_that_ends_at_the_first_is_empty(
    events: EventStore,
) -> None:
    for instant in (EPOCH, END):
        events.append(stored_event(occurred_at=instant, external_event_id=None))
    for event_type in (None, "subscription_created"):
        assert [each.occurred_at for each in read_all(events, query(event_type=event_type))] == [EPOCH, END]
        assert read_all(events, query(end=EPOCH, event_type=event_type)) == []
        assert [each.occurred_at for each in read_all(events, query(start=END, event_type=event_type))] == [END]


def test_no_timeline_holds_anothers_events(events: EventStore) -> None:
    mine = add(events, 0)
    add(events, 1, lead_id="lead_2")
    add(events, 2, lead_id="lead_11")
    add(events, 3, organization_id=OTHER_ORGANIZATION)
    assert [each.event_id for each in read_all(events, query())] == [mine[0].event_id]


def test_an_event_is_found_by_its_external_id_in_its_organisation_alone(events: EventStore) -> None:
    mine, theirs = stored_event(), stored_event(organization_id=OTHER_ORGANIZATION)
    other_prefix = stored_event(organization_id=f"{ORGANIZATION}2", external_event_id="e-2")
    for each in (mine, theirs, other_prefix):
        events.append(each)
    assert events.find(ORGANIZATION, "billing_service", "e-1") == mine.key
    assert events.find(OTHER_ORGANIZATION, "billing_service", "e-1") == theirs.key
    for missing in (
        ("org_C", "billing_service", "e-1"),
        (ORGANIZATION, "crm", "e-1"),
        (ORGANIZATION, "billing_service", "e-2"),
    ):
        assert events.find(*missing) is None


def test_an_event_knows_to_the_second_when_it_was_stored(events: EventStore) -> None:
    before = now().replace(microsecond=0)
    event = stored_event()
    assert events.append(event) is None
    found = events.get(event.key)
    assert found is not None
    assert before <= found.stored_at <= now()
