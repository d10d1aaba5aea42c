"""The ingest function stores what the queue holds, and keeps exactly the messages that failed on it."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from tests.support.aws import Context, sqs_record
from tests.support.builders import bus_event, envelope
from tests.support.functions import Functions, handler_of


def message(functions: Functions, **changes: Any) -> str:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "plan_pro"}
    return json.dumps(envelope(**{"data": data} | changes))


def test_an_envelope_becomes_an_event_with_the_message_as_its_raw_payload(functions: Functions) -> None:
    text = message(functions)
    assert functions.ingest(text) == []
    [event] = functions.timeline(include="rawPayload")
    assert (event["eventType"], event["rawPayload"], event["payload"]) == (
        "subscription_created",
        text,
        {"planId": "plan_pro"},
    )


def test_exactly_the_bad_message_stays_on_the_queue(functions: Functions) -> None:
    assert functions.ingest(message(functions, id="e-1"), "not json", message(functions, id="e-2")) == ["m-1"]
    assert len(functions.timeline()) == 2


def test_a_batch_of_nothing_but_failures_is_reported_and_not_raised(functions: Functions) -> None:
    assert functions.ingest("not json") == ["m-0"]
    assert functions.ingest("", "[]", "{}", message(functions, data={"leadId": "l"})) == ["m-0", "m-1", "m-2", "m-3"]


@pytest.mark.parametrize("event", [{"Records": []}, {}, {"Records": None}])
def test_an_empty_batch_is_no_failure(functions: Functions, event: dict[str, Any]) -> None:
    assert functions.ingest_event(event) == []


def test_a_record_that_is_no_sqs_record_fails_alone(functions: Functions) -> None:
    broken = sqs_record("m-broken", message(functions, id="e-1"))
    del broken["attributes"]
    assert functions.ingest_event({"Records": [broken, sqs_record("m-good", message(functions, id="e-2"))]}) == [
        "m-broken"
    ]
    assert [each["externalEventId"] for each in functions.timeline()] == ["e-2"]


def test_a_batch_of_a_hundred_is_stored_once_each_though_every_message_comes_twice(functions: Functions) -> None:
    bodies = [message(functions, id=f"e-{number % 50}") for number in range(100)]
    assert functions.ingest(*bodies) == []
    assert functions.ingest(*reversed(bodies)) == []
    assert sorted(each["externalEventId"] for each in functions.timeline()) == sorted(
        f"e-{number}" for number in range(50)
    )


def test_bus_events_with_an_envelope_and_with_plain_data_are_stored(functions: Functions) -> None:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "p"}
    assert functions.ingest(json.dumps(bus_event(envelope(data=data))), json.dumps(bus_event(data))) == []
    ids = {each["externalEventId"] for each in functions.timeline()}
    assert ids == {envelope()["id"], bus_event({})["id"]}


def test_an_archives_replay_adds_nothing_and_new_events_among_it_are_added(functions: Functions) -> None:
    def detail(number: int) -> dict[str, Any]:
        data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": f"p{number}"}
        return envelope(id=f"evt_{number}", data=data)

    assert functions.ingest(*(json.dumps(bus_event(detail(number), id=f"bus-{number}")) for number in range(10))) == []
    before = functions.items()
    replayed = [
        bus_event(detail(number), id=f"again-{number}", time="2026-04-01T00:00:00Z", **{"replay-name": "r1"})
        for number in range(12)
    ]
    assert functions.ingest(*map(json.dumps, replayed)) == []
    after = functions.items()
    assert [each for each in after if each in before] == before
    assert len(after) == 12


def test_a_message_that_breaks_a_rule_is_kept_among_the_rejected_and_leaves_the_queue(functions: Functions) -> None:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": 5}
    text = message(functions, data=data)
    assert [functions.ingest(text), functions.ingest(text)] == [[], []]
    assert functions.timeline() == []
    page = functions.api("GET", f"/v1/organizations/{functions.organization_id}/rejected-events").json
    [rejected] = page["items"]
    assert (rejected["code"], rejected["deliveries"], rejected["source"]) == ("invalid", 2, "billing_service")
    path = f"/v1/organizations/{functions.organization_id}/rejected-events/{rejected['rejectedEventId']}"
    assert functions.api("GET", path, query={"include": "rawPayload"}).json["rawPayload"] == text


def test_the_writes_of_a_batch_overlap(functions: Functions, monkeypatch: pytest.MonkeyPatch) -> None:
    from lead_events import wiring

    client = wiring.client("dynamodb")
    original, lock = client._make_api_call, threading.Lock()
    under_way = most = 0

    def slow(name: str, kwargs: Any) -> Any:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.05)
        try:
            return original(name, kwargs)
        finally:
            with lock:
                under_way -= 1

    monkeypatch.setattr(client, "_make_api_call", slow)
    assert functions.ingest(*(message(functions, id=f"e-{number}") for number in range(50))) == []
    assert most >= 10


def test_each_message_ends_in_a_metric_and_a_line_in_the_log(
    functions: Functions, capsys: pytest.CaptureFixture[str]
) -> None:
    handler_of("ingest")(
        {
            "Records": [
                sqs_record("m-1", message(functions)),
                sqs_record("m-2", message(functions)),
                sqs_record("m-3", "x"),
            ]
        },
        Context(),
    )
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(each["outcome"] for each in lines if "outcome" in each) == ["duplicate", "stored"]
    assert [each["messageId"] for each in lines if each.get("message") == "message kept on the queue"] == ["m-3"]
    [metrics] = [each for each in lines if "_aws" in each and "EventStored" in each]
    assert (metrics["EventStored"], metrics["EventDuplicate"]) == ([1.0], [1.0])
