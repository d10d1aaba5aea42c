"""A claim belongs to one organisation, source and external id; a fingerprint tells the same event from another."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyItemAlreadyExistsError,
    IdempotencyValidationError,
)
from hypothesis import given
from hypothesis import strategies as st

from lead_events.event import SharedFact
from lead_events.idempotency import Claim, ClaimPersistence, claim_id, fingerprint
from lead_events.store.memory import InMemoryClaims
from tests.support.builders import draft, lead_event, stored_event
from tests.support.clock import START

SOURCES = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#"), min_size=1, max_size=5)
NAMES = st.text("ab#\x1f:/", min_size=1, max_size=5)
PAYLOADS: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.text("ab1n.", max_size=3) | st.integers(-20,
    20) | st.sampled_from([Decimal("1.5"), Decimal("1E+3")]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def print_of(payload: Any, **changes: Any) -> str:
    return fingerprint(lead_event(payload=payload, **changes))


def test_ids_that_join_to_the_same_text_are_not_the_same_claim() -> None:
    assert claim_id("org", "s", "1#2") != claim_id("org", "s", "12")
    assert len({claim_id("org", "s", "1#2"), claim_id("org", "s1", "#2"), claim_id("org", "s", "#1#2")}) == 3


@given(st.tuples(NAMES, SOURCES, NAMES), st.tuples(NAMES, SOURCES, NAMES))
def test_two_claims_are_one_only_where_all_three_parts_are(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    if "#" not in one[0] + other[0]:  # as check_id has it
        assert (claim_id(*one) == claim_id(*other)) == (one == other)


def test_a_claim_shows_its_tenant_and_hides_the_external_id() -> None:
    made = claim_id("org_A", "typeform", "ana.teste@example.org")
    assert made.startswith("ORG#org_A#")
    assert "ana" not in made
    assert len(claim_id("org_A", "s", "x" * 255)) == len(made)


def test_an_event_without_external_id_claims_nothing() -> None:
    assert Claim.of(stored_event(external_event_id=None)) is None


def test_a_claim_records_the_key_of_its_event() -> None:
    event = stored_event()
    claim = Claim.of(event)
    assert claim is not None
    assert (claim.key, claim.fingerprint) == (event.key, fingerprint(event))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (1, Decimal("1.0")),
        (Decimal("100.00"), Decimal("1E+2")),
        (Decimal("1E+300"), 10**300),
        (Decimal("0.30"), Decimal("3E-1")),
        (0, Decimal("-0.00")),
        (Decimal("0E+999"), Decimal("0E-999")),
        ([{"x": [1, {"y": 2, "z": 3}]}], [{"x": [Decimal("1.000"), {"z": 3, "y": 2}]}]),
        ("Ana 😀", "Ana \U0001f600"),
    ],
)
def test_the_same_content_in_other_words_has_the_same_fingerprint(one: Any, other: Any) -> None:
    assert print_of({"v": one}) == print_of({"v": other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"), (1, True), (0, False), (None, "null"), (None, ""), ([], {}), ([1], 1), ([], [[]]), (1, -1), (1, 10),
        (Decimal("100.00"), Decimal("900.00")), (Decimal("1E+125"), Decimal("1E+124")), ("a", "A"), ("é", "e\u0301"),
        (Decimal("0." + "3" * 38), Decimal("0." + "3" * 37 + "4")), (1, [0, "1", 0, "n"]), ({"a": 1}, {"a": 1, "b": None}),
        ([1, 2], [2, 1]),
    ],
)  # fmt: skip
def test_other_content_has_another_fingerprint(one: Any, other: Any) -> None:
    assert print_of({"v": one}) != print_of({"v": other})


@given(PAYLOADS, PAYLOADS)
def test_fingerprints_are_equal_exactly_where_payloads_are_as_json(one: Any, other: Any) -> None:
    def typed(value: Any) -> Any:  # True is 1 to Python's ==
        if isinstance(value, dict):
            return {key: typed(child) for key, child in value.items()}
        return [typed(child) for child in value] if isinstance(value, list) else (isinstance(value, bool), value)

    assert (print_of(one) == print_of(other)) == (typed(one) == typed(other))


def test_times_lead_and_raw_text_are_no_part_of_the_content() -> None:
    event = lead_event()
    later = START + timedelta(days=1)
    for same in (
        replace(event, occurred_at=later, received_at=later),
        replace(event, lead_id="lead_2"),
        replace(event, raw_payload="other"),
    ):
        assert fingerprint(same) == fingerprint(event)


def test_type_and_object_ids_are_part_of_the_content_each_in_its_place() -> None:
    prints = [
        print_of({}),
        print_of({}, event_type="other.type"),
        print_of({}, object_id="o"),
        print_of({}, object_id_ref="o"),
    ]
    assert len(set(prints)) == 4


def test_fingerprints_of_two_versions_are_not_compared() -> None:
    claim = Claim.of(stored_event())
    assert claim is not None
    assert not claim.contradicts(replace(claim, fingerprint="0:another"))
    assert claim.contradicts(replace(claim, fingerprint="1:another"))
    assert not claim.contradicts(claim)


def test_a_claim_is_completed_at_the_key_it_recorded() -> None:
    first = stored_event()
    claim = Claim.of(first)
    assert claim is not None
    again = lead_event(
        lead_id="lead_2", occurred_at="2026-05-05T05:05:05.555555Z", received_at=START + timedelta(days=1)
    )
    completed = claim.completed_by(again)
    assert (completed.key, completed.event_id) == (first.key, first.event_id)
    assert (completed.lead_id, completed.occurred_at) == (first.lead_id, first.occurred_at)
    assert completed.received_at == again.received_at


def test_a_shared_fact_is_claimed_instead_of_the_external_id_and_by_whoever_tells_it() -> None:
    fact = SharedFact("sale:1", "stripe.invoice.paid", {})
    one, same, other = (
        Claim.of(stored_event(shared_fact=fact, external_event_id=each, payload={"n": n}))
        for each, n in (("e-1", 1), ("e-1", 2), ("e-2", 1))
    )
    assert one
    assert same
    assert other
    assert one.claim_id == same.claim_id == other.claim_id == claim_id("org_A", "billing_service", "sale:1")
    assert not one.contradicts(same)
    assert one.contradicts(other)


def test_the_persistence_layer_tells_new_same_and_other_content() -> None:
    layer = ClaimPersistence(InMemoryClaims().claim)
    first, same, other = (Claim.of(stored_event(payload={"n": n})) for n in (1, 1, 2))
    assert first
    assert same
    assert other
    layer.save_inprogress(asdict(first))
    with pytest.raises(IdempotencyItemAlreadyExistsError) as caught:
        layer.save_inprogress(asdict(same))
    record = caught.value.old_data_record
    assert record is not None
    assert (record.status, record.response_json_as_dict()) == ("COMPLETED", asdict(first))
    with pytest.raises(IdempotencyValidationError):
        layer.save_inprogress(asdict(other))


def test_the_persistence_layer_never_updates_deletes_or_reads_a_claim() -> None:
    claims = InMemoryClaims()
    layer = ClaimPersistence(claims.claim)
    claim = Claim.of(stored_event())
    assert claim is not None
    layer.save_inprogress(asdict(claim))
    layer.save_success(asdict(claim), {})
    layer.delete_record(asdict(claim), ValueError())
    assert claims.get(claim.claim_id) == claim
    for method in (layer._get_record, layer._put_record, layer._update_record, layer._delete_record):
        with pytest.raises(NotImplementedError):
            method(None)  # type: ignore[arg-type]


def test_the_draft_of_the_tests_is_claimed_under_its_external_id() -> None:
    claim = Claim.of(stored_event())
    assert claim is not None
    assert claim.claim_id == claim_id("org_A", "billing_service", draft().external_event_id or "")
