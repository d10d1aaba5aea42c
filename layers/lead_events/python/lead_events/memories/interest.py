"""What the lead is interested in, and how sure that is."""

from __future__ import annotations

from typing import Final

from lead_events.memories._fact import Fact
from lead_events.memories._shapes import (
    Map,
    add,
    best,
    cite,
    count,
    counted,
    digest,
    entries,
    keep,
    kept,
    mean,
    recent,
    tallied,
    tally,
)
from lead_events.memories._showing import day, label, plain, said, seen, sentence

TITLE: Final = "Interests"
FIELDS: Final = {
    "interests": "list: By category and product, the most often detected first; at most 50.",
    "interests[].category": "string?: Category that the lead is interested in.",
    "interests[].productId": "string?: Product that it is interested in.",
    "interests[].count": "integer: How often it was detected.",
    "interests[].confidence": "number?: The latest confidence, from 0 to 1.",
    "interests[].averageConfidence": "number?: The average confidence, to four places.",
    "interests[].highestConfidence": "number?: The highest confidence.",
    "interests[].lastSeen": "instant?: When it was last detected.",
    "interests[].eventIds": "ids: The latest events that say so.",
    "otherInterests": "integer: Detections of interests beyond those listed.",
    "recent": "list: The latest 5 detections, latest first.",
    "recent[].category": "string?: Category.",
    "recent[].productId": "string?: Product.",
    "recent[].confidence": "number?: How sure, from 0 to 1.",
    "recent[].occurredAt": "instant?: When.",
    "recent[].eventIds": "ids: The event.",
}

INTERESTS: Final = 50
_RECENT: Final = 5


def _detected(state: Map, fact: Fact) -> None:
    category, product, confidence = fact.text("category"), fact.text("productId"), fact.number("confidence")
    count(state, "detected")
    recent(state, "recent", fact.id, {"category": category, "product": product, "confidence": confidence}, _RECENT)
    key = digest(fact.whole("category") or "", fact.whole("productId") or "")
    if (row := tally(state, "interests", key, INTERESTS)) is not None:
        row["category"], row["product"] = category, product
        count(row, "n")
        add(row, "confidences", confidence)
        keep(row, "confidence", fact.id, confidence)
        best(row, "highest", fact.id, confidence)
        cite(row, fact.id)


FOLDS: Final = {"interest_detected": _detected}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    interests = [
        {
            "category": row["category"],
            "productId": row["product"],
            "count": counted(row, "n"),
            "confidence": kept(row, "confidence"),
            "averageConfidence": mean(row, "confidences"),
            "highestConfidence": kept(row, "highest"),
        }
        | seen(row)
        for row in tallied(state, "interests")
    ]
    return {
        "interests": interests,
        "otherInterests": counted(state, "detected") - sum(each["count"] for each in interests),
        "recent": [
            {"category": row["category"], "productId": row["product"], "confidence": row["confidence"]} | said(row)
            for row in entries(state, "recent")
        ],
    }


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = []
    for each in shown["interests"]:
        product = f"product {label(each, 'productId')}" if each["productId"] else ""
        sure = f"confidence {plain(each['confidence'])}," if each["confidence"] is not None else ""
        often = f"{each['count']} × detected, last {day(each['lastSeen'])}"
        found.append(sentence(label(each, "category"), product, sure, often, ids=each["eventIds"]))
    return found
