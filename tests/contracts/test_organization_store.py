"""What every store of organisations promises: the state and the claims of its events are written together or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import pytest

from lead_events.idempotency import Claim
from lead_events.organizations.state import Organization
from lead_events.ports import ClaimStore, OrganizationStore
from tests.support.builders import ORGANIZATION, OTHER_ORGANIZATION

STATE = {
    "costs": {"USD": {"count": 1, "total": Decimal("0.1")}},
    "pool": {"floor": "", "things": {"|s": {"a": ["é", "1"]}}},
}


def claim(number: int, content: str = "1:a") -> Claim:
    return Claim(f"ORG#{ORGANIZATION}#{number}", f"ORG#{ORGANIZATION}", f"t#{number}", content)


def first() -> Organization:
    return Organization(organization_id=ORGANIZATION, state=STATE, version=1)


@pytest.mark.parametrize("consistent", [True, False])
def test_one_that_nobody_told_of_has_version_0_and_no_state(
    organizations: OrganizationStore, *, consistent: bool
) -> None:
    found = organizations.get(ORGANIZATION, consistent=consistent)
    assert (found, found.lifecycle.gone_since) == (Organization(organization_id=ORGANIZATION), None)


def test_what_is_put_comes_back_exactly_and_its_claims_are_taken(
    organizations: OrganizationStore, claims: ClaimStore
) -> None:
    assert organizations.put(first(), [claim(1), claim(2)])
    assert organizations.get(ORGANIZATION, consistent=True) == first()
    assert [claims.get(claim(number).claim_id) for number in (1, 2)] == [claim(1), claim(2)]
    assert organizations.get(OTHER_ORGANIZATION).version == 0


@pytest.mark.parametrize("version", [1, 3])
def test_over_another_version_nothing_is_written_and_nothing_claimed(
    organizations: OrganizationStore, claims: ClaimStore, version: int
) -> None:
    organizations.put(first(), [claim(1)])
    assert not organizations.put(replace(first(), state={}, version=version), [claim(2)])
    assert organizations.get(ORGANIZATION, consistent=True) == first()
    assert claims.get(claim(2).claim_id) is None


@pytest.mark.parametrize("content", ["1:a", "1:b"])
def test_where_one_claim_is_taken_nothing_is_written_and_nothing_claimed(
    organizations: OrganizationStore, claims: ClaimStore, content: str
) -> None:
    organizations.put(first(), [claim(1)])
    assert not organizations.put(replace(first(), state={}, version=2), [claim(2), claim(1, content)])
    assert organizations.get(ORGANIZATION, consistent=True) == first()
    assert claims.get(claim(2).claim_id) is None


def test_of_many_at_once_each_version_is_written_once(organizations: OrganizationStore) -> None:
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda number: organizations.put(first(), [claim(number)]), range(16)))
    assert done.count(True) == 1


def test_fifty_events_are_written_together(organizations: OrganizationStore, claims: ClaimStore) -> None:
    assert organizations.put(first(), [claim(number) for number in range(50)])
    assert all(claims.get(claim(number).claim_id) for number in range(50))
