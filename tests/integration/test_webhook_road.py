"""A provider's delivery on its whole road: entrance, queue, store, timeline."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import boto3
import pytest

from lead_events.limits import MAX_WEBHOOK_BYTES
from tests.samples import load
from tests.support.aws import BUCKET, webhook_secret
from tests.support.functions import Answer, Functions
from tests.support.signing import stripe_headers

SECRET = "whsec_test"
BODY = load("stripe", "customer.created")


@pytest.fixture(autouse=True)
def _secret(functions: Functions) -> None:
    webhook_secret("stripe", functions.organization_id, "whsec_old", SECRET)


def deliver(
    functions: Functions, body: bytes, *, secret: str = SECRET, plain: bool = False, query: dict[str, str] | None = None
) -> Answer:
    headers = {"Content-Type": "application/json"} | stripe_headers(body, secret, datetime.now(UTC))
    return functions.webhook("stripe", body.decode() if plain else body, headers, query=query)


def test_a_signed_delivery_is_202_and_comes_to_the_timeline_byte_for_byte(functions: Functions) -> None:
    answer = deliver(functions, BODY)
    assert (answer.status, answer.json) == (202, {"accepted": True})
    assert functions.ingest(*functions.drain()) == []
    [event] = functions.timeline("lead_caio", include="rawPayload")
    assert (event["source"], event["sourceType"]) == ("stripe", "EXTERNAL")
    assert event["rawPayload"].encode() == BODY


def test_plain_and_base64_deliveries_are_the_same_event(functions: Functions) -> None:
    assert [deliver(functions, BODY, plain=plain).status for plain in (False, True)] == [202, 202]
    assert functions.ingest(*functions.drain()) == []
    assert len(functions.timeline("lead_caio")) == 1


def test_the_same_delivery_twenty_times_is_one_event(functions: Functions) -> None:
    for _ in range(20):
        assert deliver(functions, BODY).status == 202
    messages = functions.drain()
    assert len(messages) == 20
    assert functions.ingest(*messages) == []
    assert len(functions.timeline("lead_caio")) == 1


def test_a_body_of_900_kilobytes_goes_through_the_bucket_and_is_read_back_exactly(functions: Functions) -> None:
    import random

    event = json.loads(BODY)
    event["data"]["object"]["description"] = random.Random(7).randbytes(450_000).hex()
    body = json.dumps(event, indent=1).encode()
    assert deliver(functions, body).status == 202
    [message] = functions.drain()
    key = json.loads(message)["data"]["bodyKey"]
    assert key.startswith(f"inbox/{functions.organization_id}/")
    assert functions.ingest(message) == []
    [found] = functions.timeline("lead_caio", include="rawPayload")
    assert found["rawPayload"].encode() == body
    [item] = functions.items()
    assert item["rawPayload"]["M"]["key"]["S"].startswith(f"organizations/{functions.organization_id}/leads/lead_caio/")
    assert boto3.client("s3").head_object(Bucket=BUCKET, Key=item["rawPayload"]["M"]["key"]["S"])[
        "ContentLength"
    ] == len(body)


def test_forged_deliveries_of_known_and_unknown_organisations_are_one_and_the_same_401(functions: Functions) -> None:
    stranger = Functions(f"{functions.organization_id}x", functions.queue_url)
    answers = [
        deliver(functions, BODY, secret="whsec_forged"),
        deliver(stranger, BODY),
        functions.webhook("stripe", BODY, {}),
        deliver(Functions("a" * 65, functions.queue_url), BODY),
    ]
    assert {(each.status, each.text) for each in answers} == {(401, answers[0].text)}
    assert functions.drain() == []


def test_both_secrets_of_a_rotation_are_good(functions: Functions) -> None:
    assert [deliver(functions, BODY, secret=each).status for each in ("whsec_old", SECRET)] == [202, 202]
    functions.drain()


@pytest.mark.parametrize(
    "value",
    ['{"secrets": []}', '{"secrets": [""]}', '{"secrets": "whsec_test"}', "[]", "not json", '{"secrets": [5]}', "{}"],
)
def test_a_secret_that_is_none_refuses_everything(functions: Functions, value: str) -> None:
    stranger = Functions(f"{functions.organization_id}y", functions.queue_url)
    boto3.client("secretsmanager").create_secret(
        Name=f"lead-events/test/webhooks/stripe/{stranger.organization_id}", SecretString=value
    )
    for secret in ("", " ", SECRET):
        assert deliver(stranger, BODY, secret=secret).status == 401
    assert functions.drain() == []


def test_a_provider_that_we_do_not_have_is_404(functions: Functions) -> None:
    assert functions.webhook("acme", BODY, {}).status == 404
    assert functions.webhook("stripe", "", {}, method="GET").status == 404  # Stripe makes no handshake


@pytest.mark.parametrize("body", [b"{", b'{"a":1,"a":2}', b'{"id":"\xe9"}'])
def test_signed_but_unreadable_deliveries_are_400(functions: Functions, body: bytes) -> None:
    assert deliver(functions, body).status == 400
    assert functions.drain() == []


def test_an_empty_and_a_huge_delivery_are_refused_before_anything_is_asked(functions: Functions) -> None:
    assert functions.webhook("stripe", "", {}).status == 400
    assert functions.webhook("stripe", b"a" * (MAX_WEBHOOK_BYTES + 1), {}).status == 413


def test_a_lost_queue_is_503_and_nothing_is_acknowledged(functions: Functions, monkeypatch: pytest.MonkeyPatch) -> None:
    from lead_events import wiring

    client = wiring.client("sqs")
    monkeypatch.setattr(wiring.webhooks()._queue, "_url", "https://sqs.us-east-1.amazonaws.com/123456789012/lost")
    answer = deliver(functions, BODY)
    assert (answer.status, answer.code) == (503, "unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert client.meta.service_model.service_name == "sqs"
    assert functions.drain() == []
