"""Whoever clears a shelf may die at any call, and never be alone: everything goes, and what tables held is counted exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import boto3
import pytest

from lead_events.erasure import Store
from lead_events.errors import UnavailableError
from tests.contracts.conftest import Aws
from tests.support.builders import envelope
from tests.support.fakes import Killed
from tests.support.shelves import LEAD, LEADS, NEIGHBOUR, OWNER, House, killed

IN_TABLES = {*Store} - {Store.OBJECTS, Store.DEAD_LETTERS}
_NUMBERS = count()


def put_states(house: House) -> None:
    pool = {"floor": "", "things": {f"{lead}|1": {"last": [None, "s"]} for lead in ("lead_1", "lead_10")}}
    for organization_id in (OWNER, NEIGHBOUR):
        state = {"lifecycle": {}, "invoicesOfLeads": pool}
        house.put("organizations", {"organizationId": organization_id, "state": state, "version": 1})


def send_letters(house: House) -> None:
    for owner, lead in LEADS:
        data = {"organizationId": owner, "leadId": lead}
        house.send(*(json.dumps(envelope(data=data | {"n": number})) for number in range(2)))


def reject(house: House) -> None:
    house.store_identities()
    house.store_rejections(large=True)


def orphan(house: House) -> None:
    house.store_identities(1)
    house.orphan_texts()


FILL: dict[str, Callable[[House], None]] = {
    "events": lambda house: house.store_events(),
    "claims": lambda house: house.store_events(),
    "memories": lambda house: house.store_memories(),
    "identities": lambda house: house.store_identities(),
    "objects": lambda house: house.store_objects(),
    "rejected": reject,
    "rejected texts": orphan,
    "reprocessings": lambda house: house.store_jobs(),
    "organization": put_states,
    "dead letters": send_letters,
}
CASES = [
    (kind, lead_id)
    for kind in FILL
    for lead_id in (LEAD, None)
    if (kind, lead_id) not in (("claims", LEAD), ("rejected texts", None))
]
every_case = pytest.mark.parametrize(("kind", "lead_id"), CASES)


@pytest.fixture
def houses(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], House]:
    """Houses that hold the same, one at a time: ids and times are numbered from the beginning in each."""
    sqs = boto3.client("sqs")

    def build(kind: str) -> House:
        numbers = count(1)
        monkeypatch.setattr("lead_events.event.secrets.randbits", lambda _: next(numbers))
        monkeypatch.setattr("lead_events.store.shelves.dead_letters.HIDDEN_SECONDS", 0)
        house = House(aws.dynamodb, aws.s3, sqs, f"house-{next(_NUMBERS)}")
        FILL[kind](house)
        return house

    return build


def comparable(house: House) -> str:
    """What there is, but for when it was stored."""
    dump = json.dumps(house.dump(), sort_keys=True, default=str)
    for name in ("storedAt", "since"):
        dump = "".join(
            part if not index else part[part.index(",") :] for index, part in enumerate(dump.split(f'"{name}"'))
        )
    return dump


@every_case
def test_clearing_twice_changes_and_counts_nothing_more(
    houses: Callable[[str], House], kind: str, lead_id: str | None
) -> None:
    house = houses(kind)
    erasure = house.erase(lead_id)
    counts, left = house.clear(kind, erasure), comparable(house)
    assert counts
    assert house.clear(kind, erasure) == counts
    assert comparable(house) == left


@every_case
@pytest.mark.parametrize("before", [True, False])
def test_whoever_dies_at_any_call_leaves_nothing_that_the_next_does_not_take(
    houses: Callable[[str], House], kind: str, lead_id: str | None, *, before: bool
) -> None:
    undisturbed = houses(kind)
    expected, left = undisturbed.clear(kind, undisturbed.erase(lead_id)), comparable(undisturbed)
    for at in range(60):
        house = houses(kind)
        erasure = house.erase(lead_id)
        try:
            with killed([house.dynamodb, house.s3, house.sqs], at, before=before):
                house.clear(kind, erasure)
        except Killed:
            counts = house.clear(kind, erasure)
        else:
            assert at > 1
            return
        assert comparable(house) == left, at
        exact = {store: counts.get(store, 0) for store in IN_TABLES}
        assert exact == {store: expected.get(store, 0) for store in IN_TABLES}, at
    raise AssertionError("It makes more calls than there should be.")


@every_case
def test_two_at_once_take_everything_and_count_it_once(
    houses: Callable[[str], House], kind: str, lead_id: str | None
) -> None:
    undisturbed = houses(kind)
    expected, left = undisturbed.clear(kind, undisturbed.erase(lead_id)), comparable(undisturbed)
    house = houses(kind)
    erasure = house.erase(lead_id)

    def work(_: int) -> Any:
        return house.clear(kind, erasure)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, range(3)))
    assert comparable(house) == left
    counts = house.counts(erasure)
    assert {store: counts.get(store, 0) for store in IN_TABLES} == {
        store: expected.get(store, 0) for store in IN_TABLES
    }


@pytest.mark.parametrize("kind", FILL)
def test_an_erasure_that_has_forgotten_its_lead_is_none_of_the_organisation(
    houses: Callable[[str], House], kind: str
) -> None:
    house = houses(kind)
    erasure = house.erase()
    assert house.erasures.finish(erasure)
    before, ended = comparable(house), house.erasures.get(OWNER, erasure.erasure_id)
    assert ended is not None
    assert ended.lead_id is None
    with pytest.raises(UnavailableError):
        house.clear(kind, ended)
    assert comparable(house) == before
