"""The catalogue as data says what the catalogue does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lead_events import catalogue, event_types
from lead_events.errors import InvalidError
from lead_events.names import Source
from lead_events.strict_json import loads

DESCRIBED: dict[str, dict[str, Any]] = {each["name"]: each for each in event_types.document()["eventTypes"]}

SEEDS = {
    "purchase_completed": "productId productName category amount currency paymentMethod",
    "purchase_abandoned": "productIds cartValue stageAbandoned",
    "product_viewed": "productId productName category",
    "product_asked": "productId question channel",
    "interest_detected": "category productId confidence",
    "sentiment_detected": "score label context",
    "ticket_opened": "ticketId subject productId priority",
    "ticket_resolved": "ticketId resolution satisfactionScore",
    "conversation_started": "channel context",
    "conversation_ended": "channel durationSeconds messageCount sentimentScore",
    "campaign_delivered": "campaignId campaignName productId channel",
    "campaign_engaged": "campaignId engagementType",
    "campaign_ignored": "campaignId daysSinceDelivery",
    "subscription_created": "planId planName amount",
    "subscription_cancelled": "planId reason",
    "form_submitted": "formId formName responses",
    "discount_requested": "context productId",
    "discount_accepted": "discountPercent productId",
    "agent_insight": "insightType content confidence",
    "objection_raised": "type context productId",
}


def test_every_type_of_the_catalogue_is_described_and_no_other() -> None:
    assert set(DESCRIBED) == set(catalogue.EVENT_TYPES) == set(SEEDS)


@pytest.mark.parametrize("name", SEEDS)
def test_a_schema_has_every_field_that_was_agreed_on(name: str) -> None:
    assert set(SEEDS[name].split()) <= set(DESCRIBED[name]["schema"]["properties"])


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_description_is_complete(name: str) -> None:
    described = DESCRIBED[name]
    assert described["description"].endswith(".")
    assert described["category"] == catalogue.EVENT_TYPES[name].category
    for field in described["schema"]["properties"].values():
        assert field["description"]
        assert not {"title", "default", "anyOf"} & set(field)


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_sample_keeps_its_own_schema_and_the_contract(name: str) -> None:
    schema, sample = DESCRIBED[name]["schema"], DESCRIBED[name]["sample"]
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(sample)
    catalogue.check(name, loads(json.dumps(sample)))
    assert sample
    assert set(sample) <= set(schema["properties"])
    assert set(schema.get("required", ())) <= set(sample)


VALUES: tuple[Any, ...] = (None, True, "", "x", "BRL", 0, -1, 2, 101, 0.5, [], ["a"], [""], [1], {}, [{}])


@pytest.mark.parametrize("name", DESCRIBED)
def test_schema_and_contract_agree_on_what_is_wrong(name: str) -> None:
    """For each field absent, and each with values of every kind: both take it, or neither does."""
    validator = Draft202012Validator(DESCRIBED[name]["schema"])
    sample = DESCRIBED[name]["sample"]
    for field in DESCRIBED[name]["schema"]["properties"]:
        absent = {key: value for key, value in sample.items() if key != field}
        for payload in (absent, *({**sample, field: value} for value in VALUES)):
            assert validator.is_valid(payload) is _accepted(name, payload), payload


def test_fields_beyond_the_contract_are_allowed() -> None:
    schema = DESCRIBED["product_viewed"]["schema"]
    Draft202012Validator(schema).validate({"productId": "prod_42", "page": {"depth": 3}})


def test_every_source_is_listed_with_its_type() -> None:
    sources = {each["source"]: each["sourceType"] for each in event_types.document()["sources"]}
    assert set(sources) == {str(each) for each in Source}
    assert sources["stripe"] == "EXTERNAL"
    assert sources["billing_service"] == "INTERNAL"
    assert sources["whatsapp"] == "DIRECT"


def test_any_json_writer_takes_the_document() -> None:
    """Amounts are exact decimals in the catalogue; here they are plain numbers of the same value."""
    document = json.loads(json.dumps(event_types.document()))
    amounts = {each["name"]: each["sample"].get("amount") for each in document["eventTypes"]}
    assert (amounts["purchase_completed"], amounts["subscription_created"]) == (497, 99.9)


def _accepted(name: str, payload: dict[str, Any]) -> bool:
    try:
        catalogue.check(name, loads(json.dumps(payload)))
    except InvalidError:
        return False
    return True
