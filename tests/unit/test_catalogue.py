"""The catalogue is the seeds' table of event types, to the letter."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from lead_events import catalogue
from lead_events.errors import InvalidError
from tests.support.builders import nested

# The table of the seeds, typed from it: category, event type, fields of the payload.
SEEDS: Final = """
Purchase     | purchase_completed     | productId, productName, category, amount, currency, paymentMethod
Purchase     | purchase_abandoned     | productIds, cartValue, stageAbandoned
Product      | product_viewed         | productId, productName, category
Product      | product_asked          | productId, question, channel
Interest     | interest_detected      | category, productId, confidence
Sentiment    | sentiment_detected     | score, label, context
Support      | ticket_opened          | ticketId, subject, productId, priority
Support      | ticket_resolved        | ticketId, resolution, satisfactionScore
Conversation | conversation_started   | channel, context
Conversation | conversation_ended     | channel, durationSeconds, messageCount, sentimentScore
Campaign     | campaign_delivered     | campaignId, campaignName, productId, channel
Campaign     | campaign_engaged       | campaignId, engagementType
Campaign     | campaign_ignored       | campaignId, daysSinceDelivery
Subscription | subscription_created   | planId, planName, amount
Subscription | subscription_cancelled | planId, reason
Form         | form_submitted         | formId, formName, responses
Discount     | discount_requested     | context, productId
Discount     | discount_accepted      | discountPercent, productId
Agent        | agent_insight          | insightType, content, confidence
Objection    | objection_raised       | type, context, productId
"""
ROWS: Final = [[cell.strip() for cell in line.split("|")] for line in SEEDS.strip().splitlines()]
ADDED: Final = {"purchase_abandoned": {"currency"}, "subscription_created": {"currency"}}
"""Fields that the seeds lack: an amount says nothing without its currency."""
PERSONAL: Final = ["ana.teste@example.org", "+55 82 90000-0001", "000.000.001-91"]


def wire_names(event_type: str) -> list[str]:
    fields = catalogue.EVENT_TYPES[event_type].model_fields
    return [str(field.alias or name) for name, field in fields.items()]


def test_the_twenty_types_of_the_seeds_are_there_in_their_order_and_no_others() -> None:
    assert list(catalogue.EVENT_TYPES) == [event_type for _, event_type, _ in ROWS]
    assert len(ROWS) == 20


@pytest.mark.parametrize(("category", "event_type", "fields"), ROWS)
def test_each_type_has_the_category_and_the_fields_of_the_seeds(category: str, event_type: str, fields: str) -> None:
    assert catalogue.EVENT_TYPES[event_type].category == category.lower()
    assert set(wire_names(event_type)) == set(fields.split(", ")) | ADDED.get(event_type, set())


def test_the_twelve_categories_of_the_seeds_are_there() -> None:
    assert [each.value for each in catalogue.Category] == list(dict.fromkeys(row[0].lower() for row in ROWS))


@pytest.mark.parametrize("event_type", catalogue.EVENT_TYPES)
def test_each_types_sample_has_every_field_and_is_valid_as_payload_and_by_its_schema(event_type: str) -> None:
    model = catalogue.EVENT_TYPES[event_type]
    assert set(model.sample) | ADDED.get(event_type, set()) == set(wire_names(event_type))
    assert model.__doc__
    catalogue.check(event_type, model.sample)
    plain = {name: float(value) if isinstance(value, Decimal) else value for name, value in model.sample.items()}
    Draft202012Validator(catalogue.json_schema(event_type)).validate(plain)


@pytest.mark.parametrize("event_type", catalogue.EVENT_TYPES)
def test_unknown_extra_fields_are_allowed_whatever_their_name(event_type: str) -> None:
    extra = {"utm.source": "x", "__proto__": {}, "model_dump": 1, "": None, "product_id": 5, "class": nested(20)}
    catalogue.check(event_type, extra | catalogue.EVENT_TYPES[event_type].sample)


@pytest.mark.parametrize(
    ("event_type", "changes", "field"),
    [
        ("purchase_completed", {"amount": "497.00"}, "payload.amount"),
        ("purchase_completed", {"amount": True}, "payload.amount"),
        ("purchase_completed", {"amount": Decimal("-0.01")}, "payload.amount"),
        ("purchase_completed", {"amount": None}, "payload.amount"),
        ("purchase_completed", {"currency": "brl"}, "payload.currency"),
        ("purchase_completed", {"currency": "BRL\n"}, "payload.currency"),
        ("purchase_completed", {"productId": 42}, "payload.productId"),
        ("purchase_completed", {"productId": ""}, "payload.productId"),
        ("purchase_abandoned", {"productIds": "prod_42"}, "payload.productIds"),
        ("purchase_abandoned", {"productIds": ["a", 1]}, "payload.productIds.1"),
        ("interest_detected", {"confidence": Decimal("1.01")}, "payload.confidence"),
        ("sentiment_detected", {"score": Decimal("-1.01")}, "payload.score"),
        ("discount_accepted", {"discountPercent": 101}, "payload.discountPercent"),
        ("form_submitted", {"responses": ["x"]}, "payload.responses.0"),
    ],
)
def test_a_field_of_the_wrong_type_or_range_is_named(event_type: str, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidError) as caught:
        catalogue.check(event_type, catalogue.EVENT_TYPES[event_type].sample | changes)
    assert [each.field for each in caught.value.errors] == [field]


def test_numbers_of_any_exactness_are_numbers() -> None:
    for amount in (0, 5, Decimal("0.30000000000000004"), Decimal("1E+30")):
        catalogue.check("purchase_completed", {"amount": amount, "currency": "BRL"})


@pytest.mark.parametrize("payload", [None, [], "x", 1, True])
def test_a_catalogue_type_takes_objects_only(payload: Any) -> None:
    with pytest.raises(InvalidError):
        catalogue.check("purchase_completed", payload)


@pytest.mark.parametrize("payload", [None, [], "x", Decimal(1), {"anything": [1]}])
def test_a_type_outside_the_catalogue_takes_any_json(payload: Any) -> None:
    catalogue.check("message.received", payload)


def error_of(event_type: str, payload: Any) -> InvalidError | None:
    try:
        catalogue.check(event_type, payload)
    except InvalidError as error:
        return error
    return None


@pytest.mark.parametrize("value", PERSONAL)
@pytest.mark.parametrize("event_type", catalogue.EVENT_TYPES)
def test_errors_never_contain_a_value_that_was_sent(event_type: str, value: str) -> None:
    for wrong in (value, [value], {value: value}, [{value: [value]}]):
        payload = dict.fromkeys(wire_names(event_type), wrong)
        if (error := error_of(event_type, payload)) is not None:
            assert value not in f"{error!r} {error.detail} {error.errors} {error.__cause__!r}"
            assert error.__suppress_context__
