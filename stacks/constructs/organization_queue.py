"""The queues of what is told about organisations: one for each category of events."""

from __future__ import annotations

from typing import Final

from stacks.constructs.ingest_queue import IngestQueue

MAX_CONCURRENCY: Final = 5
"""Batches at once of one category: events of one organisation only wait for each other."""


class OrganizationQueue(IngestQueue):
    """The queue of a category with its dead-letter queue, open to the same accounts as the ingest queue."""

    max_concurrency = MAX_CONCURRENCY
