"""Whatever is sent, wherever in a request or message: no refusal repeats it, and no log line, metric or dead letter holds it."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.names import ORGANIZATION_CLAIM, Route
from tests import samples
from tests.support.aws import DEAD_LETTERS, REJECTED, Context, http_event, sqs_event, stream_event, webhook_secret
from tests.support.builders import bus_event
from tests.support.deliveries import SIGNED, headers_of
from tests.support.functions import Answer, Functions, answered, handler_of
from tests.support.hostile import (
    API_ROUTES,
    MARKS,
    TEXTS,
    WEBHOOK_ROUTES,
    Planted,
    Request,
    claims_for,
    envelope_of,
    planted_in,
    requests,
    texts_with,
)

SECRET = "whsec_c2VjcmV0IG9mIHRoZXNlIHRlc3Rz"
QUEUE_FUNCTIONS = ("ingest", "organizations", "reprocessor", "eraser")
EVENT_KEYS = ("leadOrganizationId", "occurredAtId")
MEMORY_KEYS = ("leadOrganizationId", "category")

Captured = pytest.CaptureFixture[str]


class Witness:
    """Calls functions, and sees what Lambda would log of it: also the text of what they raise."""

    def __init__(self, capfd: Captured) -> None:
        self._capfd = capfd

    def call(self, function: str, event: dict[str, Any], mark: str) -> Any:
        raised, answer = "", None
        try:
            answer = handler_of(function)(event, Context())
        except Exception as error:
            raised = f"{error!r} {error.__cause__!r} {error.__context__!r}"
        written = self._capfd.readouterr()
        assert mark not in written.out + written.err + raised, function
        return answer

    def ask(self, function: str, request: Request, mark: str, claims: dict[str, str] | None = None) -> Answer:
        event = http_event(
            request.method, request.path, request.body, claims=claims, headers=dict(request.headers),
            query=dict(request.query) or None, path_parameters=dict(request.parameters),
        )  # fmt: skip
        answer = answered(self.call(function, event, mark))
        refusals = [answer.text + json.dumps(answer.headers)] if answer.status >= 400 else []
        if answer.status == 200 and "results" in answer.text and request.template == "/v1/events":
            refusals += [
                json.dumps(each, ensure_ascii=False) for each in answer.json["results"] if each["status"] >= 400
            ]
        assert not [each for each in refusals if mark in each]
        assert answer.status != 500
        return answer


@pytest.fixture
def witness(capfd: Captured) -> Witness:
    return Witness(capfd)


def reasons_are_clean() -> None:
    """What is kept as the reason of a rejection is ours; what was sent is kept beside it."""
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=REJECTED)
    reasons = [
        json.dumps([item.get(name) for name in ("code", "detail", "errors")])
        for page in pages
        for item in page["Items"]
    ]
    assert not [each for each in reasons if MARKS.search(each)]


@pytest.mark.parametrize("route", API_ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_no_refusal_of_the_api_repeats_what_was_sent(functions: Functions, witness: Witness, route: Route) -> None:
    organization, claims = functions.organization_id, claims_for(route, functions.organization_id, ORGANIZATION_CLAIM)

    @settings(max_examples=100 if route.method in ("POST", "PUT") else 30)
    @given(requests(organization, route))
    def check(sent: tuple[Request, str]) -> None:
        witness.ask("api", *sent, claims)

    check()


@pytest.mark.parametrize("route", WEBHOOK_ROUTES, ids=lambda route: route.method)
def test_no_refusal_of_a_webhook_repeats_what_was_sent(functions: Functions, witness: Witness, route: Route) -> None:
    webhook_secret("stripe", functions.organization_id, SECRET)

    @settings(max_examples=40)
    @given(requests(functions.organization_id, route))
    def check(sent: tuple[Request, str]) -> None:
        witness.ask("webhooks", *sent)

    check()


@given(TEXTS, st.sampled_from(API_ROUTES))
@settings(max_examples=40)
def test_no_refusal_repeats_what_a_token_says(
    functions: Functions, witness: Witness, it: Planted, route: Route
) -> None:
    claims = {ORGANIZATION_CLAIM: it.value, "scope": f"lead-events/read {it.value}", "client_id": it.value}
    request = Request(route.method, "/v1/organizations/org_x/leads/lead_1/events", {})
    assert witness.ask("api", request, it.mark, claims).status >= 400


@pytest.mark.parametrize("provider", sorted(SIGNED))
def test_nothing_of_a_signed_delivery_is_logged_whatever_becomes_of_it(
    functions: Functions, witness: Witness, provider: str
) -> None:
    organization = functions.organization_id
    webhook_secret(provider, organization, SECRET)
    names = random.Random(provider).sample(samples.names(provider), min(6, len(samples.names(provider))))

    @settings(max_examples=40)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([SIGNED[provider].sample, *names]))
        body, mark = data.draw(texts_with(json.loads(samples.load(provider, name))))
        headers = headers_of(provider, name, body, SECRET, datetime.now(UTC))
        request = Request("POST", f"/v1/webhooks/{provider}/{organization}", {}, {}, headers, body)
        witness.ask("webhooks", request, mark)
        witness.call("ingest", sqs_event(*functions.drain()), mark)

    check()
    reasons_are_clean()


@pytest.mark.parametrize("function", QUEUE_FUNCTIONS)
def test_nothing_of_a_message_is_logged_whatever_becomes_of_it(
    functions: Functions, witness: Witness, function: str
) -> None:
    organization = functions.organization_id
    bases = [
        envelope_of(organization),
        bus_event(envelope_of(organization)),
        bus_event({"organizationId": organization}),
    ]
    bases += [json.loads(samples.load("organizations", name)) for name in samples.names("organizations")]
    bases += [json.loads(samples.load("internal", name)) for name in samples.names("internal")[:3]]

    @settings(max_examples=100)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        base = data.draw(st.sampled_from(bases)) | {"id": f"evt_{data.draw(st.uuids(version=4))}"}
        body, mark = data.draw(texts_with(base))
        witness.call(function, sqs_event(body.decode("utf-8", "replace")), mark)

    check()
    reasons_are_clean()


@pytest.mark.parametrize("function", ["projector", "publisher"])
def test_nothing_of_a_stream_record_is_logged_or_among_the_dead_letters(
    functions: Functions, witness: Witness, function: str
) -> None:
    functions.direct(eventType="purchase_completed", payload={"productId": "p", "amount": 1, "currency": "BRL"})
    [event] = functions.items()
    memory = {"leadOrganizationId": event["leadOrganizationId"], "category": {"S": "purchase"}, "version": {"N": "1"},
              "state": {"M": {}}, "rebuilt": {"BOOL": False}, "window": {"M": {}}}  # fmt: skip
    sqs = boto3.client("sqs")
    letters = sqs.get_queue_url(QueueName=DEAD_LETTERS)["QueueUrl"]

    @settings(max_examples=40)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        item, keys = data.draw(st.sampled_from([(event, EVENT_KEYS), (memory, MEMORY_KEYS)]))
        changed, mark = data.draw(planted_in(item))
        if not isinstance(changed, dict):
            changed = {"payload": changed}
        batch = stream_event(item | {k: v for k, v in changed.items() if k not in keys}, keys=keys)
        witness.call(function, batch, mark)
        for letter in sqs.receive_message(QueueUrl=letters, MaxNumberOfMessages=10).get("Messages", ()):
            assert mark not in letter["Body"]

    check()
