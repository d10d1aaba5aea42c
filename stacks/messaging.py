"""Queues, bus and streams: what feeds the functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aws_cdk import aws_sqs as sqs
from constructs import Construct

from lead_events.names import OrganizationCategory
from stacks.constructs.event_bus import EventBus
from stacks.constructs.ingest_queue import IngestQueue
from stacks.constructs.table_stream import StreamConsumer
from stacks.constructs.work_queue import WorkQueue
from stacks.settings import Settings
from stacks.timing import Timing

INGEST_CONCURRENCY: Final = 20
"""Batches at once."""

CATEGORY_CONCURRENCY: Final = 5
"""Of one category: events of one organisation only wait for each other."""

LOCAL_CONCURRENCY: Final = 3
"""Each is a process on somebody's machine, and many that start at once run into their time-outs."""

REPROCESSING_CONCURRENCY: Final = 10
"""A rebuild leaves the tables' capacity to live traffic."""

ERASURE_CONCURRENCY: Final = 5
"""Each erasure has one message at a time, which may scan a whole table: few go on at once, the others wait."""


class Messaging:
    """Makes them in the services stack itself: their logical ids are those of its children."""

    def __init__(self, stack: Construct, *, settings: Settings, timing: Timing) -> None:
        local = settings.is_local
        self.ingest_queue = IngestQueue(
            stack,
            "IngestQueue",
            function_timeout=timing.ingest,
            max_concurrency=LOCAL_CONCURRENCY if local else INGEST_CONCURRENCY,
            senders=settings.sender_accounts,
            require_tls=not local,
        )
        self.category_queues = {
            category: IngestQueue(
                stack,
                f"{category.capitalize()}Queue",
                function_timeout=timing.ingest,
                max_concurrency=LOCAL_CONCURRENCY if local else CATEGORY_CONCURRENCY,
                senders=settings.sender_accounts,
                require_tls=not local,
            )
            for category in OrganizationCategory
        }
        self.event_bus = EventBus(
            stack,
            "EventBus",
            name=settings.event_bus_name,
            senders=settings.sender_accounts,
            queue=self.ingest_queue.queue,
            category_queues={category: each.queue for category, each in self.category_queues.items()},
            local=local,
        )
        self.reprocessing_queue = WorkQueue(
            stack,
            "ReprocessingQueue",
            function_timeout=timing.reprocessor,
            max_concurrency=REPROCESSING_CONCURRENCY,
            require_tls=not local,
        )
        self.erasure_queue = WorkQueue(
            stack,
            "ErasureQueue",
            function_timeout=timing.eraser,
            max_concurrency=ERASURE_CONCURRENCY,
            require_tls=not local,
        )
        self.projection = StreamConsumer(stack, "Projection", local=local)
        self.publication = StreamConsumer(stack, "Publication", local=local)

    @property
    def queues(self) -> Mapping[str, sqs.IQueue]:
        """Every queue that feeds a function, by its name in outputs."""
        return {
            "Ingest": self.ingest_queue.queue,
            **{name.capitalize(): each.queue for name, each in self.category_queues.items()},
            "Reprocessing": self.reprocessing_queue.queue,
            "Erasure": self.erasure_queue.queue,
        }

    @property
    def dead_letters(self) -> Mapping[str, sqs.IQueue]:
        """Every dead-letter queue, by its name in outputs and alarms."""
        return {**self.dead_letters_of_data, "Erasure": self.erasure_queue.dead_letters}

    @property
    def dead_letters_of_data(self) -> Mapping[str, sqs.IQueue]:
        """Those in which something of a lead may wait. A message for the eraser names no lead."""
        return {
            "Ingest": self.ingest_queue.dead_letters,
            **{name.capitalize(): each.dead_letters for name, each in self.category_queues.items()},
            "Undelivered": self.event_bus.undelivered,
            "Projector": self.projection.dead_letters,
            "Publisher": self.publication.dead_letters,
            "Reprocessing": self.reprocessing_queue.dead_letters,
        }
