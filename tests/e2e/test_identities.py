"""Whose event it is, over real HTTP: one person through every provider is one lead, and what is nobody's is kept."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.e2e.client import Client, answered, at_once, eventually, new_lead
from tests.e2e.tenants import Tenant, drain, events_of, rejected_of
from tests.support.contacts import PROVIDERS, Person, hotmart, typeform, whatsapp
from tests.support.deliveries import SIGNED

pytestmark = pytest.mark.e2e


class Organization:
    """An organisation of a test's own, with a webhook of every provider."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.id = f"org_{uuid.uuid4().hex[:12]}"
        self.tenants = {each: Tenant(client, each, [SIGNED[each].new_secret()], self.id) for each in PROVIDERS}
        for tenant in self.tenants.values():
            tenant.store()

    def deliver(self, provider: str, body: bytes, lead: str | None = None) -> None:
        """Send what the provider would send; it is accepted."""
        tenant = self.tenants[provider]
        headers = tenant.headers(body)
        if provider == "shopify":
            headers["x-shopify-event-id"] = f"e-{hash(body)}"
        answer = answered(lambda: tenant.post(body, headers, lead))
        assert answer.status == 202, answer.body

    def events(self) -> list[dict[str, Any]]:
        """Items of the events table."""
        return events_of(self.client, [self.id])[self.id]

    def leads(self, events: int) -> dict[str, list[str]]:
        """Sources by lead, once the queue is empty; so many events are stored then."""
        eventually(lambda: len(self.events()) >= events)
        drain(self.client)
        assert len(self.events()) == events
        found: dict[str, set[str]] = defaultdict(set)
        for item in self.events():
            found[item["leadOrganizationId"]["S"].partition("#LEAD#")[2]].add(item["source"]["S"])
        return {lead: sorted(sources) for lead, sources in found.items()}

    def path(self, lead: str) -> str:
        return f"/v1/organizations/{self.id}/leads/{lead}/identities"

    def put(self, lead: str, *identities: dict[str, str]) -> Any:
        return self.client.call("PUT", self.path(lead), {"identities": identities})

    def kinds(self, lead: str) -> list[str]:
        answer = self.client.call("GET", self.path(lead))
        assert answer.status == 200, answer.body
        return sorted(each["kind"] for each in answer.json["identities"])


@pytest.fixture
def organization(client: Client) -> Organization:
    return Organization(client)


def test_twenty_five_simultaneous_first_contacts_through_different_providers_are_one_lead(
    organization: Organization,
) -> None:
    person, providers = Person(), list(PROVIDERS)
    bodies = [PROVIDERS[providers[number % 5]](person) for number in range(25)]
    at_once(25, lambda number: organization.deliver(providers[number % 5], bodies[number]))
    found = organization.leads(26)  # WhatsApp's five messages begin one conversation
    assert [*found.values()] == [sorted(PROVIDERS)]
    [lead] = found
    assert organization.kinds(lead) == ["customer"] * 10 + ["email", "phone"]
    assert rejected_of(organization.client, organization.id) == []


def test_c54_buyer_and_whatsapp_account_without_the_ninth_digit_are_one_lead_and_controls_are_others(
    organization: Organization,
) -> None:
    person = Person()
    bought, wrote = hotmart(person), whatsapp(person)
    organization.deliver("hotmart", bought)
    organization.deliver("whatsapp", wrote)
    for other in (f"55823{person.digits[1:]}", "12025550123"):  # a landline of the same digits, an American
        told = wrote.replace(person.wa_id.encode(), other.encode()).replace(b"wamid.", f"wamid.{other}".encode())
        organization.deliver("whatsapp", told)
    found = organization.leads(7)
    assert sorted(found.values()) == [["hotmart", "whatsapp"], ["whatsapp"], ["whatsapp"]]
    [lead] = [lead for lead, sources in found.items() if "hotmart" in sources]
    path = f"/v1/organizations/{organization.id}/leads/{lead}/events?include=rawPayload"
    raws = {each["rawPayload"].encode() for each in organization.client.call("GET", path).json["items"]}
    assert {bought, wrote} <= raws


def test_identities_are_put_and_read_by_kind_and_decide_whose_deliveries_are(organization: Organization) -> None:
    person, lead = Person(), new_lead()
    phone, email = (
        {"kind": "phone", "value": person.wa_id, "region": "BR"},
        {"kind": "email", "value": person.email.upper()},
    )
    answer = organization.put(lead, phone, email)
    assert answer.status == 200
    assert eventually(lambda: organization.kinds(lead) == ["email", "phone"])
    assert not any(text.encode() in answer.body for text in (person.digits, person.name))
    for provider, contact in PROVIDERS.items():
        organization.deliver(provider, contact(person))
    assert organization.leads(6) == {lead: sorted(PROVIDERS)}


def test_an_identity_of_another_lead_is_409_and_nothing_is_changed(organization: Organization) -> None:
    one, two = new_lead(), new_lead()
    ana, bob = ({"kind": "email", "value": f"{Person().name}@clientes.example"} for _ in range(2))
    assert organization.put(one, ana).status == 200
    refused = organization.put(two, bob, ana)
    assert (refused.status, refused.json["code"]) == (409, "identity_conflict")
    assert refused.json["errors"] == [{"field": "identities.1", "rule": "is another lead's"}]
    assert organization.kinds(two) == []
    assert organization.put(one, bob, ana).status == 200


@pytest.mark.parametrize(
    "identity",
    [{"kind": "email", "value": ""}, {"kind": "phone", "value": "90000-0001"}, {"kind": "name", "value": "x"}],
)
def test_what_cannot_be_compared_is_422(organization: Organization, identity: dict[str, str]) -> None:
    assert organization.put(new_lead(), identity).status == 422


def test_identities_are_for_who_may_read_and_write_the_organisation(client: Client) -> None:
    lead, own = new_lead(), client.organization
    [other] = [name for name in client.stack["tokens"] if name not in ("platform", own)]
    path = f"/v1/organizations/{own}/leads/{lead}/identities"
    body = {"identities": [{"kind": "email", "value": f"{lead}@clientes.example"}]}
    assert [client.call("PUT", path, body, token=each).status for each in (None, other, own)] == [401, 403, 200]
    assert [client.call("GET", path, token=each).status for each in (None, other, own)] == [401, 404, 200]


def test_25_leads_given_one_identity_at_once_one_gets_it(organization: Organization) -> None:
    leads, person = [new_lead() for _ in range(25)], Person()
    identities = ({"kind": "email", "value": person.email}, {"kind": "phone", "value": person.e164})
    statuses = at_once(25, lambda number: answered(lambda: organization.put(leads[number], *identities)).status)
    assert sorted(statuses) == [200] + [409] * 24
    winner = leads[statuses.index(200)]
    assert organization.kinds(winner) == ["email", "phone"]


def test_a_delivery_of_nobody_is_kept_shown_and_counted(organization: Organization) -> None:
    told = json.loads(typeform(Person())) | {"pad": "é😀" * 9_000}
    told["form_response"]["answers"] = []
    body = json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n"
    for _ in range(2):
        organization.deliver("typeform", body)
    client, path = organization.client, f"/v1/organizations/{organization.id}/rejected-events"

    def counted() -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = client.call("GET", path).json["items"]
        return items if sum(each["deliveries"] for each in items) >= 2 else []

    [shown] = eventually(counted)
    assert (shown["code"], shown["source"]) == ("lead_unresolved", "typeform")
    assert shown["firstSeenAt"] < shown["lastSeenAt"]
    whole = client.call("GET", f"{path}/{shown['rejectedEventId']}?include=rawPayload")
    assert whole.json["rawPayload"].encode() == body
    assert organization.events() == []
    [other] = [name for name in client.stack["tokens"] if name not in ("platform", client.organization)]
    assert client.call("GET", path, token=other).status == 404
    assert client.call("GET", path, token=None).status == 401
    assert client.call("GET", f"{path}/rej_{'a' * 2_000}").status == 404


def test_a_conflict_from_the_queue_is_kept_and_the_first_event_stays(organization: Organization) -> None:
    lead, client = new_lead(), organization.client
    data = {"organizationId": organization.id, "leadId": lead, "planId": "one"}
    first = {"specversion": "1.0", "type": "billing.subscription-created", "source": "billing_service", "id": f"evt_{lead}",
             "time": datetime.now(UTC).isoformat(), "data": data}  # fmt: skip
    client.send_message(first)
    assert organization.leads(1) == {lead: ["billing_service"]}
    other = json.dumps(first | {"data": data | {"planId": "two"}})
    client.send_message(other)
    path = f"/v1/organizations/{organization.id}/rejected-events"
    [shown] = eventually(lambda: client.call("GET", path).json["items"])
    assert (shown["code"], shown["externalEventId"]) == ("idempotency_conflict", f"evt_{lead}")
    assert client.call("GET", f"{path}/{shown['rejectedEventId']}?include=rawPayload").json["rawPayload"] == other
    [item] = organization.events()
    assert item["payload"]["M"]["planId"]["S"] == "one"
