"""Logs, metrics and traces carry ids, names and codes; never what somebody sent."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lead_events import observability
from lead_events.errors import ConflictError, InvalidError, UnavailableError
from lead_events.event import Outcome, OutcomeKind
from lead_events.observability import HandlerFailedError, log_failure, logger, metrics, observed, record_outcome
from tests.support.aws import Context, fresh_observability
from tests.support.builders import stored_event

PERSONAL = ("ana.teste@example.org", "+55 82 90000-0001", "000.000.001-91")


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh_observability(monkeypatch, level="DEBUG")


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_outcome_is_one_log_line_with_ids_and_one_metric(capsys: pytest.CaptureFixture[str]) -> None:
    event = stored_event(payload={"email": PERSONAL[0]}, raw_payload=PERSONAL[1], external_event_id=PERSONAL[2])
    record_outcome(Outcome(OutcomeKind.STORED, event))
    metrics().flush_metrics()
    line, metric = lines(capsys)
    assert (line["outcome"], line["eventId"], line["organizationId"]) == ("stored", event.event_id, "org_A")
    assert metric["EventStored"] == [1.0]
    assert not any(value in json.dumps([line, metric]) for value in PERSONAL)


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (InvalidError("x", code="too_deep"), "rejected", "too_deep"),
        (ConflictError("x"), "conflict", "idempotency_conflict"),
    ],
)
def test_an_outcome_without_event_says_its_code(
    error: Any, kind: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record_outcome(Outcome.rejected(error))
    metrics().flush_metrics()
    line, metric = lines(capsys)
    assert (line["outcome"], line["code"]) == (kind, code)
    assert metric[f"Event{kind.capitalize()}"] == [1.0]


def test_no_count_is_lost_where_many_threads_record_outcomes(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = Outcome(OutcomeKind.STORED, stored_event())
    logger().setLevel("ERROR")
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: record_outcome(outcome), range(500)))
    metrics().flush_metrics()
    assert sum(sum(each["EventStored"]) for each in lines(capsys)) == 500


def _fail(text: str) -> None:
    try:
        try:
            raise ValueError(text)
        except ValueError as error:
            raise UnavailableError("DynamoDB answered ThrottlingException.") from error
    except UnavailableError as error:
        log_failure("message kept on the queue", error, messageId="m-1")


@pytest.mark.parametrize("value", PERSONAL)
def test_a_failure_is_logged_by_type_code_and_place_never_by_its_text(
    value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _fail(value)
    try:
        json.loads(value)
    except ValueError as error:
        log_failure("request failed unexpectedly", error)
    out = capsys.readouterr()
    assert value not in out.out + out.err
    first = json.loads(out.out.splitlines()[0])
    assert (first["error"], first["code"], first["messageId"]) == (
        "UnavailableError < ValueError",
        "unavailable",
        "m-1",
    )
    assert any("test_observability.py" in place and "_fail" in place for place in first["places"])


def test_the_code_of_an_error_that_is_not_ours_is_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    error = ValueError()
    error.code = PERSONAL[0]  # type: ignore[attr-defined]
    log_failure("request failed unexpectedly", error)
    assert "code" not in lines(capsys)[0]


def test_a_failing_handler_leaves_no_value_in_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    @observed
    def handler(event: dict[str, Any], _: Any) -> None:
        record_outcome(Outcome(OutcomeKind.STORED, stored_event(payload=event)))
        raise ValueError(event["email"])

    with pytest.raises(HandlerFailedError) as raised:
        handler({"email": PERSONAL[0], "phone": PERSONAL[1]}, Context())
    # Lambda logs what comes out of a handler, with all that it was raised from.
    assert (str(raised.value), raised.value.__cause__, raised.value.__context__) == ("ValueError", None, None)
    out = capsys.readouterr()
    assert not any(value in out.out + out.err for value in PERSONAL)
    assert "EventStored" in out.out  # what happened before the failure is counted


def test_a_handler_is_dressed_once_and_its_answer_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    @observed
    def handler(event: dict[str, Any], _: Any) -> dict[str, Any]:
        logger().info("inside")
        metrics().add_metric(name="EventStored", unit="Count", value=1)
        return event

    assert [handler({"n": n}, Context()) for n in range(3)] == [{"n": n} for n in range(3)]
    inside = [each for each in lines(capsys) if each.get("message") == "inside"]
    assert [each["function_request_id"] for each in inside] == ["request-1"] * 3


def test_a_handler_that_counts_nothing_publishes_nothing_and_does_not_complain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    handler = observed(lambda event, _: event)
    handler({}, Context())
    handler({}, Context())
    out = capsys.readouterr()
    assert "No application metrics" not in out.err
    assert "EventStored" not in out.out


def test_traces_are_taken_in_lambda_without_the_answer_and_without_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    class FakeTracer:
        def capture_lambda_handler(self, handler: Any, **options: Any) -> Any:
            seen.update(options)
            return handler

    monkeypatch.setenv("LAMBDA_TASK_ROOT", "/var/task")
    monkeypatch.delenv("POWERTOOLS_TRACE_DISABLED", raising=False)
    monkeypatch.setattr(observability, "tracer", FakeTracer)
    assert observed(lambda event, _: event)({"a": 1}, Context()) == {"a": 1}
    assert seen == {"capture_response": False, "capture_error": False}


def test_the_tracer_patches_botocore_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_TRACE_DISABLED", "true")
    assert observability.tracer()._config["patch_modules"] == ["botocore"]
    observability.tracer.cache_clear()
