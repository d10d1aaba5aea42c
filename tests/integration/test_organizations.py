"""Organisations through the deployed functions: state, lead events, and what is gone once an organisation has left."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest

from lead_events import wiring
from lead_events.names import ORGANIZATION_CLAIM, Scope
from tests.support.aws import CLAIMS, Context, sqs_event
from tests.support.builders import bus_event
from tests.support.functions import Functions, handler_of
from tests.support.organization_events import told


class Platform:
    """Tells about the organisation of these functions."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.path = f"/v1/organizations/{functions.organization_id}"

    def told(self, kind: str, minute: float = 0, **data: Any) -> str:
        return json.dumps(told(kind, minute, organization=self.functions.organization_id, **data))

    def deliver(self, *bodies: str) -> list[str]:
        """Give the organizations function a batch; ids of the messages that stay on the queue."""
        answer = handler_of("organizations")(sqs_event(*bodies), Context())
        return sorted(each["itemIdentifier"] for each in answer["batchItemFailures"])

    def state(self) -> dict[str, Any]:
        answer = self.functions.api("GET", self.path)
        assert answer.status == 200, answer.text
        found: dict[str, Any] = answer.json
        return found


@pytest.fixture
def platform(functions: Functions) -> Platform:
    return Platform(functions)


def forget() -> None:
    """As half a minute later."""
    wiring.lifecycles()._known.clear()


def test_a_batch_of_both_categories_becomes_the_state(platform: Platform) -> None:
    bodies = [
        platform.told(
            "billing.subscription-created", 0, subscriptionId="s1", planId="pro", amount=10.5, currency="BRL"
        ),
        platform.told("billing.subscription-changed", 5, subscriptionId="s1", status="past_due"),
        platform.told("billing.cost-recorded", 1, amount=0.25, currency="USD"),
        platform.told("offboarding.cancellation-requested", 2, reason="price"),
    ]
    assert platform.deliver(*reversed(bodies), *bodies) == []
    state = platform.state()
    assert (state["subscription"]["status"], state["subscription"]["amount"]) == ("past_due", 10.5)
    assert (state["costs"], state["lifecycle"]["status"]) == ({"USD": {"count": 1, "total": 0.25}}, "leaving")


def test_exactly_the_bad_message_stays_on_the_queue(platform: Platform) -> None:
    good = platform.told("billing.invoice-paid", 0, invoiceId="i1")
    lost = json.dumps(told("billing.invoice-paid", 0, organization="#", invoiceId="i1"))
    assert platform.deliver(good, "not json", lost) == ["m-1", "m-2"]
    assert platform.state()["invoices"]["paidEvents"] == 1
    assert platform.deliver() == []


def test_the_bus_the_queues_and_the_ingest_queue_are_one_road(platform: Platform) -> None:
    event = platform.told("billing.subscription-created", 0, leadId="lead_1", planId="pro", subscriptionId="s1")
    over_the_bus = json.dumps(bus_event(json.loads(event)))
    assert platform.deliver(over_the_bus, event) == []
    assert platform.functions.ingest(event, over_the_bus) == []
    [stored] = platform.functions.timeline()
    assert (stored["eventType"], stored["source"]) == ("subscription_created", "billing_service")
    assert platform.state()["subscription"]["leadId"] == "lead_1"


def test_plain_data_of_the_bus_is_taken_under_the_bus_own_id_and_time(platform: Platform) -> None:
    data = {"organizationId": platform.functions.organization_id, "amount": 3, "currency": "BRL"}
    event = json.dumps(bus_event(data, **{"detail-type": "billing.fee-created"}))
    assert platform.deliver(event, event) == []
    assert platform.state()["fees"] == {"BRL": {"count": 1, "total": 3}}


def test_an_organisations_event_on_the_ingest_queue_is_no_rejected_junk(platform: Platform) -> None:
    assert platform.functions.ingest(platform.told("billing.invoice-overdue", 0, invoiceId="i9")) == []
    assert platform.state()["invoices"]["overdue"] == ["i9"]
    assert platform.functions.api("GET", f"{platform.path}/rejected-events").json["items"] == []


def test_unknown_foreign_and_impossible_organisations_are_the_same_404(platform: Platform) -> None:
    unknown = platform.functions.api("GET", platform.path)
    platform.deliver(platform.told("billing.invoice-paid", 0, invoiceId="i1"))
    other = {"scope": Scope.READ, ORGANIZATION_CLAIM: "org_other"}
    foreign = platform.functions.api("GET", platform.path, claims=other)
    impossible = platform.functions.api("GET", "/v1/organizations/a%23b")
    assert [each.status for each in (unknown, foreign, impossible)] == [404] * 3
    assert unknown.text == foreign.text == impossible.text


def test_the_scope_is_asked_for(platform: Platform) -> None:
    claims = {"scope": Scope.WRITE, ORGANIZATION_CLAIM: platform.functions.organization_id}
    assert platform.functions.api("GET", platform.path, claims=claims).code == "insufficient_scope"


@pytest.mark.parametrize("kind", ["offboarding.cancellation-confirmed", "offboarding.retention-expired"])
def test_of_an_organisation_that_left_nothing_is_read_or_taken_but_its_own_state(platform: Platform, kind: str) -> None:
    functions = platform.functions
    [event] = [functions.direct().json]
    platform.deliver(platform.told(kind, 1))
    assert functions.api("GET", functions.lead()).status == 200  # for half a minute at most
    forget()
    lead = f"{platform.path}/leads/lead_1"
    identities = {"identities": [{"kind": "email", "value": "ana@clientes.example"}]}
    batch = {"content-type": "application/cloudevents-batch+json"}
    envelope = platform.told("ticketing.ticket-opened", 3, leadId="lead_1", ticketId="t1")
    for answer in (
        functions.api("GET", functions.lead()),
        functions.api("GET", f"{functions.lead()}/{event['eventId']}"),
        functions.api("GET", f"{lead}/memories"),
        functions.api("GET", f"{lead}/memories/purchase"),
        functions.api("GET", f"{lead}/identities"),
        functions.external("billing_service", "e-1"),
        functions.api("GET", f"{platform.path}/rejected-events"),
        functions.api("GET", f"{platform.path}/rejected-events/rej_1"),
        functions.api("PUT", f"{lead}/identities", identities),
        functions.direct(),
        functions.api("POST", "/v1/events", envelope),
    ):
        assert (answer.status, answer.code) == (410, "organization_gone")
    [result] = functions.api("POST", "/v1/events", f"[{envelope}]", headers=batch).json["results"]
    assert (result["status"], result["problem"]["code"]) == (410, "organization_gone")
    assert platform.state()["lifecycle"]["status"] in ("leaving", "retention_expired")
    foreign = {"scope": f"{Scope.READ} {Scope.WRITE}", ORGANIZATION_CLAIM: "org_other"}
    assert functions.api("GET", functions.lead(), claims=foreign).status == 404  # gone is nobody else's business
    assert len(functions.items()) == 1


def test_what_a_queue_brings_for_one_that_left_is_kept_and_can_be_read_once_it_is_back(platform: Platform) -> None:
    functions = platform.functions
    platform.deliver(platform.told("offboarding.cancellation-confirmed", 1))
    late = platform.told("ticketing.ticket-opened", 3, leadId="lead_1", ticketId="t1")
    assert functions.ingest(late) == []
    platform.deliver(platform.told("offboarding.cancellation-reverted", 2))
    forget()
    [kept] = functions.api("GET", f"{platform.path}/rejected-events").json["items"]
    assert kept["code"] == "organization_gone"
    assert functions.ingest(late) == []
    assert len(functions.timeline()) == 1


def test_no_data_of_an_event_is_logged_and_its_end_is(platform: Platform, capsys: pytest.CaptureFixture[str]) -> None:
    platform.deliver(
        platform.told("offboarding.cancellation-requested", 1, reason="segredo"),
        platform.told("billing.cost-recorded", 1, amount="segredo", currency="USD"),
    )
    out = capsys.readouterr().out
    assert "segredo" not in out
    ends = [json.loads(line) for line in out.splitlines() if '"outcome"' in line]
    assert sorted(each["outcome"] for each in ends) == ["applied", "rejected"]
    assert {each["organizationId"] for each in ends if each["outcome"] == "applied"} == {
        platform.functions.organization_id
    }
    assert '"EventApplied":[1.0]' in out


def test_a_throttled_store_leaves_the_message_on_the_queue_and_nothing_half_done(
    platform: Platform, throttle: Any
) -> None:
    seen = throttle("dynamodb", "TransactWriteItems", times=1_000)
    body = platform.told("billing.cost-recorded", 0, amount=1, currency="USD")
    assert platform.deliver(body) == ["m-0"]
    key = f"ORG#{platform.functions.organization_id}#"
    claims = boto3.client("dynamodb").scan(TableName=CLAIMS)["Items"]
    assert not [each for each in claims if each["claimId"]["S"].startswith(key)]
    seen.over = True
    assert platform.deliver(body, body) == []
    assert platform.state()["costs"]["USD"]["count"] == 1
