"""What the shelf of reprocessings promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lead_events.erasure import Store
from lead_events.jobs import Difference, Scope, Status, Tally
from lead_events.store.shelves import reprocessings
from tests.support.shelves import LEAD, LEADS, NEIGHBOUR, OTHER, OWNER, House, email_of, noting

REST = [each for each in LEADS if each != (OWNER, LEAD)]


def noted(house: House, scope: str) -> set[tuple[str, str]]:
    """Whom the segments of a partition name."""
    items = [each for each in house.items("reprocessings") if each["scope"] == scope and "slices" in each]
    return {(each[0], each[1]) for item in items for each in (*item["samples"], *item["failures"])}


def positions(house: House, scope: str) -> list[Any]:
    items = [each for each in house.items("reprocessings") if each["scope"] == scope and "slices" in each]
    return [each["position"] for each in items]


def names(house: House) -> set[str]:
    return {f"{each['scope']} {each['jobId']}" for each in house.items("reprocessings")}


def test_what_was_noted_of_a_lead_goes_and_what_was_counted_stays(house: House) -> None:
    house.store_jobs()
    before = names(house)
    counts = house.clear("reprocessings", house.erase())
    # Of two jobs two segments each: a sample, a failure and a position; and a job with its segment and its lock.
    assert counts == {Store.REPROCESSINGS: 2 * 2 * 3 + 3}
    assert noted(house, "ALL") == {*REST}
    assert noted(house, "ORG#acme") == {(OWNER, OTHER)}
    assert noted(house, "ORG#acme2") == {(NEIGHBOUR, LEAD)}
    assert positions(house, "ALL") == [None, None]
    gone = before - names(house)
    assert {each.split("#0")[0].replace("segment#", "") for each in gone} == {
        "ORG#acme rep_019d254b-8700-7000-8000-000000000010",
        "ORG#acme running#lead_1",
    }


def test_an_organisations_jobs_go_and_what_others_have_noted_of_it(house: House) -> None:
    house.store_jobs()
    own = len([each for each in names(house) if each.startswith("ORG#acme ")])
    counts = house.clear("reprocessings", house.erase(None))
    assert counts == {Store.REPROCESSINGS: own + 3 * 2 + 2}
    assert not [each for each in names(house) if each.startswith("ORG#acme ")]
    assert noted(house, "ALL") == {(NEIGHBOUR, LEAD)}
    assert noted(house, "ORG#acme2") == {(NEIGHBOUR, LEAD)}


@pytest.mark.parametrize("status", list(Status))
def test_a_position_stays_as_long_as_work_may_go_on_behind_it(house: House, status: Status) -> None:
    house.store_job(1, Scope(), noting([(OWNER, LEAD)]), status=status)
    house.clear("reprocessings", house.erase())
    assert positions(house, "ALL") == ([[OWNER, LEAD]] if status.open else [None])
    assert noted(house, "ALL") == set()


def test_a_sample_of_somebody_else_goes_where_it_shows_the_lead(house: House) -> None:
    house.store_identities()
    mail = {"email": {"is": email_of(OWNER, LEAD).upper(), "wouldBe": None}}
    foreign = {"email": {"is": email_of(OWNER, OTHER), "wouldBe": 'A cut text {"a": …'}}
    samples = tuple(Difference(OWNER, OTHER, "form", each) for each in (mail, foreign))
    samples += (Difference(NEIGHBOUR, LEAD, "form", mail),)  # there it is nobody's, or somebody else's
    house.store_job(1, Scope(), noting([(OWNER, OTHER)], tally=Tally(samples=samples)))
    assert house.clear("reprocessings", house.erase()) == {Store.REPROCESSINGS: 1}
    [item] = [each for each in house.items("reprocessings") if "slices" in each]
    assert [each[3]["email"]["is"] for each in item["samples"]] == [foreign["email"]["is"], mail["email"]["is"]]


def test_a_worker_that_writes_in_between_loses_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    first = noting(LEADS)
    job = house.store_job(1, Scope(), first)
    transact, erasure = house.dynamodb.transact_write_items, house.erase()

    def after_the_worker(**request: Any) -> Any:
        monkeypatch.undo()
        house.jobs.advance(job, replace(first, slices=2, position=(OWNER, OTHER)))
        return transact(**request)

    monkeypatch.setattr(house.dynamodb, "transact_write_items", after_the_worker)
    assert house.clear("reprocessings", erasure) == {Store.REPROCESSINGS: 2}
    assert noted(house, "ALL") == {*REST}
    assert positions(house, "ALL") == [[OWNER, OTHER]]
    found = house.jobs.segment(job, 0)
    assert found is not None
    assert found.slices == 2


@pytest.mark.parametrize("lead_id", [LEAD, None])
def test_many_jobs_are_looked_through_page_by_page(
    house: House, lead_id: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reprocessings, "_PAGE", 4)
    for number in range(9):
        house.store_job(number, Scope(OWNER), noting(LEADS[:2]), status=Status.DONE)
        house.store_job(100 + number, Scope(), noting(LEADS), status=Status.DONE)
    house.clear("reprocessings", house.erase(lead_id))
    assert noted(house, "ORG#acme") == (set() if lead_id is None else {(OWNER, OTHER)})
    assert noted(house, "ALL") == ({(NEIGHBOUR, LEAD)} if lead_id is None else {*REST})


def test_where_nothing_is_noted_nothing_changes(house: House) -> None:
    house.store_job(1, Scope(), noting(REST))
    before = house.items("reprocessings")
    assert house.clear("reprocessings", house.erase()) == {}
    assert house.items("reprocessings") == before
