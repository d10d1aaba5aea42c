"""Products that the lead looked at and asked about."""

from __future__ import annotations

from typing import Final

from lead_events.memories._fact import LABEL, PROSE, Fact, cut
from lead_events.memories._shapes import (
    Map,
    cite,
    count,
    counted,
    digest,
    entries,
    keep,
    kept,
    latest,
    recent,
    tallied,
    tally,
)
from lead_events.memories._showing import day, label, quoted, said, seen, sentence

TITLE: Final = "Products"
FIELDS: Final = {
    "viewedCount": "integer: How often the lead looked at products.",
    "askedCount": "integer: How many questions it asked.",
    "products": "list: By product, the most looked at and asked about first; at most 50 products.",
    "products[].productId": "string: The product.",
    "products[].productName": "string?: Its name, as the latest event has it.",
    "products[].category": "string?: Its category, as the latest event has it.",
    "products[].viewedCount": "integer: How often the lead looked at it.",
    "products[].askedCount": "integer: How many questions it asked about it.",
    "products[].lastSeen": "instant?: When it last did either.",
    "products[].eventIds": "ids: The latest of these events.",
    "otherProducts": "integer: Views of and questions about products beyond those listed, or about none.",
    "lastProducts": "list: The 10 products that the lead looked at or asked about last, latest first.",
    "lastProducts[].productId": "string: The product.",
    "lastProducts[].productName": "string?: Its name, if the latest event has it.",
    "lastProducts[].occurredAt": "instant?: When.",
    "lastProducts[].eventIds": "ids: The event.",
    "questions": "list: The latest 5 questions, latest first.",
    "questions[].question": "string?: In the lead's words, at most 240 bytes.",
    "questions[].productId": "string?: What it is about.",
    "questions[].channel": "string?: Where it was asked.",
    "questions[].occurredAt": "instant?: When.",
    "questions[].eventIds": "ids: The event.",
}

PRODUCTS: Final = 50
_LAST: Final = 10
_QUESTIONS: Final = 5


def _viewed(state: Map, fact: Fact) -> None:
    count(state, "viewed")
    _touch(state, fact, "viewed")


def _asked(state: Map, fact: Fact) -> None:
    count(state, "asked")
    entry = {
        "question": fact.text("question", PROSE),
        "product": fact.text("productId"),
        "channel": fact.text("channel"),
    }
    recent(state, "questions", fact.id, entry, _QUESTIONS)
    _touch(state, fact, "asked")


def _touch(state: Map, fact: Fact, how: str) -> None:
    product = fact.whole("productId")
    if product is None:
        return
    key, name = digest(product), fact.text("productName")
    latest(state, "last", key, fact.id, {"key": cut(product, LABEL), "name": name}, _LAST)
    if (row := tally(state, "products", key, PRODUCTS)) is not None:
        row["key"] = cut(product, LABEL)
        count(row, "n")
        count(row, how)
        keep(row, "name", fact.id, name)
        keep(row, "category", fact.id, fact.text("category"))
        cite(row, fact.id)


FOLDS: Final = {"product_viewed": _viewed, "product_asked": _asked}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    products = [
        {
            "productId": row["key"],
            "productName": kept(row, "name"),
            "category": kept(row, "category"),
            "viewedCount": counted(row, "viewed"),
            "askedCount": counted(row, "asked"),
        }
        | seen(row)
        for row in tallied(state, "products")
    ]
    listed = sum(each["viewedCount"] + each["askedCount"] for each in products)
    return {
        "viewedCount": counted(state, "viewed"),
        "askedCount": counted(state, "asked"),
        "products": products,
        "otherProducts": counted(state, "viewed") + counted(state, "asked") - listed,
        "lastProducts": [
            {"productId": row["key"], "productName": row["name"]} | said(row) for row in entries(state, "last")
        ],
        "questions": [
            {"question": row["question"], "productId": row["product"], "channel": row["channel"]} | said(row)
            for row in entries(state, "questions")
        ],
    }


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = []
    for each in shown["questions"]:
        about = f"about {label(each, 'productId')}" if each["productId"] else ""
        found.append(sentence("Asked", day(each["occurredAt"]), quoted(each["question"]), about, ids=each["eventIds"]))
    for each in shown["products"]:
        often = f"viewed {each['viewedCount']} ×, asked {each['askedCount']} ×, last {day(each['lastSeen'])}"
        found.append(sentence(label(each, "productName", "productId"), often, ids=each["eventIds"]))
    return found
