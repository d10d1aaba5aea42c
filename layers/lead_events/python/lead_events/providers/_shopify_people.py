"""Who a Shopify delivery is about, and where they came from. Personal data: never in a payload, never logged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lead_events.event import Identity, IdentityKind
from lead_events.names import Source
from lead_events.providers import _campaign
from lead_events.providers._reading import at, items, planted_lead, text
from lead_events.providers._shopify_facts import Notice, global_id
from lead_events.strict_json import Json

MAX_CONTACT_LENGTH: Final = 320
"""Characters of the longest e-mail address; no phone is longer."""


def lead(notice: Notice, of_url: str | None) -> str | None:
    """The lead planted in the note attributes of the cart, checkout or order, or else in the webhook's URL."""
    noted = dict(_noted(notice.body))
    return planted_lead(noted.get("leadId"), noted.get("lead_id"), of_url)


def planted_order(notice: Notice) -> str | None:
    """Our own id of the order, where the shop planted one."""
    noted = dict(_noted(notice.body))
    return noted.get("orderId") or noted.get("order_id")


def identities(notice: Notice) -> tuple[Identity, ...]:
    """The buyer, strongest first: customer id, phones, e-mails.

    The shipping address is left out: a gift goes to somebody else. Phones may be free text (``555-555-SHIP``) and are
    read in the country of the address beside them.
    """
    body = notice.body
    customer = body if notice.resource == "customers" else at(body, "customer")
    home = at(customer, "default_address")
    billing = at(body, "billing_address")
    home_region, billing_region = _region(home), _region(billing)
    phones = (
        (text(customer, "phone"), home_region or billing_region),
        (text(body, "phone"), billing_region or home_region),
        (text(billing, "phone"), billing_region),
        (text(home, "phone"), home_region),
    )
    emails = (text(customer, "email"), text(body, "email"), text(body, "contact_email"))
    found = [Identity(IdentityKind.CUSTOMER, each) for each in (_customer(notice, customer),) if each]
    found += [Identity(IdentityKind.PHONE, each, region) for phone, region in phones if (each := _contact(phone))]
    found += [Identity(IdentityKind.EMAIL, each) for email in emails if (each := _contact(email))]
    return tuple({(each.kind, each.value): each for each in reversed(found)}.values())[::-1]


def tracking(notice: Notice) -> dict[str, str]:
    """Campaign parameters of the page where the visit began, else of the note attributes; that page and its referrer."""
    landing = text(notice.body, "landing_site")
    pages = {"landing_url": _campaign.page(landing), "referrer": _campaign.page(text(notice.body, "referring_site"))}
    campaign = _campaign.parameters(_noted(notice.body)) | _campaign.of_url(landing)
    return campaign | {name: url for name, url in pages.items() if url}


def _customer(notice: Notice, customer: Json) -> str | None:
    """``shopify:{number}``: the number of the global id, which no JavaScript has rounded, else the id itself."""
    found = global_id(customer, "Customer")
    if notice.resource == "subscription_contracts":
        found = global_id(notice.body, "Customer", "customer_id", "admin_graphql_api_customer_id")
    match = re.fullmatch(r"gid://shopify/Customer/(\d{1,30})", found or "", re.ASCII)
    return f"{Source.SHOPIFY}:{match[1]}" if match else None


def _noted(body: Json) -> Iterator[tuple[str, str]]:
    """Note attributes that are texts, names as the theme gave them; carts may have them as an object."""
    for place in ("note_attributes", "attributes"):
        for each in items(body, place):
            name, value = text(each, "name"), text(each, "value")
            if name and value:
                yield name, value
        named = at(body, place)
        if isinstance(named, dict):
            yield from ((name, value) for name, value in named.items() if isinstance(value, str) and value.strip())


def _region(address: Json) -> str | None:
    code = text(address, "country_code")
    return code.upper() if code and re.fullmatch(r"[A-Za-z]{2}", code, re.ASCII) else None


def _contact(value: str | None) -> str | None:
    return value.strip() if value and len(value) <= MAX_CONTACT_LENGTH else None
