"""What stays of identities whose person was erased, whoever claims them again, and in whatever order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.event import IdentityKind
from lead_events.instants import format_instant
from lead_events.names import IdentityAttribute
from lead_events.ports import IdentityRecord, IdentityStore
from lead_events.store.memory import InMemoryIdentities
from tests.contracts.conftest import Aws
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.clock import START

PHONE, EMAIL = IdentityKind.PHONE, IdentityKind.EMAIL
LATER = START + timedelta(days=1)
_KEYS = count()

Erase = Callable[[str, datetime], None]


@pytest.fixture
def erase(identities: IdentityStore, request: pytest.FixtureRequest) -> Erase:
    """Leave of an identity what an erasure leaves of it."""
    if isinstance(identities, InMemoryIdentities):
        return identities.erase
    aws: Aws = request.getfixturevalue("aws")

    def put(key: str, until: datetime) -> None:
        item = {IdentityAttribute.IDENTITY_ID: key, IdentityAttribute.ERASED_UNTIL: format_instant(until)}
        aws.dynamodb.put_item(TableName=aws.name, Item={str(name): {"S": value} for name, value in item.items()})

    return put


def test_an_erased_identity_points_at_nobody_and_remembers_until_when(identities: IdentityStore, erase: Erase) -> None:
    identities.claim_all(ORGANIZATION, LEAD, {"k1": PHONE, "k2": EMAIL})
    erase("k1", START)
    assert identities.records(["k1", "k2", "k3"]) == {"k1": IdentityRecord(None, START), "k2": IdentityRecord(LEAD)}
    assert [each.kind for each in identities.of_lead(ORGANIZATION, LEAD)] == [EMAIL]
    assert identities.keys_of_lead(ORGANIZATION, LEAD) == {"k2"}


@pytest.mark.parametrize("keys", [{"k1": PHONE}, {"k1": PHONE, "k2": EMAIL}])
def test_whoever_returns_is_known_again_and_it_stays_known_that_they_were_erased(
    identities: IdentityStore, erase: Erase, keys: dict[str, IdentityKind]
) -> None:
    for key in keys:
        erase(key, START)
    assert identities.claim_all(ORGANIZATION, "lead_2", keys)
    assert identities.records(list(keys)) == dict.fromkeys(keys, IdentityRecord("lead_2", START))
    assert identities.claim(ORGANIZATION, LEAD, "k1", PHONE) == "lead_2"
    assert not identities.claim_all(ORGANIZATION, LEAD, {**keys, "k3": EMAIL})
    assert identities.keys_of_lead(ORGANIZATION, "lead_2") == set(keys)


def test_of_many_that_claim_an_erased_identity_at_once_one_has_it(identities: IdentityStore, erase: Erase) -> None:
    erase("k1", START)
    leads = [f"lead_{number}" for number in range(12)]
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(lambda lead: identities.claim(ORGANIZATION, lead, "k1", PHONE), leads))
    winner = leads[answers.index(None)]
    assert {each for each in answers if each} == {winner}
    assert identities.records(["k1"]) == {"k1": IdentityRecord(winner, START)}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("claim"), st.sampled_from([LEAD, "lead_2"]), st.sets(st.sampled_from("abc"), min_size=1)),
        st.tuples(st.just("erase"), st.sampled_from([START, LATER]), st.sets(st.sampled_from("abc"), min_size=1)),
    ),
    max_size=10,
)


@settings(max_examples=40)
@given(steps=STEPS)
def test_through_any_claims_and_erasures_each_key_has_its_first_lead_since_and_its_last_end(
    identities: IdentityStore, erase: Erase, steps: list[tuple[str, Any, set[str]]]
) -> None:
    prefix = f"{next(_KEYS)}-"
    expected: dict[str, IdentityRecord] = {}
    nobody = IdentityRecord(None)
    for step, value, letters in steps:
        keys = [prefix + letter for letter in sorted(letters)]
        if step == "erase":
            for key in keys:
                erase(key, value)
            expected |= dict.fromkeys(keys, IdentityRecord(None, value))
            continue
        free = all(expected.get(key, nobody).lead_id is None for key in keys)
        assert identities.claim_all(ORGANIZATION, value, dict.fromkeys(keys, EMAIL)) is free
        if free:
            expected |= {key: IdentityRecord(value, expected.get(key, nobody).erased_until) for key in keys}
    assert identities.records([prefix + letter for letter in "abc"]) == expected
