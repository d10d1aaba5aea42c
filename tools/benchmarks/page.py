"""Reading a page of 100 events of one lead, raw payloads left out: from the query to the JSON text."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import cycle, islice
from statistics import median
from typing import Final

from lead_events.cursors import Cursors
from lead_events.queries import Queries
from tools.benchmarks.corpus import LEAD, all_corpora
from tools.benchmarks.figures import Figure
from tools.benchmarks.lab import Lab
from tools.benchmarks.sides import Literal, Ours

EVENTS: Final = 100
ROUNDS: Final = 25


def measure(lab: Lab) -> list[Figure]:
    """Both sides hold the same events of the provider samples, each in its own form, and answer in turn."""
    with lab.stub() as port:
        ours, literal = Ours(port), Literal(port)
        corpus = next(all_corpora())
        for number, draft in enumerate(islice(cycle(corpus.drafts), EVENTS)):
            one = replace(
                draft,
                lead_id=LEAD,
                external_event_id=f"page-{number}",
                occurred_at=draft.received_at + timedelta(minutes=number),
            )
            ours.append(one)
            literal.append(one)
        queries = Queries(ours.events, ours.claims, Cursors(lambda: "secret"))
        organization = corpus.drafts[0].organization_id
        sides: dict[str, Callable[[], str]] = {
            "ours": lambda: queries.timeline(organization, LEAD, {"limit": str(EVENTS)}),
            "literal": lambda: literal.store.timeline(organization, LEAD, limit=EVENTS),
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
        lab.say(f"pages of {EVENTS} events")
        for number in range((5 if lab.quick else ROUNDS) + 2):
            for name, read in sides.items():
                wall, processor = time.perf_counter(), time.process_time()
                text = read()
                spent = (time.perf_counter() - wall) * 1e3, (time.process_time() - processor) * 1e3
                if len(json.loads(text)["items"]) != EVENTS:
                    raise ValueError(f"{name} did not read a page of {EVENTS}")
                if number > 1:
                    times[name].append(spent)
    ours_ms, literal_ms = ([median(column) for column in zip(*times[name], strict=True)] for name in sides)
    return [
        Figure("page", f"{EVENTS} events, {what}", "ms", value, reference)
        for what, value, reference in zip(("time", "processor time"), ours_ms, literal_ms, strict=True)
    ]
