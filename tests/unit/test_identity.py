"""Which lead an event is of: one person is one lead, and strangers never are."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events import identity
from lead_events.errors import InvalidError, UnavailableError, UnresolvedLeadError
from lead_events.event import Identity, IdentityKind, OutcomeKind
from lead_events.identity import Resolved, Resolver, normalise, normalise_phone
from lead_events.names import ID_PATTERN
from lead_events.store.memory import InMemoryIdentities
from lead_events.wiring import pipeline_in_memory
from tests.support.builders import ORGANIZATION, OTHER_ORGANIZATION, draft
from tests.support.fakes import CrashingClaims, CrashingEvents, CrashPoints, Killed, World

CUSTOMER, PHONE, EMAIL = IdentityKind
DDDS: Final = [
    11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 27, 28, 31, 32, 33, 34, 35, 37, 38, 41, 42, 43, 44, 45, 46, 47, 48, 49, 51,
    53, 54, 55, 61, 62, 63, 64, 65, 66, 67, 68, 69, 71, 73, 74, 75, 77, 79, 81, 82, 83, 84, 85, 86, 87, 88, 89, 91, 92, 93, 94,
    95, 96, 97, 98, 99,
]  # fmt: skip
ANA = (Identity(CUSTOMER, "stripe:cus_ana"), Identity(PHONE, "+55 (82) 90000-0001"), Identity(EMAIL, "ana.teste@example.org"))
BOB = (Identity(CUSTOMER, "stripe:cus_bob"), Identity(PHONE, "+55 11 90000-0002"), Identity(EMAIL, "bob.teste@example.org"))


class Watched(InMemoryIdentities):
    """Identities that count their calls, take their time, and may die behind a claim."""

    def __init__(self, *, seconds: float = 0, die_behind: str = "") -> None:
        super().__init__()
        self.calls: list[str] = []
        self._seconds = seconds
        self._die_behind = die_behind

    def _passed(self, call: str, then: Callable[[], Any]) -> Any:
        self.calls.append(call)
        time.sleep(self._seconds)
        found = then()
        if call == self._die_behind:
            self._die_behind = ""
            raise Killed
        return found

    def owners(self, keys: Sequence[str]) -> dict[str, str]:
        return self._passed("owners", lambda: InMemoryIdentities.owners(self, keys))

    def claim(self, organization_id: str, lead_id: str, key: str, kind: IdentityKind) -> str | None:
        return self._passed("claim", lambda: InMemoryIdentities.claim(self, organization_id, lead_id, key, kind))

    def claim_all(self, organization_id: str, lead_id: str, keys: Mapping[str, IdentityKind]) -> bool:
        return self._passed("claim_all", lambda: InMemoryIdentities.claim_all(self, organization_id, lead_id, keys))


class Clock:
    """``time`` as the resolver knows it."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def monotonic(self) -> float:
        return self.seconds


def resolver(store: InMemoryIdentities | None = None, secret: str = "s") -> Resolver:
    return Resolver(store or InMemoryIdentities(), lambda: secret)


def lead_of(of: Resolver, *identities: Identity, planted: str | None = None, organization: str = ORGANIZATION) -> str:
    return of.resolve(organization, planted, identities).lead_id


# ------------------------------------------------------------------------------------------------------------- phones


@pytest.mark.parametrize("ddd", DDDS)
@pytest.mark.parametrize("first", "016789")
def test_a_brazilian_mobile_is_one_phone_with_and_without_its_ninth_digit(ddd: int, first: str) -> None:
    whole, old = f"+55{ddd}9{first}0000001", f"55{ddd}{first}0000001"
    for written in (whole, whole[1:], old, f"+{old}", f"({ddd}) 9{first}000-0001", f"{ddd} {first}000 0001", f"0{ddd}{first}0000001"):
        assert normalise_phone(written, "BR") == whole, written


@pytest.mark.parametrize("ddd", DDDS)
@pytest.mark.parametrize("first", "2345")
def test_a_brazilian_landline_stays_as_it_is_and_is_no_mobile_of_the_same_digits(ddd: int, first: str) -> None:
    landline, mobile = f"+55{ddd}{first}0000001", f"+55{ddd}9{first}0000001"
    assert {normalise_phone(each) for each in (landline, landline[1:], f"({ddd}) {first}000-0001")} == {landline}
    assert normalise_phone(mobile) == mobile != landline


@pytest.mark.parametrize(
    ("written", "region", "e164"),
    [
        ("+1 (415) 555-2671", None, "+14155552671"),
        ("4155552671", "us", "+14155552671"),
        ("00351 912 345 678", "PT", "+351912345678"),
        ("912345678", "PT", "+351912345678"),
        ("+81 90-1234-5678", "BR", "+819012345678"),
        ("+56 2 1234 5678", None, "+56212345678"),
        ("+44 7911 123456", "US", "+447911123456"),
        ("+54 9 11 2345 6789", None, "+5491123456789"),
        ("+54 11 2345 6789", None, "+541123456789"),
        ("+52 55 1234 5678", None, "+525512345678"),
        ("+82 90000 0001", None, "+82900000001"),
    ],
)
def test_phones_of_other_countries_are_untouched(written: str, region: str | None, e164: str) -> None:
    assert normalise_phone(written, region) == e164


@pytest.mark.parametrize("written", ["0055 82 90000-0001", "00 55 82 0000 0001", "005582900000001", "＋55 ８２ 90000-0001", "0 41 82 90000-0001"])
@pytest.mark.parametrize("region", [None, "BR", "PT"])
def test_a_phone_as_people_dial_it_is_read(written: str, region: str | None) -> None:
    if region == "PT" and written.startswith("0 "):
        return  # Brazil's carriers are dialled in Brazil alone
    assert normalise_phone(written, region) == "+5582900000001"


@pytest.mark.parametrize(
    "written",
    [
        "", " ", "0", "+", "+55", "190", "call me", "not a phone", "ana.teste@example.org", "82 90000-0001 or 82 90000-0002", "+0",
        "+55 82 90000-0001 (WhatsApp)", "555-555-SHIP", "call 555-SHIP", "+1 415 555 2671 ext 5", "+14155552671#5",
        "82 90000-0001 / 82 90000-0002", "9" * 16, "9" * 41, "+55829000000011", "1" * 10_000, "\x00", "+999 123456789",
    ],
)  # fmt: skip
@pytest.mark.parametrize("region", [None, "US", "XX", ""])
def test_what_is_no_persons_phone_is_none(written: str, region: str | None) -> None:
    assert normalise_phone(written, region) is None


@pytest.mark.parametrize("written", ["90000-0001", "0000-0001", "3000-0001", "30000001", "999999999", "4004-1234", "0800 123 4567", "0300 123 4567", "00000000000", "(00) 90000-0001", "+55 82 80000-0001"])
def test_a_brazilian_number_without_an_area_code_is_strangers_and_tells_of_nobody(written: str) -> None:
    assert normalise_phone(written) is None


@given(st.text(max_size=50) | st.text("+0123456789 ()-.", max_size=20), st.sampled_from([None, "BR", "US", "PT", "??"]))
@settings(max_examples=400)
def test_whatever_is_written_gives_e164_or_none_and_e164_gives_itself(written: str, region: str | None) -> None:
    found = normalise_phone(written, region)
    if found is not None:
        assert re.fullmatch(r"\+[1-9][0-9]{4,16}", found)
        assert normalise_phone(found, region) == found


def test_phones_are_read_in_the_region_beside_them() -> None:
    written = "415 555 2671"
    assert normalise(Identity(PHONE, written, "US")) == "+14155552671"
    assert normalise(Identity(PHONE, written)) == "+554155552671"


def test_the_library_for_phones_is_loaded_by_the_first_phone_and_not_before() -> None:
    code = (
        "import sys; from lead_events.identity import normalise; from lead_events.event import Identity, IdentityKind as K;"
        "normalise(Identity(K.EMAIL, 'a@example.org')); normalise(Identity(K.CUSTOMER, 'x:1'));"
        "assert 'phonenumbers' not in sys.modules; normalise(Identity(K.PHONE, '+5582900000001'));"
        "assert 'phonenumbers' in sys.modules; assert 'phonenumbers.geocoder' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": "layers/lead_events/python"}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


# ----------------------------------------------------------------------------------------------- e-mails, customer ids


@pytest.mark.parametrize("written", ["Ana.Teste@Example.ORG", "  ana.teste@example.org\n", "ANA.TESTE@EXAMPLE.ORG"])
def test_an_email_is_compared_in_lower_case_without_blanks_around(written: str) -> None:
    assert normalise(Identity(EMAIL, written)) == "ana.teste@example.org"


def test_an_email_is_otherwise_what_it_is() -> None:
    """Dots and tags mean something at most providers: guessing would merge strangers."""
    written = ["a.b@example.org", "ab@example.org", "a.b+tag@example.org", "joão@exämple.org"]
    assert [normalise(Identity(EMAIL, each)) for each in written] == written


@pytest.mark.parametrize(
    "written",
    ["", " ", "ana", "ana@", "@example.org", "ana@example", "a b@example.org", "Ana <ana@example.org>", "a@b@example.org", "a@example.org,b@example.org", "a" * 250 + "@example.org", "n/a"],
)
def test_what_is_no_email_is_none(written: str) -> None:
    assert normalise(Identity(EMAIL, written)) is None


def test_a_customer_id_is_compared_to_the_letter() -> None:
    assert normalise(Identity(CUSTOMER, " stripe:cus_Ana ")) == "stripe:cus_Ana"
    assert normalise(Identity(CUSTOMER, "  ")) is None


@given(st.sampled_from(IdentityKind), st.text(max_size=60))
def test_normalising_twice_changes_nothing(kind: IdentityKind, value: str) -> None:
    once = normalise(Identity(kind, value))
    assert once is None or normalise(Identity(kind, once)) in (once, None)


def test_an_identity_does_not_show_its_value() -> None:
    assert "ana" not in repr(ANA)


# --------------------------------------------------------------------------------------------------------- which lead


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
    assert lead_of(resolver(store), Identity(EMAIL, "x:1@example.org")) != lead_of(resolver(store), Identity(CUSTOMER, "x:1@example.org"))


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


# ---------------------------------------------------------------------------------------- what a browser says, unproven


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


# ------------------------------------------------------------------------------------------------------- simultaneity

UNIVERSE: Final = [
    Identity(CUSTOMER, "stripe:cus_1"), Identity(CUSTOMER, "shopify:1"), Identity(PHONE, "+5582900000001"),
    Identity(PHONE, "+5511900000002"), Identity(EMAIL, "ana.teste@example.org"), Identity(EMAIL, "ana.outra@example.org"),
]  # fmt: skip


@st.composite
def first_contacts(draw: Callable[[st.SearchStrategy[Any]], Any]) -> list[list[Identity]]:
    """Up to 25 contacts whose identities, in any order, have one in common."""
    common = draw(st.sampled_from(range(len(UNIVERSE))))
    sets = draw(st.lists(st.sets(st.sampled_from(range(len(UNIVERSE)))), min_size=2, max_size=25))
    return [[UNIVERSE[each] for each in draw(st.permutations(sorted({common, *chosen})))] for chosen in sets]


def at_once(actions: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call all of them, each in its thread, starting together."""
    start = threading.Barrier(len(actions))

    def begin(action: Callable[[], Any]) -> Any:
        start.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(begin, actions))


@given(first_contacts(), st.booleans())
@settings(max_examples=60)
def test_simultaneous_first_contacts_that_share_an_identity_are_one_lead(contacts: list[list[Identity]], one_process: bool) -> None:
    store = Watched(seconds=0.0005)
    shared = resolver(store)
    found = at_once([lambda c=each: (shared if one_process else resolver(store)).resolve(ORGANIZATION, None, c) for each in contacts])  # type: ignore[misc]
    assert {each.conflicts for each in found} == {()}
    [lead] = {each.lead_id for each in found}
    everything = {each for contact in contacts for each in contact}
    assert {lead_of(resolver(store), each) for each in everything} == {lead}


def test_twenty_five_first_contacts_at_once_are_one_lead_in_the_pipeline() -> None:
    world = World()
    sets = [ANA, ANA[1:], ANA[1:2], (Identity(CUSTOMER, "shopify:7"), ANA[1]), (ANA[1], ANA[2])]
    drafts = [draft(lead_id=None, external_event_id=f"e-{n}", identities=sets[n % 5]) for n in range(25)]
    outcomes = at_once([lambda d=each: world.pipeline.process(d) for each in drafts])  # type: ignore[misc]
    assert {each.kind for each in outcomes} == {OutcomeKind.STORED}
    assert len({each.lead_id for each in world.stored}) == 1
    assert len(world.stored) == 25


def test_two_planted_leads_at_once_for_one_person_keep_their_own_and_one_is_told_of_the_conflict() -> None:
    store = Watched(seconds=0.0005)
    found = at_once([lambda n=n: resolver(store).resolve(ORGANIZATION, f"lead_{n}", ANA) for n in range(10)])  # type: ignore[misc]
    assert [each.lead_id for each in found] == [f"lead_{n}" for n in range(10)]
    owners = [lead_of(resolver(store), each) for each in ANA]
    for each in found:
        assert each.conflicts == tuple(one.kind for one, owner in zip(ANA, owners, strict=True) if owner != each.lead_id)


def test_identities_that_stay_contended_are_unavailable_and_sent_again() -> None:
    class Contended(InMemoryIdentities):
        def claim_all(self, *_: Any) -> bool:
            return False

    with pytest.raises(UnavailableError):
        resolver(Contended()).resolve(ORGANIZATION, None, ANA)
    with pytest.raises(UnavailableError):
        resolver(Contended()).assign(ORGANIZATION, "lead_1", ANA)


# ------------------------------------------------------------------------------------------------------------ crashes


@pytest.mark.parametrize("step", range(4))
def test_a_kill_between_the_identities_and_the_event_leaves_the_redelivery_the_same_lead(step: int) -> None:
    points, identities = CrashPoints([step]), InMemoryIdentities()
    events, claims = CrashingEvents(points), CrashingClaims(points)
    first = draft(lead_id=None, identities=ANA)
    with pytest.raises(Killed):
        pipeline_in_memory(events=events, claims=claims, identities=identities).process(first)
    known = lead_of(Resolver(identities, lambda: "in memory"), ANA[1])
    again = pipeline_in_memory(events=events, claims=claims, identities=identities)
    assert again.process(first).stored().lead_id == known
    assert again.process(draft(lead_id=None, external_event_id="e-2", identities=ANA[2:])).stored().lead_id == known
    assert len(events.inner.all()) == 2


@pytest.mark.parametrize("behind", ["owners", "claim", "claim_all"])
def test_a_kill_among_the_identities_is_mended_by_the_redelivery(behind: str) -> None:
    store = Watched(die_behind=behind)
    if behind == "claim":
        lead_of(resolver(store), ANA[2])
    with pytest.raises(Killed):
        lead_of(resolver(store), *ANA)
    lead = lead_of(resolver(store), *ANA)
    assert [lead_of(resolver(store), each) for each in ANA] == [lead] * 3


# -------------------------------------------------------------------------------------------------------------- cache


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(identity, "time", made)
    return made


def test_a_process_trusts_what_it_read_for_a_minute_and_no_longer(clock: Clock) -> None:
    store = Watched()
    of = resolver(store)
    first = lead_of(of, *ANA)
    assert store.calls == ["owners", "claim_all"]
    for _ in range(59):
        clock.seconds += 1
        assert lead_of(of, *ANA) == first
    assert store.calls == ["owners", "claim_all"]
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


# -------------------------------------------------------------------------------------------- what the CRM says of them


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
    assert of.assign(ORGANIZATION, "lead_1", [Identity(PHONE, "558200000001"), Identity(EMAIL, "ANA@example.org")]) == []
    assert of.assign(ORGANIZATION, "lead_2", [Identity(PHONE, "(82) 90000-0001"), Identity(EMAIL, "ana@example.org ")]) == [0, 1]


def test_what_cannot_be_compared_is_refused_by_its_place_and_nothing_is_written() -> None:
    store = Watched()
    with pytest.raises(InvalidError) as caught:
        resolver(store).assign(ORGANIZATION, "lead_1", [ANA[0], Identity(PHONE, "4004-1234")])
    assert [(each.field, each.rule) for each in caught.value.errors] == [("identities.1.value", "is not a phone that can be compared")]
    assert store.calls == []


def test_of_two_leads_given_one_identity_at_once_one_gets_it() -> None:
    for _ in range(10):
        store = Watched(seconds=0.0002)
        answers = at_once([lambda n=n: resolver(store).assign(ORGANIZATION, f"lead_{n}", ANA) for n in range(5)])  # type: ignore[misc]
        assert sorted(answers) == [[], *[[0, 1, 2]] * 4]


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
    outcomes = [world.pipeline.process(told), world.pipeline.process(replace(told))]
    assert [(each.kind, each.identity_conflicts) for each in outcomes] == [(OutcomeKind.STORED, ("email",)), (OutcomeKind.DUPLICATE, ("email",))]
