"""Rebuilding memories from their events, and dry runs of it."""

from __future__ import annotations

from typing import Final

from lead_events import openapi_schemas as shapes
from lead_events.openapi._parts import (
    FORBIDDEN,
    GONE,
    INVALID_PAGE,
    INVALID_REPROCESSING,
    NOT_FOUND,
    ORGANIZATION,
    REPROCESSING_OVER,
    REPROCESSING_RUNNING,
    TOO_LARGE,
    UNAVAILABLE,
    UNGATED_REFUSALS,
    UNREADABLE,
    UNSUPPORTED_ENCODING,
    Operations,
    answer,
    json_content,
    page_parameters,
    parameter,
    refused,
)
from lead_events.openapi_schemas import REPROCESSING_ID_PATTERN, Schema, ref

_OF_ORGANIZATION: Final = "/v1/organizations/{organizationId}/reprocessings"
_OF_EVERYTHING: Final = "/v1/reprocessings"
_ID: Final = parameter("reprocessingId", "path", "Id of the reprocessing", {"pattern": REPROCESSING_ID_PATTERN})
_ALL: Final = " For a token that is bound to no organization."


def _of(everything: bool, schema: Schema) -> Schema:
    """The operation of one of the two paths. An organisation may have left; everything is always there."""
    name = schema["operationId"]
    return {
        "tags": ["Reprocessings"],
        **schema,
        "operationId": f"{name}OfEverything" if everything else name,
        "summary": schema["summary"] + (" (everything)" if everything else ""),
        "description": schema["description"] + (_ALL if everything else ""),
        "parameters": [*([] if everything else [ORGANIZATION]), *schema["parameters"]],
        "responses": schema["responses"] | ({} if everything else refused(GONE)),
    }


def _start(*, everything: bool) -> Schema:
    refusals = (
        UNREADABLE, FORBIDDEN, NOT_FOUND, REPROCESSING_RUNNING, TOO_LARGE, UNSUPPORTED_ENCODING, INVALID_REPROCESSING,
        UNAVAILABLE,
    )  # fmt: skip
    request = {"dryRun": False} if everything else {"leadId": shapes.LEAD, "dryRun": True}
    return _of(
        everything,
        {
            "operationId": "startReprocessing",
            "summary": "Start a reprocessing",
            "description": "Safe beside live traffic, and publishes nothing. One of the same scope (a lead, an organization, "
            "everything) at a time: while it is not over, another is a 409 that names it. Answered 503, it may have been "
            "started all the same: the 409 of the next call names it, and a resume takes it up.",
            "parameters": [],
            "requestBody": {"required": False, "content": json_content(ref("NewReprocessing"), request)},
            "responses": {
                "202": answer("It was started.", ref("ReprocessingProgress"), shapes.progress_sample()),
                **refused(*refusals),
            },
        },
    )


def _page(*, everything: bool) -> Schema:
    return _of(
        everything,
        {
            "operationId": "readReprocessings",
            "summary": "Reprocessings, by pages, newest first",
            "description": "Without their progress.",
            "parameters": page_parameters("reprocessings"),
            "responses": {
                "200": answer("A page.", ref("ReprocessingPage"), {"items": [shapes.job_sample()], "cursor": None}),
                **refused(INVALID_PAGE, *UNGATED_REFUSALS),
            },
        },
    )


def _one(*, everything: bool) -> Schema:
    return _of(
        everything,
        {
            "operationId": "readReprocessing",
            "summary": "A reprocessing and its progress",
            "description": "Progress shows every few seconds of work.",
            "parameters": [_ID],
            "responses": {
                "200": answer(
                    "The reprocessing.", ref("ReprocessingProgress"), shapes.progress_sample(dry_run=not everything)
                ),
                **refused(*UNGATED_REFUSALS),
            },
        },
    )


def _steer(*, everything: bool) -> Schema:
    return _of(
        everything,
        {
            "operationId": "steerReprocessing",
            "summary": "Pause, resume or cancel a reprocessing",
            "description": "What is under way is finished: some seconds of work. A resume goes on where it stood; it also "
            "takes up a running one whose progress is stalled. A cancelled one is over.",
            "parameters": [_ID, parameter("action", "path", "What to do", {"enum": ["pause", "resume", "cancel"]})],
            "responses": {
                "200": answer("It is so.", ref("ReprocessingProgress"), shapes.progress_sample()),
                **refused(*UNGATED_REFUSALS, REPROCESSING_OVER),
            },
        },
    )


OPERATIONS: Final[Operations] = {
    ("POST", _OF_ORGANIZATION): lambda: _start(everything=False),
    ("GET", _OF_ORGANIZATION): lambda: _page(everything=False),
    ("GET", f"{_OF_ORGANIZATION}/{{reprocessingId}}"): lambda: _one(everything=False),
    ("POST", f"{_OF_ORGANIZATION}/{{reprocessingId}}/{{action}}"): lambda: _steer(everything=False),
    ("POST", _OF_EVERYTHING): lambda: _start(everything=True),
    ("GET", _OF_EVERYTHING): lambda: _page(everything=True),
    ("GET", f"{_OF_EVERYTHING}/{{reprocessingId}}"): lambda: _one(everything=True),
    ("POST", f"{_OF_EVERYTHING}/{{reprocessingId}}/{{action}}"): lambda: _steer(everything=True),
}
