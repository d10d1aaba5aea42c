"""The contract of the events about organisations: complete, documented, strict where it matters and lenient elsewhere."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from lead_events.envelope import read_message
from lead_events.errors import InvalidError
from lead_events.instants import now
from lead_events.organizations import contract
from lead_events.organizations.contract import OrganizationPayload
from lead_events.reconciling import read
from tests import samples

MODELS = pytest.mark.parametrize("model", contract.EVENTS, ids=lambda model: model.type)


def test_both_categories_are_whole() -> None:
    assert [each.type for each in contract.EVENTS] == [
        "billing.cost-recorded", "billing.fee-created", "billing.subscription-created", "billing.subscription-changed",
        "billing.subscription-cancelled", "billing.invoice-paid", "billing.invoice-overdue",
        "billing.provider-webhook-processed", "offboarding.cancellation-requested", "offboarding.cancellation-reverted",
        "offboarding.cancellation-confirmed", "offboarding.retention-expired",
    ]  # fmt: skip


def test_each_event_has_a_sample_file_and_no_other_has() -> None:
    assert samples.names("organizations") == sorted(each.type for each in contract.EVENTS)


@MODELS
def test_its_sample_is_read_and_says_what_the_contract_says(model: type[OrganizationPayload]) -> None:
    text = samples.load("organizations", model.type).decode()
    envelope = json.loads(text)
    assert set(envelope) == {"specversion", "type", "id", "time", "datacontenttype", "data"}
    fact, _ = read(read_message(text), now())
    assert (fact.type, fact.id, fact.organization_id) == (
        model.type,
        envelope["id"],
        envelope["data"]["organizationId"],
    )
    assert set(model.sample) <= set(fact.fields)
    assert model.__doc__


@MODELS
def test_every_field_but_the_ids_and_codes_has_its_meaning(model: type[OrganizationPayload]) -> None:
    for name, rules in model.model_json_schema(by_alias=True)["properties"].items():
        assert rules.get("description") or any(each.get("description") for each in rules.get("anyOf", [])), name


@MODELS
def test_extra_fields_are_allowed_and_required_ones_are_required(model: type[OrganizationPayload]) -> None:
    contract.read(model, {**model.sample, "campo": {"novo": [1]}})
    for name in model.model_json_schema(by_alias=True).get("required", []):
        with pytest.raises(InvalidError) as caught:
            contract.read(model, {key: value for key, value in model.sample.items() if key != name})
        assert [each.field for each in caught.value.errors] == [f"data.{name}"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amount", "10"), ("amount", True), ("amount", Decimal("1E+15")), ("amount", Decimal("1E-13")), ("amount", None),
        ("currency", "R$"), ("currency", 1), ("currency", "REAIS"), ("costId", ""), ("costId", "x" * 256),
    ],
)  # fmt: skip
def test_what_breaks_the_contract_is_named_without_its_value(field: str, value: Any) -> None:
    with pytest.raises(InvalidError) as caught:
        contract.read(contract.CostRecorded, {"amount": 1, "currency": "BRL", field: value})
    assert [each.field for each in caught.value.errors] == [f"data.{field}"]
    assert repr(value) not in caught.value.detail


@pytest.mark.parametrize("value", ["yesterday", "2026-02-30", 1_774_447_200, ""])
def test_a_moment_is_an_instant_or_a_date(value: Any) -> None:
    with pytest.raises(InvalidError):
        contract.read(contract.InvoiceOverdue, {"invoiceId": "i", "dueDate": value})
    found = contract.read(contract.InvoiceOverdue, {"invoiceId": "i", "dueDate": "2026-03-20T10:00:00-03:00"})
    assert found.model_dump(by_alias=True)["dueDate"] == "2026-03-20T13:00:00.000000Z"


@pytest.mark.parametrize(
    "type", ["billing.subscription-canceled", "billing_service.invoice-paid", "billing-service.invoice-paid"]
)
def test_other_spellings_are_the_same_event(type: str) -> None:
    assert contract.find(type) is not None


@pytest.mark.parametrize(
    "type",
    [
        "billing.purchase-completed",
        "messaging.invoice-paid",
        "billing",
        "offboarding",
        "",
        "webhook.received",
        "billing.x.y",
    ],
)
def test_other_types_are_none_of_this_contract(type: str) -> None:
    assert contract.find(type) is None
