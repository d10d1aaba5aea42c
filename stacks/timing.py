"""How long everything may take, and what follows from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from aws_cdk import Duration

from stacks.constructs.ingest_queue import BATCHING_WINDOW
from stacks.constructs.service_queue import MAX_RECEIVES, visibility_timeout
from stacks.settings import Settings

LIFECYCLE_CACHE: Final = Duration.seconds(30)
"""How long a process may still take an organisation for what it was: the library's cache of life cycles."""

QUIET_MARGIN: Final = Duration.seconds(120)
"""For clocks that differ, records that wait in a stream for a moment, and cold starts."""

LOCAL_QUIET: Final = Duration.seconds(45)
"""Somebody waits for it: longer than cache and functions, shorter than three deliveries of a message that fails."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Time-outs of the functions, and how long an erasure keeps looking."""

    api: Duration
    """Below the 30 s after which API Gateway gives up."""
    ingest: Duration
    """Of both functions that take events off queues."""
    stream: Duration
    """A batch takes less than a second, but a lead with a great many events may have to be read whole."""
    reprocessor: Duration
    """A slice takes some seconds; its last lead is finished, however many events it has."""
    eraser: Duration
    """A slice stops in time and sends the next one; a page of a large table takes what it takes."""
    tokens: Duration
    """Cognito waits no longer for a trigger."""
    erasure_quiet: Duration
    """How long after its beginning an erasure looks for what was still under way."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """On the local twin a failed message is visible again after a minute or three, not six."""
        local = settings.is_local
        ingest = Duration.seconds(10 if local else 60)
        stream = Duration.seconds(120)
        reprocessor = Duration.seconds(30 if local else 300)
        return cls(
            api=Duration.seconds(20),
            ingest=ingest,
            stream=stream,
            reprocessor=reprocessor,
            eraser=Duration.seconds(30 if local else 60),
            tokens=Duration.seconds(5),
            erasure_quiet=LOCAL_QUIET if local else _quiet(ingest, stream, reprocessor),
        )


def _quiet(ingest: Duration, stream: Duration, reprocessor: Duration) -> Duration:
    """The longest that something may go on which began before everybody knew of the erasure.

    That is a message that a function took and failed to finish, until its last delivery; or a function that started
    with a life cycle from its cache and runs as long as it may. What was given up is in a dead-letter queue, where the
    erasure looks.
    """
    deliveries = MAX_RECEIVES * visibility_timeout(ingest, BATCHING_WINDOW).to_seconds()
    running = max(stream.to_seconds(), reprocessor.to_seconds()) + LIFECYCLE_CACHE.to_seconds()
    return Duration.seconds(max(deliveries, running) + QUIET_MARGIN.to_seconds())
