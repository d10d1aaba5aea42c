"""What the lead objects to."""

from __future__ import annotations

from typing import Final

from lead_events.memories._fact import LABEL, PROSE, Fact, cut
from lead_events.memories._shapes import Map, cite, count, counted, digest, entries, keep, kept, recent, tallied, tally
from lead_events.memories._showing import day, label, quoted, said, seen, sentence

TITLE: Final = "Objections"
FIELDS: Final = {
    "count": "integer: Objections.",
    "byType": "list: By type, the most frequent first; at most 30 types.",
    "byType[].type": "string: What kind of objection.",
    "byType[].count": "integer: How often it was raised.",
    "byType[].context": "string?: How the lead last put it, at most 240 bytes.",
    "byType[].productId": "string?: Product that it was last about.",
    "byType[].lastSeen": "instant?: When it was last raised.",
    "byType[].eventIds": "ids: The latest events.",
    "otherTypes": "integer: Objections of types beyond those listed.",
    "recent": "list: The latest 5 objections, latest first.",
    "recent[].type": "string?: What kind of objection.",
    "recent[].context": "string?: How the lead put it, at most 240 bytes.",
    "recent[].productId": "string?: Product that it is about.",
    "recent[].occurredAt": "instant?: When.",
    "recent[].eventIds": "ids: The event.",
}

TYPES: Final = 30
_RECENT: Final = 5


def _raised(state: Map, fact: Fact) -> None:
    kind, context, product = fact.whole("type"), fact.text("context", PROSE), fact.text("productId")
    count(state, "raised")
    entry = {"type": kind and cut(kind, LABEL), "context": context, "product": product}
    recent(state, "recent", fact.id, entry, _RECENT)
    if kind and (row := tally(state, "types", digest(kind), TYPES)) is not None:
        row["key"] = cut(kind, LABEL)
        count(row, "n")
        keep(row, "context", fact.id, context)
        keep(row, "product", fact.id, product)
        cite(row, fact.id)


FOLDS: Final = {"objection_raised": _raised}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    kinds = [
        {
            "type": row["key"],
            "count": counted(row, "n"),
            "context": kept(row, "context"),
            "productId": kept(row, "product"),
        }
        | seen(row)
        for row in tallied(state, "types")
    ]
    return {
        "count": counted(state, "raised"),
        "byType": kinds,
        "otherTypes": counted(state, "raised") - sum(each["count"] for each in kinds),
        "recent": [
            {"type": row["type"], "context": row["context"], "productId": row["product"]} | said(row)
            for row in entries(state, "recent")
        ],
    }


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = []
    for each in shown["byType"]:
        often = f"{each['count']} ×, last {day(each['lastSeen'])}"
        about = f"about {label(each, 'productId')}" if each["productId"] else ""
        found.append(sentence(label(each, "type"), often, quoted(each["context"]), about, ids=each["eventIds"]))
    return found
