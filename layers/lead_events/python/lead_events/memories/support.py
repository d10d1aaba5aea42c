"""Support tickets of the lead, and how content it was."""

from __future__ import annotations

from typing import Final

from lead_events.memories._fact import LABEL, PROSE, Fact, cut
from lead_events.memories._shapes import (
    Map,
    add,
    count,
    counted,
    digest,
    entries,
    keep,
    kept,
    keyed,
    latest,
    mean,
    recent,
    stamps,
)
from lead_events.memories._showing import day, label, plain, quoted, said, sentence, word

TITLE: Final = "Support"
FIELDS: Final = {
    "openedCount": "integer: Tickets that were opened, reopened ones again.",
    "resolvedCount": "integer: Tickets that were resolved.",
    "openTickets": "list: Of the 50 tickets opened last those that were not resolved since, latest first.",
    "openTickets[].ticketId": "string: The ticket.",
    "openTickets[].subject": "string?: What it is about, at most 240 bytes.",
    "openTickets[].productId": "string?: Product that it is about.",
    "openTickets[].priority": "string?: As the ticketing service names it.",
    "openTickets[].occurredAt": "instant?: When it was opened.",
    "openTickets[].eventIds": "ids: The event.",
    "lastResolved": "object?: The ticket resolved last.",
    "lastResolved.ticketId": "string?: The ticket.",
    "lastResolved.resolution": "string?: How it was resolved, at most 240 bytes.",
    "lastResolved.satisfactionScore": "number?: The lead's rating, on the scale of its source.",
    "lastResolved.occurredAt": "instant?: When.",
    "lastResolved.eventIds": "ids: The event.",
    "satisfaction": "object: The lead's ratings, on the scale of their sources.",
    "satisfaction.average": "number?: To four places.",
    "satisfaction.count": "integer: How many there are.",
    "satisfaction.latest": "number?: The latest one.",
}

OPENED: Final = 50
RESOLVED: Final = 100


def _opened(state: Map, fact: Fact) -> None:
    count(state, "opened")
    if (ticket := fact.whole("ticketId")) is not None:
        entry = {
            "ticket": cut(ticket, LABEL),
            "subject": fact.text("subject", PROSE),
            "product": fact.text("productId"),
            "priority": fact.text("priority"),
        }
        latest(state, "tickets", digest(ticket), fact.id, entry, OPENED)


def _resolved(state: Map, fact: Fact) -> None:
    count(state, "resolved")
    score = fact.number("satisfactionScore")
    add(state, "scores", score)
    keep(state, "score", fact.id, score)
    last = {"ticket": fact.text("ticketId"), "resolution": fact.text("resolution", PROSE), "score": score}
    recent(state, "last", fact.id, last, 1)
    if (ticket := fact.whole("ticketId")) is not None:
        latest(state, "since", digest(ticket), fact.id, {}, RESOLVED)


FOLDS: Final = {"ticket_opened": _opened, "ticket_resolved": _resolved}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    return {
        "openedCount": counted(state, "opened"),
        "resolvedCount": counted(state, "resolved"),
        "openTickets": [
            {
                "ticketId": row["ticket"],
                "subject": row["subject"],
                "productId": row["product"],
                "priority": row["priority"],
            }
            | said(row)
            for row in _open(state)
        ],
        "lastResolved": next(map(_resolution, entries(state, "last")), None),
        "satisfaction": {
            "average": mean(state, "scores"),
            "count": counted(state.get("scores", {}), "n"),
            "latest": kept(state, "score"),
        },
    }


def _resolution(row: Map) -> Map:
    shown = {"ticketId": row["ticket"], "resolution": row["resolution"], "satisfactionScore": row["score"]}
    return shown | said(row)


def _open(state: Map) -> list[Map]:
    """Tickets whose latest word is that they were opened."""
    since = stamps(state, "since")
    # Of a ticket resolved before the oldest one that is known, nobody knows: it is not called open.
    known_from = min(since.values()) if len(since) == RESOLVED else ""
    return [row for key, row in keyed(state, "tickets") if max(since.get(key, ""), known_from) < row["at"]]


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = []
    for each in shown["openTickets"]:
        priority = f"({word(each['priority'])})" if each["priority"] else ""
        opened = f"since {day(each['occurredAt'])}"
        found.append(
            sentence(
                "Open ticket", label(each, "ticketId"), priority, opened, quoted(each["subject"]), ids=each["eventIds"]
            )
        )
    if last := shown["lastResolved"]:
        content = shown["satisfaction"]
        score = f"satisfaction {plain(content['average'])} on average" if content["average"] is not None else ""
        found.append(
            sentence(
                f"{shown['resolvedCount']} resolved, last {day(last['occurredAt'])}",
                quoted(last["resolution"]),
                score,
                ids=last["eventIds"],
            )
        )
    return found
