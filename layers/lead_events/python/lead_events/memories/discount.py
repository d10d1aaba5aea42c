"""Discounts that the lead asked for and took."""

from __future__ import annotations

from typing import Final

from lead_events.memories._fact import PROSE, Fact
from lead_events.memories._shapes import Map, add, best, count, counted, entries, event_id, kept, mean, recent
from lead_events.memories._showing import day, label, plain, quoted, said, sentence

TITLE: Final = "Discounts"
FIELDS: Final = {
    "requestedCount": "integer: Times that the lead asked for one.",
    "acceptedCount": "integer: Times that it took one.",
    "bestPercent": "number?: The largest that it took.",
    "bestEventIds": "ids: The latest event with that one.",
    "averagePercent": "number?: Average of those taken whose size is known, to four places.",
    "recent": "list: The latest 5 of both, latest first.",
    "recent[].state": "string: requested or accepted.",
    "recent[].discountPercent": "number?: Its size.",
    "recent[].productId": "string?: What it was for.",
    "recent[].context": "string?: Where and how the lead asked, at most 240 bytes.",
    "recent[].occurredAt": "instant?: When.",
    "recent[].eventIds": "ids: The event.",
}

_RECENT: Final = 5


def _requested(state: Map, fact: Fact) -> None:
    _note(state, fact, "requested")


def _accepted(state: Map, fact: Fact) -> None:
    percent = fact.number("discountPercent")
    add(state, "percents", percent)
    best(state, "best", fact.id, percent)
    _note(state, fact, "accepted")


def _note(state: Map, fact: Fact, what: str) -> None:
    count(state, what)
    entry = {
        "state": what,
        "percent": fact.number("discountPercent"),
        "product": fact.text("productId"),
        "context": fact.text("context", PROSE),
    }
    recent(state, "recent", fact.id, entry, _RECENT)


FOLDS: Final = {"discount_requested": _requested, "discount_accepted": _accepted}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    return {
        "requestedCount": counted(state, "requested"),
        "acceptedCount": counted(state, "accepted"),
        "bestPercent": kept(state, "best"),
        "bestEventIds": [event_id(state["best"][0])] if "best" in state else [],
        "averagePercent": mean(state, "percents"),
        "recent": [
            {
                "state": row["state"],
                "discountPercent": row["percent"],
                "productId": row["product"],
                "context": row["context"],
            }
            | said(row)
            for row in entries(state, "recent")
        ],
    }


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    best_one = f", best {plain(shown['bestPercent'])} %" if shown["bestPercent"] is not None else ""
    told = f"{shown['requestedCount']} asked for, {shown['acceptedCount']} taken{best_one}"
    if not shown["recent"]:
        return []
    found = [sentence(told, ids=shown["bestEventIds"] or shown["recent"][0]["eventIds"])]
    for each in shown["recent"]:
        percent = f"{plain(each['discountPercent'])} %" if each["discountPercent"] is not None else ""
        product = f"for {label(each, 'productId')}" if each["productId"] else ""
        found.append(
            sentence(
                each["state"].capitalize(),
                day(each["occurredAt"]),
                percent,
                product,
                quoted(each["context"]),
                ids=each["eventIds"],
            )
        )
    return found
