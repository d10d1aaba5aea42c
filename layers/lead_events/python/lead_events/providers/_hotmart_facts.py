"""What Hotmart's events mean: the table from their names to ours.

One sale, one ``purchase_completed``: the first PURCHASE_APPROVED of a ``transaction``. PURCHASE_COMPLETE only says that its
refund period is over, so it never counts, whichever comes first. Likewise one abandonment of a transaction, though a printed
boleto may expire and then be cancelled. Test deliveries are told from real ones by product 0; their payloads say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from lead_events.errors import InvalidError
from lead_events.event import check_event_type
from lead_events.instants import format_instant, from_unix_milliseconds
from lead_events.providers._money import from_major_units, percent
from lead_events.providers._reading import at, items, known, reference, text
from lead_events.strict_json import Json

_TEST_TRANSACTION: Final = "HP16015479281022"
"""The transaction of every delivery of the test button that has one."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A delivery, read; ``data`` is its object ``data``."""

    event: str
    time: datetime
    data: Json

    @property
    def transaction(self) -> str | None:
        return reference(self.data, "purchase", "transaction")

    @property
    def subscription_id(self) -> str | None:
        return _id(self.data, "subscription", "id")

    @property
    def subscriber_code(self) -> str | None:
        """Of one person and one product."""
        return (
            _id(self.data, "subscription", "subscriber", "code")
            or _id(self.data, "subscriber", "code")
            or _id(self.data, "subscription", "subscriber_code")
        )


@dataclass(frozen=True, slots=True)
class Fact:
    """One normalised event. ``fact_id`` names what happened, where other deliveries may tell of the same."""

    event_type: str
    payload: Json
    fact_id: str | None = None
    part: str = ""
    """Tells a second event of one notice from the first."""


def as_told(notice: Notice) -> Fact:
    """The event under Hotmart's own name: ids, money and states, no personal data."""
    return Fact(_own_name(notice.event), _about(notice) | _price(notice) | _state(notice))


def _approved(notice: Notice) -> list[Fact]:
    payload = _about(notice) | _price(notice)
    sale = Fact("purchase_completed", payload, _once("purchase", notice.transaction))
    return [sale, *_first_recurrence(notice), *_coupon(notice)]


def _first_recurrence(notice: Notice) -> list[Fact]:
    """A later recurrence renews a subscription, and is a purchase alone."""
    if not isinstance(at(notice.data, "subscription"), dict) or _recurrence(notice) != 1:
        return []
    payload = known(**_plan(notice), **_price(notice), **_product(notice), **_ids(notice))
    fact = _once("subscription_created", notice.transaction)
    return [Fact("subscription_created", payload, fact, part="subscription_created")]


def _coupon(notice: Notice) -> list[Fact]:
    """A coupon's percent is known where the offer's price before it is, in the same currency."""
    coupon = text(notice.data, "purchase", "offer", "coupon_code")
    if coupon is None:
        return []
    paid, before = _money(notice, "price"), _money(notice, "original_offer_price")
    off = before[0] - paid[0] if paid and before and before[1] == paid[1] and before[0] > paid[0] else None
    payload = known(
        discountPercent=percent(off, before[0]) if off is not None and before else None,
        productId=_product(notice).get("productId"),
        discountAmount=off,
        currency=paid[1] if paid and off is not None else None,
        couponCode=coupon,
        transaction=notice.transaction,
        **_test(notice),
    )
    return [
        Fact("discount_accepted", payload, _once("discount_accepted", notice.transaction), part="discount_accepted")
    ]


def _cart_left(notice: Notice) -> list[Fact]:
    """Hotmart has no cart: the buyer's data were filled in at a checkout that was not finished."""
    return [Fact("purchase_abandoned", _about(notice) | _basket(notice) | {"stageAbandoned": "checkout"})]


def _payment_left(notice: Notice) -> list[Fact]:
    """Expired, cancelled, or waiting for a boleto or Pix that may still be paid: ``pending``."""
    basket = _basket(notice) | known(pending=True if notice.event == "PURCHASE_BILLET_PRINTED" else None)
    payload = _about(notice) | basket | _state(notice) | {"stageAbandoned": "payment"}
    transaction = None if _test(notice) else notice.transaction  # all tests bear one, and each shall be seen
    return [Fact("purchase_abandoned", payload, _once("purchase_abandoned", transaction))]


def _subscription_ended(notice: Notice) -> list[Fact]:
    when = _instant(notice.data, "cancellation_date")
    subscription = notice.subscription_id or notice.subscriber_code
    name = f"{subscription}:{when}" if subscription and when else None
    return [Fact("subscription_cancelled", _about(notice) | _state(notice), _once("subscription_cancelled", name))]


TRANSLATIONS: Final[dict[str, Callable[[Notice], list[Fact]]]] = {
    "PURCHASE_APPROVED": _approved,
    "PURCHASE_BILLET_PRINTED": _payment_left,
    "PURCHASE_CANCELED": _payment_left,
    "PURCHASE_EXPIRED": _payment_left,
    "PURCHASE_OUT_OF_SHOPPING_CART": _cart_left,
    "SUBSCRIPTION_CANCELLATION": _subscription_ended,
}
"""Hotmart's events that have a type of ours. What lacks something its type needs is told as it is."""


def _about(notice: Notice) -> dict[str, Json]:
    """What was sold, how, and as part of what."""
    purchase = at(notice.data, "purchase")
    payment = text(purchase, "payment", "type")
    return known(
        **_product(notice),
        paymentMethod=payment.lower() if payment else None,
        installments=_count(purchase, "payment", "installments_number"),
        offerCode=text(purchase, "offer", "code") or text(notice.data, "offer", "code"),
        couponCode=text(purchase, "offer", "coupon_code"),
        recurrenceNumber=_recurrence(notice),
        affiliateCode=text(notice.data, "affiliates", 0, "affiliate_code"),
        orderBump=True if at(purchase, "order_bump", "is_order_bump") is True else None,
        parentTransaction=reference(purchase, "order_bump", "parent_purchase_transaction"),
        **_plan(notice),
        **_ids(notice),
    )


def _ids(notice: Notice) -> dict[str, Json]:
    return known(
        transaction=notice.transaction,
        subscriptionId=notice.subscription_id,
        subscriberCode=notice.subscriber_code,
        **_test(notice),
    )


def _state(notice: Notice) -> dict[str, Json]:
    """How things stand, for the events that change it."""
    data = notice.data
    subscription = at(data, "subscription")
    return known(
        status=text(data, "purchase", "status"),
        refusalReason=text(data, "purchase", "payment", "refusal_reason"),
        subscriptionStatus=text(subscription, "status"),
        recurrenceAmount=from_major_units(at(data, "actual_recurrence_value")),
        cancelledAt=_instant(data, "cancellation_date"),
        switchedAt=_instant(data, "switch_plan_date"),
        accessUntil=_instant(data, "date_next_charge") if notice.event == "SUBSCRIPTION_CANCELLATION" else None,
        nextChargeAt=_instant(data, "purchase", "date_next_charge") or _instant(subscription, "date_next_charge"),
        moduleId=_id(data, "module", "id"),
        moduleName=text(data, "module", "name"),
    )


def _product(notice: Notice) -> dict[str, Json]:
    product = at(notice.data, "product") or at(notice.data, "subscription", "product")
    return known(
        productId=_id(product, "id"), productName=text(product, "name"), productUcode=reference(product, "ucode")
    )


def _basket(notice: Notice) -> dict[str, Json]:
    product, price = _product(notice).get("productId"), _price(notice)
    return known(
        productIds=[product] if product else None, cartValue=price.get("amount"), currency=price.get("currency")
    )


def _plan(notice: Notice) -> dict[str, Json]:
    """The subscription's plan; of a switch the one that is current now, and those that are not."""
    plans = items(notice.data, "plans")
    current = [each for each in plans if at(each, "current") is True]
    plan = current[0] if current else at(notice.data, "subscription", "plan")
    others = [_id(each, "id") for each in plans if at(each, "current") is not True]
    return known(
        planId=_id(plan, "id"), planName=text(plan, "name"), otherPlanIds=[each for each in others if each is not None]
    )


def _price(notice: Notice) -> dict[str, Json]:
    """The offer's price, or else what was paid with fees and interest."""
    price = _money(notice, "price") or _money(notice, "full_price")
    return known(amount=price[0], currency=price[1]) if price else {}


def _money(notice: Notice, name: str) -> tuple[Decimal, str] | None:
    """An amount in major units, JSON number or string, and its currency."""
    amount = from_major_units(at(notice.data, "purchase", name, "value"))
    currency = (text(notice.data, "purchase", name, "currency_value") or "").upper()
    return (amount, currency) if amount is not None and re.fullmatch("[A-Z]{3}", currency) else None


def _test(notice: Notice) -> dict[str, Json]:
    product = _product(notice).get("productId")
    is_test = (isinstance(product, str) and not product.strip("0")) or notice.transaction == _TEST_TRANSACTION
    return {"test": True} if is_test else {}


def _recurrence(notice: Notice) -> int | None:
    return _count(notice.data, "purchase", "recurrence_number")


def _once(kind: str, name: str | None) -> str | None:
    return name and f"{kind}:{name}"


def _own_name(event: str) -> str:
    try:
        return check_event_type(f"hotmart.{event}", "event")
    except InvalidError:
        return "hotmart.unknown"


def _instant(value: Json, *path: str) -> str | None:
    """Milliseconds since 1970, a number or a string of digits, as an instant."""
    try:
        return format_instant(from_unix_milliseconds(at(value, *path), "date"))
    except InvalidError:
        return None


def _count(value: Json, *path: str) -> int | None:
    """A small whole number, or a string of its digits."""
    found = at(value, *path)
    if isinstance(found, str) and re.fullmatch(r"\d{1,6}", found, re.ASCII):
        return int(found)
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if 0 <= found < 1_000_000 else None


def _id(value: Json, *path: str) -> str | None:
    """An id that Hotmart writes as a number or as a string."""
    found = at(value, *path)
    return reference(str(found) if isinstance(found, int) and not isinstance(found, bool) else found)
