"""No personal datum that somebody sends comes out in a log line, a metric or an error, at any level."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from lead_events import wiring
from tests.support.aws import webhook_secret
from tests.support.builders import envelope
from tests.support.functions import Functions
from tests.support.signing import stripe_headers

PERSONAL = ("ana.teste@example.org", "+55 82 90000-0001", "000.000.001-91")
JSON = {"content-type": "application/json"}
EVERYTHING = {f"field {each}": each for each in PERSONAL} | dict.fromkeys(PERSONAL, 1)


def clean(*texts: str) -> None:
    for text in texts:
        assert not [each for each in PERSONAL if each in text]


def invalid_direct(functions: Functions) -> list[str]:
    wrong = [
        {"payload": {"planId": list(PERSONAL), "amount": PERSONAL[0], **EVERYTHING}}, {"source": PERSONAL[1]}, {"occurredAt": PERSONAL[2]},
        {"externalEventId": PERSONAL[0] + "\x00"}, {"objectId": list(PERSONAL)}, {"sourceType": PERSONAL[0]}, {"leadId": PERSONAL[0]},
        {"eventType": PERSONAL[0]}, {"rawPayload": list(PERSONAL)}, EVERYTHING,
        {"eventType": "x", "payload": {PERSONAL[0]: "a" * 400_000}},
    ]  # fmt: skip
    answers = [functions.direct(**each) for each in wrong]
    assert {each.status for each in answers} <= {413, 422}
    return [each.text for each in answers]


def invalid_cloud_events(functions: Functions) -> list[str]:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", **EVERYTHING}
    wrong = [
        {"type": PERSONAL[0]}, {"source": PERSONAL[1]}, {"time": PERSONAL[2]}, {"subject": PERSONAL[0], "data": {**data, "leadId": PERSONAL[1]}},
        {PERSONAL[0]: 1}, {"data_base64": PERSONAL[0]}, {"data": data | {"planId": 5}},
    ]  # fmt: skip
    answers = [functions.api("POST", "/v1/events", envelope(**{"data": data} | each), headers=JSON) for each in wrong]
    assert {each.status for each in answers} == {422}
    batch = functions.api(
        "POST",
        "/v1/events",
        [envelope(**each) for each in wrong],
        headers={"content-type": "application/cloudevents-batch+json"},
    )
    return [each.text for each in answers] + [batch.text]


def unreadable(functions: Functions) -> list[str]:
    bodies = [
        f'{{"a":"{PERSONAL[0]}",}}', f'{{"a":"{PERSONAL[1]}","a":1}}', PERSONAL[2], f"é{PERSONAL[0]}".encode("latin-1"),
    ]  # fmt: skip
    answers = [
        functions.api("POST", path, each, headers=JSON) for each in bodies for path in (functions.lead(), "/v1/events")
    ]
    assert {each.status for each in answers} == {400}
    return [each.text for each in answers]


def ingest(functions: Functions) -> list[str]:
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": 5, **EVERYTHING}
    functions.ingest(
        PERSONAL[0],
        json.dumps(envelope(data=EVERYTHING)),
        json.dumps(envelope(data=data)),
        json.dumps(envelope(type=PERSONAL[1])),
    )
    return []


def reading(functions: Functions) -> list[str]:
    query = {"limit": PERSONAL[1], "from": PERSONAL[0], "cursor": PERSONAL[2]}
    answers = [functions.api("GET", functions.lead(), query={name: value}) for name, value in query.items()]
    answers += [functions.external("s", PERSONAL[0]), functions.api("GET", functions.lead(PERSONAL[0]))]
    return [each.text for each in answers]


def webhook(functions: Functions) -> list[str]:
    webhook_secret("stripe", functions.organization_id, "whsec_test")
    body = json.dumps(
        {"id": "evt_1", "type": "customer.created", "created": PERSONAL[0], "data": {"object": EVERYTHING}}
    ).encode()
    answers = [
        functions.webhook("stripe", body, JSON | stripe_headers(body, secret, datetime.now(UTC)))
        for secret in ("whsec_test", "other")
    ]
    functions.ingest(*functions.drain())
    return [each.text for each in answers]


@pytest.mark.parametrize("action", [invalid_direct, invalid_cloud_events, unreadable, ingest, reading, webhook])
def test_nothing_personal_comes_out_of_what_fails(
    functions: Functions, action: Callable[[Functions], list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    texts = action(functions)
    captured = capfd.readouterr()
    clean(*texts, captured.out, captured.err)


def test_nothing_personal_comes_out_of_an_exception_in_the_middle(
    functions: Functions, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError(" ".join(PERSONAL))

    monkeypatch.setattr(wiring.events(), "append", fail)
    answer = functions.direct(eventType="x", payload=EVERYTHING)
    assert answer.status == 500
    data = {"organizationId": functions.organization_id, "leadId": "lead_1", "planId": "p", **EVERYTHING}
    assert functions.ingest(json.dumps(envelope(data=data))) == ["m-0"]
    captured = capfd.readouterr()
    assert "ValueError" in captured.out
    clean(answer.text, captured.out, captured.err)
