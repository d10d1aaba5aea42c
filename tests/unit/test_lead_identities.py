"""Identities as the CRM tells and reads them: all or none, one lead each, values never shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lead_events.errors import ConflictError, InvalidError, LeadEventsError, UnreadableError
from lead_events.event import Identity, IdentityKind
from lead_events.identity import Resolver
from lead_events.lead_identities import LeadIdentities
from lead_events.store.memory import InMemoryIdentities
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION

ANA: list[dict[str, Any]] = [
    {"kind": "email", "value": "Ana.Teste@example.org"},
    {"kind": "phone", "value": "82 90000-0001", "region": "BR"},
    {"kind": "customer", "value": "stripe:cus_ana"},
]


@pytest.fixture
def store() -> InMemoryIdentities:
    return InMemoryIdentities()


@pytest.fixture
def leads(store: InMemoryIdentities) -> LeadIdentities:
    return LeadIdentities(Resolver(store, lambda: "s"))


def body(*identities: Any) -> bytes:
    return json.dumps({"identities": list(identities)}).encode()


def kinds(shown: dict[str, Any]) -> list[str]:
    return sorted(each["kind"] for each in shown["identities"])


def test_what_is_put_is_shown_by_kind_and_time_and_never_by_value(leads: LeadIdentities) -> None:
    shown = leads.put(ORGANIZATION, LEAD, body(*ANA))
    assert shown == leads.get(ORGANIZATION, LEAD)
    assert kinds(shown) == ["customer", "email", "phone"]
    assert all(set(each) == {"kind", "since"} and each["since"].endswith("Z") for each in shown["identities"])
    assert not any(text in json.dumps(shown) for text in ("ana", "Ana", "90000", "example"))


def test_an_event_of_whom_the_crm_told_finds_its_lead(leads: LeadIdentities, store: InMemoryIdentities) -> None:
    leads.put(ORGANIZATION, LEAD, body(*ANA))
    found = Resolver(store, lambda: "s").resolve(ORGANIZATION, None, [Identity(IdentityKind.PHONE, "+558200000001")])
    assert found.lead_id == LEAD


def test_putting_again_changes_nothing_and_putting_more_adds(leads: LeadIdentities) -> None:
    first = leads.put(ORGANIZATION, LEAD, body(ANA[0], ANA[0]))
    assert leads.put(ORGANIZATION, LEAD, body(ANA[0])) == first
    assert kinds(leads.put(ORGANIZATION, LEAD, body(*ANA))) == ["customer", "email", "phone"]
    assert kinds(leads.put(ORGANIZATION, LEAD, body({"kind": "email", "value": "b@example.org"}))) == [
        "customer",
        "email",
        "email",
        "phone",
    ]


def test_an_identity_of_another_lead_is_a_conflict_by_its_place_and_nothing_is_changed(leads: LeadIdentities) -> None:
    leads.put(ORGANIZATION, "lead_2", body(ANA[1]))
    with pytest.raises(ConflictError) as caught:
        leads.put(ORGANIZATION, LEAD, body(*ANA))
    assert (caught.value.status, caught.value.code) == (409, "identity_conflict")
    assert [(each.field, each.rule) for each in caught.value.errors] == [("identities.1", "is another lead's")]
    assert leads.get(ORGANIZATION, LEAD) == {"identities": []}


def test_organisations_are_apart(leads: LeadIdentities) -> None:
    leads.put(ORGANIZATION, LEAD, body(*ANA))
    assert leads.get(OTHER_ORGANIZATION, LEAD) == {"identities": []}
    assert kinds(leads.put(OTHER_ORGANIZATION, "lead_2", body(*ANA))) == ["customer", "email", "phone"]


def test_twenty_identities_are_taken_and_no_more(leads: LeadIdentities) -> None:
    many = [{"kind": "email", "value": f"ana{number}@example.org"} for number in range(21)]
    assert len(leads.put(ORGANIZATION, LEAD, body(*many[:20]))["identities"]) == 20
    with pytest.raises(InvalidError):
        leads.put(ORGANIZATION, LEAD, body(*many))


@pytest.mark.parametrize(
    ("identity", "field"),
    [
        ("ana@example.org", ""), (None, ""), ([], ""), ({"kind": "email", "value": "a@example.org", "note": "x"}, ""),
        ({}, ".kind"), ({"kind": "EMAIL", "value": "a@example.org"}, ".kind"), ({"kind": "name", "value": "Ana"}, ".kind"),
        ({"kind": ["email"], "value": "a@example.org"}, ".kind"), ({"kind": "email"}, ".value"),
        ({"kind": "email", "value": ""}, ".value"),
        ({"kind": "email", "value": None}, ".value"), ({"kind": "email", "value": "x" * 256}, ".value"),
        ({"kind": "email", "value": " "}, ".value"),
        ({"kind": "email", "value": "ana"}, ".value"), ({"kind": "phone", "value": 5582900000001}, ".value"),
        ({"kind": "phone", "value": "123"}, ".value"),
        ({"kind": "phone", "value": "4155552671", "region": "XX"}, ".value"),
        ({"kind": "phone", "value": "82 90000-0001", "region": "BRA"}, ".region"),
        ({"kind": "phone", "value": "82 90000-0001", "region": 55}, ".region"),
        ({"kind": "phone", "value": "82 90000-0001", "region": "ßß"}, ".region"),
        ({"kind": "customer", "value": "cus_1"}, ".value"), ({"kind": "customer", "value": "stripe:"}, ".value"),
        ({"kind": "customer", "value": ":cus_1"}, ".value"),
        ({"kind": "customer", "value": "stripe: "}, ".value"), ({"kind": "customer", "value": "Stripe:cus_1"}, ".value"),
        ({"kind": "customer", "value": ":"}, ".value"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_named_by_field_and_rule_and_nothing_is_changed(
    leads: LeadIdentities, identity: Any, field: str
) -> None:
    with pytest.raises(InvalidError) as caught:
        leads.put(ORGANIZATION, LEAD, body(ANA[0], identity))
    assert [each.field for each in caught.value.errors] == [f"identities.1{field}"]
    value = identity.get("value") if isinstance(identity, dict) else identity
    assert not isinstance(value, str) or not value.strip(": ") or value not in caught.value.detail
    assert leads.get(ORGANIZATION, LEAD) == {"identities": []}


@pytest.mark.parametrize(
    "sent",
    [
        {},
        [],
        None,
        "x",
        {"identities": []},
        {"identities": {}},
        {"identities": ANA, "mode": "replace"},
        {"identities": None},
    ],
)
def test_a_body_is_a_list_of_identities_and_nothing_else(leads: LeadIdentities, sent: Any) -> None:
    with pytest.raises(InvalidError) as caught:
        leads.put(ORGANIZATION, LEAD, json.dumps(sent).encode())
    assert [each.field for each in caught.value.errors] == ["identities"]


@pytest.mark.parametrize(
    "sent",
    [b"", b"{", b"\xff", b'{"identities":[],"identities":[]}', b'{"identities":[{"kind":"email","value":"\\ud83d"}]}'],
)
def test_what_cannot_be_read_is_400(leads: LeadIdentities, sent: bytes) -> None:
    with pytest.raises(UnreadableError) as caught:
        leads.put(ORGANIZATION, LEAD, sent)
    assert caught.value.status == 400


def test_no_error_quotes_what_was_sent(leads: LeadIdentities) -> None:
    secret = "ana.teste@example"
    for identity in (
        {"kind": secret, "value": "x"},
        {"kind": "email", "value": secret},
        {secret: 1},
        {"kind": "phone", "value": "+5582900000001", "region": secret},
    ):
        with pytest.raises(LeadEventsError) as caught:
            leads.put(ORGANIZATION, LEAD, body(identity))
        assert secret not in f"{caught.value} {caught.value.errors}"
