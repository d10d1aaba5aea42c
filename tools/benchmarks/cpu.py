"""Processor time of one event, from queue message to store: ours in memory and over boto3, the reference over boto3."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from statistics import median
from typing import Final
from uuid import uuid4

from lead_events.aws_errors import client_config
from lead_events.envelope import read_message
from lead_events.event import OutcomeKind
from lead_events.in_memory import pipeline_in_memory
from lead_events.pipeline import Pipeline
from lead_events.store.dynamodb import DynamoDbClaims, DynamoDbEvents
from lead_events.store.memory import InMemoryObjects
from tools.benchmarks import lambda_events, tables
from tools.benchmarks.figures import Figure
from tools.benchmarks.lab import Lab, aws_at, endpoint, session
from tools.benchmarks.reference.usual.models import CloudEvent
from tools.benchmarks.reference.usual.store import LiteralStore, of_cloud_event
from tools.benchmarks.sides import Context

EVENTS: Final = 200
ROUNDS: Final = 9

Append = Callable[[str], object]


def measure(lab: Lab) -> list[Figure]:
    """Blocks of events in turn; the stub, in a process of its own, is not counted."""
    with lab.stub() as port:
        sides = {"memory": in_memory(), "boto3": over_boto3(port), "literal": literal(port)}
        times: dict[str, list[float]] = {name: [] for name in sides}
        rounds, events = (2, 20) if lab.quick else (ROUNDS, EVENTS)
        lab.say(f"processor time of {rounds} × {events} events of each kind")
        for number in range(rounds + 1):
            for name, append in sides.items():
                spent = block(append, events)
                if number:
                    times[name].append(spent)
    reference = median(times["literal"])
    note = f"medians of {rounds} blocks of {events} events; the reference is the literal design over boto3 in both rows"
    return [
        Figure("cpu", "event through the pipeline, stores in memory", "ms", median(times["memory"]), reference),
        Figure("cpu", "event through the pipeline, boto3 adapters", "ms", median(times["boto3"]), reference, note=note),
    ]


def block(append: Append, events: int) -> float:
    """Milliseconds of processor time per event."""
    messages = [lambda_events.message(uuid4().hex) for _ in range(events)]
    begun = time.process_time()
    for message in messages:
        append(message)
    return (time.process_time() - begun) * 1e3 / events


def in_memory() -> Append:
    """The library alone."""
    return _through(pipeline_in_memory())


def over_boto3(port: int) -> Append:
    """The library with its adapters, as ``wiring`` makes them."""
    client = session().client(
        "dynamodb", endpoint_url=endpoint(port)["endpoint_url"], config=client_config(connections=50)
    )
    objects = InMemoryObjects()
    events, claims = DynamoDbEvents(client, tables.EVENTS, objects), DynamoDbClaims(client, tables.CLAIMS)
    return _through(pipeline_in_memory(events=events, claims=claims, objects=objects))


def literal(port: int) -> Append:
    """The reference: parser model, stock idempotency, resource."""
    with aws_at(port):
        store = LiteralStore(tables.LITERAL_EVENTS, tables.IDEMPOTENCY, session())
    store.register(Context())
    return lambda message: store.append(of_cloud_event(CloudEvent.model_validate(json.loads(message))))


def _through(pipeline: Pipeline) -> Append:
    def append(message: str) -> object:
        outcomes = pipeline.process_message(read_message(message))
        if [each.kind for each in outcomes] != [OutcomeKind.STORED]:
            raise ValueError(f"not stored: {outcomes}")
        return outcomes

    return append
