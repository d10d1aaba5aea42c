"""Conversations with the lead: how many, where, how long, how they went."""

from __future__ import annotations

from typing import Final

from lead_events.memories._fact import PROSE, Fact
from lead_events.memories._shapes import (
    Map,
    add,
    cite,
    count,
    counted,
    digest,
    entries,
    mean,
    recent,
    summed,
    tallied,
    tally,
)
from lead_events.memories._showing import day, plain, quoted, said, seen, sentence

TITLE: Final = "Conversations"
FIELDS: Final = {
    "count": "integer: Conversations: of those started and those ended the larger number, for some sources tell only one.",
    "startedCount": "integer: Conversations that began.",
    "endedCount": "integer: Conversations that ended.",
    "totalDurationSeconds": "number?: Length of those ended, in seconds.",
    "averageDurationSeconds": "number?: To four places.",
    "totalMessages": "number?: Messages of both sides in those ended.",
    "averageSentiment": "number?: Of those ended, from -1 (bad) to 1 (good), to four places.",
    "channels": "list: By channel, the most frequent first; at most 16.",
    "channels[].channel": "string: The channel.",
    "channels[].startedCount": "integer: Conversations that began on it.",
    "channels[].endedCount": "integer: Conversations that ended on it.",
    "channels[].totalDurationSeconds": "number?: Their length, in seconds.",
    "channels[].totalMessages": "number?: Their messages.",
    "channels[].lastSeen": "instant?: When one last began or ended.",
    "channels[].eventIds": "ids: The latest of these events.",
    "last": "object?: The latest beginning or end of a conversation.",
    "last.state": "string: started or ended.",
    "last.channel": "string?: Where.",
    "last.context": "string?: What led to it, at most 240 bytes; of beginnings.",
    "last.durationSeconds": "number?: Its length; of ends.",
    "last.messageCount": "number?: Its messages; of ends.",
    "last.sentimentScore": "number?: Its sentiment; of ends.",
    "last.occurredAt": "instant?: When.",
    "last.eventIds": "ids: The event.",
    "recent": "list: The latest 5 beginnings and ends, latest first.",
    "recent[].state": "string: started or ended.",
    "recent[].channel": "string?: Where.",
    "recent[].context": "string?: What led to it, at most 240 bytes; of beginnings.",
    "recent[].durationSeconds": "number?: Its length; of ends.",
    "recent[].messageCount": "number?: Its messages; of ends.",
    "recent[].sentimentScore": "number?: Its sentiment; of ends.",
    "recent[].occurredAt": "instant?: When.",
    "recent[].eventIds": "ids: The event.",
}

CHANNELS: Final = 16
_RECENT: Final = 5


def _started(state: Map, fact: Fact) -> None:
    _note(state, fact, "started")


def _ended(state: Map, fact: Fact) -> None:
    add(state, "seconds", fact.number("durationSeconds"))
    add(state, "messages", fact.number("messageCount"))
    add(state, "sentiments", fact.number("sentimentScore"))
    _note(state, fact, "ended")


def _note(state: Map, fact: Fact, what: str) -> None:
    channel = fact.text("channel")
    seconds, messages = fact.number("durationSeconds"), fact.number("messageCount")
    count(state, what)
    entry = {"state": what, "channel": channel, "context": fact.text("context", PROSE)}
    numbers = {"seconds": seconds, "messages": messages, "sentiment": fact.number("sentimentScore")}
    recent(state, "recent", fact.id, entry | numbers, _RECENT)
    if channel and (row := tally(state, "channels", digest(channel), CHANNELS)) is not None:
        row["key"] = channel
        count(row, "n")
        count(row, what)
        if what == "ended":
            add(row, "seconds", seconds)
            add(row, "messages", messages)
        cite(row, fact.id)


FOLDS: Final = {"conversation_started": _started, "conversation_ended": _ended}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    shown = [_moment(row) for row in entries(state, "recent")]
    started, ended = counted(state, "started"), counted(state, "ended")
    return {
        "count": max(started, ended),
        "startedCount": started,
        "endedCount": ended,
        "totalDurationSeconds": summed(state, "seconds"),
        "averageDurationSeconds": mean(state, "seconds"),
        "totalMessages": summed(state, "messages"),
        "averageSentiment": mean(state, "sentiments"),
        "channels": [
            {
                "channel": row["key"],
                "startedCount": counted(row, "started"),
                "endedCount": counted(row, "ended"),
                "totalDurationSeconds": summed(row, "seconds"),
                "totalMessages": summed(row, "messages"),
            }
            | seen(row)
            for row in tallied(state, "channels")
        ],
        "last": shown[0] if shown else None,
        "recent": shown,
    }


def _moment(row: Map) -> Map:
    return {
        "state": row["state"],
        "channel": row["channel"],
        "context": row["context"],
        "durationSeconds": row["seconds"],
        "messageCount": row["messages"],
        "sentimentScore": row["sentiment"],
    } | said(row)


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    if not (last := shown["last"]):
        return []
    at = f"on {quoted(last['channel'])}" if last["channel"] else ""
    found = [
        sentence(
            f"{shown['count']} in all, last {last['state']}",
            day(last["occurredAt"]),
            at,
            quoted(last["context"]),
            ids=last["eventIds"],
        )
    ]
    for each in shown["channels"]:
        long = f"{plain(each['totalDurationSeconds'])} s," if each["totalDurationSeconds"] is not None else ""
        often = f"{max(each['startedCount'], each['endedCount'])} ×,"
        found.append(
            sentence(quoted(each["channel"]), often, long, f"last {day(each['lastSeen'])}", ids=each["eventIds"])
        )
    return found
