"""What every claim store promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lead_events.idempotency import Claim
from lead_events.ports import ClaimStore
from lead_events.store.memory import InMemoryClaims
from tests.contracts.conftest import Aws
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


@pytest.mark.parametrize("claimed", [True, False])
def test_the_claim_of_an_erased_event_says_nothing_but_that_and_is_never_free_again(
    claims: ClaimStore, request: pytest.FixtureRequest, *, claimed: bool
) -> None:
    claim = claim_of()
    if claimed:
        claims.claim(claim)
    if isinstance(claims, InMemoryClaims):
        claims.erase(claim.claim_id)
    else:
        aws: Aws = request.getfixturevalue("aws")
        tombstone = {"claimId": {"S": claim.claim_id}, "erasedAt": {"S": "2026-03-25T14:00:00.000000Z"}}
        aws.dynamodb.put_item(TableName=aws.name, Item=tombstone)
    erased = Claim.of_erased(claim.claim_id)
    for again in (claim, claim_of(lead_id="lead_2"), claim_of(payload={"planId": "other"})):
        assert claims.claim(again) == erased
    assert claims.get(claim.claim_id) == erased
    assert claims.claim(claim_of(external_event_id="e-2")) is None


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
