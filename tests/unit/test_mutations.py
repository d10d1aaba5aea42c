"""A broken claim condition, cursor binding or tenant check turns a test red. Slow for a unit test: about four seconds each."""

from __future__ import annotations

import pytest

from tools.mutations import MUTATIONS, baseline_is_green, survives


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.module)
def test_a_test_notices_that_the_rule_is_broken(mutation: object) -> None:
    assert not survives(mutation)  # type: ignore[arg-type]


def test_the_same_tests_are_green_where_nothing_is_broken() -> None:
    assert baseline_is_green()
