"""Plans that the lead subscribes to, or did."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from lead_events.memories._fact import LABEL, PROSE, Fact, cut
from lead_events.memories._shapes import (
    Map,
    count,
    counted,
    digest,
    event_id,
    is_summable,
    keyed,
    latest,
    millionths,
    of_millionths,
)
from lead_events.memories._showing import amount, day, label, listed, quoted, sentence, when

TITLE: Final = "Subscriptions"
FIELDS: Final = {
    "createdCount": "integer: Times that the lead subscribed.",
    "cancelledCount": "integer: Times that a subscription ended.",
    "activeCount": "integer: Plans that are active.",
    "activeTotals": "list: What active plans cost per billing period of theirs, by currency.",
    "activeTotals[].currency": "string: ISO 4217 code.",
    "activeTotals[].total": "number: Sum, in major units.",
    "plans": "list: State of each plan, by the order in which its events occurred; the 30 plans subscribed to last and the "
    "30 that ended last; latest first.",
    "plans[].planId": "string: The plan.",
    "plans[].planName": "string?: Its name.",
    "plans[].status": "string: active or cancelled.",
    "plans[].sourceStatus": "string?: What the source calls it in the latest event: trialing, incomplete and the like.",
    "plans[].amount": "number?: Price per billing period, in major units.",
    "plans[].currency": "string?: ISO 4217 code.",
    "plans[].createdAt": "instant?: When the lead last subscribed to it.",
    "plans[].cancelledAt": "instant?: When it last ended.",
    "plans[].reason": "string?: Why it ended, at most 240 bytes; of cancelled ones.",
    "plans[].eventIds": "ids: The latest beginning and the latest end.",
}

PLANS: Final = 30


def _created(state: Map, fact: Fact) -> None:
    count(state, "created")
    if (plan := fact.whole("planId")) is not None:
        entry = {
            "plan": cut(plan, LABEL),
            "name": fact.text("planName"),
            "price": fact.number("amount"),
            "currency": fact.text("currency"),
            "status": fact.text("status"),
        }
        latest(state, "begun", digest(plan), fact.id, entry, PLANS)


def _cancelled(state: Map, fact: Fact) -> None:
    count(state, "cancelled")
    if (plan := fact.whole("planId")) is not None:
        entry = {
            "plan": cut(plan, LABEL),
            "name": fact.text("planName"),
            "reason": fact.text("reason", PROSE),
            "status": fact.text("status"),
        }
        latest(state, "ended", digest(plan), fact.id, entry, PLANS)


FOLDS: Final = {"subscription_created": _created, "subscription_cancelled": _cancelled}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    begun, ended = dict(keyed(state, "begun")), dict(keyed(state, "ended"))
    # Where ends are forgotten, a plan subscribed to before the oldest known end may have ended since: it is not called active.
    known_from = min(row["at"] for row in ended.values()) if len(ended) == PLANS else ""
    plans = [
        (max(row["at"] for row in rows if row), _plan(*rows, known_from))
        for rows in ((begun.get(key), ended.get(key)) for key in {**begun, **ended})
    ]
    shown = [plan for _, plan in sorted(plans, key=lambda each: each[0], reverse=True)]
    active = [each for each in shown if each["status"] == "active"]
    return {
        "createdCount": counted(state, "created"),
        "cancelledCount": counted(state, "cancelled"),
        "activeCount": len(active),
        "activeTotals": _totals(active),
        "plans": shown,
    }


def _plan(begun: Map | None, ended: Map | None, known_from: str) -> Map:
    started, stopped = (begun or {}).get("at", ""), (ended or {}).get("at", "")
    newest, other = (begun, ended) if started > stopped else (ended, begun)
    assert newest is not None
    status = "active" if started > max(stopped, known_from) else "cancelled"
    return {
        "planId": newest["plan"],
        "planName": newest["name"] or (other or {}).get("name"),
        "status": status,
        "sourceStatus": newest["status"],
        "amount": begun["price"] if begun else None,
        "currency": begun["currency"] if begun else None,
        "createdAt": when(started),
        "cancelledAt": when(stopped),
        "reason": ended["reason"] if ended and status == "cancelled" else None,
        "eventIds": [event_id(each) for each in sorted(filter(None, (started, stopped)), reverse=True)],
    }


def _totals(active: list[Map]) -> list[Map]:
    sums: dict[str, int] = {}
    for each in active:
        price: Decimal | int | None = each["amount"]
        if price is not None and each["currency"] and is_summable(price):
            sums[each["currency"]] = sums.get(each["currency"], 0) + millionths(price)
    return [{"currency": currency, "total": of_millionths(total)} for currency, total in sorted(sums.items())]


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = []
    for each in sorted(shown["plans"], key=lambda plan: str(plan["status"])):
        price = amount(each["amount"], each["currency"])
        since = day(each["createdAt"] if each["status"] == "active" else each["cancelledAt"])
        state = f"{each['status']} since {since}" if since else each["status"]
        why = f"because {quoted(each['reason'])}" if each["reason"] else ""
        found.append(sentence(label(each, "planName", "planId"), listed([price, state]), why, ids=each["eventIds"]))
    return found
