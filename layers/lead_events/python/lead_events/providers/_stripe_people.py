"""Who a Stripe event is about, and where they came from. Personal data: never in a payload, never logged."""

from __future__ import annotations

import re
from typing import Final

from lead_events.event import Identity, IdentityKind
from lead_events.names import Source
from lead_events.providers import _campaign
from lead_events.providers._reading import at, reference, text
from lead_events.strict_json import Json

MAX_CONTACT_LENGTH: Final = 320
"""Characters of the longest e-mail address; no phone is longer."""


def identities(told: Json) -> tuple[Identity, ...]:
    """The buyer, strongest first: customer id, phones, e-mails, wherever an object of its kind and API version has them.

    Shipping details are left out: a gift goes to somebody else. Phones are read in the country of the address beside them.
    """
    customer = told if at(told, "object") == "customer" else at(told, "customer")  # an id, or expanded
    session, billing = at(told, "customer_details"), at(told, "billing_details")
    phones = (
        (text(customer, "phone"), at(customer, "address")),
        (text(session, "phone"), at(session, "address")),
        (text(told, "customer_phone"), at(told, "customer_address")),  # invoices
        (text(billing, "phone"), at(billing, "address")),
    )
    emails = (
        text(customer, "email"),
        text(session, "email"),
        text(told, "customer_email"),
        text(told, "receipt_email"),
        text(billing, "email"),
    )
    customer_id = reference(customer) or reference(customer, "id")
    found = [Identity(IdentityKind.CUSTOMER, f"{Source.STRIPE}:{customer_id}")] if customer_id else []
    found += [Identity(IdentityKind.PHONE, each, _region(home)) for phone, home in phones if (each := _contact(phone))]
    found += [Identity(IdentityKind.EMAIL, each) for email in emails if (each := _contact(email))]
    return tuple(dict.fromkeys(found))


def tracking(told: Json) -> dict[str, str]:
    """Campaign parameters that the shop's page planted in the metadata."""
    planted = at(told, "metadata")
    pairs = planted.items() if isinstance(planted, dict) else ()
    return _campaign.parameters((name, value) for name, value in pairs if isinstance(value, str))


def _region(address: Json) -> str | None:
    country = text(address, "country")
    return country.upper() if country and re.fullmatch(r"[A-Za-z]{2}", country, re.ASCII) else None


def _contact(value: str | None) -> str | None:
    return value.strip() if value and len(value) <= MAX_CONTACT_LENGTH else None
