"""Rebuilding memories as a reprocessing does: in memory, where only our own work counts, and over boto3 on an emulator."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from statistics import median
from typing import Any, Final

from lead_events.aws_errors import client_config
from lead_events.cursors import Cursors
from lead_events.event import EventKey, StoredEvent
from lead_events.instants import now
from lead_events.jobs import Kind, LeadKey
from lead_events.memory import Memory
from lead_events.messaging.sqs import NoDeadLetters
from lead_events.ports import (
    EventStore,
    LeadPage,
    LeadScan,
    MemoryStore,
    Page,
    Position,
    ReprocessingStore,
    TimelineQuery,
)
from lead_events.projecting import Projector
from lead_events.rebuilding import Rebuilding
from lead_events.reprocessing import Reprocessor
from lead_events.reprocessings import Reprocessings
from lead_events.store.dynamodb import DynamoDbEvents
from lead_events.store.memories import DynamoDbMemories
from lead_events.store.memory import InMemoryObjects
from lead_events.store.memory_jobs import InMemoryReprocessings
from lead_events.store.memory_memories import InMemoryMemories
from lead_events.store.reprocessings import DynamoDbReprocessings
from lead_events.store.scanning import DynamoDbLeads
from tools.benchmarks import tables
from tools.benchmarks.figures import Bar, Figure
from tools.benchmarks.folds import mixed
from tools.benchmarks.lab import Lab, endpoint, session

PER_LEAD: Final = 100
SMALL: Final = 1_000
LARGE: Final = 100_000
"""Events in the store."""
EMULATED_LEADS: Final = 20
WORKERS: Final = 8
ROUNDS: Final = 3


def measure(lab: Lab) -> list[Figure]:
    """Whole jobs, from start to done."""
    large = 5_000 if lab.quick else LARGE
    lab.say(f"rebuild of everything in stores of {SMALL:,} and {large:,} events, in memory")
    rounds = 1 if lab.quick else ROUNDS
    # The small one as often as makes it last as long; in turns, so that both have the same neighbours on the machine.
    times = [(median(in_memory(SMALL) for _ in range(20)), in_memory(large)) for _ in range(rounds)]
    small, whole = (min(each) for each in zip(*times, strict=True))
    lab.say(f"rebuild of {EMULATED_LEADS} leads of {PER_LEAD} events on MiniStack")
    emulated = on_ministack(lab.ministack)
    events = EMULATED_LEADS * PER_LEAD
    note = (
        f"{EMULATED_LEADS} leads of {PER_LEAD} events of every type, every memory written; with the scan over the leads"
    )
    return [
        Figure("rebuild", f"events a second, store of {large:,} events, in memory", "events/s", 1 / whole),
        Figure(
            "rebuild", f"an event in a store of {large:,}, against {SMALL:,}", "µs", whole * 1e6, small * 1e6,
            None if lab.quick else Bar(1.2),
        ),
        Figure("rebuild", "events a second, one worker on MiniStack", "events/s", events / emulated["seconds"]),
        Figure("rebuild", "DynamoDB reads a lead", "calls", emulated["reads"] / EMULATED_LEADS, note=note),
        Figure("rebuild", "DynamoDB writes a lead", "calls", emulated["writes"] / EMULATED_LEADS),
        Figure("rebuild", "write units an event", "units", emulated["units"] / events),
    ]  # fmt: skip


def in_memory(count: int) -> float:
    """Seconds of processor time per event."""
    store = Leads(count)
    with ThreadPoolExecutor(1) as threads:  # one: threads would only wait for each other
        job = Job(store, Memories(), InMemoryReprocessings(), store, threads)
        begun = time.process_time()
        job.run(count)
        return (time.process_time() - begun) / count


def on_ministack(port: int) -> dict[str, float]:
    """Seconds, calls and write units of a whole job."""
    made_by, used = session(), Counter[str]()
    client = made_by.client("dynamodb", endpoint_url=endpoint(port)["endpoint_url"], config=client_config(50))
    events = DynamoDbEvents(client, tables.EVENTS, InMemoryObjects())
    with ThreadPoolExecutor(WORKERS) as threads:
        for _, lead_id in leads(EMULATED_LEADS * PER_LEAD):
            list(threads.map(events.append, (replace(each, lead_id=lead_id) for each in history())))
        _count(client, used)
        job = Job(
            events,
            DynamoDbMemories(client, tables.MEMORIES),
            DynamoDbReprocessings(client, tables.REPROCESSINGS),
            DynamoDbLeads(client, tables.EVENTS),
            threads,
        )
        begun = time.perf_counter()
        job.run(EMULATED_LEADS * PER_LEAD)
        return {"seconds": time.perf_counter() - begun, **used}


class Job:
    """A reprocessing of an organisation, and one worker that does it all."""

    def __init__(
        self,
        events: EventStore,
        memories: MemoryStore,
        jobs: ReprocessingStore,
        scan: LeadScan,
        threads: ThreadPoolExecutor,
    ) -> None:
        self.sent: list[str] = []
        rebuilding = Rebuilding(Projector(events, memories, NoDeadLetters(), threads, now, presence=None))
        self._api = Reprocessings(jobs=jobs, queue=self, scan=scan, cursors=Cursors(lambda: "bench"), clock=now)
        self._worker = Reprocessor(
            jobs=jobs,
            queue=self,
            scan=scan,
            tasks={(Kind.MEMORIES, False): rebuilding.rebuild},
            clock=now,
            executor=threads,
        )

    def send(self, message: str, delay_seconds: int = 0) -> None:  # noqa: ARG002  # nothing waits here
        """Be the queue."""
        self.sent.append(message)

    def run(self, events: int) -> None:
        """From start to done."""
        job_id = self._api.start(ORGANIZATION, b"")["reprocessingId"]
        while self.sent:
            self._worker.work(self.sent.pop(0), redelivered=False)
        shown = self._api.one(ORGANIZATION, job_id)
        if (shown["status"], shown["progress"]["events"]) != ("done", events):
            raise ValueError(f"not all was rebuilt: {shown['progress']}")


class Memories(InMemoryMemories):
    """Memories of the lead that is being rebuilt: a worker holds no others either."""

    def of_lead(self, organization_id: str, lead_id: str) -> list[Memory]:  # noqa: ARG002  # the port's signature
        """As the port says; each lead is asked for once, before it is written."""
        self.clear()
        return []


class Leads:
    """A store of leads that all have the same history."""

    def __init__(self, count: int) -> None:
        self._events = history()
        self._order = leads(count)
        self._places = {lead: place for place, lead in enumerate(self._order)}

    def page(self, *arguments: Any, **options: Any) -> Any:
        """A page of events, or of leads: it stands for both ports."""
        if isinstance(arguments[0], TimelineQuery):
            return self._timeline(*arguments)
        return self._scan(*arguments, **options)

    def _timeline(self, query: TimelineQuery, after: Position | None, limit: int) -> Page:
        if after is not None or limit < PER_LEAD:
            raise ValueError("a lead's events are one page here")
        # Made anew each time: a worker does not hold the events of all leads either.
        return Page([replace(each, lead_id=query.lead_id) for each in self._events], more=False)

    def _scan(self, segment: int, segments: int, after: LeadKey | None) -> LeadPage:
        begin = segment if after is None else self._places[after] + segments
        chosen = self._order[begin : begin + 10 * segments : segments]
        return LeadPage(chosen, more=begin + 10 * segments < len(self._order))

    def count(self) -> int | None:
        """As the port says."""
        return None

    def append(self, event: StoredEvent) -> StoredEvent | None:
        raise NotImplementedError

    def get(self, key: EventKey, *, raw: bool = False) -> StoredEvent | None:
        raise NotImplementedError

    def find(self, organization_id: str, source: str, external_event_id: str) -> EventKey | None:
        raise NotImplementedError


ORGANIZATION: Final = "org_bench"


def leads(count: int) -> list[LeadKey]:
    """As many as have ``count`` events together."""
    return [(ORGANIZATION, f"lead_{number:06d}") for number in range(count // PER_LEAD)]


def history() -> list[StoredEvent]:
    """The events of a lead."""
    return [replace(each, organization_id=ORGANIZATION) for each in islice(mixed(), PER_LEAD)]


def _count(client: Any, used: Counter[str]) -> None:
    """Count calls, and the units of writes: MiniStack reckons a query as one unit, however much it reads."""
    kinds = {"Query": "reads", "Scan": "reads", "GetItem": "reads", "PutItem": "writes", "UpdateItem": "writes"}

    def ask(params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def count(parsed: dict[str, Any], model: Any, **_: Any) -> None:
        kind = kinds.get(model.name)
        if kind is not None:
            used[kind] += 1
        if kind == "writes":
            used["units"] += parsed.get("ConsumedCapacity", {}).get("CapacityUnits", 0)

    for name in kinds:
        client.meta.events.register(f"provide-client-params.dynamodb.{name}", ask)
    client.meta.events.register("after-call.dynamodb", count)
