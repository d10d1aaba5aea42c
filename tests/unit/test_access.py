"""A caller acts for the organisation of its token, within its scopes; what is foreign looks like what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from lead_events.access import Caller
from lead_events.errors import ForbiddenError, NotFoundError, problem
from lead_events.names import Scope

READ_WRITE = "lead-events/read lead-events/write"
PLATFORM = f"{READ_WRITE} lead-events/all-organizations"


def caller(scope: str = READ_WRITE, organization_id: str | None = "org_A") -> Caller:
    return Caller.of({"scope": scope, "organization_id": organization_id})


@pytest.mark.parametrize(
    "scope",
    [READ_WRITE, "[lead-events/read lead-events/write]", "lead-events/read, lead-events/write", f"  {READ_WRITE} x "],
)
def test_scopes_are_words_however_the_gateway_renders_them(scope: str) -> None:
    caller(scope).require(Scope.READ)
    caller(scope).require(Scope.WRITE)


@pytest.mark.parametrize(
    "scope", ["", None, "lead-events/reader", "lead-events", "LEAD-EVENTS/READ", "lead-events/write", 5]
)
def test_a_missing_scope_is_forbidden(scope: Any) -> None:
    with pytest.raises(ForbiddenError) as caught:
        Caller.of({"scope": scope}).require(Scope.READ)
    assert caught.value.code == "insufficient_scope"


def test_the_scope_of_administrators_opens_no_other() -> None:
    with pytest.raises(ForbiddenError):
        caller("lead-events/admin").require(Scope.WRITE)


def test_a_bound_token_acts_for_its_organisation_alone() -> None:
    caller().may_write("org_A")
    caller().read_path("org_A", "lead_1")
    with pytest.raises(ForbiddenError) as caught:
        caller().may_write("org_B")
    assert caught.value.code == "other_organization"


def test_a_bound_token_stays_bound_whatever_its_scopes() -> None:
    with pytest.raises(ForbiddenError):
        caller(PLATFORM).may_write("org_B")
    with pytest.raises(NotFoundError):
        caller(PLATFORM).read_path("org_B", "lead_1")


def test_a_platform_service_names_the_organisation_itself() -> None:
    platform = caller(PLATFORM, None)
    assert platform.bound_organization is None
    platform.may_write("org_A")
    platform.read_path("org_B", "lead_1")


@pytest.mark.parametrize("organization_id", [None, "", 5, ["org_A"]])
def test_a_token_that_is_neither_bound_nor_a_platforms_is_forbidden(organization_id: Any) -> None:
    unbound = caller(READ_WRITE, organization_id)
    for attempt in (
        lambda: unbound.may_write("org_A"),
        lambda: unbound.read_path("org_A", "l"),
        lambda: unbound.bound_organization,
    ):
        with pytest.raises(ForbiddenError) as caught:
            attempt()
        assert caught.value.code == "no_organization"


@pytest.mark.parametrize(
    ("organization_id", "lead_id"),
    [
        ("org_B", "lead_1"),
        ("org_B", None),
        ("a#b", "lead_1"),
        ("org_A", "x#LEAD#y"),
        ("", "lead_1"),
        ("org_A", ""),
        ("org_A", "é"),
    ],
)
def test_foreign_and_impossible_ids_are_missing_with_one_and_the_same_answer(
    organization_id: str, lead_id: str | None
) -> None:
    with pytest.raises(NotFoundError) as caught:
        caller().read_path(organization_id, lead_id)
    assert problem(caught.value) == problem(NotFoundError())
