"""Whether an organisation is still there: ``active → leaving → retention_expired``.

* ``retention_expired`` wins for ever.
* ``leaving`` follows from a cancellation that is requested or confirmed, until one is reverted later, by their times.
* A leaving organisation *has left* from the confirmation on (its ``effectiveAt``, else its time): then nothing is taken or
  read any more. Until then, and again after a later reverted cancellation, it is served as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from lead_events.instants import EPOCH, parse_instant
from lead_events.organizations.registers import Registers, Stamp, stamp, time_of, value, write


class Status(StrEnum):
    ACTIVE = "active"
    LEAVING = "leaving"
    RETENTION_EXPIRED = "retention_expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Where an organisation stands; times as on the wire."""

    status: Status = Status.ACTIVE
    requested_at: str | None = None
    confirmed_at: str | None = None
    reverted_at: str | None = None
    expired_at: str | None = None
    left_at: str | None = None
    """From when on it has left; may lie ahead."""
    retention_expires_at: str | None = None
    reason: str | None = None

    def is_gone(self, now: datetime) -> bool:
        """Whether nothing of the organisation is taken or read any more."""
        since = self.gone_since
        return since is not None and since <= now

    @property
    def is_expired(self) -> bool:
        """Whether its data is to be erased, for good."""
        return self.status is Status.RETENTION_EXPIRED

    @property
    def gone_since(self) -> datetime | None:
        if self.is_expired:
            return EPOCH
        return parse_instant(self.left_at, "leftAt") if self.left_at else None


def told(name: str, fields: Mapping[str, Any], event_stamp: Stamp, registers: Registers) -> Registers:
    """The registers with one event: ``name`` is requested, reverted, confirmed or expired."""
    if name == "expired":  # the first one counts, whichever arrives first
        before = stamp(registers, name)
        return registers if before and before < event_stamp else registers | {name: [None, event_stamp]}
    values: dict[str, Any] = {name: fields.get("effectiveAt")}
    if name != "reverted":
        values |= {key: fields[key] for key in ("reason", "retentionExpiresAt") if fields.get(key) is not None}
    return write(registers, values, event_stamp)


def lifecycle_of(registers: Mapping[str, list[Any]]) -> Lifecycle:
    """What the registers come to."""
    reverted = stamp(registers, "reverted")

    def since_reverted(name: str) -> bool:
        return stamp(registers, name) > reverted

    def at(name: str) -> str | None:
        return time_of(stamp(registers, name)) or None

    confirmed = since_reverted("confirmed")
    leaving = confirmed or since_reverted("requested")
    expired = at("expired")
    status = Status.RETENTION_EXPIRED if expired else Status.LEAVING if leaving else Status.ACTIVE
    return Lifecycle(
        status=status,
        requested_at=at("requested"),
        confirmed_at=at("confirmed"),
        reverted_at=at("reverted"),
        expired_at=expired,
        left_at=(value(registers, "confirmed") or at("confirmed")) if confirmed else None,
        retention_expires_at=value(registers, "retentionExpiresAt") if since_reverted("retentionExpiresAt") else None,
        reason=value(registers, "reason") if since_reverted("reason") else None,
    )
