"""First contacts of one person at the same time, and writers that die in between: still one lead."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.errors import UnavailableError
from lead_events.event import Identity, OutcomeKind
from lead_events.identity import Resolver
from lead_events.in_memory import pipeline_in_memory
from lead_events.store.memory import InMemoryIdentities
from tests.support.builders import ORGANIZATION, draft
from tests.support.fakes import CrashingClaims, CrashingEvents, CrashPoints, Killed, World
from tests.support.identities import ANA, CUSTOMER, EMAIL, PHONE, Watched, at_once, lead_of, resolver

UNIVERSE: Final = [
    Identity(CUSTOMER, "stripe:cus_1"), Identity(CUSTOMER, "shopify:1"), Identity(PHONE, "+5582900000001"),
    Identity(PHONE, "+5511900000002"), Identity(EMAIL, "ana.teste@example.org"), Identity(EMAIL, "ana.outra@example.org"),
]  # fmt: skip


@st.composite
def first_contacts(draw: Callable[[st.SearchStrategy[Any]], Any]) -> list[list[Identity]]:
    """Up to 25 contacts whose identities, in any order, have one in common."""
    common = draw(st.sampled_from(range(len(UNIVERSE))))
    sets = draw(st.lists(st.sets(st.sampled_from(range(len(UNIVERSE)))), min_size=2, max_size=25))
    return [[UNIVERSE[each] for each in draw(st.permutations(sorted({common, *chosen})))] for chosen in sets]


@given(first_contacts(), st.booleans())
@settings(max_examples=60)
def test_simultaneous_first_contacts_that_share_an_identity_are_one_lead(
    contacts: list[list[Identity]], one_process: bool
) -> None:
    store = Watched(seconds=0.0005)
    shared = resolver(store)
    processes = [shared if one_process else resolver(store) for _ in contacts]
    found = at_once(
        [partial(of.resolve, ORGANIZATION, None, each) for of, each in zip(processes, contacts, strict=True)]
    )
    assert {each.conflicts for each in found} == {()}
    [lead] = {each.lead_id for each in found}
    everything = {each for contact in contacts for each in contact}
    assert {lead_of(resolver(store), each) for each in everything} == {lead}


def test_twenty_five_first_contacts_at_once_are_one_lead_in_the_pipeline() -> None:
    world = World()
    sets = [ANA, ANA[1:], ANA[1:2], (Identity(CUSTOMER, "shopify:7"), ANA[1]), (ANA[1], ANA[2])]
    drafts = [draft(lead_id=None, external_event_id=f"e-{n}", identities=sets[n % 5]) for n in range(25)]
    outcomes = at_once([partial(world.pipeline.process, each) for each in drafts])
    assert {each.kind for each in outcomes} == {OutcomeKind.STORED}
    assert len({each.lead_id for each in world.stored}) == 1
    assert len(world.stored) == 25


def test_two_planted_leads_at_once_for_one_person_keep_their_own_and_one_is_told_of_the_conflict() -> None:
    store = Watched(seconds=0.0005)
    found = at_once([partial(resolver(store).resolve, ORGANIZATION, f"lead_{n}", ANA) for n in range(10)])
    assert [each.lead_id for each in found] == [f"lead_{n}" for n in range(10)]
    owners = [lead_of(resolver(store), each) for each in ANA]
    for each in found:
        assert each.conflicts == tuple(
            one.kind for one, owner in zip(ANA, owners, strict=True) if owner != each.lead_id
        )


def test_identities_that_stay_contended_are_unavailable_and_sent_again() -> None:
    class Contended(InMemoryIdentities):
        def claim_all(self, *_: Any) -> bool:
            return False

    with pytest.raises(UnavailableError):
        resolver(Contended()).resolve(ORGANIZATION, None, ANA)
    with pytest.raises(UnavailableError):
        resolver(Contended()).assign(ORGANIZATION, "lead_1", ANA)


def test_of_two_leads_given_one_identity_at_once_one_gets_it() -> None:
    for _ in range(10):
        store = Watched(seconds=0.0002)
        answers = at_once([partial(resolver(store).assign, ORGANIZATION, f"lead_{n}", ANA) for n in range(5)])
        assert sorted(answers) == [[], *[[0, 1, 2]] * 4]


@pytest.mark.parametrize("step", range(4))
def test_a_kill_between_the_identities_and_the_event_leaves_the_redelivery_the_same_lead(step: int) -> None:
    points, identities = CrashPoints([step]), InMemoryIdentities()
    events, claims = CrashingEvents(points), CrashingClaims(points)
    first = draft(lead_id=None, identities=ANA)
    with pytest.raises(Killed):
        pipeline_in_memory(events=events, claims=claims, identities=identities).process(first)
    known = lead_of(Resolver(identities, lambda: "in memory"), ANA[1])
    again = pipeline_in_memory(events=events, claims=claims, identities=identities)
    assert again.process(first).stored().lead_id == known
    assert again.process(draft(lead_id=None, external_event_id="e-2", identities=ANA[2:])).stored().lead_id == known
    assert len(events.inner.all()) == 2


@pytest.mark.parametrize("behind", ["records", "claim", "claim_all"])
def test_a_kill_among_the_identities_is_mended_by_the_redelivery(behind: str) -> None:
    store = Watched(die_behind=behind)
    if behind == "claim":
        lead_of(resolver(store), ANA[2])
    with pytest.raises(Killed):
        lead_of(resolver(store), *ANA)
    lead = lead_of(resolver(store), *ANA)
    assert [lead_of(resolver(store), each) for each in ANA] == [lead] * 3
