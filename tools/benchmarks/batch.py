"""An ingest batch of 100 messages where every DynamoDB call takes 5 ms; and the processor time of the same at 0 ms."""

from __future__ import annotations

from statistics import median
from typing import Final

from tools.benchmarks import lambda_events
from tools.benchmarks.bundles import environment, usual_environment
from tools.benchmarks.cold import check
from tools.benchmarks.figures import Bar, Figure
from tools.benchmarks.lab import Lab

MESSAGES: Final = 100
DELAY: Final = 0.005
ROUNDS: Final = 3
WARM: Final = 4
"""Batches that one process serves after the one that warms it up."""


def measure(lab: Lab) -> list[Figure]:
    """Whole handlers in their Lambda layout, one batch after the other, warm."""
    figures = []
    for delay, name, kind, bar in (
        (DELAY, f"{MESSAGES} messages at {DELAY * 1e3:.0f} ms a call", "wall", Bar(0.25)),
        (0.0, f"{MESSAGES} messages at 0 ms, processor time", "processor", None),
    ):
        times = served(lab, delay, kind)
        note = f"{WARM * (1 if lab.quick else ROUNDS)} warm batches of each side; medians"
        figures.append(Figure("batch", name, "ms", median(times["ours"]), median(times["usual"]), bar, note))
    return figures


def served(lab: Lab, delay: float, kind: str) -> dict[str, list[float]]:
    """Milliseconds of each warm batch, by side; a round is one process of each."""
    times: dict[str, list[float]] = {"ours": [], "usual": []}
    with lab.stub(delay) as port:
        for number in range(1 if lab.quick else ROUNDS):
            lab.say(f"batches of {MESSAGES} at {delay * 1e3:.0f} ms a call, round {number + 1}")
            for side, sides, variables in (
                ("ours", lab.bundles.ours, environment("ingest", port)),
                ("usual", lab.bundles.usual, usual_environment("ingest", port)),
            ):
                events = [lambda_events.messages(MESSAGES)] * (WARM + 1)
                result = sides["ingest"].run(lab.folder, variables, events)
                check("ingest", result["answer"])
                times[side] += [each[kind] for each in result["served"][1:]]
    return times
