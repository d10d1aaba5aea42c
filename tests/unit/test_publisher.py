"""The publisher that other domains copy loses nothing, sends nothing needlessly twice, and needs nothing of ours."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.stub import Stubber

from lead_events import catalogue, reconciling
from lead_events.envelope import read_message
from lead_events.instants import now, parse_instant
from lead_events.reading import draft_of_envelope
from tests.support.builders import bus_event
from tools import publisher
from tools.publisher import Event, NotPublishedError, Publisher

Answer = Callable[[str], str]
"""An error code, or nothing, for the id of an event."""


class StubbedBus:
    """Answers like ``PutEvents``: ``plan`` has for each call what fails, or an exception; beyond it nothing fails."""

    def __init__(self, plan: Sequence[Answer | Exception] = ()) -> None:
        self.plan = list(plan)
        self.calls: list[list[dict[str, str]]] = []

    def put_events(self, **request: list[dict[str, str]]) -> dict[str, Any]:
        entries = request["Entries"]
        self.calls.append(entries)
        planned = self.plan.pop(0) if self.plan else lambda _: ""
        if isinstance(planned, Exception):
            raise planned
        codes = [planned(json.loads(entry["Detail"])["id"]) for entry in entries]
        results = [{"ErrorCode": code, "ErrorMessage": "no"} if code else {"EventId": "1"} for code in codes]
        return {"FailedEntryCount": sum(map(bool, codes)), "Entries": results}

    @property
    def sent(self) -> list[list[str]]:
        """Ids of each call."""
        return [[json.loads(entry["Detail"])["id"] for entry in call] for call in self.calls]


def make(stub: StubbedBus, pauses: list[float] | None = None, **changes: Any) -> Publisher:
    sleep = (pauses if pauses is not None else []).append
    return Publisher(source="billing_service", domain="billing", client=stub, sleep=sleep, **changes)


def event(id: str = "evt_1", **data: Any) -> Event:
    return make(StubbedBus()).event(
        "subscription-cancelled", organization_id="org_1", lead_id="lead_1", id=id, data={"planId": "plan_pro"} | data
    )


def failing(*ids: str, code: str = "ThrottlingException") -> Answer:
    return lambda event_id: code if event_id in ids else ""


def test_what_is_published_is_read_as_an_event_of_the_lead() -> None:
    bus = StubbedBus()
    happened = datetime(2026, 3, 25, 11, 0, 0, 250000, tzinfo=timezone(timedelta(hours=-3)))
    sender = make(bus, bus="lead-events-dev")
    sender.publish(
        [
            sender.event(
                "subscription-created",
                organization_id="org_1",
                lead_id="lead_1",
                time=happened,
                data={"planId": "plan_pro", "planName": "Água", "amount": Decimal("99.90"), "currency": "BRL"},
            )
        ]
    )
    [[entry]] = bus.calls
    assert (entry["EventBusName"], entry["Source"], entry["DetailType"]) == (
        "lead-events-dev",
        "billing_service",
        "billing.subscription-created",
    )
    draft = draft_of_envelope(read_message(json.dumps(bus_event(json.loads(entry["Detail"])))), None, now())
    assert (draft.organization_id, draft.lead_id, draft.source, draft.source_type) == (
        "org_1",
        "lead_1",
        "billing_service",
        "INTERNAL",
    )
    assert draft.occurred_at == parse_instant("2026-03-25T14:00:00.25Z", "time")
    assert draft.external_event_id is not None
    assert draft.external_event_id.startswith("evt_")
    assert draft.payload == {"planId": "plan_pro", "planName": "Água", "amount": Decimal("99.9"), "currency": "BRL"}
    catalogue.check(draft.event_type, draft.payload)


def test_every_event_has_an_id_of_its_own_and_without_a_time_it_is_now() -> None:
    sender = make(StubbedBus())
    one, other = (sender.event("x", organization_id="o", lead_id="l", data={}) for _ in range(2))
    assert one["id"] != other["id"]
    assert abs(now() - parse_instant(one["time"], "time")) < timedelta(seconds=10)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "billing.subscription-created"}, {"name": "Subscription"}, {"organization_id": "a#b"}, {"lead_id": ""},
        {"data": {"leadId": "other"}}, {"time": datetime(2026, 3, 25)},  # noqa: DTZ001  # that is the point
    ],
)  # fmt: skip
def test_what_would_be_rejected_or_misread_is_refused_at_once(changes: dict[str, Any]) -> None:
    values: dict[str, Any] = {"name": "x", "organization_id": "o", "lead_id": "l", "data": {}} | changes
    with pytest.raises(ValueError, match=r"^(name|organization_id|data|time)"):
        make(StubbedBus()).event(values.pop("name"), **values)


@pytest.mark.parametrize("value", [Decimal("0.1234567890123456789"), float("nan"), {1, 2}, Decimal("NaN")])
def test_a_value_that_json_cannot_hold_exactly_is_refused_before_anything_is_sent(value: Any) -> None:
    bus = StubbedBus()
    with pytest.raises(ValueError, match=r"JSON|exact"):
        make(bus).publish([event("evt_1"), event("evt_2", amount=value)])
    assert bus.calls == []


def test_a_call_has_at_most_ten_entries_in_order() -> None:
    bus = StubbedBus()
    ids = [f"evt_{number}" for number in range(23)]
    make(bus).publish(event(each) for each in ids)
    assert [len(call) for call in bus.sent] == [10, 10, 3]
    assert [each for call in bus.sent for each in call] == ids


def test_a_call_stays_within_its_bytes_as_utf8_counts_them() -> None:
    bus = StubbedBus()
    make(bus).publish(event(f"evt_{number}", note="á" * 50_000) for number in range(6))
    assert [len(call) for call in bus.calls] == [2, 2, 2]
    assert all(sum(len(entry["Detail"].encode()) for entry in call) <= 256 * 1024 for call in bus.calls)


def test_nothing_to_send_is_no_call() -> None:
    bus = StubbedBus()
    make(bus).publish([])
    assert bus.calls == []


def test_only_failed_entries_are_sent_again_unchanged_and_ever_later() -> None:
    bus, pauses = StubbedBus([failing("evt_1", "evt_3"), failing("evt_3", code="InternalFailure")]), list[float]()
    make(bus, pauses).publish([event(f"evt_{number}") for number in range(5)])
    assert bus.sent == [[f"evt_{number}" for number in range(5)], ["evt_1", "evt_3"], ["evt_3"]]
    assert bus.calls[2][0] == bus.calls[0][3]
    assert [0.1 <= pauses[0] <= 0.2, 0.2 <= pauses[1] <= 0.4, len(pauses)] == [True, True, 2]


def test_what_still_fails_is_raised_with_its_reason_and_everything_else_is_sent() -> None:
    bus, pauses = StubbedBus([failing("evt_2")] * 3), list[float]()
    events = [event(f"evt_{number}", secret="s3cret") for number in range(4)]
    with pytest.raises(NotPublishedError) as caught:
        make(bus, pauses, attempts=3).publish(events)
    assert [(each.event, each.code, each.message) for each in caught.value.failures] == [
        (events[2], "ThrottlingException", "no")
    ]
    assert bus.sent == [["evt_0", "evt_1", "evt_2", "evt_3"], ["evt_2"], ["evt_2"]]
    assert len(pauses) == 2
    assert "evt_2 (ThrottlingException)" in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("code", ["MalformedDetail", "NotAuthorizedForSourceException", "InvalidArgument"])
def test_what_can_only_fail_again_is_not_sent_again(code: str) -> None:
    bus = StubbedBus([failing("evt_0", code=code)])
    with pytest.raises(NotPublishedError) as caught:
        make(bus).publish([event("evt_0"), event("evt_1")])
    assert [each.code for each in caught.value.failures] == [code]
    assert bus.sent == [["evt_0", "evt_1"]]


def test_an_event_too_large_for_any_call_keeps_the_others_none() -> None:
    bus = StubbedBus()
    with pytest.raises(NotPublishedError) as caught:
        make(bus).publish([event("evt_0"), event("evt_1", note="x" * 262_144), event("evt_2")])
    assert [(each.event["id"], each.code) for each in caught.value.failures] == [("evt_1", "TooLarge")]
    assert bus.sent == [["evt_0", "evt_2"]]


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow down"}}, "PutEvents"),
        EndpointConnectionError(endpoint_url="https://events.example"),
    ],
)
def test_a_call_without_an_answer_is_made_again_and_keeps_no_other_call_from_being_made(error: Exception) -> None:
    bus = StubbedBus([error])
    make(bus).publish(event(f"evt_{number}") for number in range(12))
    assert [len(call) for call in bus.sent] == [10, 2, 10]
    assert bus.sent[0] == bus.sent[2]


def test_a_sender_without_the_right_to_send_is_told_at_once() -> None:
    denied = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "PutEvents")
    bus = StubbedBus([denied])
    with pytest.raises(NotPublishedError) as caught:
        make(bus).publish([event("evt_0"), event("evt_1")])
    assert [each.code for each in caught.value.failures] == ["AccessDeniedException"] * 2
    assert len(bus.calls) == 1


def test_a_real_client_takes_the_request() -> None:
    client = boto3.client("events", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
    sent = event("evt_1")
    entry = {
        "EventBusName": "lead-events",
        "Source": "billing_service",
        "DetailType": "billing.subscription-cancelled",
        "Detail": json.dumps(sent, separators=(",", ":")),
    }
    with Stubber(client) as stubber:
        stubber.add_response("put_events", {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}, {"Entries": [entry]})
        Publisher(source="billing_service", domain="billing", client=client).publish([sent])
        stubber.assert_no_pending_responses()


def test_the_file_can_be_copied_it_imports_boto3_and_the_standard_library_alone() -> None:
    tree = ast.parse(Path(publisher.__file__).read_text(encoding="utf-8"))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported - sys.stdlib_module_names == {"boto3", "botocore"}


def test_an_event_about_an_organization_names_no_lead_and_is_taken() -> None:
    sender = make(StubbedBus())
    sent = sender.event("invoice-paid", organization_id="org_1", data={"invoiceId": "inv_1"})
    assert sent["data"] == {"organizationId": "org_1", "invoiceId": "inv_1"}
    fact, _ = reconciling.read(read_message(json.dumps(bus_event(sent))), now())
    assert (fact.type, fact.organization_id, fact.lead_id) == ("billing.invoice-paid", "org_1", None)
