"""What Shopify's topics mean: the table from their names to ours.

* A sale is told by ``orders/paid``, and by ``orders/create`` where it is born paid. Both tell one *fact*, named by the
  order's global id, so it counts once. An order that waits for its money (Pix, boleto) is no purchase yet.
* Nobody tells of an abandoned checkout: only time can, and a translation knows no time. ``checkouts/*`` are kept as they
  are told, with how far the buyer came and a ``checkoutKey`` that the order repeats: what a timer needs.
* A webhook names no plan of a subscription. Its contract holds the terms, made for this one buyer: it serves as the plan,
  so that a cancellation names the same ``planId`` as its beginning.
* The tokens of carts and checkouts open them, so payloads hold a hash of them: ``cartKey``, ``checkoutKey``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from lead_events.providers._money import from_major_units, percent
from lead_events.providers._reading import at, items, known, reference, text
from lead_events.strict_json import Json

MAX_LINES: Final = 100
"""Lines of an order that its payload repeats; ``lineCount`` says where there are more."""

_GLOBAL_ID: Final = re.compile(r"gid://shopify/\w{1,60}/[\w-]{1,60}(?:\?[\w=&-]{1,60})?", re.ASCII)
_KINDS: Final = {
    "orders": "Order",
    "customers": "Customer",
    "refunds": "Refund",
    "products": "Product",
    "subscription_contracts": "SubscriptionContract",
}
"""Kind of the object of a topic, in global ids."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A delivery, read: its topic ``resource/action`` and the resource itself."""

    topic: str
    body: Json
    test: bool = False

    @property
    def resource(self) -> str:
        return self.topic.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Fact:
    """One normalised event. ``fact_id`` names what happened, where other deliveries may tell of the same."""

    event_type: str
    payload: Json
    fact_id: str | None = None
    part: str = ""
    """Tells a second event of one notice from the first."""


def as_told(notice: Notice) -> Fact:
    """The event under Shopify's own name: ids, money and states, no personal data."""
    payload = _TOLD.get(notice.resource, _other)(notice)
    return Fact(f"shopify.{notice.topic}", payload | known(test=_test(notice)))


def object_id(notice: Notice) -> str | None:
    """The global id of the object; where there is none, its own id or the hash of its token."""
    if notice.resource in ("carts", "checkouts"):
        return _key(notice.body, "token")
    own = global_id(notice.body, _KINDS.get(notice.resource, ""))
    return own or number(notice.body, "id") or reference(notice.body, "id")


def global_id(value: Json, kind: str, name: str = "id", global_name: str = "admin_graphql_api_id") -> str | None:
    """``gid://shopify/Order/820…``: as written, which no JavaScript has rounded, else made of the numeric id."""
    written, own = text(value, global_name), number(value, name)
    if written is not None and _GLOBAL_ID.fullmatch(written):
        return written
    return f"gid://shopify/{kind}/{own}" if kind and own else None


def number(value: Json, name: str) -> str | None:
    """A numeric id as text: ids exceed 2^53."""
    found = at(value, name)
    if isinstance(found, int) and not isinstance(found, bool) and 0 < found < 10**30:
        return str(found)
    return found if isinstance(found, str) and re.fullmatch(r"[1-9]\d{0,29}", found, re.ASCII) else None


def _sale(notice: Notice) -> list[Fact]:
    """A paid order, and the discount that its buyer took."""
    order, sale = notice.body, global_id(notice.body, "Order")
    gateways: list[Json] = [each for each in items(order, "payment_gateway_names") if isinstance(each, str) and each]
    products = _products(order)
    lines = items(order, "line_items")
    payload = known(
        productId=products[0] if products else None,
        productName=_name(at(lines, 0), "title") if not products else _name_of(lines, products[0]),
        productIds=products if len(products) > 1 else None,
        amount=_money(order, "total_price"),
        currency=_currency(order, "currency"),
        paymentMethod=gateways[0] if gateways else None,
        paymentMethods=gateways if len(gateways) > 1 else None,
        items=[_line(each) for each in lines[:MAX_LINES]],
        lineCount=len(lines) if len(lines) > MAX_LINES else None,
        **_order_references(order),
        **_presentment(order),
        test=_test(notice),
    )
    return [Fact("purchase_completed", payload, sale), *_discount(notice, sale)]


def _born_paid(notice: Notice) -> list[Fact]:
    return _sale(notice) if at(notice.body, "financial_status") == "paid" else []


def _discount(notice: Notice, sale: str | None) -> list[Fact]:
    order = notice.body
    codes: list[Json] = [code for each in items(order, "discount_codes") if (code := _name(each, "code"))]
    if not codes:
        return []
    products = _products(order)
    payload = known(
        discountPercent=_percent(order),
        productId=products[0] if len(products) == 1 else None,
        discountAmount=_money(order, "total_discounts"),
        discountCodes=codes,
        currency=_currency(order, "currency"),
        orderId=sale,
        test=_test(notice),
    )
    return [Fact("discount_accepted", payload, sale and f"{sale}:discount_accepted", part="discount_accepted")]


def _percent(order: Json) -> Decimal | None:
    """The percent of the one discount that is on all of the order, where Shopify writes it or two decimals hold it.

    ``discount_codes[].amount`` is the money that was taken off, but was the percent where an app made the order: it
    counts only where the totals of the order agree with one of the two.
    """
    applied = items(order, "discount_applications")
    if applied:
        whole = (at(applied, 0, "target_type"), at(applied, 0, "target_selection")) == ("line_item", "all")
        one = len(applied) == 1 and at(applied, 0, "value_type") == "percentage" and whole
        return _money(applied[0], "value") if one else None
    codes = items(order, "discount_codes")
    discount, total = _money(order, "total_discounts"), _money(order, "total_line_items_price")
    if len(codes) != 1 or at(codes, 0, "type") != "percentage" or discount is None or total is None:
        return None
    computed = percent(discount, total)
    return computed if _money(codes[0], "amount") in (discount, computed) else None


def _interest(notice: Notice) -> list[Fact]:
    """Products in a cart. The same products in the same cart are one interest, however often its quantities change."""
    told = _cart(notice)
    products = told.pop("productIds", None)
    key = told.get("cartKey")
    if not isinstance(products, list) or not products:
        return []
    of = hashlib.sha256("\n".join(sorted(map(str, products))).encode()).hexdigest()[:24]
    payload = known(productId=products[0], productIds=products if len(products) > 1 else None, **told)
    return [Fact("interest_detected", payload, f"cart:{key}:{of}" if key else None)]


def _subscribed(notice: Notice) -> list[Fact]:
    told = _contract(notice)
    if told.get("status") not in (None, "active"):
        return []
    return [Fact("subscription_created", known(planId=told.get("subscriptionId"), **told, test=_test(notice)))]


def _unsubscribed(notice: Notice) -> list[Fact]:
    """A contract that is cancelled or has expired can never be active again; every other change is told as it is."""
    told = _contract(notice)
    contract = told.get("subscriptionId")
    if not contract or not (
        notice.topic == "subscription_contracts/cancel" or told.get("status") in ("cancelled", "expired")
    ):
        return []
    payload = known(planId=contract, **told, test=_test(notice))
    return [Fact("subscription_cancelled", payload, f"{contract}:cancelled")]


TRANSLATIONS: Final[dict[str, Callable[[Notice], list[Fact]]]] = {
    "orders/paid": _sale,
    "orders/create": _born_paid,
    "carts/create": _interest,
    "carts/update": _interest,
    "subscription_contracts/create": _subscribed,
    "subscription_contracts/cancel": _unsubscribed,
    "subscription_contracts/expire": _unsubscribed,
    "subscription_contracts/update": _unsubscribed,
}
"""Shopify's topics that have a type of ours. Nothing comes back where the object says otherwise: it is told as it is."""


def _order(notice: Notice) -> dict[str, Json]:
    order = notice.body
    return known(
        **_order_references(order),
        financialStatus=_word(order, "financial_status"),
        fulfillmentStatus=_word(order, "fulfillment_status"),
        cancelReason=_word(order, "cancel_reason"),
        amount=_money(order, "total_price"),
        currency=_currency(order, "currency"),
        productIds=_products(order),
    )


def _checkout(notice: Notice) -> dict[str, Json]:
    checkout = notice.body
    return known(
        checkoutKey=_key(checkout, "token"),
        cartKey=_key(checkout, "cart_token"),
        productIds=_products(checkout),
        cartValue=_money(checkout, "total_price"),
        currency=_currency(checkout, "currency"),
        stage=_stage(checkout),
    )


def _stage(checkout: Json) -> str | None:
    """How far the buyer came: ``checkout``, ``contact``, ``address``, ``shipping``, ``payment``, ``completed``."""
    steps = (
        ("completed", "completed_at"),
        ("payment", "gateway"),
        ("shipping", "shipping_lines"),
        ("address", "shipping_address"),
        ("contact", "email"),
        ("contact", "phone"),
    )
    return next((stage for stage, name in steps if at(checkout, name)), "checkout" if text(checkout, "token") else None)


def _cart(notice: Notice) -> dict[str, Json]:
    lines = items(notice.body, "line_items")
    prices = [_money(each, "line_price") for each in lines]
    currencies = {_currency(each, "line_price_set", "shop_money", "currency_code") for each in lines}
    return known(
        cartKey=_key(notice.body, "token"),
        productIds=_products(notice.body),
        cartValue=_sum(prices),
        currency=currencies.pop() if len(currencies) == 1 else None,
    )


def _refund(notice: Notice) -> dict[str, Json]:
    """The money that went back. ``refund_line_items[].subtotal`` is a binary float at Shopify: it is not read."""
    refund = notice.body
    lines = items(refund, "refund_line_items")
    moved = [each for each in items(refund, "transactions")
             if (at(each, "kind"), at(each, "status")) == ("refund", "success")]  # fmt: skip
    currencies = {_currency(each, "currency") or _shop_currency(lines) for each in moved}
    currency = currencies.pop() if len(currencies) == 1 else None
    return known(
        refundId=global_id(refund, "Refund"),
        orderId=global_id(refund, "Order", "order_id", "admin_graphql_api_order_id"),
        amountRefunded=_sum([_money(each, "amount") for each in moved]) if currency else None,
        currency=currency,
        productIds=_products(lines, "line_item"),
    )


def _shop_currency(lines: list[Json]) -> str | None:
    """The shop's currency, where the buyer paid in it: else an amount without a currency could be either's."""
    found = {_currency(each, "subtotal_set", money, "currency_code")
             for each in lines for money in ("shop_money", "presentment_money")}  # fmt: skip
    return found.pop() if len(found) == 1 else None


def _contract(notice: Notice) -> dict[str, Json]:
    contract = notice.body
    status = _word(contract, "status")
    return known(
        subscriptionId=global_id(contract, "SubscriptionContract"),
        status=status and status.lower(),
        interval=_word(contract, "billing_policy", "interval"),
        intervalCount=_count(contract, "billing_policy", "interval_count"),
        currency=_currency(contract, "currency_code"),
        orderId=global_id(contract, "Order", "origin_order_id", "admin_graphql_api_origin_order_id"),
    )


def _other(notice: Notice) -> dict[str, Json]:
    return known(
        objectId=object_id(notice),
        orderId=global_id(notice.body, "Order", "order_id", "admin_graphql_api_order_id"),
        status=_word(notice.body, "status"),
        state=_word(notice.body, "state"),
    )


_TOLD: Final[dict[str, Callable[[Notice], dict[str, Json]]]] = {
    "orders": _order,
    "checkouts": _checkout,
    "carts": _cart,
    "refunds": _refund,
    "subscription_contracts": _contract,
}


def _order_references(order: Json) -> dict[str, Json]:
    return known(
        orderId=global_id(order, "Order"),
        orderName=_name(order, "name"),
        sourceName=_word(order, "source_name"),
        checkoutKey=_key(order, "checkout_token"),
        cartKey=_key(order, "cart_token"),
    )


def _presentment(order: Json) -> dict[str, Json]:
    """What the buyer saw, where the shop counts in another currency."""
    paid = at(order, "total_price_set", "presentment_money")
    currency = _currency(paid, "currency_code")
    if currency is None or currency == _currency(order, "currency"):
        return {}
    return known(presentmentAmount=_money(paid, "amount"), presentmentCurrency=currency)


def _line(line: Json) -> dict[str, Json]:
    return known(
        productId=number(line, "product_id"),
        productName=_name(line, "title"),
        variantId=number(line, "variant_id"),
        sku=_name(line, "sku"),
        price=_money(line, "price"),
        quantity=_count(line, "quantity"),
    )


def _products(value: Json, *inside: str) -> list[Json]:
    lines = value if isinstance(value, list) else items(value, "line_items")
    found = (number(at(each, *inside), "product_id") for each in lines[:MAX_LINES])
    return list(dict.fromkeys(each for each in found if each))


def _name_of(lines: list[Json], product: Json) -> str | None:
    return next((_name(each, "title") for each in lines if number(each, "product_id") == product), None)


def _name(value: Json, name: str) -> str | None:
    """A name as the shop gave it. Shopify's have at most 255 characters; a longer one is no name."""
    return reference(value, name)


def _key(value: Json, name: str) -> str | None:
    token = text(value, name)
    return token and hashlib.sha256(token.encode()).hexdigest()[:24]


def _money(value: Json, name: str) -> Decimal | None:
    """A decimal string in major units."""
    return from_major_units(text(value, name))


def _sum(amounts: list[Decimal | None]) -> Decimal | None:
    """All of them together, where all are known."""
    known_amounts = [each for each in amounts if each is not None]
    return sum(known_amounts, Decimal()) if known_amounts and len(known_amounts) == len(amounts) else None


def _currency(value: Json, *path: str) -> str | None:
    code = text(value, *path)
    return code.upper() if code and re.fullmatch(r"[A-Za-z]{3}", code, re.ASCII) and code != "XXX" else None


def _word(value: Json, *path: str) -> str | None:
    """A value of one of Shopify's enumerations."""
    word = text(value, *path)
    return word if word and re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", word, re.ASCII) else None


def _count(value: Json, *path: str) -> int | None:
    found = at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 10**12 else None


def _test(notice: Notice) -> bool | None:
    moved = [at(each, "test") for each in items(notice.body, "transactions")]
    return (
        True
        if notice.test or at(notice.body, "test") is True or (moved and all(each is True for each in moved))
        else None
    )
