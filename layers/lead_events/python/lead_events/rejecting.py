"""Rejections: their ids and how the API shows them."""

from __future__ import annotations

import hashlib
from typing import Any

from lead_events.errors import RejectedError
from lead_events.instants import format_instant
from lead_events.ports import Rejection, StoredRejection
from lead_events.strict_json import dumps, loads


def rejected_event_id(rejection: Rejection) -> str:
    """``rej_`` and a hash of what was rejected and why: the same delivery again has the same id."""
    why = (rejection.code, rejection.detail)  # of a batch several entries may be rejected, for reasons of their own
    parts = (rejection.source, rejection.external_event_id or "", *why, _as_first_sent(rejection.raw_payload))
    digest = hashlib.sha256("\0".join(parts).encode())
    return f"rej_{digest.hexdigest()[:40]}"


def _as_first_sent(raw: str) -> str:
    """A text of which a replay of the bus's archive does not differ: EventBridge names the replay in what it repeats.

    Whatever else of its own it may write anew does not count where the event is an envelope with an id and a time.
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-replay-archived-event.html
    """
    if "detail-type" not in raw:
        return raw
    try:
        event = loads(raw)
    except RejectedError:
        return raw
    detail = event.get("detail") if isinstance(event, dict) and "detail-type" in event else None
    if not isinstance(event, dict) or detail is None:
        return raw
    if isinstance(detail, dict) and "specversion" in detail:
        return dumps([event["detail-type"], event.get("source"), detail])
    return dumps({name: event[name] for name in sorted(event) if name != "replay-name"})


def rejection_json(rejection: StoredRejection, *, raw: bool = False) -> dict[str, Any]:
    """A rejection as the API shows it; its raw text only where asked for."""
    shown: dict[str, Any] = {
        "rejectedEventId": rejection.rejected_event_id,
        "organizationId": rejection.organization_id,
        "source": rejection.source,
        "eventType": rejection.event_type,
        "externalEventId": rejection.external_event_id,
        "code": rejection.code,
        "detail": rejection.detail,
        "errors": [{"field": each.field, "rule": each.rule} for each in rejection.errors],
        "firstSeenAt": format_instant(rejection.seen_at),
        "lastSeenAt": format_instant(rejection.last_seen_at),
        "deliveries": rejection.deliveries,
    }
    return shown | ({"rawPayload": rejection.raw_payload} if raw else {})
