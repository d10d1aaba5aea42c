"""What AI agents concluded about the lead."""

from __future__ import annotations

from typing import Final

from lead_events.memories._fact import LABEL, Fact, cut
from lead_events.memories._shapes import Map, count, counted, digest, entries, latest, recent
from lead_events.memories._showing import day, plain, quoted, said, sentence

TITLE: Final = "Insights of agents"
FIELDS: Final = {
    "count": "integer: Insights.",
    "byType": "list: The latest insight of each type, latest first; the 30 types seen last.",
    "byType[].insightType": "string?: What kind of conclusion.",
    "byType[].content": "string?: The conclusion, at most 480 bytes.",
    "byType[].confidence": "number?: How sure that is, from 0 to 1.",
    "byType[].occurredAt": "instant?: When.",
    "byType[].eventIds": "ids: The event.",
    "recent": "list: The latest 10 insights, latest first.",
    "recent[].insightType": "string?: What kind of conclusion.",
    "recent[].content": "string?: The conclusion, at most 480 bytes.",
    "recent[].confidence": "number?: How sure that is, from 0 to 1.",
    "recent[].occurredAt": "instant?: When.",
    "recent[].eventIds": "ids: The event.",
}

TYPES: Final = 30
_RECENT: Final = 10
_CONTENT: Final = 480


def _insight(state: Map, fact: Fact) -> None:
    count(state, "insights")
    kind = fact.whole("insightType")
    entry = {
        "type": kind and cut(kind, LABEL),
        "content": fact.text("content", _CONTENT),
        "confidence": fact.number("confidence"),
    }
    recent(state, "recent", fact.id, entry, _RECENT)
    if kind:
        latest(state, "types", digest(kind), fact.id, entry, TYPES)


FOLDS: Final = {"agent_insight": _insight}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    return {
        "count": counted(state, "insights"),
        "byType": [_shown(row) for row in entries(state, "types")],
        "recent": [_shown(row) for row in entries(state, "recent")],
    }


def _shown(row: Map) -> Map:
    return {"insightType": row["type"], "content": row["content"], "confidence": row["confidence"]} | said(row)


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = []
    for each in shown["byType"]:
        sure = f"(confidence {plain(each['confidence'])})" if each["confidence"] is not None else ""
        told = f"{quoted(each['insightType'])}, {day(each['occurredAt'])}:"
        found.append(sentence(told, quoted(each["content"]), sure, ids=each["eventIds"]))
    return found
