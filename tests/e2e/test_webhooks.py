"""Webhooks over real HTTP: signature to stored bytes."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e.client import Client, eventually, new_lead
from tests.support.signing import stripe_headers

pytestmark = pytest.mark.e2e


def secret_of(client: Client, provider: str) -> str:
    found = client.stack["webhookSecrets"][provider]
    return found[0] if isinstance(found, list) else str(found)


def stripe_sale(lead: str, pad: str = "") -> bytes:
    """A paid session with odd white space, escapes and a trailing newline, as no serialiser would write it again."""
    text = (
        '{"id": "evt_%s",\t"object":"event", "created":1774016520,"type":"checkout.session.completed","pad":"%s",'
        '"note":"R\\u0026D caf\\u00e9 \\ud83d\\ude00 \\/ x",  "data":{"object":{"id":"cs_%s","object":"checkout.session",'
        '"mode":"payment","payment_status":"paid","amount_total":19990,"currency":"brl","payment_method_types":["card"],'
        '"total": 10.00 ,"metadata":{"leadId":"%s","productId":"p1"}}}}\n'
    )
    return (text % (uuid.uuid4().hex, pad, uuid.uuid4().hex, lead)).encode()


@pytest.mark.parametrize("size", [0, 1_000, 100_000, 900_000])
def test_a_signed_delivery_is_stored_with_exactly_its_bytes(client: Client, size: int) -> None:
    lead = new_lead()
    body = stripe_sale(lead, "ab" * (size // 2))
    path = f"/v1/webhooks/stripe/{client.organization}"
    headers = stripe_headers(body, secret_of(client, "stripe"), datetime.now(UTC))
    assert client.call("POST", path, body, token=None, headers=headers).status == 202
    [event] = eventually(lambda: client.timeline(lead, include="rawPayload"))
    assert event["rawPayload"] == body.decode()
    assert event["eventType"] == "purchase_completed"
    assert event["payload"] | {"amount": 199.9, "currency": "BRL", "productId": "p1"} == event["payload"]
    by_type = client.timeline(lead, include="rawPayload", eventType="purchase_completed")
    assert by_type == [event]

    assert client.call("POST", path, body, token=None, headers=headers).status == 202
    marker = client.append(lead, externalEventId=f"marker-{lead}", occurredAt="2026-12-01T00:00:00Z")
    assert marker.status == 201
    external = f"/v1/organizations/{client.organization}/external-events/stripe/{json.loads(body)['id']}"
    assert client.call("GET", external).json["eventId"] == event["eventId"]
    assert len(client.stored(lead)) == 2


def test_every_refusal_is_one_identical_401_and_stores_nothing(client: Client) -> None:
    lead = new_lead()
    body, now = stripe_sale(lead), datetime.now(UTC)
    good = stripe_headers(body, secret_of(client, "stripe"), now)
    old = stripe_headers(body, secret_of(client, "stripe"), now - timedelta(seconds=400))
    own = f"/v1/webhooks/stripe/{client.organization}"
    refused = [
        client.call("POST", own, body, token=None),
        client.call("POST", own, body, token=None, headers=stripe_headers(body, "whsec_wrong", now)),
        client.call("POST", own, body, token=None, headers=stripe_headers(body, "", now)),
        client.call("POST", own, body, token=None, headers=old),
        client.call("POST", own, body + b" ", token=None, headers=good),
        client.call("POST", "/v1/webhooks/stripe/org_without_secret", body, token=None, headers=good),
    ]
    assert {each.status for each in refused} == {401}
    assert len({each.body for each in refused}) == 1
    assert client.stored(lead) == []


def test_a_second_secret_works_while_secrets_rotate(client: Client) -> None:
    organization = f"org_{uuid.uuid4().hex[:8]}"
    name = f"{client.stack['webhookSecretPrefix']}/stripe/{organization}"
    secrets = client.aws("secretsmanager")
    secrets.create_secret(Name=name, SecretString=json.dumps({"secrets": ["whsec_old", "whsec_new", "", " "]}))
    body = stripe_sale(new_lead())
    for secret, status in (("whsec_old", 202), ("whsec_new", 202), ("", 401), (" ", 401), ("whsec_other", 401)):
        headers = stripe_headers(body, secret, datetime.now(UTC))
        assert (
            client.call("POST", f"/v1/webhooks/stripe/{organization}", body, token=None, headers=headers).status
            == status
        )


def test_an_unknown_provider_is_404(client: Client) -> None:
    assert client.call("POST", f"/v1/webhooks/nobody/{client.organization}", b"{}", token=None).status == 404
