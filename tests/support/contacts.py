"""First contacts of invented people, as the providers tell of them: deliveries that plant no lead."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.samples import load


@dataclass(frozen=True)
class Person:
    """A Brazilian with a mobile of nine digits, in area 82."""

    digits: str = field(default_factory=lambda: f"9{uuid.uuid4().int % 10**7:07d}")
    """The mobile's eight digits behind the ninth, which is the first."""
    name: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    @property
    def email(self) -> str:
        return f"{self.name}@clientes.example"

    @property
    def e164(self) -> str:
        return f"+55829{self.digits}"

    @property
    def wa_id(self) -> str:
        """As WhatsApp knows accounts of before 2016: without the ninth digit."""
        return f"5582{self.digits}"


def unique() -> str:
    return uuid.uuid4().hex


def hotmart(person: Person, *, email: bool = True) -> bytes:
    """A sale at Hotmart, with the phone as its checkout takes it: area code and number apart."""
    told = json.loads(load("hotmart", "PURCHASE_APPROVED.pix"))
    told["id"] = unique()
    told["data"]["purchase"]["transaction"] = f"HP{unique()[:12].upper()}"
    del told["data"]["purchase"]["origin"]
    buyer = {
        "checkout_phone_code": "82",
        "checkout_phone": f"9{person.digits}",
        "email": person.email.upper() if email else "",
    }
    told["data"]["buyer"] |= buyer
    return json.dumps(told).encode()


def whatsapp(person: Person, *, user_id: bool = False) -> bytes:
    """A message."""
    told = json.loads(load("whatsapp", "message.text"))
    value = told["entry"][0]["changes"][0]["value"]
    message, contact = value["messages"][0], value["contacts"][0]
    message |= {"from": person.wa_id, "id": f"wamid.{unique()}"}
    contact["wa_id"] = person.wa_id
    for place, name in ((message, "from_user_id"), (contact, "user_id")):
        place.pop(name, None)
        if user_id:
            place[name] = f"BR.{person.name}"
    return json.dumps(told).encode()


def typeform(person: Person, *, email: bool = True) -> bytes:
    """A form, with the phone as people write it."""
    form, token = "form1", unique()
    answers: list[dict[str, Any]] = [
        {
            "type": "phone_number",
            "phone_number": f"(82) 9{person.digits[:4]}-{person.digits[4:]}",
            "field": {"id": "f1", "type": "phone_number"},
        },
        {"type": "email", "email": f" {person.email} " if email else "", "field": {"id": "f2", "type": "email"}},
    ]
    response = {"form_id": form, "token": token, "submitted_at": "2026-01-08T13:00:00Z", "answers": answers}
    return json.dumps({"event_id": unique(), "event_type": "form_response", "form_response": response}).encode()


def shopify(person: Person, *, email: bool = True) -> bytes:
    """A paid order."""
    told = json.loads(load("shopify", "orders.paid"))
    number = uuid.uuid4().int % 10**15
    address = {"first_name": "Ana", "country_code": "BR", "phone": f"082 9{person.digits}"}
    mail = person.email if email else None
    told |= {
        "id": number, "admin_graphql_api_id": f"gid://shopify/Order/{number}", "note_attributes": [],
        "billing_address": address,
        "email": mail, "contact_email": mail, "phone": person.e164, "landing_site": None,
        "customer": {"id": number, "admin_graphql_api_id": f"gid://shopify/Customer/{number}", "email": mail, "phone": None},
    }  # fmt: skip
    return json.dumps(told).encode()


def stripe(person: Person, *, email: bool = True) -> bytes:
    """A paid session."""
    told = json.loads(load("stripe", "checkout.session.completed.paid"))
    session = told["data"]["object"]
    told["id"] = f"evt_{unique()}"
    session |= {
        "id": f"cs_{unique()}",
        "payment_intent": f"pi_{unique()}",
        "client_reference_id": None,
        "customer": f"cus_{unique()}",
    }
    session["customer_details"] |= {"email": person.email if email else None, "phone": person.e164}
    return json.dumps(told).encode()


PROVIDERS: Final[dict[str, Callable[[Person], bytes]]] = {
    "hotmart": hotmart,
    "whatsapp": whatsapp,
    "typeform": typeform,
    "shopify": shopify,
    "stripe": stripe,
}
"""Each tells the person's phone, and all but WhatsApp the e-mail too."""
