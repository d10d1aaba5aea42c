"""DynamoDB calls for a new event, its duplicate and a conflict."""

from __future__ import annotations

from collections import Counter

from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyValidationError

from lead_events.event import OutcomeKind
from tools.benchmarks.figures import Bar, Figure
from tools.benchmarks.lab import Lab
from tools.benchmarks.sides import Literal, Ours
from tools.benchmarks.writes import small_event


def measure(lab: Lab) -> list[Figure]:
    """Counted at botocore, retries apart."""
    ours, literal = Ours(lab.ministack), Literal(lab.ministack)
    figures = []
    for name, text, wanted, bar in (
        ("new event", "one", OutcomeKind.STORED, Bar(2, "value")),
        # The design hoped for the failed write alone; docs/decisions/0002 says what the read is for.
        ("duplicate", "one", OutcomeKind.DUPLICATE, Bar(2, "value")),
        ("conflict", "another", OutcomeKind.CONFLICT, None),
    ):
        draft = small_event("wamid.calls", text)
        for side in (ours, literal):
            side.meter.reset()
        outcome = ours.append(draft)
        if outcome.kind is not wanted:
            raise ValueError(f"{name}: {outcome.kind}")
        try:
            literal.append(draft)
        except IdempotencyValidationError:
            if wanted is not OutcomeKind.CONFLICT:
                raise
        note = f"{_told(ours.meter.calls)}; reference {_told(literal.meter.calls)}"
        counts = ours.meter.calls.total(), literal.meter.calls.total()
        figures.append(Figure("calls", name, "calls", *counts, bar, note))
    return figures


def _told(calls: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(calls.items())) or "none"
