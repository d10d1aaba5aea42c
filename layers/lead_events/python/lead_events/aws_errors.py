"""One place that decides what an AWS error means to us."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from lead_events.errors import TooLargeError, UnavailableError

if TYPE_CHECKING:
    from botocore.config import Config

_TOO_LARGE: Final = ("Item size has exceeded", "Item size to update has exceeded")


@contextmanager
def translated(service: str) -> Iterator[None]:
    """Raise ``UnavailableError`` for whatever the service answers but what the caller handles itself.

    The text names the service and AWS's error code, never AWS's message: it may quote keys and values.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        details = error.response.get("Error", {})
        if any(text in details.get("Message", "") for text in _TOO_LARGE):
            raise TooLargeError("The event does not fit an item of 400 KB.") from None
        raise UnavailableError(f"{service} answered {details.get('Code', 'an error')}.") from error
    except BotoCoreError as error:
        raise UnavailableError(f"{service} did not answer ({type(error).__name__}).") from error


def client_config(connections: int) -> Config:
    """Time-outs and retries of every client: a throttled call is tried four times, then the caller hears of it."""
    from botocore.config import Config

    return Config(
        connect_timeout=2,
        read_timeout=5,
        retries={"mode": "standard", "total_max_attempts": 4},
        max_pool_connections=connections,
        tcp_keepalive=True,
    )
