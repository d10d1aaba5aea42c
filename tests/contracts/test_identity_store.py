"""What every identity store promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from lead_events.event import IdentityKind
from lead_events.ports import IdentityRecord, IdentityStore
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION

PHONE, EMAIL = IdentityKind.PHONE, IdentityKind.EMAIL
MINE = IdentityRecord(LEAD)


def test_an_identity_points_at_the_first_lead_that_claimed_it(identities: IdentityStore) -> None:
    assert identities.claim(ORGANIZATION, LEAD, "k1", PHONE) is None
    assert identities.claim(ORGANIZATION, "lead_2", "k1", PHONE) == LEAD
    assert identities.records(["k1", "k2", "k1"]) == {"k1": MINE}


def test_several_identities_are_claimed_all_or_none(identities: IdentityStore) -> None:
    assert identities.claim_all(ORGANIZATION, LEAD, {"k1": PHONE, "k2": EMAIL})
    assert not identities.claim_all(ORGANIZATION, "lead_2", {"k2": EMAIL, "k3": PHONE})
    assert identities.records(["k1", "k2", "k3"]) == {"k1": MINE, "k2": MINE}


def test_many_identities_are_read_at_once(identities: IdentityStore) -> None:
    for number in range(0, 120, 10):
        assert identities.claim_all(ORGANIZATION, LEAD, {f"k{number + n}": EMAIL for n in range(10)})
    assert len(identities.records([f"k{number}" for number in range(150)])) == 120


def test_a_lead_is_shown_what_it_is_known_by_and_nothing_of_others(identities: IdentityStore) -> None:
    identities.claim(ORGANIZATION, LEAD, "k1", PHONE)
    identities.claim(ORGANIZATION, LEAD, "k2", EMAIL)
    identities.claim(ORGANIZATION, "lead_2", "k3", EMAIL)
    identities.claim(OTHER_ORGANIZATION, LEAD, "k4", EMAIL)
    assert sorted(each.kind for each in identities.of_lead(ORGANIZATION, LEAD)) == [EMAIL, PHONE]


def test_the_keys_of_a_lead_are_found_and_nobody_elses(identities: IdentityStore) -> None:
    identities.claim_all(ORGANIZATION, LEAD, {f"k{number}": EMAIL for number in range(25)})
    identities.claim(ORGANIZATION, "lead_2", "k25", EMAIL)
    identities.claim(OTHER_ORGANIZATION, LEAD, "k26", EMAIL)
    assert identities.keys_of_lead(ORGANIZATION, LEAD) == {f"k{number}" for number in range(25)}
    assert identities.keys_of_lead(ORGANIZATION, "lead_3") == frozenset()


def test_of_simultaneous_first_contacts_one_wins(identities: IdentityStore) -> None:
    leads = [f"lead_{number}" for number in range(12)]
    with ThreadPoolExecutor(12) as threads:
        won = list(
            threads.map(lambda lead: identities.claim_all(ORGANIZATION, lead, {"k1": PHONE, "k2": EMAIL}), leads)
        )
    assert won.count(True) == 1
    winner = leads[won.index(True)]
    assert identities.records(["k1", "k2"]) == dict.fromkeys(["k1", "k2"], IdentityRecord(winner))
