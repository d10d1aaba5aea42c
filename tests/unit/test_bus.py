"""``PutEvents`` answers 200 though entries fail: exactly those are sent again, ten at a time, or the caller hears of it."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from lead_events.errors import NotPublishedError, UnavailableError
from lead_events.messaging.bus import EventBridgeBus


class Client:
    """EventBridge; ``fails`` tells how often an entry with this id fails."""

    def __init__(self, **fails: int) -> None:
        self.fails = Counter(fails)
        self.calls: list[list[dict[str, Any]]] = []
        self.took: list[str] = []

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:
        self.calls.append(Entries)
        results = [self._result(json.loads(each["Detail"])["id"]) for each in Entries]
        return {"FailedEntryCount": sum("ErrorCode" in each for each in results), "Entries": results}

    def _result(self, event_id: str) -> dict[str, str]:
        if self.fails[event_id] > 0:
            self.fails[event_id] -= 1
            return {"ErrorCode": "ThrottlingException", "ErrorMessage": "slow down"}
        self.took.append(event_id)
        return {"EventId": event_id}


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seen: list[float] = []
    monkeypatch.setattr("lead_events.messaging.bus.time.sleep", seen.append)
    return seen


def bus(client: Any) -> EventBridgeBus:
    return EventBridgeBus(lambda: client, "the-bus")


def envelopes(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "privacy.shop-redaction-requested", "id": f"e{number}"} | more for number in range(count)]


def ids(call: list[dict[str, Any]]) -> list[str]:
    return [json.loads(each["Detail"])["id"] for each in call]


def test_an_envelope_is_an_entry_of_the_bus_under_our_source() -> None:
    client = Client()
    bus(client).publish(envelopes(1, data={"amount": Decimal("19.90"), "name": "João"}))
    [[entry]] = client.calls
    assert (entry["EventBusName"], entry["Source"], entry["DetailType"]) == (
        "the-bus",
        "lead_events",
        "privacy.shop-redaction-requested",
    )
    assert (
        entry["Detail"] == '{"type":"privacy.shop-redaction-requested","id":"e0","data":{"amount":19.90,"name":"João"}}'
    )


def test_nothing_to_publish_asks_nothing() -> None:
    def none() -> Any:
        raise AssertionError

    EventBridgeBus(none, "the-bus").publish([])


@pytest.mark.parametrize("count", [1, 9, 10, 11, 25])
def test_entries_go_by_ten_in_their_order(count: int) -> None:
    client = Client()
    bus(client).publish(envelopes(count))
    assert [len(each) for each in client.calls] == [10] * (count // 10) + ([count % 10] if count % 10 else [])
    assert client.took == [f"e{number}" for number in range(count)]


def test_entries_together_stay_below_the_limit_of_a_call() -> None:
    client = Client()
    bus(client).publish(envelopes(10, data="é" * 50_000))
    sizes = [sum(len(entry["Detail"].encode()) for entry in call) for call in client.calls]
    assert [len(each) for each in client.calls] == [2] * 5
    assert max(sizes) <= 256 * 1024
    assert client.took == [f"e{number}" for number in range(10)]


def test_an_entry_that_is_alone_too_large_goes_alone() -> None:
    client = Client()
    sent = envelopes(3)
    sent[1]["data"] = "x" * 300_000
    bus(client).publish(sent)
    assert [ids(each) for each in client.calls] == [["e0"], ["e1"], ["e2"]]


def test_exactly_the_failed_entries_are_sent_again_and_none_twice(pauses: list[float]) -> None:
    client = Client(e1=1, e4=2, e17=1)
    bus(client).publish(envelopes(25))
    assert [ids(each) for each in client.calls[3:]] == [["e1", "e4", "e17"], ["e4"]]
    assert Counter(client.took) == Counter(f"e{number}" for number in range(25))
    assert pauses == [0.05, 0.1]


def test_failed_entries_of_several_calls_go_by_ten_too() -> None:
    client = Client(**{f"e{number}": 1 for number in range(25)})
    bus(client).publish(envelopes(25))
    assert [len(each) for each in client.calls] == [10, 10, 5] * 2


def test_an_entry_that_keeps_failing_is_unavailable_and_the_others_are_taken() -> None:
    client = Client(e1=99)
    with pytest.raises(UnavailableError):
        bus(client).publish(envelopes(3))
    assert client.took == ["e0", "e2"]
    assert [ids(each) for each in client.calls[1:]] == [["e1"]] * 3


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "AccessDenied", "Message": "ana.teste@example.org"}}, "PutEvents"),
        EndpointConnectionError(endpoint_url="x"),
    ],
)
def test_a_bus_that_does_not_answer_is_unavailable_and_aws_is_not_quoted(error: Exception) -> None:
    class Down:
        def put_events(self, **_: Any) -> Any:
            raise error

    with pytest.raises(UnavailableError) as caught:
        bus(Down()).publish(envelopes(1))
    assert "ana" not in str(caught.value)


def test_the_caller_is_told_which_envelopes_the_bus_refused() -> None:
    client = Client(e3=99, e17=99)
    with pytest.raises(NotPublishedError) as error:
        bus(client).publish(envelopes(25))
    assert error.value.refused == {"e3", "e17"}
    assert sorted(client.took) == sorted(f"e{number}" for number in range(25) if number not in (3, 17))


def test_after_a_call_without_an_answer_the_caller_is_told_all_that_the_bus_may_not_have() -> None:
    class Failing(Client):
        def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:
            if len(self.calls) == 1:
                raise EndpointConnectionError(endpoint_url="https://events")
            return super().put_events(Entries=Entries)

    client = Failing(e3=99)
    with pytest.raises(NotPublishedError) as error:
        bus(client).publish(envelopes(25))
    assert error.value.refused == {"e3", *(f"e{number}" for number in range(10, 25))}
    assert len(client.took) == 9
