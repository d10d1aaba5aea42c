"""Campaigns that reached the lead, and what it did with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lead_events.memories._fact import Fact
from lead_events.memories._shapes import (
    Map,
    average_of,
    cite,
    count,
    counted,
    digest,
    entries,
    keep,
    kept,
    recent,
    tallied,
    tally,
)
from lead_events.memories._showing import day, label, listed, said, seen, sentence, word, words_counted

TITLE: Final = "Campaigns"
FIELDS: Final = {
    "deliveredCount": "integer: Campaign messages that reached the lead.",
    "engagedCount": "integer: Times that it opened, clicked or answered one.",
    "ignoredCount": "integer: Messages that it did nothing with.",
    "campaigns": "list: By campaign, those with most events first; at most 50 campaigns.",
    "campaigns[].campaignId": "string: The campaign.",
    "campaigns[].campaignName": "string?: Its name, as the latest event has it.",
    "campaigns[].channel": "string?: Where the latest message came.",
    "campaigns[].productId": "string?: Product that it is about, as the latest event has it.",
    "campaigns[].deliveredCount": "integer: Its messages that reached the lead.",
    "campaigns[].engagedCount": "integer: Times that the lead opened, clicked or answered one.",
    "campaigns[].ignoredCount": "integer: Its messages that the lead did nothing with.",
    "campaigns[].outcome": "string: engaged, where the lead ever did something with it, else ignored, else delivered.",
    "campaigns[].engagements": "list: What the lead did; at most 4 kinds.",
    "campaigns[].engagements[].engagementType": "string: open, click, reply and the like.",
    "campaigns[].engagements[].count": "integer: How often.",
    "campaigns[].lastSeen": "instant?: When something last happened.",
    "campaigns[].eventIds": "ids: The latest events.",
    "otherCampaigns": "integer: Events of campaigns beyond those listed.",
    "engagedShare": "number?: Share of the listed campaigns that the lead did something with, from 0 to 1.",
    "recent": "list: The latest 5 events, latest first.",
    "recent[].campaignId": "string?: The campaign.",
    "recent[].outcome": "string: delivered, engaged or ignored.",
    "recent[].engagementType": "string?: open, click, reply and the like.",
    "recent[].occurredAt": "instant?: When.",
    "recent[].eventIds": "ids: The event.",
}

CAMPAIGNS: Final = 50
_KINDS: Final = 4
_RECENT: Final = 5


def _note(what: str) -> Callable[[Map, Fact], None]:
    def fold(state: Map, fact: Fact) -> None:
        engagement = fact.text("engagementType") if what == "engaged" else None
        count(state, what)
        entry = {"campaign": fact.text("campaignId"), "outcome": what, "engagement": engagement}
        recent(state, "recent", fact.id, entry, _RECENT)
        campaign = fact.whole("campaignId")
        row = tally(state, "campaigns", digest(campaign), CAMPAIGNS) if campaign else None
        if row is None:
            return
        row["key"] = fact.text("campaignId")
        count(row, "n")
        count(row, what)
        keep(row, "name", fact.id, fact.text("campaignName"))
        keep(row, "channel", fact.id, fact.text("channel"))
        keep(row, "product", fact.id, fact.text("productId"))
        cite(row, fact.id)
        if engagement and (kind := tally(row, "kinds", digest(engagement), _KINDS)) is not None:
            kind["key"] = engagement
            count(kind, "n")

    return fold


FOLDS: Final = {f"campaign_{what}": _note(what) for what in ("delivered", "engaged", "ignored")}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    rows = tallied(state, "campaigns")
    campaigns = [_campaign(row) for row in rows]
    events = sum(counted(state, what) for what in ("delivered", "engaged", "ignored"))
    engaged = sum(each["outcome"] == "engaged" for each in campaigns)
    return {
        "deliveredCount": counted(state, "delivered"),
        "engagedCount": counted(state, "engaged"),
        "ignoredCount": counted(state, "ignored"),
        "campaigns": campaigns,
        "otherCampaigns": events - sum(counted(row, "n") for row in rows),
        "engagedShare": average_of(engaged * 1_000_000, len(campaigns)) if campaigns else None,
        "recent": [
            {"campaignId": row["campaign"], "outcome": row["outcome"], "engagementType": row["engagement"]} | said(row)
            for row in entries(state, "recent")
        ],
    }


def _campaign(row: Map) -> Map:
    engaged, ignored = counted(row, "engaged"), counted(row, "ignored")
    return {
        "campaignId": row["key"],
        "campaignName": kept(row, "name"),
        "channel": kept(row, "channel"),
        "productId": kept(row, "product"),
        "deliveredCount": counted(row, "delivered"),
        "engagedCount": engaged,
        "ignoredCount": ignored,
        "outcome": "engaged" if engaged else "ignored" if ignored else "delivered",
        "engagements": words_counted(row, "kinds", "engagementType"),
    } | seen(row)


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = []
    for each in shown["campaigns"]:
        did = listed(f"{kind['count']} × {word(kind['engagementType'])}" for kind in each["engagements"])
        outcome = f"{each['outcome']} ({did})," if did else f"{each['outcome']},"
        last = f"last {day(each['lastSeen'])}"
        found.append(sentence(label(each, "campaignName", "campaignId"), outcome, last, ids=each["eventIds"]))
    return found
