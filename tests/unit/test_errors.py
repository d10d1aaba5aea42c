"""One tree of errors: every class has a status, a title and a code, and no answer holds what a caller sent."""

from __future__ import annotations

import inspect

import pytest

from lead_events import errors
from lead_events.errors import (
    FieldError,
    InvalidError,
    LeadEventsError,
    NotFoundError,
    RejectedError,
    UnavailableError,
    problem,
)

CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, LeadEventsError)]
EXPECTED = {
    "LeadEventsError": 500, "RejectedError": 400, "UnreadableError": 400, "UnauthenticatedError": 401, "ForbiddenError": 403,
    "NotFoundError": 404, "ConflictError": 409, "GoneError": 410, "TooLargeError": 413, "UnsupportedMediaError": 415, "InvalidError": 422,
    "UnresolvedLeadError": 422, "UnavailableError": 503,
}  # fmt: skip


def test_the_tree_has_these_classes_with_these_codes() -> None:
    statuses = {each.__name__: each.status for each in CLASSES}
    assert EXPECTED.items() <= statuses.items()
    assert set(statuses.values()) == set(EXPECTED.values())  # whatever is more exact has the status of its base


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_stands_in_the_drawn_tree_with_its_status_and_has_a_title_and_a_code(
    error: type[LeadEventsError],
) -> None:
    tree = errors.__doc__ or ""
    [line] = [each for each in tree.splitlines() if error.__name__ in each.split()]
    if error not in (LeadEventsError, RejectedError) and error.status != error.__base__.status:  # type: ignore[union-attr]
        assert str(error.status) in line.split()
    assert error.title
    assert error.default_code == error.default_code.lower().replace(" ", "_")


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_the_caller_is_at_fault_for_is_rejected_and_the_others_are_ours(
    error: type[LeadEventsError],
) -> None:
    assert issubclass(error, RejectedError) == (error.status < 500)


def test_a_problem_names_title_status_code_detail_and_the_broken_rules() -> None:
    assert problem(InvalidError.of("payload.amount", "must be a number")) == {
        "type": "about:blank", "title": "Invalid content", "status": 422, "code": "invalid",
        "detail": "payload.amount: must be a number", "errors": [{"field": "payload.amount", "rule": "must be a number"}],
    }  # fmt: skip
    assert "errors" not in problem(NotFoundError())


def test_a_code_may_be_more_exact_than_its_class() -> None:
    assert InvalidError("no", code="too_deep").code == "too_deep"
    assert InvalidError("no", errors=(FieldError("a", "b"),)).code == "invalid"


def test_unavailable_says_when_to_come_again() -> None:
    assert UnavailableError.retry_after_seconds > 0
