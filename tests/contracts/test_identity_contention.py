"""Identities where several want the same at once: what both stores promise, and what DynamoDB's answers mean."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from lead_events.errors import UnavailableError
from lead_events.event import Identity, IdentityKind
from lead_events.identity import Resolver
from lead_events.ports import IdentityRecord, IdentityStore
from lead_events.store.identities import DynamoDbIdentities
from tests.contracts.conftest import Aws
from tests.support.aws import create_identities
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION

CUSTOMER, PHONE, EMAIL = IdentityKind


@pytest.mark.parametrize("keys", [{"k1": PHONE}, {"k1": PHONE, "k2": EMAIL}])
def test_claiming_again_what_a_lead_has_already_is_refused_whoever_asks(
    identities: IdentityStore, keys: dict[str, IdentityKind]
) -> None:
    assert identities.claim_all(ORGANIZATION, LEAD, keys)
    assert [identities.claim_all(ORGANIZATION, lead, keys) for lead in (LEAD, "lead_2")] == [False, False]
    assert identities.claim(ORGANIZATION, LEAD, "k1", PHONE) == LEAD


def test_what_was_refused_leaves_nothing_behind(identities: IdentityStore) -> None:
    identities.claim(ORGANIZATION, LEAD, "k2", EMAIL)
    assert not identities.claim_all(ORGANIZATION, "lead_2", {"k1": PHONE, "k2": EMAIL, "k3": EMAIL})
    assert identities.records(["k1", "k2", "k3"]) == {"k2": IdentityRecord(LEAD)}
    assert identities.of_lead(ORGANIZATION, "lead_2") == []


def test_of_no_keys_nothing_is_known(identities: IdentityStore) -> None:
    assert identities.records([]) == {}


def test_what_a_lead_is_known_by_is_shown_oldest_first(identities: IdentityStore) -> None:
    for number, kind in enumerate((EMAIL, CUSTOMER, PHONE, EMAIL)):
        identities.claim(ORGANIZATION, LEAD, f"k{number}", kind)
    found = identities.of_lead(ORGANIZATION, LEAD)
    assert [each.kind for each in found] == [EMAIL, CUSTOMER, PHONE, EMAIL]
    assert [each.since for each in found] == sorted(each.since for each in found)


def test_one_lead_id_in_two_organisations_is_two_leads(identities: IdentityStore) -> None:
    identities.claim(ORGANIZATION, LEAD, "k1", EMAIL)
    identities.claim(OTHER_ORGANIZATION, LEAD, "k2", PHONE)
    assert [each.kind for each in identities.of_lead(OTHER_ORGANIZATION, LEAD)] == [PHONE]


def test_as_many_identities_as_an_event_may_have_fit_one_claim(identities: IdentityStore) -> None:
    keys = dict.fromkeys((f"k{number}" for number in range(25)), EMAIL)
    assert identities.claim_all(ORGANIZATION, LEAD, keys)
    assert identities.records(list(keys)) == dict.fromkeys(keys, IdentityRecord(LEAD))


def test_twenty_five_first_contacts_at_once_are_one_lead(identities: IdentityStore) -> None:
    person = [
        Identity(PHONE, "558200000001"),
        Identity(EMAIL, "ana.teste@example.org"),
        Identity(CUSTOMER, "stripe:cus_1"),
    ]

    def contact(number: int) -> str:
        mine = [person[0], *([person[1]] if number % 2 else []), *([person[2]] if number % 3 else [])]
        return Resolver(identities, lambda: "s").resolve(ORGANIZATION, None, mine).lead_id

    with ThreadPoolExecutor(25) as threads:
        [lead] = set(threads.map(contact, range(25)))
    known = [Resolver(identities, lambda: "s").resolve(ORGANIZATION, None, [each]).lead_id for each in person]
    assert known == [lead] * 3


# --------------------------------------------------------------------------------------------- what DynamoDB may answer


@pytest.fixture
def store(aws: Aws) -> DynamoDbIdentities:
    create_identities(aws.dynamodb, aws.name)
    return DynamoDbIdentities(aws.dynamodb, aws.name)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seen: list[float] = []
    monkeypatch.setattr("lead_events.store.transactions.time.sleep", seen.append)
    return seen


Answering = Callable[..., list[str]]


@pytest.fixture
def answering(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Let the first ``times`` calls of an operation be answered by an error or by ``change`` of the true answer."""
    original = aws.dynamodb._make_api_call

    def start(
        operation: str, times: int, *, code: str = "", reasons: list[str] | None = None, change: Any = None
    ) -> list[str]:
        calls: list[str] = []

        def call(name: str, kwargs: Any) -> Any:
            calls.append(name)
            if name != operation or calls.count(operation) > times:
                return original(name, kwargs)
            if change is not None:
                return change(original, name, kwargs)
            response: Any = {"Error": {"Code": code, "Message": "…"}} | (
                {"CancellationReasons": [{"Code": each} for each in reasons]} if reasons else {}
            )
            raise aws.dynamodb.exceptions.from_code(code)(response, name)

        monkeypatch.setattr(aws.dynamodb, "_make_api_call", call)
        return calls

    return start


def test_an_identity_that_a_transaction_holds_is_tried_again_in_a_moment(
    store: DynamoDbIdentities, answering: Answering, pauses: list[float]
) -> None:
    calls = answering("UpdateItem", 3, code="TransactionConflictException")
    assert store.claim(ORGANIZATION, LEAD, "k1", PHONE) is None
    assert calls == ["UpdateItem"] * 4
    assert len(pauses) == 3
    assert all(0 <= each < 0.05 for each in pauses)


def test_an_identity_that_stays_held_is_unavailable(
    store: DynamoDbIdentities, answering: Answering, pauses: list[float]
) -> None:
    calls = answering("UpdateItem", 99, code="TransactionConflictException")
    with pytest.raises(UnavailableError):
        store.claim(ORGANIZATION, LEAD, "k1", PHONE)
    assert len(calls) == 5


def test_another_error_is_not_tried_again_here(
    store: DynamoDbIdentities, answering: Answering, pauses: list[float]
) -> None:
    calls = answering("UpdateItem", 99, code="AccessDeniedException")
    with pytest.raises(UnavailableError) as caught:
        store.claim(ORGANIZATION, LEAD, "k1", PHONE)
    assert isinstance(caught.value.__cause__, ClientError)
    assert (calls, pauses) == (["UpdateItem"], [])


@pytest.mark.parametrize(
    ("reasons", "waits"), [(["None", "ConditionalCheckFailed"], 0), (["TransactionConflict", "None"], 1), (None, 1)]
)
def test_a_cancelled_claim_is_refused_and_one_that_collided_waits_first(
    store: DynamoDbIdentities, answering: Answering, pauses: list[float], reasons: list[str] | None, waits: int
) -> None:
    answering("TransactWriteItems", 1, code="TransactionCanceledException", reasons=reasons)
    assert not store.claim_all(ORGANIZATION, LEAD, {"k1": PHONE, "k2": EMAIL})
    assert len(pauses) == waits
    assert store.claim_all(ORGANIZATION, LEAD, {"k1": PHONE, "k2": EMAIL})


def test_our_own_claim_that_botocore_sent_again_is_taken_by_us(store: DynamoDbIdentities, answering: Answering) -> None:
    def twice(original: Any, name: str, kwargs: Any) -> Any:
        original(name, kwargs)
        return original(name, kwargs)

    answering("UpdateItem", 1, change=twice)
    assert store.claim(ORGANIZATION, LEAD, "k1", PHONE) is None
    assert store.records(["k1"]) == {"k1": IdentityRecord(LEAD)}


def test_a_first_contact_that_collided_finds_its_lead(
    store: DynamoDbIdentities, answering: Answering, pauses: list[float]
) -> None:
    answering(
        "TransactWriteItems",
        4,
        code="TransactionCanceledException",
        reasons=["TransactionConflict", "TransactionConflict"],
    )
    found = Resolver(store, lambda: "s").resolve(
        ORGANIZATION, None, [Identity(PHONE, "+5582900000001"), Identity(EMAIL, "a@example.org")]
    )
    assert found.conflicts == ()
    assert len(pauses) == 4


def test_keys_that_dynamodb_left_unread_are_read_again(store: DynamoDbIdentities, answering: Answering) -> None:
    for number in range(130):
        store.claim(ORGANIZATION, LEAD, f"k{number}", EMAIL)

    def half(original: Any, name: str, kwargs: Any) -> Any:
        [(table, asked)] = kwargs["RequestItems"].items()
        first, rest = asked["Keys"][:30], asked["Keys"][30:]
        assert asked["ConsistentRead"]
        answer = original(name, {"RequestItems": {table: asked | {"Keys": first}}})
        return answer | {"UnprocessedKeys": {table: asked | {"Keys": rest}} if rest else {}}

    calls = answering("BatchGetItem", 4, change=half)
    assert len(store.records([f"k{number}" for number in range(140)])) == 130
    assert len(calls) > 4


def test_keys_that_stay_unread_are_unavailable_and_not_asked_for_without_end(
    store: DynamoDbIdentities, answering: Answering
) -> None:
    def none(_: Any, __: str, kwargs: Any) -> Any:
        return {"Responses": {}, "UnprocessedKeys": kwargs["RequestItems"]}

    calls = answering("BatchGetItem", 1_000, change=none)
    with pytest.raises(UnavailableError):
        store.records(["k1", "k2"])
    assert len(calls) == 10


def test_an_identitys_item_holds_no_personal_data(aws: Aws, store: DynamoDbIdentities) -> None:
    person = [
        Identity(PHONE, "+5582900000001"),
        Identity(EMAIL, "ana.teste@example.org"),
        Identity(CUSTOMER, "stripe:cus_ana"),
    ]
    Resolver(store, lambda: "s").resolve(ORGANIZATION, LEAD, person)
    items = aws.dynamodb.scan(TableName=aws.name)["Items"]
    assert len(items) == 3
    assert {frozenset(each) for each in items} == {frozenset({"identityId", "leadOrganizationId", "kind", "since"})}
    assert not any(text in str(items) for text in ("90000", "ana", "cus_", "example"))
