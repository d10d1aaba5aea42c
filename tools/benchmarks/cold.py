"""Cold start of each deployed function against its usual handler: import and init, and with the first event served."""

from __future__ import annotations

from statistics import median
from typing import Final

from tools.benchmarks import lambda_events
from tools.benchmarks.bundles import FUNCTIONS, environment, usual_environment
from tools.benchmarks.figures import Bar, Figure
from tools.benchmarks.lab import Lab
from tools.benchmarks.tables import ROOT

SAMPLE: Final = ROOT / "tests" / "samples" / "stripe" / "checkout.session.completed.paid.json"
RUNS: Final = 21
QUICK_RUNS: Final = 3
BARS: Final = {"api": 0.6, "ingest": 0.6}
BAR_OF_OTHERS: Final = 0.45


def measure(lab: Lab) -> list[Figure]:
    """Alternating runs of both sides, each in a new process; medians."""
    runs = QUICK_RUNS if lab.quick else RUNS
    figures: list[Figure] = []
    with lab.stub() as port:
        for name in FUNCTIONS:
            lab.say(f"cold start of {name}: {runs} runs of each side")
            times: dict[str, list[tuple[float, float]]] = {"ours": [], "usual": []}
            for run in range(runs + 1):
                for side in ("ours", "usual") if run % 2 else ("usual", "ours"):
                    bundle = (lab.bundles.ours if side == "ours" else lab.bundles.usual)[name]
                    variables = (environment if side == "ours" else usual_environment)(name, port)
                    result = bundle.run(lab.folder, variables, [first_event(name)])
                    check(name, result["answer"])
                    if run:  # the first brings the files into the page cache
                        times[side].append((result["import"], result["import"] + result["served"][0]["wall"]))
            for index, what in enumerate(("import + init", "import + init + first event")):
                figures.append(
                    Figure(
                        "cold",
                        f"{name}: {what}",
                        "ms",
                        median(each[index] for each in times["ours"]),
                        median(each[index] for each in times["usual"]),
                        Bar(BARS.get(name, BAR_OF_OTHERS)) if index == 0 else None,
                        ""
                        if figures
                        else f"medians of {runs} runs of each side; byte code compiled beforehand on both",
                    )
                )
    return figures


def first_event(name: str) -> str:
    """What a function serves first."""
    if name == "api":
        return lambda_events.append()
    if name == "ingest":
        return lambda_events.messages(1)
    if name == "tokens":
        return lambda_events.token()
    return lambda_events.webhook(SAMPLE.read_text(encoding="utf-8"))


def check(name: str, answer: dict[str, object]) -> None:
    """Raise ``ValueError`` unless the event was served: a failure would be quick."""
    good = {
        "api": answer.get("statusCode") in (200, 201),
        "ingest": answer.get("batchItemFailures") == [],
        "webhooks": answer.get("statusCode") == 202,
        "tokens": "organization_id" in str(answer.get("response")),
    }
    if not good[name]:
        raise ValueError(f"{name} did not serve its event: {answer}")
