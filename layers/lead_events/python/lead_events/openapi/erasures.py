"""Erasing everything that is there of a lead, and the receipts of it."""

from __future__ import annotations

from typing import Final

from lead_events import openapi_schemas as shapes
from lead_events.names import ID_PATTERN
from lead_events.openapi._parts import (
    INVALID_PAGE,
    LEAD,
    LEAD_PATH,
    ORGANIZATION,
    READ_REFUSALS,
    UNGATED_REFUSALS,
    Operations,
    answer,
    page_parameters,
    parameter,
    refused,
)
from lead_events.openapi_schemas import ERASURE_ID_PATTERN, Schema, ref

_ERASURES: Final = "/v1/organizations/{organizationId}/erasures"


def _erase() -> Schema:
    return {
        "tags": ["Erasures"],
        "operationId": "eraseLead",
        "summary": "Erase a lead",
        "description": "Begins at once and takes some twenty minutes, as what is under way is waited for. Until it is done "
        "nothing of the lead is taken, and what happened until `erasedUntil` stays out for ever: 410 `erased` for callers, "
        "while queues and webhooks drop it. Answered the same for a lead that nobody knows. Asked again while it is under "
        "way, the receipt is that of the first; asked again later, it is another erasure. The id of the token's client is "
        "written down as `requestedBy`. An organization that has left can have its leads erased until its retention has "
        "expired, which erases everything.",
        "parameters": [*LEAD_PATH],
        "responses": {
            "202": answer("It is under way.", ref("Erasure"), shapes.erasure_sample(done=False)),
            **refused(*READ_REFUSALS),
        },
    }


def _page() -> Schema:
    lead = parameter("leadId", "query", "Of this lead alone; of all if empty", {"pattern": f"^({ID_PATTERN})?$"})
    return {
        "tags": ["Erasures"],
        "operationId": "readErasures",
        "summary": "Receipts of erasures, by pages, newest first",
        "description": "Also of an organization that has left. With `leadId` a page may be shorter than `limit`, or empty: "
        "only a null `cursor` is the end.",
        "parameters": [ORGANIZATION, lead, *page_parameters("receipts")],
        "responses": {
            "200": answer("A page.", ref("ErasurePage"), shapes.erasure_page_sample()),
            **refused(INVALID_PAGE, *UNGATED_REFUSALS),
        },
    }


def _one() -> Schema:
    erasure_id = parameter("erasureId", "path", "Id of the erasure", {"pattern": ERASURE_ID_PATTERN})
    return {
        "tags": ["Erasures"],
        "operationId": "readErasure",
        "summary": "The receipt of an erasure",
        "description": "Also of an organization that has left.",
        "parameters": [ORGANIZATION, erasure_id],
        "responses": {
            "200": answer("The receipt.", ref("Erasure"), shapes.erasure_sample()),
            **refused(*UNGATED_REFUSALS),
        },
    }


OPERATIONS: Final[Operations] = {
    ("DELETE", LEAD): _erase,
    ("GET", _ERASURES): _page,
    ("GET", f"{_ERASURES}/{{erasureId}}"): _one,
}
