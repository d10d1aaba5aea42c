"""One spelling of every phone, e-mail and customer id; nothing for what tells of nobody."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lead_events.event import Identity, IdentityKind
from lead_events.identity import normalise, normalise_phone, restore_ninth_digit

CUSTOMER, PHONE, EMAIL = IdentityKind
DDDS: Final = [
    11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 27, 28, 31, 32, 33, 34, 35, 37, 38, 41, 42, 43, 44, 45, 46, 47, 48, 49, 51,
    53, 54, 55, 61, 62, 63, 64, 65, 66, 67, 68, 69, 71, 73, 74, 75, 77, 79, 81, 82, 83, 84, 85, 86, 87, 88, 89, 91, 92, 93, 94,
    95, 96, 97, 98, 99,
]  # fmt: skip


@pytest.mark.parametrize("ddd", DDDS)
@pytest.mark.parametrize("first", "016789")
def test_a_brazilian_mobile_is_one_phone_with_and_without_its_ninth_digit(ddd: int, first: str) -> None:
    whole, old = f"+55{ddd}9{first}0000001", f"55{ddd}{first}0000001"
    for written in (
        whole,
        whole[1:],
        old,
        f"+{old}",
        f"({ddd}) 9{first}000-0001",
        f"{ddd} {first}000 0001",
        f"0{ddd}{first}0000001",
    ):
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


@pytest.mark.parametrize(
    "written",
    ["0055 82 90000-0001", "00 55 82 0000 0001", "005582900000001", "＋55 ８２ 90000-0001", "0 41 82 90000-0001"],
)
@pytest.mark.parametrize("region", [None, "BR", "PT"])
def test_a_phone_as_people_dial_it_is_read(written: str, region: str | None) -> None:
    if region == "PT" and written.startswith("0 "):
        return  # Brazil's carriers are dialled in Brazil alone
    assert normalise_phone(written, region) == "+5582900000001"


@pytest.mark.parametrize(
    "written",
    [
        "", " ", "0", "+", "+55", "190", "call me", "not a phone", "ana.teste@example.org", "+0",
        "82 90000-0001 or 82 90000-0002",
        "+55 82 90000-0001 (WhatsApp)", "555-555-SHIP", "call 555-SHIP", "+1 415 555 2671 ext 5", "+14155552671#5",
        "82 90000-0001 / 82 90000-0002", "9" * 16, "9" * 41, "+55829000000011", "1" * 10_000, "\x00", "+999 123456789",
    ],
)  # fmt: skip
@pytest.mark.parametrize("region", [None, "US", "XX", ""])
def test_what_is_no_persons_phone_is_none(written: str, region: str | None) -> None:
    assert normalise_phone(written, region) is None


@pytest.mark.parametrize(
    "written",
    [
        "90000-0001",
        "0000-0001",
        "3000-0001",
        "30000001",
        "999999999",
        "4004-1234",
        "0800 123 4567",
        "0300 123 4567",
        "00000000000",
        "(00) 90000-0001",
        "+55 82 80000-0001",
    ],
)
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
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": "layers/lead_events/python"}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("written", ["Ana.Teste@Example.ORG", "  ana.teste@example.org\n", "ANA.TESTE@EXAMPLE.ORG"])
def test_an_email_is_compared_in_lower_case_without_blanks_around(written: str) -> None:
    assert normalise(Identity(EMAIL, written)) == "ana.teste@example.org"


def test_an_email_is_otherwise_what_it_is() -> None:
    """Dots and tags mean something at most providers: guessing would merge strangers."""
    written = ["a.b@example.org", "ab@example.org", "a.b+tag@example.org", "joão@exämple.org"]
    assert [normalise(Identity(EMAIL, each)) for each in written] == written


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "ana",
        "ana@",
        "@example.org",
        "ana@example",
        "a b@example.org",
        "Ana <ana@example.org>",
        "a@b@example.org",
        "a@example.org,b@example.org",
        "a" * 250 + "@example.org",
        "n/a",
    ],
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
    assert "ana" not in repr(Identity(EMAIL, "ana.teste@example.org"))


def test_the_ninth_digit_is_given_to_mobiles_of_an_area_alone() -> None:
    assert restore_ninth_digit("+558200000001") == "+5582900000001"
    for other in ("+558001234567", "+558230000001", "+5582900000001", "+12025550123", "+55821234567"):
        assert restore_ninth_digit(other) == other
