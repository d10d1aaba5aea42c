"""What the shelves of events, claims, memories, identities and organisations promise."""

from __future__ import annotations

from typing import Any

import pytest

from lead_events.erasure import Store
from lead_events.errors import UnavailableError
from lead_events.event import Identity, IdentityKind, SharedFact
from lead_events.idempotency import claim_id
from lead_events.instants import format_instant
from lead_events.names import lead_key
from lead_events.store.shelves import tables
from tests.support.builders import stored_event
from tests.support.shelves import LEAD, LEADS, NEIGHBOUR, OTHER, OWNER, UNTIL, House


def partitions(house: House, kind: str) -> set[str]:
    return {each["leadOrganizationId"] for each in house.items(kind)}


def keys(*leads: tuple[str, str]) -> set[str]:
    return {lead_key(*each) for each in leads}


def test_a_leads_events_go_and_their_claims_say_no_more_than_that(house: House) -> None:
    house.store_events()
    before = {each["claimId"]: each for each in house.items("claims")}
    counts = house.clear("events", house.erase())
    assert counts == {Store.EVENTS: 4, Store.CLAIMS: 3}
    assert partitions(house, "events") == keys((OWNER, OTHER), (NEIGHBOUR, LEAD))
    own = {
        claim_id(OWNER, source, external)
        for source, external in (
            ("billing_service", "lead_1-0"),
            ("billing_service", "lead_1-2"),
            ("stripe", "sale-lead_1"),
        )
    }
    after = {each["claimId"]: each for each in house.items("claims")}
    assert {key: each for key, each in after.items() if key in own} == {
        key: {"claimId": key, "erasedAt": "then"} for key in own
    }
    assert {key: each for key, each in after.items() if key not in own} == {
        key: each for key, each in before.items() if key not in own
    }
    assert house.claims.get(next(iter(own))).erased  # type: ignore[union-attr]


def test_an_organisations_events_go_and_its_claims_by_a_shelf_of_their_own(house: House) -> None:
    house.store_events()
    erasure = house.erase(None)
    assert house.clear("events", erasure) == {Store.EVENTS: 8}
    assert partitions(house, "events") == keys((NEIGHBOUR, LEAD))
    assert len(house.items("claims")) == 9
    assert house.clear("claims", erasure) == {Store.EVENTS: 8, Store.CLAIMS: 6}
    assert {each["claimId"][:10] for each in house.items("claims")} == {"ORG#acme2#"}


def test_a_lead_leaves_the_claims_to_the_shelf_of_its_events(house: House) -> None:
    house.store_events()
    assert house.shelf("claims").clear(house.erase(), None) is None
    assert len(house.items("claims")) == 9


def test_two_events_that_share_a_claim_leave_one_tombstone(house: House) -> None:
    fact = SharedFact("sale-1", "stripe.charge", {})
    for external_id in ("a", "b"):
        event = stored_event(organization_id=OWNER, source="stripe", external_event_id=external_id, shared_fact=fact)
        assert house.events.append(event) is None
    assert house.clear("events", house.erase()) == {Store.EVENTS: 2, Store.CLAIMS: 1}
    assert [each["claimId"] for each in house.items("claims")] == [claim_id(OWNER, "stripe", "sale-1")]


@pytest.mark.parametrize("lead_id", [LEAD, None])
def test_memories_go(house: House, lead_id: str | None) -> None:
    house.store_memories()
    left = keys((NEIGHBOUR, LEAD)) if lead_id is None else keys((OWNER, OTHER), (NEIGHBOUR, LEAD))
    assert house.clear("memories", house.erase(lead_id)) == {Store.MEMORIES: 6 if lead_id is None else 3}
    assert partitions(house, "memories") == left


def test_a_leads_identities_let_go_of_it_and_remember_until_when(house: House) -> None:
    house.store_identities(extra=90)
    own = house.identities.keys_of_lead(OWNER, LEAD)
    others = [each for each in house.items("identities") if each["identityId"] not in own]
    assert house.clear("identities", house.erase()) == {Store.IDENTITIES: 92}
    assert house.identities.of_lead(OWNER, LEAD) == []
    after = house.items("identities")
    assert [each for each in after if each["identityId"] not in own] == others
    assert [each for each in after if each["identityId"] in own] == [
        {"identityId": key, "erasedUntil": format_instant(UNTIL)} for key in sorted(own)
    ]


def test_an_identity_that_was_erased_later_already_stays_so(house: House) -> None:
    house.store_identities()
    later, earlier = "2031-01-01T00:00:00.000000Z", "2020-01-01T00:00:00.000000Z"
    own = sorted(house.identities.keys_of_lead(OWNER, LEAD))
    for key, until in zip(own, (later, earlier), strict=True):
        [item] = [each for each in house.items("identities") if each["identityId"] == key]
        house.put("identities", item | {"erasedUntil": until})
    assert house.clear("identities", house.erase()) == {Store.IDENTITIES: 2}
    after = {each["identityId"]: each for each in house.items("identities")}
    assert [after[key]["erasedUntil"] for key in own] == [later, format_instant(UNTIL)]


def test_an_index_that_is_behind_takes_nobody_elses_identity(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.store_identities()
    [(key, item)] = [
        (each["identityId"], each)
        for each in house.items("identities")
        if each["leadOrganizationId"] == lead_key(OWNER, LEAD)
    ][:1]
    query = house.dynamodb.query

    def behind(**request: Any) -> Any:
        answer = query(**request)
        house.put("identities", item | {"leadOrganizationId": lead_key(OWNER, OTHER)})
        return answer

    erasure = house.erase()
    monkeypatch.setattr(house.dynamodb, "query", behind)
    assert house.clear("identities", erasure) == {Store.IDENTITIES: 1}
    monkeypatch.undo()
    assert key in house.identities.keys_of_lead(OWNER, OTHER)
    assert house.identities.keys_of_lead(OWNER, LEAD) == frozenset()


def test_identities_are_not_let_go_before_the_end_is_known(house: House) -> None:
    house.store_identities()
    stored = house.erasures.get(OWNER, house.erase().erasure_id)
    assert stored is not None
    with pytest.raises(AssertionError):
        house.shelf("identities").clear(stored, None)


def test_an_organisations_identities_go_whole(house: House) -> None:
    house.store_identities()
    house.clear("identities", house.erase())
    assert house.clear("identities", house.erase(None)) == {Store.IDENTITIES: 4}
    assert {each["leadOrganizationId"] for each in house.items("identities")} == keys((NEIGHBOUR, LEAD))


def things(*named: str) -> dict[str, Any]:
    return {"floor": "f", "things": {each: {"last": [None, "stamp"]} for each in named}}


STATE: dict[str, Any] = {
    "lifecycle": {"confirmed": [None, "stamp"]},
    "costs": {"BRL": {"count": 1, "total": 2}},
    "subscriptions": things("|s1"),
    "subscriptionsOfLeads": things("lead_1|s1", "lead_1|", "lead_10|s1"),
    "invoicesOfLeads": things("lead_1|i1"),
}


def put_states(house: House) -> None:
    for organization_id in (OWNER, NEIGHBOUR):
        house.put("organizations", {"organizationId": organization_id, "state": STATE, "version": 7})


def test_a_lead_goes_out_of_its_organisations_state(house: House) -> None:
    put_states(house)
    assert house.clear("organization", house.erase()) == {Store.ORGANIZATION: 3}
    [own, neighbour] = house.items("organizations")
    assert own["state"] == STATE | {"subscriptionsOfLeads": things("lead_10|s1"), "invoicesOfLeads": things()}
    assert (own["version"], own["erasing"]) == (8, ["era_lead_1"])  # what it keeps out stays
    assert (neighbour["state"], neighbour["version"]) == (STATE, 7)


def test_of_an_organisation_its_life_cycle_stays(house: House) -> None:
    put_states(house)
    erasure = house.erase(None)
    assert house.clear("organization", erasure) == {Store.ORGANIZATION: 6}
    assert house.items("organizations")[0]["state"] == {"lifecycle": STATE["lifecycle"]}
    assert house.items("organizations")[1]["state"] == STATE
    assert house.items("organizations")[0]["version"] == 9  # the beginning of the erasure counts as a write


@pytest.mark.parametrize("lead_id", [LEAD, None])
def test_a_state_in_which_nothing_is_stays_as_it_is(house: House, lead_id: str | None) -> None:
    erasure = house.erase(lead_id)
    before = house.items("organizations")
    assert house.clear("organization", erasure) == {}
    assert house.items("organizations") == before


@pytest.mark.parametrize("lead_id", [LEAD, None])
def test_more_than_a_page_goes_to_the_last_item(
    house: House, lead_id: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "TRANSACTIONS", 2)
    house.store_events(100, LEADS[:1], retold=False)
    house.store_events(1, LEADS[1:])
    assert house.clear("events", house.erase(lead_id))[Store.EVENTS] == (100 if lead_id else 102)


@pytest.mark.parametrize("kind", ["events", "claims", "memories", "identities"])
@pytest.mark.parametrize("lead_id", [LEAD, None])
def test_where_nothing_is_nothing_is_found(house: House, kind: str, lead_id: str | None) -> None:
    assert house.clear(kind, house.erase(lead_id)) == {}


def test_an_erasure_that_has_ended_takes_nothing_any_more(house: House) -> None:
    house.store_events()
    erasure = house.erase()
    assert house.erasures.finish(erasure)
    with pytest.raises(UnavailableError):
        house.shelf("events").clear(erasure, None)
    assert len(house.items("events")) == 12


def test_what_another_transaction_holds_is_tried_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.store_events()
    house.store_memories()
    house.store_identities()
    erasure = house.erase()
    original = house.dynamodb.transact_write_items
    refused: list[int] = []
    cancelled = house.dynamodb.exceptions.TransactionCanceledException

    def contended(**request: Any) -> Any:
        if len(refused) % 2 == 0:
            refused.append(1)
            reasons = [{"Code": "None"}] * (len(request["TransactItems"]) - 1) + [{"Code": "TransactionConflict"}]
            raise cancelled({"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}, "x")
        refused.append(0)
        return original(**request)

    monkeypatch.setattr(house.dynamodb, "transact_write_items", contended)
    for kind in ("events", "memories", "identities"):
        house.clear(kind, erasure)
    monkeypatch.undo()
    assert house.counts(erasure) == {Store.EVENTS: 4, Store.CLAIMS: 3, Store.MEMORIES: 3, Store.IDENTITIES: 2}


def test_what_dynamodb_refuses_is_heard_of(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.store_events()
    cancelled = house.dynamodb.exceptions.TransactionCanceledException
    erasure = house.erase()

    def throttled(**_: Any) -> Any:
        reasons = [{"Code": "ThrottlingError"}]
        raise cancelled({"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}, "x")

    monkeypatch.setattr(house.dynamodb, "transact_write_items", throttled)
    with pytest.raises(UnavailableError):
        house.shelf("events").clear(erasure, None)


def test_a_new_identity_may_point_at_somebody_again(house: House) -> None:
    house.store_identities()
    house.clear("identities", house.erase())
    email = Identity(IdentityKind.EMAIL, "lead_1.acme@example.org")
    assert house.resolver.assign(OWNER, "lead_2", [email]) == []
    [record] = house.resolver.records(OWNER, [email])
    assert (record.lead_id, record.erased_until) == ("lead_2", UNTIL)
