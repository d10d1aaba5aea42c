"""Which lead an event is of: one person is one lead, and strangers never are."""

from __future__ import annotations

import itertools
import re

import pytest

from lead_events import identity
from lead_events.errors import InvalidError, UnresolvedLeadError
from lead_events.event import Identity, OutcomeKind
from lead_events.identity import Resolved
from lead_events.names import ID_PATTERN
from lead_events.store.memory import InMemoryIdentities
from tests.support.builders import ORGANIZATION, OTHER_ORGANIZATION, draft
from tests.support.fakes import World
from tests.support.identities import ANA, BOB, CUSTOMER, EMAIL, PHONE, Watched, lead_of, resolver


def test_nothing_that_tells_who_it_was_is_unresolved() -> None:
    for identities in ((), (Identity(EMAIL, ""), Identity(PHONE, "n/a"), Identity(CUSTOMER, " "))):
        with pytest.raises(UnresolvedLeadError) as caught:
            resolver().resolve(ORGANIZATION, None, identities)
        assert caught.value.code == "lead_unresolved"


def test_a_new_lead_has_an_id_that_is_one_of_ours_and_the_same_for_the_same_person() -> None:
    first, again = lead_of(resolver(), *ANA), lead_of(resolver(), *reversed(ANA))
    assert first == again
    assert re.fullmatch(ID_PATTERN, first)
    assert re.fullmatch(r"lead_[a-z2-7]{24}", first)


def test_a_new_leads_id_tells_nothing_without_the_secret_and_differs_between_organisations() -> None:
    ids = {
        lead_of(resolver(), *ANA),
        lead_of(resolver(), *BOB),
        lead_of(resolver(), *ANA, organization=OTHER_ORGANIZATION),
        lead_of(resolver(secret="other"), *ANA),
    }
    assert len(ids) == 4


def test_an_organisation_does_not_know_what_another_knows() -> None:
    store = InMemoryIdentities()
    mine, other = (lead_of(resolver(store), *ANA, organization=each) for each in (ORGANIZATION, OTHER_ORGANIZATION))
    assert mine != other
    assert lead_of(resolver(store), ANA[2], organization=OTHER_ORGANIZATION) == other


def test_a_new_lead_is_named_by_what_providers_share() -> None:
    """Two providers' own ids never meet; so the phone names the lead, then the e-mail."""
    assert lead_of(resolver(), *ANA) == lead_of(resolver(), ANA[1]) != lead_of(resolver(), ANA[0])
    assert lead_of(resolver(), ANA[0], ANA[2]) == lead_of(resolver(), ANA[2])


def test_every_identity_of_a_first_contact_is_learnt() -> None:
    store = InMemoryIdentities()
    lead = lead_of(resolver(store), *ANA)
    assert [lead_of(resolver(store), each) for each in ANA] == [lead] * 3


def test_the_strongest_known_identity_decides_and_the_others_are_reported_and_not_moved() -> None:
    for order in itertools.permutations(ANA):
        store = InMemoryIdentities()
        of = resolver(store)
        for kind, planted in zip(order, ("a", "b", "c"), strict=True):
            assert of.resolve(ORGANIZATION, planted, [kind]).conflicts == ()
        owner = {each.kind: planted for each, planted in zip(order, ("a", "b", "c"), strict=True)}
        assert resolver(store).resolve(ORGANIZATION, None, ANA) == Resolved(owner[CUSTOMER], (PHONE, EMAIL))
        assert resolver(store).resolve(ORGANIZATION, None, ANA[1:]) == Resolved(owner[PHONE], (EMAIL,))
        assert {each.kind: lead_of(resolver(store), each) for each in ANA} == owner


def test_a_known_identity_teaches_the_unknown_ones_beside_it() -> None:
    store = InMemoryIdentities()
    lead = lead_of(resolver(store), ANA[2])
    assert resolver(store).resolve(ORGANIZATION, None, ANA) == Resolved(lead)
    assert lead_of(resolver(store), ANA[0]) == lead


def test_of_two_known_phones_the_first_decides() -> None:
    store = InMemoryIdentities()
    lead_of(resolver(store), ANA[1], planted="a")
    lead_of(resolver(store), BOB[1], planted="b")
    assert resolver(store).resolve(ORGANIZATION, None, [BOB[1], ANA[1]]) == Resolved("b", (PHONE,))


def test_a_planted_lead_wins_and_its_identities_are_learnt() -> None:
    store = InMemoryIdentities()
    assert resolver(store).resolve(ORGANIZATION, "lead_planted", ANA) == Resolved("lead_planted")
    assert [lead_of(resolver(store), each) for each in ANA] == ["lead_planted"] * 3


def test_a_planted_lead_wins_over_what_is_known_and_the_conflict_is_reported_and_nothing_moved() -> None:
    store = InMemoryIdentities()
    known = lead_of(resolver(store), ANA[2])
    for _ in range(2):
        assert resolver(store).resolve(ORGANIZATION, "lead_planted", ANA) == Resolved("lead_planted", (EMAIL,))
    assert [lead_of(resolver(store), each) for each in ANA] == ["lead_planted", "lead_planted", known]


def test_a_planted_lead_needs_no_identity_and_asks_nothing() -> None:
    store = Watched()
    assert resolver(store).resolve(ORGANIZATION, "lead_planted", [Identity(EMAIL, "n/a")]) == Resolved("lead_planted")
    assert store.calls == []


def test_strangers_stay_strangers() -> None:
    store = InMemoryIdentities()
    assert lead_of(resolver(store), *ANA) != lead_of(resolver(store), *BOB)
    assert lead_of(resolver(store), Identity(EMAIL, "x:1@example.org")) != lead_of(
        resolver(store), Identity(CUSTOMER, "x:1@example.org")
    )


def test_only_hashes_are_stored() -> None:
    store = InMemoryIdentities()
    lead_of(resolver(store), *ANA)
    kept = repr(store._owners)
    assert not any(text in kept for text in ("ana", "teste", "example", "82900000001", "cus_"))
    assert all(re.fullmatch(rf"ORG#{ORGANIZATION}#[A-Za-z0-9_-]{{32}}", key) for key in store._owners)


def test_no_event_has_more_identities_than_a_transaction_can_hold_and_the_strongest_count() -> None:
    store = InMemoryIdentities()
    many = [Identity(EMAIL, f"ana{number}@example.org") for number in range(150)]
    lead = lead_of(resolver(store), *many, *ANA)
    assert len(store._owners) == 25
    assert [lead_of(resolver(store), each) for each in ANA[:2]] == [lead] * 2


# ------------------------------ what a browser says, unproven


def unproven(store: InMemoryIdentities, *identities: Identity, planted: str | None = None) -> Resolved:
    return resolver(store).resolve(ORGANIZATION, planted, identities, proven=False)


COOKIE, OTHER_COOKIE = Identity(CUSTOMER, "web:cookie-1"), Identity(CUSTOMER, "web:cookie-2")


def test_a_browser_finds_a_lead_by_what_was_typed_and_ties_its_cookie_to_nobody() -> None:
    store = InMemoryIdentities()
    lead = lead_of(resolver(store), *ANA[1:])
    assert unproven(store, COOKIE, ANA[2]) == Resolved(lead)
    assert unproven(store, COOKIE).lead_id != lead
    assert unproven(store, OTHER_COOKIE, ANA[2], planted="lead_x") == Resolved("lead_x")
    assert lead_of(resolver(store), ANA[2]) == lead


def test_a_browser_that_names_a_lead_teaches_nothing() -> None:
    store = Watched()
    assert unproven(store, COOKIE, *ANA, planted="lead_x") == Resolved("lead_x")
    assert store.calls == []


def test_what_a_visitor_types_first_is_theirs_where_nobody_has_it() -> None:
    store = InMemoryIdentities()
    visitor = unproven(store, COOKIE).lead_id
    assert unproven(store, COOKIE, ANA[2]) == Resolved(visitor)
    assert lead_of(resolver(store), ANA[2]) == visitor


def test_a_shared_computer_does_not_make_one_lead_of_two_people() -> None:
    store = InMemoryIdentities()
    first = unproven(store, COOKIE).lead_id
    unproven(store, COOKIE, ANA[2])
    second = unproven(store, COOKIE, BOB[2]).lead_id
    assert first != second
    assert lead_of(resolver(store), ANA[2]) == first
    assert lead_of(resolver(store), BOB[2]) == second


def test_what_was_typed_never_moves_from_one_lead_to_another() -> None:
    store = InMemoryIdentities()
    ana, bob = lead_of(resolver(store), *ANA), lead_of(resolver(store), *BOB)
    assert unproven(store, ANA[1], BOB[2]).lead_id == ana
    assert [lead_of(resolver(store), each) for each in (*ANA, *BOB)] == [ana] * 3 + [bob] * 3


# ------------------------------------------------------------ cache


class Clock:
    """``time`` as the resolver knows it."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(identity, "time", made)
    return made


def test_a_process_trusts_what_it_read_for_a_minute_and_no_longer(clock: Clock) -> None:
    store = Watched()
    of = resolver(store)
    first = lead_of(of, *ANA)
    assert store.calls == ["records", "claim_all"]
    for _ in range(59):
        clock.seconds += 1
        assert lead_of(of, *ANA) == first
    assert store.calls == ["records", "claim_all"]
    store._owners.clear()  # as the erasure of a lead does
    lead_of(resolver(store), *ANA, planted="lead_new")
    assert lead_of(of, ANA[1]) == first
    clock.seconds += 1
    assert lead_of(of, ANA[1]) == "lead_new"  # though it was used every second


def test_a_process_remembers_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_REMEMBERED", 10)
    of = resolver()
    for number in range(50):
        lead_of(of, Identity(EMAIL, f"ana{number}@example.org"))
    assert len(of._remembered) == 10


def test_what_nobody_has_is_asked_for_again_every_time() -> None:
    store = InMemoryIdentities()
    of = resolver(store)
    lead_of(of, ANA[0])
    lead_of(resolver(store), ANA[2], planted="lead_other")
    assert of.resolve(ORGANIZATION, "lead_p", [ANA[2]]) == Resolved("lead_p", (EMAIL,))


# ---------------------------------------- what the CRM says of them


def test_identities_are_given_all_or_none_and_to_one_lead_alone() -> None:
    store = InMemoryIdentities()
    of = resolver(store)
    assert of.assign(ORGANIZATION, "lead_1", ANA[2:]) == []
    assert of.assign(ORGANIZATION, "lead_2", [BOB[0], ANA[2], BOB[1]]) == [1]
    assert lead_of(resolver(store), BOB[0], BOB[1]) != "lead_2"
    assert of.assign(ORGANIZATION, "lead_1", ANA) == []
    assert of.assign(ORGANIZATION, "lead_1", [*ANA, *ANA]) == []
    assert [each.kind for each in of.of_lead(ORGANIZATION, "lead_1")] == [EMAIL, CUSTOMER, PHONE]


def test_one_spelling_of_an_identity_is_the_other() -> None:
    of = resolver()
    assert (
        of.assign(ORGANIZATION, "lead_1", [Identity(PHONE, "558200000001"), Identity(EMAIL, "ANA@example.org")]) == []
    )
    assert of.assign(
        ORGANIZATION, "lead_2", [Identity(PHONE, "(82) 90000-0001"), Identity(EMAIL, "ana@example.org ")]
    ) == [0, 1]


def test_what_cannot_be_compared_is_refused_by_its_place_and_nothing_is_written() -> None:
    store = Watched()
    with pytest.raises(InvalidError) as caught:
        resolver(store).assign(ORGANIZATION, "lead_1", [ANA[0], Identity(PHONE, "4004-1234")])
    assert [(each.field, each.rule) for each in caught.value.errors] == [
        ("identities.1.value", "is not a phone that can be compared")
    ]
    assert store.calls == []


def test_c54_one_person_by_checkout_and_whatsapp_and_neither_landline_nor_us_number_is_theirs() -> None:
    store = InMemoryIdentities()
    one = {lead_of(resolver(store), Identity(PHONE, each)) for each in ("+55 (82) 90000-0001", "+558200000001")}
    others = [lead_of(resolver(store), Identity(PHONE, each)) for each in ("+55 82 3000-0001", "+1 202 555 0123")]
    assert len(one) == 1
    assert len({*one, *others}) == 3


def test_the_pipeline_reports_conflicts_with_a_stored_event_and_with_its_duplicate() -> None:
    world = World()
    world.pipeline.process(draft(lead_id="lead_a", identities=ANA[2:], external_event_id="e-0"))
    told = draft(lead_id="lead_b", identities=ANA, external_event_id="e-1")
    outcomes = [world.pipeline.process(told), world.pipeline.process(told)]
    assert [(each.kind, each.identity_conflicts) for each in outcomes] == [
        (OutcomeKind.STORED, ("email",)),
        (OutcomeKind.DUPLICATE, ("email",)),
    ]
