"""Erasures in DynamoDB beyond the contract: how their items look, what is counted, and what DynamoDB may answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from lead_events.erasure import NOTHING, Erasure, Status, Store, lead_hash_of
from lead_events.errors import UnavailableError
from lead_events.store.erasures import DynamoDbErasures, counting
from tests.contracts.conftest import Aws, dynamodb_erasures
from tests.contracts.test_dynamodb import counted
from tests.contracts.test_erasure_store import HOUR, done, of_lead, of_organization, stored
from tests.support.aws import create_organizations
from tests.support.builders import LEAD, ORGANIZATION
from tests.support.clock import START


@pytest.fixture
def store(aws: Aws) -> DynamoDbErasures:
    create_organizations(aws.dynamodb, f"{aws.name}-organizations")
    return dynamodb_erasures(aws)


def items(aws: Aws) -> dict[str, Any]:
    """Every item of both tables, by its sort key or its organisation."""
    erasures = aws.dynamodb.scan(TableName=f"{aws.name}-erasures")["Items"]
    organizations = aws.dynamodb.scan(TableName=f"{aws.name}-organizations")["Items"]
    return {each["erasureId"]["S"]: each for each in erasures} | {
        each["organizationId"]["S"]: each for each in organizations
    }


def test_an_erasures_items_have_the_attributes_that_others_read(aws: Aws, store: DynamoDbErasures) -> None:
    store.start(of_lead())
    erasure_id, lead_hash = of_lead().erasure_id, lead_hash_of(ORGANIZATION, LEAD)
    counts = {store.value: {"N": "0"} for store in Store}
    assert items(aws) == {
        erasure_id: {
            "organizationId": {"S": ORGANIZATION}, "erasureId": {"S": erasure_id}, "leadId": {"S": LEAD},
            "leadHash": {"S": lead_hash}, "requestedAt": {"S": "2026-03-25T14:00:00.000000Z"},
            "requestedBy": {"S": "client-1"}, "status": {"S": "running"}, "slices": {"N": "0"}, "found": {"BOOL": False},
            "stage": {"N": "0"}, "counts": {"M": counts},
        },
        f"lead#{lead_hash}": {
            "organizationId": {"S": ORGANIZATION}, "erasureId": {"S": f"lead#{lead_hash}"}, "holder": {"S": erasure_id},
        },
        ORGANIZATION: {"organizationId": {"S": ORGANIZATION}, "erasing": {"SS": [erasure_id]}},
    }  # fmt: skip


def test_after_the_end_nothing_names_the_lead(aws: Aws, store: DynamoDbErasures) -> None:
    erasure = of_lead(lead_id="lead_of_ana")
    store.start(erasure)
    store.advance(replace(erasure, slices=1, position="ORG#org_A#LEAD#lead_of_ana"))
    store.finish(done(erasure))
    assert "lead_of_ana" not in str(items(aws))
    assert set(items(aws)[ORGANIZATION]) == {"organizationId", "erasedUntil"}


def test_an_organisations_erasure_holds_its_one_place(aws: Aws, store: DynamoDbErasures) -> None:
    store.start(of_organization())
    store.finish(done(of_organization()))
    found = items(aws)
    assert found["organization"]["holder"] == {"S": of_organization().erasure_id}
    assert found[ORGANIZATION]["erased"] == {"BOOL": True}
    assert "erasedUntil" not in found[ORGANIZATION]


@pytest.mark.parametrize("erasure", [of_lead(), of_organization()], ids=["lead", "organization"])
def test_every_write_is_one_transaction_so_that_botocores_token_makes_its_repetition_one_write(
    aws: Aws, store: DynamoDbErasures, erasure: Erasure, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(aws.dynamodb, monkeypatch)
    store.start(erasure)
    store.advance(replace(erasure, slices=1))
    store.count(erasure, Store.OBJECTS, 1)
    store.finish(done(erasure))
    assert calls == ["TransactWriteItems"] * 4


# ---------------------------------------------------------------------------------------------------------- counting


def taking(aws: Aws, erasure: Erasure, number: int) -> list[Any]:
    """A transaction in which one thing goes, an organisation as it happens, and is counted."""
    key = {"organizationId": {"S": f"thing_{number}"}}
    condition = "attribute_exists(organizationId)"
    table = f"{aws.name}-organizations"
    return [
        {"Delete": {"TableName": table, "Key": key, "ConditionExpression": condition}},
        counting(f"{aws.name}-erasures", erasure, {Store.EVENTS: 1, Store.CLAIMS: 2}),
    ]


def things(aws: Aws, amount: int) -> None:
    for number in range(amount):
        aws.dynamodb.put_item(TableName=f"{aws.name}-organizations", Item={"organizationId": {"S": f"thing_{number}"}})


def test_what_several_workers_take_is_counted_once_each(aws: Aws, store: DynamoDbErasures) -> None:
    erasure = of_lead()
    store.start(erasure)
    things(aws, 6)

    def take(number: int) -> bool:
        try:
            aws.dynamodb.transact_write_items(TransactItems=taking(aws, erasure, number % 6))
        except aws.dynamodb.exceptions.TransactionCanceledException:
            return False
        return True

    with ThreadPoolExecutor(10) as threads:
        assert sum(threads.map(take, range(24))) == 6
    assert stored(store, erasure).counts == {**NOTHING, Store.EVENTS: 6, Store.CLAIMS: 12}
    assert stored(store, erasure).found


def test_nothing_goes_uncounted_once_an_erasure_is_done(aws: Aws, store: DynamoDbErasures) -> None:
    erasure = of_lead()
    store.start(erasure)
    things(aws, 1)
    store.finish(done(erasure))
    with pytest.raises(aws.dynamodb.exceptions.TransactionCanceledException):
        aws.dynamodb.transact_write_items(TransactItems=taking(aws, erasure, 0))
    assert "thing_0" in items(aws)
    assert stored(store, erasure).counts == NOTHING


def test_what_is_found_but_not_counted_marks_the_erasure(aws: Aws, store: DynamoDbErasures) -> None:
    store.start(of_lead())
    aws.dynamodb.transact_write_items(TransactItems=[counting(f"{aws.name}-erasures", of_lead(), {})])
    assert stored(store, of_lead()) == replace(of_lead(), found=True)


# ------------------------------------------------------------------------------------------- what DynamoDB may answer

Answering = Callable[..., list[str]]


@pytest.fixture
def answering(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Let the first ``times`` transactions be cancelled for ``reasons``, or be answered by ``change`` of the true answer."""
    original = aws.dynamodb._make_api_call
    monkeypatch.setattr("lead_events.store.transactions.time.sleep", lambda _: None)

    def start(times: int, reasons: list[str], change: Any = None) -> list[str]:
        calls: list[str] = []

        def call(name: str, kwargs: Any) -> Any:
            calls.append(name)
            if name != "TransactWriteItems" or calls.count(name) > times:
                return original(name, kwargs)
            if change is not None:
                return change(original, name, kwargs)
            code = "TransactionCanceledException"
            response = {
                "Error": {"Code": code, "Message": "…"},
                "CancellationReasons": [{"Code": each} for each in reasons],
            }
            raise aws.dynamodb.exceptions.from_code(code)(response, name)

        monkeypatch.setattr(aws.dynamodb, "_make_api_call", call)
        return calls

    return start


@pytest.mark.parametrize("erasure", [of_lead(), of_organization()], ids=["lead", "organization"])
def test_an_erasure_whose_answer_was_lost_is_given_back_as_ones_own(
    store: DynamoDbErasures, answering: Answering, erasure: Erasure
) -> None:
    def twice(original: Any, name: str, kwargs: Any) -> Any:
        original(name, kwargs)
        return original(name, kwargs)

    answering(1, [], twice)
    assert store.start(erasure) == erasure


def test_an_erasure_that_ended_while_ours_was_asked_for_does_not_stand_for_it(
    store: DynamoDbErasures, answering: Answering
) -> None:
    first, second = of_lead(1), of_lead(2)
    store.start(first)

    def ending(original: Any, name: str, kwargs: Any) -> Any:
        try:
            return original(name, kwargs)
        finally:
            store.finish(done(first))

    answering(1, [], ending)
    assert store.start(second) == second
    assert stored(store, first).status is Status.DONE


def test_items_that_others_write_are_waited_for_and_at_last_unavailable(
    store: DynamoDbErasures, answering: Answering
) -> None:
    erasure = of_lead()
    contended = ["None", "None", "TransactionConflict"]
    attempts: list[Callable[[], bool]] = [
        lambda: store.start(erasure) == erasure,
        lambda: store.advance(replace(erasure, slices=1)),
        lambda: store.finish(done(erasure)),
    ]
    for attempt in attempts:
        answering(99, contended)
        with pytest.raises(UnavailableError):
            attempt()
        calls = answering(4, contended)
        assert attempt()
        assert calls == ["TransactWriteItems"] * 5


def test_another_answer_is_not_asked_for_again(store: DynamoDbErasures, answering: Answering) -> None:
    calls = answering(99, ["ThrottlingError", "None", "None"])
    with pytest.raises(UnavailableError):
        store.start(of_lead())
    assert calls == ["TransactWriteItems"]


def test_an_end_between_two_others_keeps_the_later_of_them(
    aws: Aws, store: DynamoDbErasures, answering: Answering
) -> None:
    """The organisation's item has no end when ours is tried first, and a later one when it is tried again."""
    first, second = of_lead(1), of_lead(2, "lead_2")
    for each in (first, second):
        store.start(each)

    def overtaking(original: Any, name: str, kwargs: Any) -> Any:
        assert store.finish(done(second, until=START + 5 * HOUR))
        return original(name, kwargs)

    answering(1, [], overtaking)
    assert store.finish(done(first))
    assert items(aws)[ORGANIZATION]["erasedUntil"] == {"S": "2026-03-25T19:01:00.000000Z"}
    assert "erasing" not in items(aws)[ORGANIZATION]
