"""The twin of a queue in memory."""

from __future__ import annotations


class InMemoryQueue:
    """Messages in a list, with the seconds by which each is delayed."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.delays: list[int] = []

    def send(self, message: str, delay_seconds: int = 0) -> None:
        self.sent.append(message)
        self.delays.append(delay_seconds)
