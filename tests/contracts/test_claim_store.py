"""What every claim store promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lead_events.idempotency import Claim
from lead_events.ports import ClaimStore
from tests.support.builders import OTHER_ORGANIZATION, stored_event


def claim_of(**changes: object) -> Claim:
    claim = Claim.of(stored_event(**changes))
    assert claim is not None
    return claim


def test_a_claim_is_taken_once_and_for_ever(claims: ClaimStore) -> None:
    first, later = claim_of(), claim_of(lead_id="lead_2", payload={"planId": "other"})
    assert claims.claim(first) is None
    assert claims.claim(later) == first
    assert claims.get(first.claim_id) == first


def test_the_very_same_claim_sent_twice_is_taken(claims: ClaimStore) -> None:
    claim = claim_of()
    assert [claims.claim(claim), claims.claim(replace(claim))] == [None, None]


def test_organisations_do_not_get_in_each_others_way(claims: ClaimStore) -> None:
    assert claims.claim(claim_of()) is None
    assert claims.claim(claim_of(organization_id=OTHER_ORGANIZATION)) is None


def test_a_claim_that_nobody_made_is_none(claims: ClaimStore) -> None:
    assert claims.get("ORG#org_A#unknown") is None


def test_of_twenty_five_simultaneous_claims_one_wins_and_all_hear_of_it(claims: ClaimStore) -> None:
    rivals = [claim_of() for _ in range(25)]
    with ThreadPoolExecutor(25) as threads:
        answers = list(threads.map(claims.claim, rivals))
    assert answers.count(None) == 1
    winner = rivals[answers.index(None)]
    assert {each for each in answers if each} == {winner}
    assert claims.get(winner.claim_id) == winner
