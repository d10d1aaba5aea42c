"""Where AWS does not answer: tried again, then said so; nothing is half-written, nothing acknowledged that is not durable."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.integration.conftest import Throttle
from tests.samples import load
from tests.support.aws import webhook_secret
from tests.support.builders import envelope
from tests.support.functions import Functions
from tests.support.signing import stripe_headers

ATTEMPTS = 4
JSON = {"content-type": "application/json"}


def test_a_put_throttled_three_times_is_tried_again_and_stored(functions: Functions, throttle: Throttle) -> None:
    seen = throttle("dynamodb", "PutItem", times=3)
    assert functions.direct(externalEventId="e-1").status == 201
    assert len(seen) == 3 + 2
    assert len(functions.timeline()) == 1


@pytest.mark.parametrize("after", [0, 1], ids=["the claim", "the event"])
def test_a_put_throttled_for_longer_is_503_and_sent_again_completes(
    functions: Functions, throttle: Throttle, after: int
) -> None:
    throttle("dynamodb", "PutItem", times=ATTEMPTS, after=after)
    answer = functions.direct(externalEventId="e-1")
    assert (answer.status, answer.code) == (503, "unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert functions.items() == []
    again = functions.direct(externalEventId="e-1", occurredAt="2026-03-25T14:00:09Z")
    assert again.status == 201
    assert again.json["occurredAt"] == f"2026-03-25T14:00:0{0 if after else 9}.000000Z"  # the claim says which
    assert functions.direct(externalEventId="e-1").status == 200
    assert len(functions.items()) == 1


def test_a_throttled_read_is_503(functions: Functions, throttle: Throttle) -> None:
    for operation, path in (
        ("Query", functions.lead()),
        ("GetItem", f"{functions.lead()}/{functions.direct().json['eventId']}"),
    ):
        throttle("dynamodb", operation, times=ATTEMPTS)
        assert functions.api("GET", path).status == 503
        assert functions.api("GET", path).status == 200


def test_a_batch_request_with_a_throttled_event_is_503_and_sent_again_completes(
    functions: Functions, throttle: Throttle
) -> None:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "p"}
    events = [envelope(id=f"e-{number}", data=data) for number in range(5)]
    batch = {"content-type": "application/cloudevents-batch+json"}
    seen = throttle("dynamodb", "PutItem", times=10**6)
    assert functions.api("POST", "/v1/events", events, headers=batch).status == 503
    seen.over = True
    again = functions.api("POST", "/v1/events", events, headers=batch)
    assert {each["status"] for each in again.json["results"]} <= {200, 201}
    assert len(functions.items()) == 5


def test_a_throttled_message_stays_on_the_queue_and_is_stored_when_it_comes_again(
    functions: Functions, throttle: Throttle
) -> None:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "p"}
    text = json.dumps(envelope(data=data))
    throttle("dynamodb", "PutItem", times=ATTEMPTS, after=1)
    assert functions.ingest(text) == ["m-0"]
    assert functions.items() == []
    assert functions.ingest(text) == []
    assert len(functions.items()) == 1


def test_a_webhook_that_cannot_be_kept_is_503_so_that_its_provider_sends_it_again(
    functions: Functions, throttle: Throttle
) -> None:
    webhook_secret("stripe", functions.organization_id, "whsec_test")
    body = load("stripe", "customer.created")
    headers = JSON | stripe_headers(body, "whsec_test", datetime.now(UTC))
    throttle("sqs", "SendMessage", times=ATTEMPTS)
    answer = functions.webhook("stripe", body, headers)
    assert (answer.status, "Retry-After" in answer.headers) == (503, True)
    assert functions.drain() == []
    assert functions.webhook("stripe", body, headers).status == 202
    assert len(functions.drain()) == 1


def test_unread_secrets_are_503_and_never_401(functions: Functions, throttle: Throttle) -> None:
    webhook_secret("stripe", functions.organization_id, "whsec_test")
    body = load("stripe", "customer.created")
    throttle("secrets-manager", "GetSecretValue", times=ATTEMPTS)
    assert functions.webhook("stripe", body, stripe_headers(body, "whsec_test", datetime.now(UTC))).status == 503


def test_an_error_that_nobody_foresaw_is_500_and_tells_nothing(
    functions: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lead_events import wiring

    def fail(*_: object, **__: object) -> None:
        raise ValueError("ana.teste@example.org")

    monkeypatch.setattr(wiring.queries()._events, "page", fail)
    answer = functions.api("GET", functions.lead())
    assert (answer.status, answer.code) == (500, "internal_error")
    assert "ana" not in answer.text
