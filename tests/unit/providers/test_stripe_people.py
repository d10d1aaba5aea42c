"""Whom Stripe's objects tell of, in whatever shape, and where they came from."""

from __future__ import annotations

from typing import Any

import pytest

from lead_events.event import Identity, IdentityKind
from lead_events.providers._stripe_people import identities, tracking

CUSTOMER, PHONE, EMAIL = IdentityKind
ADDRESS = {"country": "br", "city": "Maceió"}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"object": "checkout.session", "customer": "cus_1", "customer_email": "ana@casa.example",
          "customer_details": {"email": "ana@loja.example", "phone": "+5582900000001", "address": ADDRESS}},
         [(CUSTOMER, "stripe:cus_1", None), (PHONE, "+5582900000001", "BR"), (EMAIL, "ana@loja.example", None),
          (EMAIL, "ana@casa.example", None)]),
        ({"object": "invoice", "customer": "cus_1", "customer_email": "ana@loja.example", "customer_phone": "82 90000-0001",
          "customer_address": ADDRESS},
         [(CUSTOMER, "stripe:cus_1", None), (PHONE, "82 90000-0001", "BR"), (EMAIL, "ana@loja.example", None)]),
        ({"object": "payment_intent", "customer": None, "receipt_email": " ana@loja.example "},
         [(EMAIL, "ana@loja.example", None)]),
        ({"object": "charge", "customer": {"id": "cus_1", "email": "ana@loja.example"}, "receipt_email": "ana@loja.example",
          "billing_details": {"email": "ana@loja.example", "phone": None, "address": {"country": "BRA"}}},
         [(CUSTOMER, "stripe:cus_1", None), (EMAIL, "ana@loja.example", None)]),
        ({"object": "customer", "id": "cus_1", "phone": "82900000001", "address": None},
         [(CUSTOMER, "stripe:cus_1", None), (PHONE, "82900000001", None)]),
        ({"object": "subscription", "id": "sub_1", "customer": "cus_1"}, [(CUSTOMER, "stripe:cus_1", None)]),
        ({"object": "checkout.session", "shipping_details": {"phone": "82900000002"}}, []),
        ({"object": "customer", "id": 7, "email": "x" * 321}, []),
        (None, []),
        ("cus_1", []),
    ],
)  # fmt: skip
def test_the_buyer_is_known_by_customer_id_phone_and_email(told: Any, expected: list[Any]) -> None:
    assert identities(told) == tuple(Identity(*each) for each in expected)


def test_campaign_parameters_are_read_from_the_metadata() -> None:
    planted = {
        "utm_source": "instagram",
        "UTM_Campaign": " lote-2 ",
        "leadId": "lead_1",
        "utm_term": 7,
        "email": "a@b.example",
    }
    assert tracking({"metadata": planted}) == {"utm_source": "instagram", "utm_campaign": "lote-2"}
    assert tracking({"metadata": None}) == {}
