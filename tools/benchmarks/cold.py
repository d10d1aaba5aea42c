"""Cold start of each deployed function against its usual handler: import and init, and with the first event served."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

from lead_events.event import new_event_id
from lead_events.instants import now
from lead_events.jobs import Job, Scope, Segment
from lead_events.reprocessing import Message
from lead_events.store.dynamodb import DynamoDbEvents
from lead_events.store.reprocessings import DynamoDbReprocessings
from lead_events.store.s3 import NoObjects
from tools.benchmarks import lambda_events, tables
from tools.benchmarks.bundles import FUNCTIONS, environment, usual_environment
from tools.benchmarks.figures import Bar, Figure
from tools.benchmarks.lab import Lab, endpoint, session
from tools.benchmarks.stub import ORGANIZATION

SAMPLE: Final = tables.ROOT / "tests" / "samples" / "stripe" / "checkout.session.completed.paid.json"
RUNS: Final = 21
QUICK_RUNS: Final = 3
BARS: Final = {"api": 0.6, "ingest": 0.6}
BAR_OF_OTHERS: Final = 0.45
HISTORY: Final = 20
"""Events of the lead that is rebuilt."""


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
                    result = bundle.run(lab.folder, variables, [first_event(name, port)])
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


def first_event(name: str, port: int) -> str:
    """What a function serves first; what it finds there is put into the store at ``port``."""
    if name == "api":
        return lambda_events.append()
    if name == "ingest":
        return lambda_events.messages(1)
    if name == "tokens":
        return lambda_events.token()
    if name in ("projector", "publisher"):
        return lambda_events.stream(1)
    if name == "reprocessor":
        return lambda_events.slice_of(reprocessing(session().client("dynamodb", **endpoint(port))))
    return lambda_events.webhook(SAMPLE.read_text(encoding="utf-8"))


def check(name: str, answer: dict[str, object]) -> None:
    """Raise ``ValueError`` unless the event was served: a failure would be quick."""
    good = {
        "api": answer.get("statusCode") in (200, 201),
        "ingest": answer.get("batchItemFailures") == [],
        **dict.fromkeys(("projector", "publisher", "reprocessor"), answer.get("batchItemFailures") == []),
        "webhooks": answer.get("statusCode") == 202,
        "tokens": "organization_id" in str(answer.get("response")),
    }
    if not good[name]:
        raise ValueError(f"{name} did not serve its event: {answer}")


def reprocessing(client: Any, events: Sequence[str] = (tables.EVENTS, tables.LITERAL_EVENTS)) -> str:
    """Start a reprocessing of a new lead with some history, in tables of ``events``; the message that both sides understand."""
    moment = now()
    unique = new_event_id(moment).removeprefix("evt_")
    scope = Scope(ORGANIZATION, f"lead_{unique}")
    for table in events:
        store = DynamoDbEvents(client, table, NoObjects())
        for event in lambda_events.stored(HISTORY, f"lead_{unique}"):
            store.append(event)
    job = Job(job_id=f"rep_{unique}", scope=scope, segments=1, started_at=moment, changed_at=moment)
    segment = Segment(number=0)
    DynamoDbReprocessings(client, tables.REPROCESSINGS).start(job, [segment])
    message = json.loads(Message.next_of(job, segment).write())
    return json.dumps(message | {"leadId": scope.lead_id})
