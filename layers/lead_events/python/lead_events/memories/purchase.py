"""What the lead bought, and what it left in its cart."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from lead_events.memories._fact import LABEL, Fact, cut
from lead_events.memories._shapes import (
    Map,
    add,
    cite,
    count,
    counted,
    digest,
    entries,
    keep,
    kept,
    latest,
    recent,
    stamps,
    tallied,
    tally,
)
from lead_events.memories._showing import (
    CURRENCIES,
    amount,
    day,
    label,
    listed,
    money,
    said,
    seen,
    sentence,
    word,
    words_counted,
)

TITLE: Final = "Purchases"
FIELDS: Final = {
    "count": "integer: Purchases that were paid.",
    "totals": "list: What was paid, by currency.",
    "totals[].currency": "string: ISO 4217 code.",
    "totals[].count": "integer: Purchases in it.",
    "totals[].total": "number?: Sum of what was paid, in major units.",
    "totals[].average": "number?: Average purchase, to four places.",
    "totals[].notSummed": "integer: Purchases whose amount is no price (10^15 or more), left out of the sum.",
    "last": "object?: The latest purchase.",
    "last.productId": "string?: What was bought.",
    "last.productName": "string?: Its name.",
    "last.amount": "number?: What was paid, in major units.",
    "last.currency": "string?: ISO 4217 code.",
    "last.paymentMethod": "string?: How it was paid.",
    "last.occurredAt": "instant?: When.",
    "last.eventIds": "ids: The event.",
    "recent": "list: The latest 5 purchases, latest first.",
    "recent[].productId": "string?: What was bought.",
    "recent[].productName": "string?: Its name.",
    "recent[].amount": "number?: What was paid, in major units.",
    "recent[].currency": "string?: ISO 4217 code.",
    "recent[].paymentMethod": "string?: How it was paid.",
    "recent[].occurredAt": "instant?: When.",
    "recent[].eventIds": "ids: The event.",
    "products": "list: What was bought, by product, the most frequent first; at most 50 products.",
    "products[].productId": "string: The product.",
    "products[].productName": "string?: Its name, as the latest event has it.",
    "products[].category": "string?: Its category, as the latest event has it.",
    "products[].count": "integer: How often it was bought.",
    "products[].totals": "list: What was paid for it alone, by currency; at most 3 currencies.",
    "products[].totals[].currency": "string: ISO 4217 code.",
    "products[].totals[].count": "integer: Purchases in it.",
    "products[].totals[].total": "number?: Sum of what was paid, in major units.",
    "products[].totals[].average": "number?: Average purchase, to four places.",
    "products[].totals[].notSummed": "integer: Purchases whose amount is no price.",
    "products[].lastSeen": "instant?: When it was last bought.",
    "products[].eventIds": "ids: The latest purchases of it.",
    "otherProducts": "integer: Purchases of products beyond those listed; one of several products counts for each.",
    "paymentMethods": "list: How purchases were paid; at most 8 ways.",
    "paymentMethods[].paymentMethod": "string: As the source names it.",
    "paymentMethods[].count": "integer: How often.",
    "abandonedCount": "integer: Carts that were left without paying, those bought later included.",
    "openCarts": "list: Of the latest 10 abandoned carts those since which none of their products was bought, latest first. "
    "A purchase that names no product closes every earlier cart, and a cart that names none is closed by any later purchase.",
    "openCarts[].productIds": "strings: What was in it; at most 10 products.",
    "openCarts[].cartValue": "number?: Its value, in major units.",
    "openCarts[].currency": "string?: ISO 4217 code.",
    "openCarts[].stageAbandoned": "string?: How far it went.",
    "openCarts[].occurredAt": "instant?: When it was left.",
    "openCarts[].eventIds": "ids: The event.",
}

PRODUCTS: Final = 50
_CARTS: Final = 10
_RECENT: Final = 5
_METHODS: Final = 8
_UNNAMED: Final = ""


def _completed(state: Map, fact: Fact) -> None:
    paid, currency, method = fact.number("amount"), fact.text("currency"), fact.text("paymentMethod")
    products = fact.products()
    name, category = fact.text("productName"), fact.text("category")
    count(state, "bought")
    _pay(state, "currencies", currency, paid, CURRENCIES)
    if method and (row := tally(state, "methods", digest(method), _METHODS)) is not None:
        row["key"] = method
        count(row, "n")
    entry = {"product": cut(products[0], LABEL) if products else None, "name": name, "paid": paid, "currency": currency}
    recent(state, "recent", fact.id, entry | {"method": method}, _RECENT)
    for number, product in enumerate(products):
        key = digest(product)
        latest(state, "since", key, f"{fact.id}/{9 - number}", {}, PRODUCTS)
        count(state, "parts")
        if (row := tally(state, "products", key, PRODUCTS)) is None:
            continue
        row["key"] = cut(product, LABEL)
        count(row, "n")
        cite(row, fact.id)
        if number == 0:  # name and category are those of productId
            keep(row, "name", fact.id, name)
            keep(row, "category", fact.id, category)
        if len(products) == 1:
            _pay(row, "currencies", currency, paid, 3)
    if not products:
        latest(state, "since", digest(_UNNAMED), fact.id, {}, PRODUCTS)


def _pay(at: Map, name: str, currency: str | None, paid: Decimal | int | None, bound: int) -> None:
    row = tally(at, name, digest(currency), bound) if currency else None
    if row is not None:
        row["currency"] = currency
        count(row, "n")
        add(row, "paid", paid)


def _abandoned(state: Map, fact: Fact) -> None:
    count(state, "abandoned")
    products = fact.products()
    entry = {
        "keys": [digest(each) for each in products],
        "products": [cut(each, LABEL) for each in products],
        "value": fact.number("cartValue"),
        "currency": fact.text("currency"),
        "stage": fact.text("stageAbandoned"),
    }
    recent(state, "carts", fact.id, entry, _CARTS)


FOLDS: Final = {"purchase_completed": _completed, "purchase_abandoned": _abandoned}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    purchases = [_purchase(row) for row in entries(state, "recent")]
    products = [_product(row) for row in tallied(state, "products")]
    return {
        "count": counted(state, "bought"),
        "totals": money(state, "currencies", "paid"),
        "last": purchases[0] if purchases else None,
        "recent": purchases,
        "products": products,
        "otherProducts": counted(state, "parts") - sum(each["count"] for each in products),
        "paymentMethods": words_counted(state, "methods", "paymentMethod"),
        "abandonedCount": counted(state, "abandoned"),
        "openCarts": _open_carts(state),
    }


def _purchase(row: Map) -> Map:
    return {
        "productId": row["product"],
        "productName": row["name"],
        "amount": row["paid"],
        "currency": row["currency"],
        "paymentMethod": row["method"],
    } | said(row)


def _product(row: Map) -> Map:
    return {
        "productId": row["key"],
        "productName": kept(row, "name"),
        "category": kept(row, "category"),
        "count": counted(row, "n"),
        "totals": money(row, "currencies", "paid"),
    } | seen(row)


def _open_carts(state: Map) -> list[Map]:
    since = stamps(state, "since")
    last = max(since.values(), default="")
    # Of products bought before the oldest one that is known, nobody knows when: their carts are not called open.
    known_from = min(since.values()) if len(since) == PRODUCTS else ""
    unnamed = since.get(digest(_UNNAMED), "")
    return [
        {
            "productIds": list(row["products"] or ()),
            "cartValue": row["value"],
            "currency": row["currency"],
            "stageAbandoned": row["stage"],
        }
        | said(row)
        for row in entries(state, "carts")
        if max(known_from, unnamed, *([since.get(key, "") for key in row["keys"] or ()] or [last])) < row["at"]
    ]


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = []
    if last := shown["last"]:
        totals = listed(amount(each["total"], each["currency"]) for each in shown["totals"])
        told = f"{shown['count']} bought{f' ({totals} in all)' if totals else ''}, last {day(last['occurredAt'])}"
        price = amount(last["amount"], last["currency"])
        by = f"by {word(last['paymentMethod'])}" if last["paymentMethod"] else ""
        found.append(sentence(told, label(last, "productName", "productId"), price, by, ids=last["eventIds"]))
    for cart in shown["openCarts"]:
        products = listed(label({"id": each}, "id") for each in cart["productIds"])
        value = amount(cart["cartValue"], cart["currency"])
        left = f"left at {word(cart['stageAbandoned'])}" if cart["stageAbandoned"] else "left"
        found.append(sentence("Open cart", left, day(cart["occurredAt"]), products, value, ids=cart["eventIds"]))
    return found + [
        sentence(f"{each['count']} ×", label(each, "productName", "productId"), ids=each["eventIds"])
        for each in shown["products"]
    ]
