"""Both ways to store one event, wired to an endpoint and metered."""

from __future__ import annotations

from typing import Any

from lead_events.event import EventDraft, Outcome
from lead_events.in_memory import pipeline_in_memory
from lead_events.store.dynamodb import DynamoDbClaims, DynamoDbEvents
from lead_events.store.memory import InMemoryObjects
from tools.benchmarks import tables
from tools.benchmarks.corpus import literal_event
from tools.benchmarks.lab import aws_at, endpoint, session
from tools.benchmarks.meter import Meter
from tools.benchmarks.reference.usual.store import LiteralStore


class CountedObjects(InMemoryObjects):
    """An object store that counts its puts."""

    def __init__(self) -> None:
        super().__init__()
        self.puts = 0

    def put(self, key: str, text: str) -> None:
        self.puts += 1
        super().put(key, text)


class Context:
    """As much of a Lambda context as stock idempotency asks for."""

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        """Time left, in milliseconds."""
        return 30_000


class Ours:
    """The pipeline with the DynamoDB adapters."""

    def __init__(self, port: int) -> None:
        measured = session()
        self.meter = Meter(measured, *tables.ours())
        self.objects = CountedObjects()
        client = measured.client("dynamodb", **endpoint(port))
        self.events = DynamoDbEvents(client, tables.EVENTS, self.objects)
        self.claims = DynamoDbClaims(client, tables.CLAIMS)
        self.pipeline = pipeline_in_memory(events=self.events, claims=self.claims, objects=self.objects)

    def append(self, draft: EventDraft) -> Outcome:
        """Store one event."""
        return self.pipeline.process(draft)


class Literal:
    """The literal design."""

    def __init__(self, port: int) -> None:
        measured = session()
        self.meter = Meter(measured, *tables.literal())
        with aws_at(port):  # Powertools makes a client of its own, and takes no endpoint
            self.store = LiteralStore(tables.LITERAL_EVENTS, tables.IDEMPOTENCY, measured)
        self.store.register(Context())

    def append(self, draft: EventDraft) -> dict[str, Any]:
        """Store one event."""
        return self.store.append(literal_event(draft))
