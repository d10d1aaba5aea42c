"""How the lead feels, and where that is going."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from lead_events.memories._fact import PROSE, Fact
from lead_events.memories._shapes import (
    Map,
    add,
    average_of,
    count,
    digest,
    entries,
    mean,
    millionths,
    recent,
    tally,
)
from lead_events.memories._showing import day, plain, quoted, said, sentence, word, words_counted

TITLE: Final = "Sentiment"
FIELDS: Final = {
    "latest": "object?: The latest sentiment.",
    "latest.score": "number?: From -1 (bad) to 1 (good).",
    "latest.label": "string?: The sentiment in a word.",
    "latest.context": "string?: What it was found in, at most 240 bytes.",
    "latest.occurredAt": "instant?: When.",
    "latest.eventIds": "ids: The event.",
    "trend": "string?: rising, falling or steady: the newer half of the recent scores against the older half, where they "
    "differ by more than 0.15. Null for fewer than 4 scores.",
    "recentAverage": "number?: Average of the recent scores, to four places.",
    "average": "number?: Average of all scores, to four places.",
    "recent": "list: The latest 10 sentiments, latest first.",
    "recent[].score": "number?: From -1 (bad) to 1 (good).",
    "recent[].label": "string?: The sentiment in a word.",
    "recent[].context": "string?: What it was found in, at most 240 bytes.",
    "recent[].occurredAt": "instant?: When.",
    "recent[].eventIds": "ids: The event.",
    "labels": "list: How often each word was said; at most 12 words.",
    "labels[].label": "string: The word.",
    "labels[].count": "integer: How often.",
}

_RECENT: Final = 10
_LABELS: Final = 12
_ENOUGH: Final = 4
_STEADY: Final = Decimal("0.15")


def _detected(state: Map, fact: Fact) -> None:
    score, label = fact.number("score"), fact.text("label")
    count(state, "detected")
    add(state, "scores", score)
    recent(state, "recent", fact.id, {"score": score, "label": label, "context": fact.text("context", PROSE)}, _RECENT)
    if label and (row := tally(state, "labels", digest(label), _LABELS)) is not None:
        row["key"] = label
        count(row, "n")


FOLDS: Final = {"sentiment_detected": _detected}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    shown = [
        {"score": row["score"], "label": row["label"], "context": row["context"]} | said(row)
        for row in entries(state, "recent")
    ]
    scores = [millionths(each["score"]) for each in shown if each["score"] is not None]
    return {
        "latest": shown[0] if shown else None,
        "trend": _trend(scores),
        "recentAverage": average_of(sum(scores), len(scores)) if scores else None,
        "average": mean(state, "scores"),
        "recent": shown,
        "labels": words_counted(state, "labels", "label"),
    }


def _trend(latest_first: list[int]) -> str | None:
    half = len(latest_first) // 2
    if len(latest_first) < _ENOUGH:
        return None
    newer, older = latest_first[:half], latest_first[-half:]
    change = average_of(sum(newer) - sum(older), half)
    return "rising" if change > _STEADY else "falling" if change < -_STEADY else "steady"


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    if not (last := shown["latest"]):
        return []
    trend = f", {shown['trend']}" if shown["trend"] else ""
    average = f"(average {plain(shown['average'])}{trend})" if shown["average"] is not None else ""
    about = f"in {quoted(last['context'])}" if last["context"] else ""
    told = f"Last {day(last['occurredAt'])}:"
    return [sentence(told, plain(last["score"]), word(last["label"]), average, about, ids=last["eventIds"])] + [
        sentence(day(each["occurredAt"]), plain(each["score"]), word(each["label"]), ids=each["eventIds"])
        for each in shown["recent"][1:]
    ]
