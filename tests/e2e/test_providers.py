"""What holds for every provider alike, from its signature to the stored event."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from tests.e2e.client import Client, eventually
from tests.e2e.tenants import Tenant, drain, events_of, raw_of, rejected_of, types_of
from tests.samples import load
from tests.support.deliveries import SIGNED, delivery

pytestmark = pytest.mark.e2e

PROVIDERS = sorted(SIGNED)
SIGNING = [provider for provider in PROVIDERS if SIGNED[provider].signs_body]
TIMED = [provider for provider in PROVIDERS if SIGNED[provider].timed]
META = ("instagram", "whatsapp")
LEAD = "lead_url"

ODD = rb'"remark":"R\u0026D caf\u00e9 \ud83d\ude00", "url":"https:\/\/example.org","total":10.00 ,'


def odd_body(provider: str) -> bytes:
    """A sample with escapes, odd white space and a trailing newline, as no serialiser would write it again."""
    return b"{" + ODD + load(provider, SIGNED[provider].sample).lstrip()[1:] + b"\n"


def sample(provider: str, name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(load(provider, name))
    return value


def test_every_provider_of_the_twin_is_tested_here(client: Client) -> None:
    assert set(client.stack["webhookSecrets"]) == set(PROVIDERS)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_delivery_is_stored_once_however_often_it_comes(client: Client, provider: str) -> None:
    tenant, body = Tenant.of(client, provider), load(provider, SIGNED[provider].sample)
    for _ in range(3):
        tenant.send(body, lead=LEAD)
    assert eventually(lambda: events_of(client, [tenant.organization]))
    drain(client)
    first = events_of(client, [tenant.organization])
    tenant.send(body, lead=LEAD)  # long after the others, and for some newly signed
    drain(client)
    assert events_of(client, [tenant.organization]) == first
    assert len({item["externalEventId"]["S"] for item in first[tenant.organization]}) == len(first[tenant.organization])
    assert rejected_of(client, tenant.organization) == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_both_secrets_are_good_while_they_rotate(client: Client, provider: str) -> None:
    new_secret = SIGNED[provider].new_secret
    old, new, other = new_secret(), new_secret(), new_secret()
    tenant, body = Tenant.of(client, provider, old, new, ""), load(provider, SIGNED[provider].sample)
    statuses = [
        tenant.post(body, tenant.headers(body, secret=secret), LEAD).status for secret in (old, new, other, "", " ")
    ]
    assert statuses == [202, 202, 401, 401, 401]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_refusal_is_one_identical_401_and_stores_nothing(client: Client, provider: str) -> None:
    now, new_secret = datetime.now(UTC), SIGNED[provider].new_secret
    tenant = Tenant.of(client, provider)
    blank, none = Tenant.of(client, provider, "", " "), Tenant(client, provider, [new_secret()])
    body, good = delivery(provider, tenant.secrets[0], now)
    unsigned = {name: value for name, value in good.items() if name not in SIGNED[provider].sign(body, "x", now)}
    refused = [
        tenant.post(body, unsigned | {"content-type": "application/json"}),
        tenant.post(body, tenant.headers(body, secret=new_secret())),
        tenant.post(body, tenant.headers(body, secret="")),
        blank.post(body, blank.headers(body, secret="")),
        blank.post(body, blank.headers(body, secret=" ")),
        blank.post(body, good),
        none.post(body, none.headers(body)),
        none.post(body, none.headers(body, secret="")),
    ]
    if provider in SIGNING:
        refused += [tenant.post(body + b" ", good), tenant.post(body.replace(b":", b": ", 1), good)]
    if provider in TIMED:
        for seconds in (-302, 330):  # the clock goes on until it is looked at
            at = datetime.now(UTC) + timedelta(seconds=seconds)
            refused.append(tenant.post(body, tenant.headers(body, at=at)))
    if provider in META:
        refused.append(
            tenant.post(body, {"x-hub-signature": good["x-hub-signature-256"], "content-type": "application/json"})
        )
    assert [each.status for each in refused] == [401] * len(refused)
    assert len({each.body for each in refused}) == 1
    drain(client)
    organizations = [each.organization for each in (tenant, blank, none)]
    assert events_of(client, organizations) == {}
    assert not [each for each in organizations if rejected_of(client, each)]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_escapes_and_white_space_are_verified_and_stored_as_they_came(client: Client, provider: str) -> None:
    tenant, body = Tenant.of(client, provider), odd_body(provider)
    headers = tenant.headers(body)
    if provider in SIGNING:
        assert tenant.post(json.dumps(json.loads(body), ensure_ascii=False).encode(), headers).status == 401
    assert tenant.post(body, headers, LEAD).status == 202
    assert eventually(lambda: events_of(client, [tenant.organization]))
    drain(client)
    assert set(raw_of(client, tenant.organization)) == {body.decode()}


@pytest.mark.parametrize("provider", META)
def test_metas_check_of_the_url_is_answered_with_its_challenge_alone(client: Client, provider: str) -> None:
    tenant = Tenant.of(client, provider, "app-secret", "verify:right token")

    def asked(**changes: str) -> tuple[int, bytes, str]:
        query = {"hub.mode": "subscribe", "hub.verify_token": "right%20token", "hub.challenge": "1158201444"} | changes
        joined = "&".join(f"{name}={value}" for name, value in query.items() if value != "-")
        answer = client.call("GET", f"{tenant.path}?{joined}", token=None)
        return answer.status, answer.body, answer.headers["Content-Type"].partition(";")[0]

    assert asked() == (200, b"1158201444", "text/plain")
    wrong = [asked(**{"hub.verify_token": token}) for token in ("wrong", "", "-", "app-secret", "verify:right%20token")]
    assert {status for status, *_ in [*wrong, asked(**{"hub.mode": "unsubscribe"})]} == {403}
    odd = [asked(**{"hub.challenge": challenge}) for challenge in ("-", "", "%3Cb%3Ex%3C/b%3E")]
    assert {status for status, *_ in odd} == {400}
    assert not [kind for *_, kind in [*wrong, *odd] if "html" in kind]
    drain(client)
    assert events_of(client, [tenant.organization]) == {}


@pytest.mark.parametrize("provider", sorted(set(PROVIDERS) - set(META)))
def test_a_provider_without_a_handshake_has_no_such_page(client: Client, provider: str) -> None:
    answer = client.call("GET", f"/v1/webhooks/{provider}/{client.organization}?hub.challenge=1", token=None)
    assert answer.status == 404


def hotmart_sale() -> list[bytes]:
    """APPROVED, then COMPLETE when the guarantee is over: the same transaction under ids of their own."""
    return [load("hotmart", "PURCHASE_APPROVED.pix"), load("hotmart", "PURCHASE_COMPLETE")]


def stripe_sale(*, basil: bool) -> list[bytes]:
    """Session, payment intent and invoice of one sale, in the shapes of either API version."""
    if basil:
        session = sample("stripe", "checkout.session.completed.one_time_invoice")
        invoice = sample("stripe", "invoice.paid.one_time_new")
        intent = sample("stripe", "payment_intent.succeeded.checkout_new")
        intent["data"]["object"] |= {
            "id": session["data"]["object"]["payment_intent"],
            "payment_details": {"order_reference": session["data"]["object"]["id"]},
        }
    else:
        session = sample("stripe", "checkout.session.completed.paid")
        intent = sample("stripe", "payment_intent.succeeded.checkout_old")
        invoice = sample("stripe", "invoice.paid.old")
        session["data"]["object"]["invoice"] = "in_1"
        named = {"id": "in_1", "payment_intent": intent["data"]["object"]["id"], "subscription": None}
        invoice["data"]["object"] |= named | {"billing_reason": "manual"}
    return [json.dumps(each).encode() for each in (session, intent, invoice)]


@pytest.mark.parametrize(
    ("provider", "sale"),
    [
        pytest.param("hotmart", hotmart_sale(), id="hotmart"),
        pytest.param("stripe", stripe_sale(basil=False), id="stripe before basil"),
        pytest.param("stripe", stripe_sale(basil=True), id="stripe since basil"),
    ],
)
def test_a_sale_that_several_deliveries_tell_is_counted_once_in_every_order(
    client: Client, provider: str, sale: list[bytes]
) -> None:
    orders = list(permutations(sale))
    tenants = [Tenant.of(client, provider) for _ in orders]
    for step in range(len(sale)):
        for tenant, order in zip(tenants, orders, strict=True):
            tenant.send(order[step], lead=LEAD)
        drain(client)  # so that the next one comes after it
    found = events_of(client, [tenant.organization for tenant in tenants])
    for tenant in tenants:
        types = types_of(found[tenant.organization])
        assert types.count("purchase_completed") == 1, types
        assert len(types) == len(sale)  # nothing is lost: the others are kept under the provider's own names
        assert rejected_of(client, tenant.organization) == []


def test_a_hotmart_event_that_nobody_knows_is_kept_and_the_next_sale_comes_through(client: Client) -> None:
    tenant = Tenant.of(client, "hotmart")
    unknown = load("hotmart", "PURCHASE_NEW_KIND_2030")
    tenant.send(unknown)  # and it names no buyer
    tenant.send(load("hotmart", "PURCHASE_APPROVED.pix"))
    assert eventually(lambda: rejected_of(client, tenant.organization))
    drain(client)
    [kept] = client.call("GET", f"/v1/organizations/{tenant.organization}/rejected-events").json["items"]
    assert (kept["source"], kept["eventType"], kept["code"]) == (
        "hotmart",
        "hotmart.PURCHASE_NEW_KIND_2030",
        "lead_unresolved",
    )
    path = f"/v1/organizations/{tenant.organization}/rejected-events/{kept['rejectedEventId']}"
    assert client.call("GET", f"{path}?include=rawPayload").json["rawPayload"] == unknown.decode()
    assert types_of(events_of(client, [tenant.organization])[tenant.organization]) == ["purchase_completed"]


@pytest.fixture
def heard(client: Client) -> Iterator[Any]:
    """What the bus brings to a queue of the test's own: the details of our events of one type."""
    sqs, events = client.aws("sqs"), client.aws("events")
    name = f"test-{uuid.uuid4().hex[:12]}"
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    bus = client.stack["eventBusName"]
    events.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps({"source": ["lead_events"]}))
    events.put_targets(Rule=name, EventBusName=bus, Targets=[{"Id": "queue", "Arn": arn}])
    taken: list[dict[str, Any]] = []

    def details(organization: str) -> list[dict[str, Any]]:
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                taken.append(json.loads(message["Body"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return [each for each in taken if each["detail"]["data"]["organizationId"] == organization]

    try:
        yield details
    finally:
        events.remove_targets(Rule=name, EventBusName=bus, Ids=["queue"])
        events.delete_rule(Name=name, EventBusName=bus)
        sqs.delete_queue(QueueUrl=url)


@pytest.mark.parametrize(
    ("topic", "told"),
    [
        ("customers.data_request", "privacy.customer-data-requested"),
        ("customers.redact", "privacy.customer-redaction-requested"),
        ("shop.redact", "privacy.shop-redaction-requested"),
    ],
)
def test_a_privacy_request_of_shopify_is_answered_and_handed_on_over_the_bus(
    client: Client, heard: Any, topic: str, told: str
) -> None:
    tenant, body = Tenant.of(client, "shopify"), load("shopify", topic)
    tenant.send(body, topic)
    [event] = eventually(lambda: heard(tenant.organization))
    assert (event["source"], event["detail-type"], event["detail"]["type"]) == ("lead_events", told, told)
    assert event["detail"]["data"]["source"] == "shopify"
    assert event["detail"]["data"]["payload"]["shopDomain"] == json.loads(body)["shop_domain"]
    tenant.send(body, topic)
    again = eventually(lambda: heard(tenant.organization)[1:])
    assert {each["detail"]["id"] for each in again} == {event["detail"]["id"]}  # by which a consumer knows it
    drain(client)
    assert events_of(client, [tenant.organization]) == {}
    assert rejected_of(client, tenant.organization) == []
