"""Hotmart's webhook 1.0.0: a flat form, read into the shape of 2.0.0, so that one table translates both.

It names no event, only a state of the purchase; says neither who is a subscriber of what plan id nor which recurrence it is,
so no subscription is created from it; and has a time for paid purchases alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from lead_events.errors import InvalidError
from lead_events.instants import parse_instant, to_microseconds
from lead_events.providers._reading import text
from lead_events.strict_json import Json

FORM_TYPE: Final = "application/x-www-form-urlencoded"

_MOST_FIELDS: Final = 1_000

_EVENTS: Final = {
    "approved": "PURCHASE_APPROVED",
    "billet_printed": "PURCHASE_BILLET_PRINTED",
    "canceled": "PURCHASE_CANCELED",
    "chargeback": "PURCHASE_CHARGEBACK",
    "completed": "PURCHASE_COMPLETE",
    "delayed": "PURCHASE_DELAYED",
    "dispute": "PURCHASE_PROTEST",
    "expired": "PURCHASE_EXPIRED",
    "refunded": "PURCHASE_REFUNDED",
}
"""States, by what 2.0.0 calls the news of them; any other one is told under its own name."""


def is_form(content_type: str | None, body: str) -> bool:
    """Whether a body is 1.0.0. A careless sender calls JSON a form, but no form begins like an object."""
    if body.lstrip("\ufeff \t\r\n").startswith("{"):
        return False
    return content_type is None or content_type.strip().lower().startswith(FORM_TYPE)


def values_of(body: str, name: str) -> list[str]:
    """All values of a field; none where the body is no form."""
    try:
        return [value for each, value in _pairs(body) if each == name]
    except InvalidError:
        return []


def as_v2(body: str) -> dict[str, Json]:
    """The delivery as 2.0.0 would have told it. Raises ``InvalidError`` where it tells of no purchase and no person."""
    fields: dict[str, str] = {}
    for name, value in _pairs(body):
        fields.setdefault(name, value)
    if not any(text(fields.get(name)) for name in ("transaction", "status", "email")):
        raise InvalidError.of("body", "must be a form of Hotmart's webhook 1.0.0")
    status = fields.get("status", "").strip()
    event = _EVENTS.get(status.lower(), status) or "unknown"
    return {
        "event": event,
        "version": "1.0.0",
        "creation_date": _paid_at(fields) if event in ("PURCHASE_APPROVED", "PURCHASE_BILLET_PRINTED") else None,
        "data": {
            "product": {"id": fields.get("prod"), "name": fields.get("prod_name")},
            "affiliates": [{"affiliate_code": fields.get("aff")}],
            "buyer": {
                "email": fields.get("email"),
                "checkout_phone_code": fields.get("phone_checkout_local_code"),
                "checkout_phone": fields.get("phone_checkout_number"),
            },
            "purchase": {
                "transaction": fields.get("transaction"),
                "status": status,
                "price": _money(fields, "price"),
                "full_price": _money(fields, "full_price"),
                "payment": {
                    "type": fields.get("payment_type"),
                    "installments_number": fields.get("installments_number"),
                },
                "offer": {"code": fields.get("off")},
                "origin": {name: fields.get(name) for name in ("src", "sck", "xcod")},
                "order_bump": {"is_order_bump": fields.get("order_bump") == "true"},
            },
            "subscription": {
                "status": fields.get("subscription_status"),
                "plan": {"name": fields.get("name_subscription_plan")},
                "subscriber": {"code": fields.get("subscriber_code")},
            },
        },
    }


def _pairs(body: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidError.of("body", f"must be a form of at most {_MOST_FIELDS} fields") from None


def _paid_at(fields: Mapping[str, str]) -> int | None:
    """Milliseconds since 1970 of the payment, or else of the order."""
    for name in ("confirmation_purchase_date", "purchase_date"):
        try:
            return to_microseconds(parse_instant(fields.get(name), name)) // 1_000
        except InvalidError:
            continue
    return None


def _money(fields: Mapping[str, str], name: str) -> Json:
    return {"value": fields.get(name), "currency_value": fields.get("currency")}
