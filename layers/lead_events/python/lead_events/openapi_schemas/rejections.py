"""Deliveries that could not become events."""

from __future__ import annotations

from typing import Final

from lead_events.openapi_schemas._parts import Schema, cursor, many, obj, own_id, ref, text, time
from lead_events.openapi_schemas.problems import PROBLEM_CODES, broken_rules

REJECTED_EVENT_ID_PATTERN: Final = "^rej_[0-9a-f]{40}$"


def schemas() -> dict[str, Schema]:
    """One of them, and a page."""
    return {
        "RejectedEvent": _rejected_event(),
        "RejectedEventPage": obj(
            "A page, last seen first. The next one is asked for with the `cursor`.",
            {"items": many(ref("RejectedEvent")), "cursor": cursor()},
        ),
    }


def _rejected_event() -> Schema:
    shown = obj(
        "A delivery that was taken, but that no event could be made of. Kept with its original text until it is mended.",
        {
            "rejectedEventId": text("Same delivery and reason, same id", pattern=REJECTED_EVENT_ID_PATTERN),
            "organizationId": own_id("Organization"),
            "source": text("The provider, or the CloudEvents source"),
            "eventType": text("Event type, where it could be told", null=True),
            "externalEventId": text("The source's id of the event, where it could be told", null=True),
            "code": text("Why; as of a problem") | {"enum": sorted(each.code for each in PROBLEM_CODES if each.kept)},
            "detail": text("Why, in words; holds no value that was sent"),
            "errors": broken_rules(),
            "firstSeenAt": time("When it was delivered first"),
            "lastSeenAt": time("When it was delivered last"),
            "deliveries": {
                "description": "How often it was delivered. One whose processing broke off comes again, and is counted again.",
                "type": "integer",
                "minimum": 1,
            },
        },
    )
    shown["properties"]["rawPayload"] = text("The original text, byte for byte; only with `include=rawPayload`")
    return shown
