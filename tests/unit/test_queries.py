"""A timeline is read in order, in half-open ranges, and by pages that lose and repeat nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.cursors import Cursors
from lead_events.errors import NotFoundError, UnreadableError
from lead_events.event import EventKey, SharedFact, StoredEvent, new_event_id
from lead_events.idempotency import Claim
from lead_events.instants import format_instant, parse_instant
from lead_events.ports import Page, Position, TimelineQuery
from lead_events.queries import PAGE_BYTES, Queries
from lead_events.store.memory import InMemoryClaims, InMemoryEvents
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION, stored_event
from tests.support.clock import START
from tests.support.fakes import secret


class ShortPages(InMemoryEvents):
    """A store whose own pages end early, as DynamoDB's do at 1 MB; an ``empty`` one may come in between."""

    def __init__(self, longest: int) -> None:
        super().__init__()
        self.longest = longest

    def page(self, query: TimelineQuery, after: Position | None, limit: int, *, raw: bool = False) -> Page:
        return super().page(query, after, min(limit, self.longest), raw=raw)


class Archive:
    """Queries over events in memory."""

    def __init__(self, events: InMemoryEvents | None = None) -> None:
        self.events = events or InMemoryEvents()
        self.claims = InMemoryClaims()
        self.queries = Queries(self.events, self.claims, Cursors(secret))

    def add(self, **changes: Any) -> StoredEvent:
        event = stored_event(**{"external_event_id": None} | changes)
        if (claim := Claim.of(event)) is not None:
            self.claims.claim(claim)
        assert self.events.append(event) is None
        return event

    def page(self, cursor: str | None = None, **parameters: str) -> dict[str, Any]:
        given = parameters | ({"cursor": cursor} if cursor else {})
        read: dict[str, Any] = json.loads(self.queries.timeline(ORGANIZATION, LEAD, given))
        return read

    def pages(self, **parameters: str) -> list[list[dict[str, Any]]]:
        found, cursor = [], None
        for _ in range(1000):
            page = self.page(cursor, **parameters)
            found.append(page["items"])
            cursor = page["cursor"]
            if cursor is None:
                return found
        raise AssertionError("no end in sight")

    def ids(self, **parameters: str) -> list[str]:
        return [item["eventId"] for items in self.pages(**parameters) for item in items]


def archive_of(*times: str) -> Archive:
    archive = Archive()
    for each in times:
        archive.add(occurred_at=each)
    return archive


def times_of(archive: Archive, **parameters: str) -> list[str]:
    return [item["occurredAt"] for items in archive.pages(**parameters) for item in items]


DAY_END = ("2024-05-31T12:00:00Z", "2024-05-31T23:59:59Z", "2024-05-31T23:59:59.999999Z", "2024-06-01T00:00:00Z")


def test_a_date_as_upper_bound_covers_its_whole_day() -> None:
    assert len(times_of(archive_of(*DAY_END), **{"from": "2024-05-01", "to": "2024-05-31"})) == 3


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2024-05-31T23:59:59.000Z", "2024-05-31T23:59:59Z", []),
        ("2024-05-31T23:59:59Z", "2024-05-31T23:59:59.000001Z", ["2024-05-31T23:59:59.000000Z"]),
        ("2024-05-31T23:59:59.999999Z", "2024-06-01T00:00:00Z", ["2024-05-31T23:59:59.999999Z"]),
        ("2024-06-01T00:00:00Z", "2024-06-01", ["2024-06-01T00:00:00.000000Z"]),
        ("2024-06-01T02:00:00+02:00", "2024-06-01", ["2024-06-01T00:00:00.000000Z"]),
        ("", "2024-05-31T12:00:00.000001Z", ["2024-05-31T12:00:00.000000Z"]),
        ("2024-06-01", "", ["2024-06-01T00:00:00.000000Z"]),
        ("1970-01-01", "1970-01-01T00:00:00Z", []),
    ],
)
def test_ranges_are_half_open_on_instants_whatever_their_notation(start: str, end: str, expected: list[str]) -> None:
    archive = archive_of(*DAY_END)
    for event_type in ("", "subscription_created"):
        assert times_of(archive, **{"from": start, "to": end, "eventType": event_type}) == expected


def test_the_timeline_is_in_time_order_or_in_the_reverse() -> None:
    archive = archive_of(
        "2024-05-01T10:00:01Z", "2024-05-01T10:00:00.5Z", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000001Z"
    )
    expected = [f"2024-05-01T10:00:0{each}Z" for each in ("0.000000", "0.000001", "0.500000", "1.000000")]
    assert times_of(archive) == times_of(archive, order="asc", limit="1") == expected
    assert times_of(archive, order="desc") == times_of(archive, order="desc", limit="3") == expected[::-1]


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"from": "2024-06-02", "to": "2024-06-01T00:00:00Z"}, "from"), ({"to": "2024-05-01T10:00:00 02:00"}, "to"),
        ({"from": "1714557600"}, "from"), ({"from": "2024-05-01T10:00:00"}, "from"), ({"order": "up"}, "order"),
        ({"order": ""}, "order"),
        ({"limit": "0"}, "limit"), ({"limit": "101"}, "limit"), ({"limit": "-1"}, "limit"), ({"limit": ""}, "limit"),
        ({"limit": "5.0"}, "limit"), ({"limit": "²"}, "limit"), ({"limit": "1,2"}, "limit"), ({"limit": "1" * 5000}, "limit"),
        ({"limit": "00000100000000"}, "limit"), ({"include": "payload"}, "include"), ({"include": "rawPayload,x"}, "include"),
        ({"eventType": "a#b"}, "eventType"), ({"eventType": "a b"}, "eventType"),
    ],
)  # fmt: skip
def test_a_parameter_that_cannot_be_read_is_named(parameters: dict[str, str], named: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        Archive().page(**parameters)
    assert (caught.value.code, [each.field for each in caught.value.errors]) == ("invalid_parameter", [named])
    assert all(value not in caught.value.detail for value in parameters.values() if len(value) > 5)


def test_unknown_parameters_are_ignored_and_name_no_tenant() -> None:
    archive = archive_of("2024-05-01T10:00:00Z")
    assert len(archive.page(tenantId="org_B", organizationId="org_B", leadId="x")["items"]) == 1


def test_an_empty_timeline_is_an_empty_page() -> None:
    assert Archive().page() == {"items": [], "cursor": None}


def test_an_empty_cursor_is_the_first_page() -> None:
    archive = archive_of("2024-05-01T10:00:00Z")
    assert archive.page(cursor="") == archive.page()


def test_a_cursor_of_another_query_is_refused() -> None:
    archive = archive_of(*DAY_END)
    cursor = archive.page(limit="1")["cursor"]
    for other in ({"order": "desc"}, {"eventType": "lead.won"}, {"from": "2024-01-01"}):
        with pytest.raises(UnreadableError):
            archive.page(cursor, **other)
    with pytest.raises(UnreadableError):
        archive.queries.timeline(OTHER_ORGANIZATION, LEAD, {"cursor": cursor})
    assert (
        archive.page(cursor, limit="2", include="rawPayload")["items"][0]["occurredAt"] == "2024-05-31T23:59:59.000000Z"
    )


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_type_filter_finds_all_and_no_page_ends_early(order: str) -> None:
    archive = Archive()
    won = []
    for number in range(500):
        event_type = "lead.won" if 480 <= number <= 490 else "lead.seen"
        event = archive.add(occurred_at=START + timedelta(seconds=number), event_type=event_type)
        won += [event.event_id] if event_type == "lead.won" else []
    pages = archive.pages(eventType="lead.won", limit="5", order=order)
    found = [item["eventId"] for items in pages for item in items]
    assert found == (won if order == "asc" else won[::-1])
    assert [len(items) for items in pages] == [5, 5, 1]


def test_a_type_is_not_the_beginning_of_another() -> None:
    archive = Archive()
    for event_type in ("lead", "lead.won", "leads"):
        archive.add(event_type=event_type)
    assert [item["eventType"] for item in archive.page(eventType="lead")["items"]] == ["lead"]


def test_large_pages_are_cut_by_bytes_and_cursors_yield_every_event_once() -> None:
    archive = Archive()
    sent = [
        archive.add(occurred_at=START + timedelta(seconds=n), event_type="x", payload={"note": "a" * 200_000}).event_id
        for n in range(40)
    ]
    pages = archive.pages(limit="100")
    assert [item["eventId"] for items in pages for item in items] == sent
    assert all(len(json.dumps(json.dumps({"items": items}))) < 5_500_000 for items in pages)
    assert len(pages[0]) > 20


def test_one_event_larger_than_a_page_is_a_page_of_its_own() -> None:
    archive = Archive()
    sent = [
        archive.add(
            occurred_at=START + timedelta(seconds=n), raw_payload='"\\' * 500_000, payload={"n": n}, event_type="x"
        )
        for n in range(3)
    ]
    pages = archive.pages(include="rawPayload", limit="100")
    assert [[item["payload"]["n"] for item in items] for items in pages] == [[0], [1], [2]]
    assert pages[0][0]["rawPayload"] == sent[0].raw_payload
    assert len(json.dumps(json.dumps(pages[0]))) < 6_291_556 < PAGE_BYTES * 2


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["a", "b"])), max_size=25),
    st.integers(1, 30),
    st.sampled_from(["asc", "desc"]),
    st.sampled_from(["", "a"]),
    st.integers(1, 4),
)
@settings(max_examples=150)
def test_paging_with_any_limit_yields_the_whole_timeline_exactly_once_in_order(
    given_events: list[tuple[int, str]], limit: int, order: str, event_type: str, longest: int
) -> None:
    archive = Archive(ShortPages(longest))
    added = [archive.add(occurred_at=START + timedelta(seconds=n), event_type=kind) for n, kind in given_events]
    chosen = [each for each in added if event_type in ("", each.event_type)]
    expected = [
        each.event_id
        for each in sorted(chosen, key=lambda each: (each.occurred_at, each.event_id), reverse=order == "desc")
    ]
    assert archive.ids(limit=str(limit), order=order, eventType=event_type) == expected


def test_short_pages_of_the_store_are_joined_up_to_the_limit_and_a_bound_on_the_work() -> None:
    archive = Archive(ShortPages(1))
    for number in range(30):
        archive.add(occurred_at=START + timedelta(seconds=number))
    assert [len(items) for items in archive.pages(limit="25")] == [20, 10]


def test_events_arriving_behind_the_reader_do_not_disturb_the_pages_to_come() -> None:
    archive = Archive()
    sent = [archive.add(occurred_at=START + timedelta(seconds=n)).event_id for n in range(4)]
    first = archive.page(limit="2")
    archive.add(occurred_at=START - timedelta(days=1))
    assert [item["eventId"] for item in archive.page(first["cursor"])["items"]] == sent[2:]


def test_an_event_is_shown_with_the_tables_names_its_two_ids_and_json_payload() -> None:
    archive = Archive()
    event = archive.add(
        payload=[1, {"a": None}],
        event_type="x",
        raw_payload="raw",
        external_event_id="e-1",
        object_id="o",
        object_id_ref="r",
    )
    assert archive.page()["items"] == [
        {
            "organizationId": ORGANIZATION, "leadId": LEAD, "leadOrganizationId": "ORG#org_A#LEAD#lead_1",
            "occurredAtId": event.key.occurred_at_id, "eventId": event.event_id, "sourceType": "INTERNAL",
            "source": "billing_service", "eventType": "x", "objectId": "o", "objectIdRef": "r", "externalEventId": "e-1",
            "occurredAt": format_instant(event.occurred_at), "receivedAt": format_instant(event.received_at),
            "schemaVersion": 1,
            "dataContentType": "application/json", "payload": [1, {"a": None}],
        }
    ]  # fmt: skip


def test_raw_payloads_are_shown_only_where_asked_for() -> None:
    archive = Archive()
    with_raw, without = archive.add(raw_payload=' {"a":1} '), archive.add(occurred_at="2027-01-01T00:00:00Z")
    assert [item["rawPayload"] for item in archive.page(include="rawPayload")["items"]] == [' {"a":1} ', None]
    assert "rawPayload" not in archive.page()["items"][0]
    assert archive.queries.event(ORGANIZATION, LEAD, with_raw.event_id, raw=True)["rawPayload"] == ' {"a":1} '
    assert "rawPayload" not in archive.queries.event(ORGANIZATION, LEAD, without.event_id)


def test_an_event_is_found_by_its_id_under_its_own_lead_alone() -> None:
    archive = Archive()
    event = archive.add()
    assert archive.queries.event(ORGANIZATION, LEAD, event.event_id)["eventId"] == event.event_id
    for organization_id, lead_id, event_id in (
        (OTHER_ORGANIZATION, LEAD, event.event_id),
        (ORGANIZATION, "lead_2", event.event_id),
        (ORGANIZATION, LEAD, new_event_id(event.occurred_at)),
        (ORGANIZATION, LEAD, "nonsense"),
    ):
        with pytest.raises(NotFoundError):
            archive.queries.event(organization_id, lead_id, event_id)


def test_an_event_is_found_by_its_sources_id_in_its_own_organisation_alone() -> None:
    archive = Archive()
    event = archive.add(source="s", external_event_id="1#2", raw_payload="raw")
    found = archive.queries.external_event(ORGANIZATION, "S", "1#2", raw=True)
    assert (found["eventId"], found["rawPayload"]) == (event.event_id, "raw")
    for organization_id, source, reference in (
        (OTHER_ORGANIZATION, "s", "1#2"), (ORGANIZATION, "s#1", "2"), (ORGANIZATION, "s", ""), (ORGANIZATION, "s", "1#2 "),
        (ORGANIZATION, "", "1#2"), (ORGANIZATION, "s", "x" * 300), (ORGANIZATION, "s", "a\x00"),
    ):  # fmt: skip
        with pytest.raises(NotFoundError):
            archive.queries.external_event(organization_id, source, reference)


def test_an_event_claimed_by_its_fact_is_found_by_its_external_id_too() -> None:
    archive = Archive()
    event = archive.add(external_event_id="evt_1", shared_fact=SharedFact("sale:1", "told", {}))
    assert archive.queries.external_event(ORGANIZATION, "billing_service", "evt_1")["eventId"] == event.event_id
    with pytest.raises(NotFoundError):
        archive.queries.external_event(OTHER_ORGANIZATION, "billing_service", "evt_1")


def test_a_claim_without_its_event_is_not_found() -> None:
    archive = Archive()
    claim = Claim.of(stored_event(external_event_id="e-1"))
    assert claim is not None
    archive.claims.claim(claim)
    with pytest.raises(NotFoundError):
        archive.queries.external_event(ORGANIZATION, "billing_service", "e-1")


def test_a_key_is_read_from_an_id_and_an_instant() -> None:
    instant = parse_instant("2024-05-01T10:00:00Z", "t")
    assert EventKey.of_event_id("o", "l", new_event_id(instant)) is not None
