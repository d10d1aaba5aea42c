"""Whether a text is about a person: whatever is theirs is found wherever it stands, and nobody else is taken for them."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.event import Identity, IdentityKind
from lead_events.identity import Resolver
from lead_events.mentions import Mentions, Person, leaves
from lead_events.store.memory import InMemoryIdentities
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION
from tests.support.contacts import PROVIDERS
from tests.support.identities import ANA, BOB

PHONE, EMAIL, CUSTOMER = IdentityKind.PHONE, IdentityKind.EMAIL, IdentityKind.CUSTOMER


class Counting(Resolver):
    """Counts what it hashes."""

    hashed = 0

    def known_as(self, organization_id: str, identities: Sequence[Identity]) -> dict[str, IdentityKind]:
        self.hashed += len(identities)
        return super().known_as(organization_id, identities)


IDENTITIES: Final = InMemoryIdentities()
RESOLVER: Final = Counting(IDENTITIES, lambda: "s")
MENTIONS: Final = Mentions(RESOLVER, IDENTITIES)


def person(*identities: Identity, lead_id: str = LEAD, organization_id: str = ORGANIZATION) -> Person:
    return Person(organization_id, lead_id, frozenset(RESOLVER.known_as(organization_id, identities)))


ANA_PERSON: Final = person(*ANA)
SPELLINGS: Final[dict[str, list[Any]]] = {
    "customer": ["cus_ana", " cus_ana ", "stripe:cus_ana", "/v1/customers/cus_ana"],
    "phone": [
        "+55 (82) 90000-0001",
        "+5582900000001",
        "5582900000001",
        5582900000001,
        "0055 82 9 0000 0001",
        "+55 82 0000-0001",  # without the ninth digit
        "558200000001",
        "(82) 90000-0001",
        "082 90000.0001",
        82900000001,
        "tel:+55-82-90000-0001",
        "Call +55 (82) 90000-0001, or 11 90000-0002.",
        "1 82 90000-0001",
        "a5582900000001b",
        "+55 82 90000–0001",  # as text processors write it
        "＋５５８２９０００００００１",
    ],
    "email": [
        "ana.teste@example.org",
        "  ANA.Teste@Example.ORG\n",
        "Ana <ana.teste@example.org>",
        "mailto:ana.teste@example.org",
        "Write to ana.teste@example.org.",
        "(ana.teste@example.org)",
        "'ana.teste@example.org'",
        "bob@example.org;ana.teste@example.org",
        "https://example.org/?to=ana.teste%40example.org&x=1",
        "mail=ana.teste@example.org",
    ],
    "lead": [
        LEAD,
        f"lead:{LEAD}",
        f"ORG#org_A#LEAD#{LEAD}",
        f"/leads/{LEAD}/events",
        f"https://example.org/?leadId={LEAD}",
    ],
}
ALL: Final = [each for spellings in SPELLINGS.values() for each in spellings]

foreign: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**15), 10**15),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(
        [each.value for each in BOB]
        + ["lead_10", "xlead_1", "lead_1.org_B@example.org", "cus_ana2", "ana.teste@example.com"]
    ),
)


def nested(leaf: st.SearchStrategy[Any], filling: st.SearchStrategy[Any] = foreign) -> st.SearchStrategy[Any]:
    """JSON of any shape with ``leaf`` somewhere in it."""
    names = st.text(max_size=8)

    def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        lists = st.builds(
            lambda before, it, after: [*before, it, *after],
            st.lists(filling, max_size=3),
            inner,
            st.lists(filling, max_size=3),
        )
        objects = st.builds(
            lambda others, name, it: {**others, name: it}, st.dictionaries(names, filling, max_size=3), names, inner
        )
        texts = st.builds(json.dumps, st.builds(lambda it: {"inner": it}, inner))
        return st.one_of(lists, objects, texts)

    return st.recursive(leaf, around, max_leaves=1)


def forms(value: Any) -> list[str]:
    """The same value as the texts that can hold it."""
    text = json.dumps(value)
    return [
        text,
        json.dumps(value, ensure_ascii=False, indent=2),
        urlencode({"payload": text, "id": "1"}),
        json.dumps({"data_base64": base64.b64encode(text.encode()).decode()}),
        f"{text} and more, so that it is no JSON",
        f'{{"a": 1, "a": {text}}}',
    ]


@given(value=nested(st.sampled_from(ALL)), form=st.integers(0, 5))
def test_whatever_is_the_persons_is_found_wherever_it_stands(value: Any, form: int) -> None:
    assert MENTIONS.find(ANA_PERSON, forms(value)[form], "stripe")


@given(value=nested(foreign), form=st.integers(0, 5))
def test_nobody_else_is_taken_for_the_person(value: Any, form: int) -> None:
    assert not MENTIONS.find(ANA_PERSON, forms(value)[form], "stripe")


@pytest.mark.parametrize("spelling", ALL)
def test_every_spelling_is_found_as_it_is(spelling: Any) -> None:
    assert MENTIONS.find(ANA_PERSON, json.dumps({"a": spelling}), "stripe")
    assert MENTIONS.find(ANA_PERSON, str(spelling), "stripe")
    assert MENTIONS.find(ANA_PERSON, json.dumps({str(spelling): 1}), "stripe")
    assert not MENTIONS.find(
        person(*BOB, lead_id="lead_2"), json.dumps({"a": spelling}).replace("90000-0002", ""), "stripe"
    )


def test_escapes_hide_nothing_even_in_what_is_no_json() -> None:
    mail = "ana.teste\\u0040example.org"
    assert MENTIONS.find(ANA_PERSON, f'{{"mail": "{mail}"}}')
    assert MENTIONS.find(ANA_PERSON, f'{{"mail": "{mail}"')
    assert MENTIONS.find(ANA_PERSON, quote("to ana.teste@example.org"))


def test_what_cannot_be_read_hides_nothing() -> None:
    mail = '"ana.teste@example.org"'
    for text in (f"{'[' * 100_000}{mail}{']' * 100_000}", f"[NaN, 1e999999999, {'9' * 5000}, {mail}]", f'["\\ud800", {mail}]',
                 '["\\ud800ana.teste@example.org"]', f"\ufeff{mail}", f"{{{mail}"):  # fmt: skip
        assert MENTIONS.find(ANA_PERSON, text)


def test_an_organisation_does_not_know_another_ones_people() -> None:
    elsewhere = person(*ANA, organization_id=OTHER_ORGANIZATION)
    assert MENTIONS.find(elsewhere, ANA[2].value)
    assert not MENTIONS.find(Person(ORGANIZATION, "lead_2", elsewhere.keys), ANA[2].value)


def test_a_customer_is_one_of_its_provider() -> None:
    assert not MENTIONS.find(ANA_PERSON, '{"customer": "cus_ana"}', "hotmart")
    assert MENTIONS.find(ANA_PERSON, '{"customer": "cus_ana"}', "billing_service")  # which may tell of any
    site = person(Identity(CUSTOMER, "web_user:user-77"))
    assert MENTIONS.find(site, '{"who": "user-77"}', "web")
    assert MENTIONS.find(person(Identity(CUSTOMER, "crm:person-1")), '{"who": "person-1"}', "crm")
    shop = person(Identity(CUSTOMER, "shopify:7001234567"))
    assert MENTIONS.find(shop, '{"who": "gid://shopify/Customer/7001234567"}', "shopify")
    assert MENTIONS.find(shop, '{"who": 7001234567}', "shopify")


@pytest.mark.parametrize(("text", "found"), [
    ('{"customer": {"id": 42}}', True),
    ('{"customerId": "42"}', True),
    ('{"quantity": 42}', False),
    ('{"lines": [42, "42"]}', False),
])  # fmt: skip
def test_a_short_id_counts_only_where_a_person_may_stand(text: str, found: bool) -> None:
    assert MENTIONS.find(person(Identity(CUSTOMER, "stripe:42")), text, "stripe") is found
    assert MENTIONS.find(person(lead_id="42"), text, "stripe") is found


@pytest.mark.parametrize("text", ['{"leadId": "7"}', '{"xcod": "lead:7"}', "leadId=7", '{"subject": "7"}'])
def test_a_short_lead_id_is_found_under_its_names(text: str) -> None:
    assert MENTIONS.find(person(lead_id="7"), text)


def test_a_lead_id_that_is_part_of_something_else_is_none() -> None:
    for text in ("lead_10", "xlead_1", "lead_1-2", "lead_1.b@example.org", "a@lead_1.example", '{"a": "my-lead_1"}'):
        assert not MENTIONS.find(person(), text)
    assert MENTIONS.find(person(), "It was lead_1.")


def test_a_phone_in_parts_is_put_together() -> None:
    for parts in (
        {"phone_local_code": "82", "phone_number": "900000001"},
        {"dddCell": "082", "cell": "90000-0001"},
        {"country_code": "+55", "area_code": "82", "phone": "90000-0001"},
    ):
        assert MENTIONS.find(ANA_PERSON, json.dumps(parts))
        assert MENTIONS.find(ANA_PERSON, urlencode(parts))


def test_a_phone_is_read_in_the_country_that_the_text_names() -> None:
    joana = person(Identity(PHONE, "912 345 678", "PT"))
    assert MENTIONS.find(joana, '{"phone": "912 345 678", "address": {"country": "pt"}}')
    assert not MENTIONS.find(joana, '{"phone": "912 345 678"}')


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_a_delivery_of_any_provider_is_about_whom_it_is_about(provider: str) -> None:
    from tests.support.contacts import Person as Contact

    contact, stranger = Contact(), Contact()
    known = [Identity(PHONE, contact.e164), Identity(EMAIL, contact.email)]
    told = PROVIDERS[provider](contact).decode()
    assert MENTIONS.find(person(*known), told, provider)
    unknown = [Identity(PHONE, stranger.e164), Identity(EMAIL, stranger.email)]
    assert not MENTIONS.find(person(*unknown), told, provider)


def test_a_lead_without_identities_is_found_by_its_id_alone() -> None:
    assert MENTIONS.find(person(), f'{{"leadId": "{LEAD}"}}')
    assert not MENTIONS.find(person(), json.dumps([each.value for each in ANA]))


def test_every_value_comes_with_its_names() -> None:
    found = set(leaves('{"a": {"b": ["c", {"d": 1}]}, "e": "f=g%20h"}'))
    assert {("b a", "c"), ("d b", "1"), ("f e", "g h"), ("b a", "d"), ("", "a")} <= found


def hostile() -> dict[str, str]:
    size, rng = 1 << 17, random.Random(1)
    return {
        "letters": "a" * size,
        "ats": "@" * size,
        "mails": "a@b.c " * (size // 6),
        "digits": "1" * size,
        "groups": "1 " * (size // 2),
        "numbers": "".join(rng.choice("0123456789 ") for _ in range(size)),
        "lists": "[" * size,
        "objects": '{"a":' * (size // 5) + "1" + "}" * (size // 5),
        "fields": "a=%25&" * (size // 6),
        "percent": "%25" * (size // 3),
        "escapes": "\\u0040" * (size // 6),
        "ids": " ".join(f"cus_{number:07d}" for number in range(size // 12)),
        "pluses": "+1" * (size // 2),
    }


@pytest.mark.parametrize("name", sorted(hostile()))
def test_no_text_makes_more_work_than_it_is_long(name: str) -> None:
    text = hostile()[name]
    for end in ("", " ana.teste@example.org"):
        before = RESOLVER.hashed
        assert MENTIONS.find(ANA_PERSON, text + end, "stripe") is bool(end)
        assert RESOLVER.hashed - before < len(text)
