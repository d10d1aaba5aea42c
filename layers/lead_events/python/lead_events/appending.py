"""The write side of the API: from a request's headers and bytes to outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any, Final

from lead_events.access import Caller
from lead_events.envelope import Envelope, Mode, mode_of, read_batch, read_binary, read_structured
from lead_events.errors import InvalidError, RejectedError, TooLargeError, UnsupportedMediaError, problem
from lead_events.event import EventDraft, Outcome
from lead_events.instants import now
from lead_events.pipeline import Pipeline
from lead_events.reading import draft_of_direct, draft_of_envelope
from lead_events.representation import event_json, status_of
from lead_events.strict_json import decode_text

MAX_BATCH: Final = 100
"""Most events of one batch request."""


def append_direct(
    pipeline: Pipeline, headers: Mapping[str, str], body: bytes, organization_id: str, lead_id: str
) -> Outcome:
    """Append the event of a plain JSON body. Headers have lower-case names."""
    if mode_of(headers) is not Mode.STRUCTURED:
        raise UnsupportedMediaError("Send application/json; CloudEvents go to POST /v1/events.")
    key = headers.get("idempotency-key")
    return _processed(pipeline, lambda: draft_of_direct(decode_text(body), organization_id, lead_id, key, now()))


def append_cloud_event(
    pipeline: Pipeline, mode: Mode, headers: Mapping[str, str], body: bytes, caller: Caller
) -> Outcome:
    """Append one CloudEvent in structured or binary mode."""

    def read() -> EventDraft:
        binary = mode is Mode.BINARY
        return _draft(read_binary(headers, body) if binary else read_structured(decode_text(body)), caller)

    return _processed(pipeline, read)


def append_batch(
    pipeline: Pipeline, executor: Executor, body: bytes, caller: Caller
) -> tuple[list[Outcome], list[dict[str, Any]]]:
    """Append a batch; each event has its result, in the given order. One bad event keeps none of the others out.

    Where the store does not answer, ``UnavailableError`` refuses the whole batch: sent again, what was stored is a duplicate.
    """
    envelopes = read_batch(decode_text(body))
    if len(envelopes) > MAX_BATCH:
        raise TooLargeError(f"A batch has at most {MAX_BATCH} events.")
    drafts = [_draft_or_error(envelope, caller) for envelope in envelopes]
    outcomes = iter(pipeline.process_all([each for each in drafts if isinstance(each, EventDraft)], executor))
    ended = [next(outcomes) if isinstance(each, EventDraft) else Outcome.rejected(each) for each in drafts]
    return ended, [_result(outcome) for outcome in ended]


def _processed(pipeline: Pipeline, read: Callable[[], EventDraft]) -> Outcome:
    """What cannot be read ends in a named outcome too, so that it is counted and logged like every other end."""
    try:
        draft = read()
    except RejectedError as error:
        return Outcome.rejected(error)
    return pipeline.process(draft)


def _draft(envelope: Envelope, caller: Caller) -> EventDraft:
    draft = draft_of_envelope(envelope, caller.bound_organization, now())
    caller.may_write(draft.organization_id)
    return draft


def _draft_or_error(envelope: Envelope | InvalidError, caller: Caller) -> EventDraft | RejectedError:
    try:
        return envelope if isinstance(envelope, InvalidError) else _draft(envelope, caller)
    except RejectedError as error:
        return error


def _result(outcome: Outcome) -> dict[str, Any]:
    result: dict[str, Any] = {"status": status_of(outcome), "outcome": outcome.kind.value}
    if outcome.event is not None:
        return result | {"event": event_json(outcome.event)}
    return result | ({"problem": problem(outcome.error)} if outcome.error else {})
