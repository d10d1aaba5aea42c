"""What erasures keep out of an organisation: closed by their beginning, opened by their end, untouched by all else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.erasure import Erasure, Fence, Status
from lead_events.organizations.state import Organization
from lead_events.ports import ClaimStore, ErasureStore, OrganizationStore
from tests.contracts.test_erasure_store import HOUR, done, of_lead, of_organization
from tests.contracts.test_organization_store import claim
from tests.support.builders import ORGANIZATION, OTHER_ORGANIZATION
from tests.support.clock import START

MARGIN = timedelta(seconds=60)
_EXAMPLES = count()


def fence(organizations: OrganizationStore, organization_id: str = ORGANIZATION) -> Fence:
    return organizations.get(organization_id, consistent=True).fence


def organization(version: int = 1, word: str = "a") -> Organization:
    return Organization(organization_id=ORGANIZATION, state={"word": word}, version=version)


@pytest.fixture(params=[0, 1, 3], ids=["untold", "told once", "told often"])
def version(organizations: OrganizationStore, request: pytest.FixtureRequest) -> int:
    """How often the state was written."""
    for number in range(1, request.param + 1):
        assert organizations.put(organization(number), [])
    return int(request.param)


def test_an_organisation_of_which_nobody_was_erased_keeps_nothing_out(
    organizations: OrganizationStore, version: int
) -> None:
    assert fence(organizations) == Fence()


def test_while_a_lead_is_erased_every_event_is_looked_at_and_later_those_until_a_minute_behind(
    organizations: OrganizationStore, erasures: ErasureStore, version: int
) -> None:
    erasures.start(of_lead())
    assert fence(organizations) == Fence(erasing=True)
    assert organizations.get(ORGANIZATION).version == version
    erasures.finish(done(of_lead()))
    assert fence(organizations) == Fence(until=START + HOUR + MARGIN)
    assert organizations.get(ORGANIZATION).version == version
    assert fence(organizations, OTHER_ORGANIZATION) == Fence()


def test_it_stays_closed_until_the_last_erasure_has_ended(
    organizations: OrganizationStore, erasures: ErasureStore
) -> None:
    for number in (1, 2):
        erasures.start(of_lead(number, f"lead_{number}"))
    erasures.finish(done(of_lead(1, "lead_1")))
    assert fence(organizations) == Fence(erasing=True, until=START + HOUR + MARGIN)
    erasures.finish(done(of_lead(2, "lead_2")))
    assert fence(organizations) == Fence(until=START + HOUR + MARGIN)


@pytest.mark.parametrize("hours", [(1, 2, 3), (3, 2, 1), (2, 3, 1), (2, 2, 2)])
def test_up_to_when_events_are_looked_at_never_goes_back(
    organizations: OrganizationStore, erasures: ErasureStore, hours: tuple[int, ...]
) -> None:
    for hour in hours:
        before = fence(organizations).until
        erasures.start(of_lead(hour, f"lead_{hour}"))
        erasures.finish(done(of_lead(hour, f"lead_{hour}"), until=START + hour * HOUR))
        after = fence(organizations).until
        assert after is not None
        assert before is None or after >= before
    assert fence(organizations) == Fence(until=START + max(hours) * HOUR + MARGIN)


def test_of_many_that_end_at_once_the_latest_end_stays(
    organizations: OrganizationStore, erasures: ErasureStore
) -> None:
    mine = [of_lead(number, f"lead_{number}") for number in range(12)]
    with ThreadPoolExecutor(12) as threads:
        list(threads.map(erasures.start, mine))
        assert fence(organizations).erasing
        ends = [done(each, until=START + (number * 5 % 12) * HOUR) for number, each in enumerate(mine)]
        assert all(threads.map(erasures.finish, ends))
    assert fence(organizations) == Fence(until=START + 11 * HOUR + MARGIN)


def test_an_erased_organisation_stays_closed_for_ever(
    organizations: OrganizationStore, erasures: ErasureStore, version: int
) -> None:
    erasures.start(of_organization())
    assert fence(organizations) == Fence(closed=True)
    erasures.finish(done(of_organization()))
    assert fence(organizations) == Fence(closed=True)
    erasures.start(of_organization(2))
    assert fence(organizations, OTHER_ORGANIZATION) == Fence()


def test_an_erasure_that_was_not_the_first_changes_nothing(
    organizations: OrganizationStore, erasures: ErasureStore
) -> None:
    erasures.start(of_lead(1))
    erasures.start(of_lead(2))
    erasures.finish(done(of_lead(1)))
    assert not erasures.finish(done(of_lead(2)))
    assert fence(organizations) == Fence(until=START + HOUR + MARGIN)
    erasures.start(of_organization(3))
    version = organizations.get(ORGANIZATION).version
    erasures.start(of_organization(4))
    assert organizations.get(ORGANIZATION).version == version


# ----------------------------------------------------------------------------------------- beside writes of the state


def test_a_write_of_the_state_leaves_the_fence_as_it_is(
    organizations: OrganizationStore, erasures: ErasureStore, version: int
) -> None:
    erasures.start(of_lead(1))
    erasures.finish(done(of_lead(1)))
    erasures.start(of_lead(2))
    read = organizations.get(ORGANIZATION, consistent=True)
    assert organizations.put(replace(read, state={"word": "b"}, version=version + 1, fence=Fence()), [])
    assert organizations.get(ORGANIZATION, consistent=True) == organization(version + 1, "b")
    assert fence(organizations) == Fence(erasing=True, until=START + HOUR + MARGIN)
    erasures.start(of_organization(3))
    assert fence(organizations) == Fence(closed=True, erasing=True, until=START + HOUR + MARGIN)


def test_the_erasure_of_a_lead_is_in_no_writes_way(
    organizations: OrganizationStore, erasures: ErasureStore, version: int
) -> None:
    read = organizations.get(ORGANIZATION, consistent=True)
    erasures.start(of_lead(1))
    assert organizations.put(replace(read, state={"word": "b"}, version=version + 1), [])
    erasures.finish(done(of_lead(1)))
    assert organizations.put(replace(read, state={"word": "c"}, version=version + 2), [])


def test_a_write_that_read_before_the_organisation_was_erased_fails_and_claims_nothing(
    organizations: OrganizationStore, erasures: ErasureStore, claims: ClaimStore, version: int
) -> None:
    read = organizations.get(ORGANIZATION, consistent=True)
    erasures.start(of_organization())
    assert not organizations.put(replace(read, state={"word": "b"}, version=read.version + 1), [claim(1)])
    assert organizations.get(ORGANIZATION, consistent=True).state == read.state
    assert claims.get(claim(1).claim_id) is None


def test_whoever_reads_an_erased_organisation_can_write_what_stays_of_it(
    organizations: OrganizationStore, erasures: ErasureStore, version: int
) -> None:
    erasures.start(of_organization())
    read = organizations.get(ORGANIZATION, consistent=True)
    assert organizations.put(replace(read, state={}, version=read.version + 1), [])
    assert organizations.get(ORGANIZATION, consistent=True).state == {}
    assert fence(organizations) == Fence(closed=True)


# --------------------------------------------------------------------------------------------------------- sequences

STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "finish", "put"]), st.integers(1, 3), st.integers(0, 5)), max_size=12
)


@settings(max_examples=40)
@given(steps=STEPS)
def test_through_any_beginnings_ends_and_writes_the_fence_is_what_the_erasures_make_it(
    organizations: OrganizationStore, erasures: ErasureStore, steps: list[tuple[str, int, int]]
) -> None:
    organization_id = f"org_{next(_EXAMPLES)}"
    running: dict[int, Erasure] = {}
    until: datetime | None = None
    for place, (step, lead, hour) in enumerate(steps):
        if step == "start" and lead not in running:
            running[lead] = of_lead(place, f"lead_{lead}", organization_id=organization_id)
            erasures.start(running[lead])
        elif step == "finish" and lead in running:
            end = START + hour * HOUR
            assert erasures.finish(done(running.pop(lead), until=end))
            until = max(end + MARGIN, until or end)
        elif step == "put":
            read = organizations.get(organization_id, consistent=True)
            assert organizations.put(replace(read, state={"n": [hour]}, version=read.version + 1), [])
        assert fence(organizations, organization_id) == Fence(erasing=bool(running), until=until)
    found = erasures.page(organization_id, None, 100).erasures
    assert sum(each.status is Status.RUNNING for each in found) == len(running)
