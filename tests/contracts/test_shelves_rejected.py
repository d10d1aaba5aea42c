"""What the shelves of objects and of rejected events promise."""

from __future__ import annotations

from typing import Any

import pytest

from lead_events.erasure import Store
from lead_events.errors import ObjectMissingError, UnavailableError
from lead_events.event import Identity, IdentityKind
from lead_events.names import ORGANIZATIONS_PREFIX
from lead_events.store.shelves import objects, rejected, rejected_texts
from tests.support.shelves import LEAD, NEIGHBOUR, OTHER, OWNER, House, email_of

LARGE = "".join(f"{number:x}" for number in range(20_000))
TOMBSTONE = {"erasedAt": "then"}


def left(house: House) -> list[dict[str, Any]]:
    return [each for each in house.items("rejected") if "erasedAt" not in each]


def test_a_leads_objects_go(house: House) -> None:
    house.store_objects()
    others = [each for each in house.stored_keys() if "organizations/acme/leads/lead_1/" not in each]
    assert house.clear("objects", house.erase()) == {Store.OBJECTS: 2}
    assert house.stored_keys() == others
    assert len(others) == 8


def test_an_organisations_objects_go_and_its_inbox(house: House) -> None:
    house.store_objects()
    assert house.clear("objects", house.erase(None)) == {Store.OBJECTS: 6}
    assert {each.split("/")[1] for each in house.stored_keys()} == {NEIGHBOUR}


def test_more_objects_than_one_call_takes_go(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "_AT_ONCE", 3)
    house.store_objects(10)
    assert house.clear("objects", house.erase()) == {Store.OBJECTS: 10}


def test_an_object_that_s3_does_not_delete_is_not_counted_and_heard_of(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.store_objects()
    delete, erasure = house.s3.delete_objects, house.erase()

    def all_but_one(**request: Any) -> Any:
        first, *others = request["Delete"]["Objects"]
        delete(**request | {"Delete": {"Objects": others}})
        return {"Errors": [{"Key": first["Key"], "Code": "InternalError"}]}

    monkeypatch.setattr(house.s3, "delete_objects", all_but_one)
    with pytest.raises(UnavailableError):
        house.shelf("objects").clear(erasure, None)
    monkeypatch.undo()
    assert house.counts(erasure) == {Store.OBJECTS: 1}
    assert house.clear("objects", erasure) == {Store.OBJECTS: 2}


def test_rejected_events_about_a_lead_leave_their_key_alone(house: House) -> None:
    house.store_identities()
    house.store_rejections()
    mention = house.keep(
        OWNER, "", event_type="crm.changed", external_event_id=f"mailto:{email_of(OWNER, LEAD).upper()}"
    )
    house.keep(OWNER, f"write to {email_of(NEIGHBOUR, LEAD)}")  # known to nobody here
    erasure = house.erase()
    assert house.clear("rejected", erasure) == {Store.REJECTED_EVENTS: 3}
    own = [each for each in house.items("rejected") if "erasedAt" in each]
    assert len(own) == 3
    assert all(set(each) == {"organizationId", "rejectedEventId", "erasedAt"} for each in own)
    assert {each["organizationId"] for each in own} == {OWNER}
    assert mention in {each["rejectedEventId"] for each in own}
    assert len(left(house)) == 5
    assert house.clear("rejected", erasure) == {Store.REJECTED_EVENTS: 3}


def test_a_rejected_event_that_was_erased_does_not_come_back(house: House) -> None:
    house.store_rejections()
    house.clear("rejected", house.erase())
    before = house.items("rejected")
    house.keep(OWNER, f'{{"leadId": "{LEAD}", "filling": ""}}')
    assert house.items("rejected") == before


def test_texts_outside_the_table_are_looked_into_and_go(house: House) -> None:
    house.store_identities()
    house.store_rejections(large=True)
    assert len(house.stored_keys()) == 6
    counts = house.clear("rejected", house.erase())
    assert counts == {Store.REJECTED_EVENTS: 2, Store.OBJECTS: 2}
    assert len(house.stored_keys()) == 4
    assert all(
        set(each) == {"organizationId", "rejectedEventId", "erasedAt"}
        for each in house.items("rejected")
        if "erasedAt" in each
    )
    texts = [house.rejections.get(each["organizationId"], each["rejectedEventId"], raw=True) for each in left(house)]
    assert all(each is not None and LARGE[:100] in each.raw_payload for each in texts)


def test_rejections_of_one_delivery_share_a_text_and_go_together(house: House) -> None:
    for number in range(8):
        house.keep(OWNER, f'["{LEAD}", "{LARGE}"]', detail=f"Rule {number}.")
    house.keep(OWNER, f'["{OTHER}", "{LARGE}"]')
    assert len(house.stored_keys()) == 2
    counts = house.clear("rejected", house.erase())
    assert counts == {Store.REJECTED_EVENTS: 8, Store.OBJECTS: 1}
    assert len(left(house)) == 1
    assert len(house.stored_keys()) == 1


def test_a_delivery_is_read_as_its_provider_writes_it(house: House) -> None:
    """Its area code stands in a field of its own, and only the provider's translation knows the country."""
    from lead_events.event import Identity, IdentityKind

    house.resolver.assign(OWNER, LEAD, [Identity(IdentityKind.PHONE, "912345678", "PT")])
    buyer = '{"buyer": {"checkout_phone": "912 345 678", "address": {"country_iso": "PT"}}}'
    notice = f'{{"id": "1", "event": "PURCHASE_APPROVED", "version": "2.0.0", "creation_date": 1, "data": {buyer}}}'
    house.keep(OWNER, notice, source="hotmart")
    assert house.clear("rejected", house.erase()) == {Store.REJECTED_EVENTS: 1}


def test_an_organisations_rejected_events_go_whole(house: House) -> None:
    house.store_rejections()
    house.clear("rejected", house.erase())
    assert house.clear("rejected", house.erase(None)) == {Store.REJECTED_EVENTS: 4}
    assert {each["organizationId"] for each in house.items("rejected")} == {NEIGHBOUR}


def test_much_text_is_looked_into_in_several_goes(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejected, "_CHARACTERS", 100)
    monkeypatch.setattr(rejected, "_PAGE", 7)
    for number in range(20):
        house.keep(OWNER, f'{{"leadId": "{(LEAD, OTHER)[number % 2]}", "number": {number}, "filling": "{"x" * 60}"}}')
    assert house.clear("rejected", house.erase()) == {Store.REJECTED_EVENTS: 10}
    assert len(left(house)) == 10


def test_a_text_that_is_written_while_its_like_is_erased_goes_the_next_time(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, erasure = f'["{LEAD}", "{LARGE}"]', house.erase()
    house.keep(OWNER, text)
    delete = house.s3.delete_objects

    def late(**request: Any) -> Any:
        monkeypatch.undo()
        house.keep(OWNER, text, detail="Another rule.")
        return delete(**request)

    monkeypatch.setattr(house.s3, "delete_objects", late)
    house.clear("rejected", erasure)
    house.clear("rejected", erasure)
    assert (left(house), house.stored_keys()) == ([], [])
    assert house.counts(erasure)[Store.REJECTED_EVENTS] == 2


def test_an_object_that_is_missing_is_known_without_asking_for_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may list only a part of a bucket is denied what is missing: that must stop nobody."""
    key = f"{ORGANIZATIONS_PREFIX}acme/rejected/1"
    with monkeypatch.context() as patched:
        patched.setattr(house.s3, "get_object", None)
        with pytest.raises(ObjectMissingError):
            house.raw_objects.get(key)
    house.store_objects()
    assert house.raw_objects.get(key) == "text"


def texts(house: House) -> set[str]:
    """Keys of the objects under which rejected texts are."""
    return {each for each in house.stored_keys() if "/rejected/" in each}


def test_texts_of_the_lead_that_no_item_leads_to_go_and_those_of_others_stay(house: House) -> None:
    house.store_identities(1)
    house.orphan_texts()
    others = {each for each in texts(house) if f"{OWNER}/rejected/{LEAD}-" not in each}
    assert house.clear("rejected texts", house.erase()) == {Store.OBJECTS: 3}
    assert texts(house) == others
    assert len(others) == 6
    assert house.clear("rejected texts", house.erase(None)) == {}


@pytest.mark.parametrize(("at_once", "characters"), [(1, 1), (2, 1_000_000), (1_000, 1)])
def test_texts_without_items_are_looked_into_however_few_at_a_time(
    house: House, monkeypatch: pytest.MonkeyPatch, at_once: int, characters: int
) -> None:
    monkeypatch.setattr(objects, "_AT_ONCE", at_once)
    monkeypatch.setattr(rejected_texts, "_CHARACTERS", characters)
    house.store_identities(1)
    house.orphan_texts()
    assert house.clear("rejected texts", house.erase()) == {Store.OBJECTS: 3}


def test_a_text_that_is_put_when_its_item_is_erased_already_goes_in_the_next_walk(house: House) -> None:
    """Whoever kept it had asked for a tombstone just before there was one."""
    house.store_identities()
    house.keep(OWNER, text := f'{{"to": "{email_of(OWNER, LEAD)}", "filling": "{LARGE}"}}')
    [key], erasure = texts(house), house.erase()
    assert house.clear("rejected", erasure) == {Store.REJECTED_EVENTS: 1, Store.OBJECTS: 1}
    house.objects.put(key, text)
    house.clear("rejected", erasure)
    assert texts(house) == {key}
    assert house.clear("rejected texts", erasure) == {Store.REJECTED_EVENTS: 1, Store.OBJECTS: 2}
    assert not texts(house)


@pytest.mark.parametrize("page", [1, 50])
def test_a_text_to_which_an_item_leads_is_left_to_that_which_knows_who_sent_it(
    house: House, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The customer of Shopify has by chance the number that the lead has at Stripe."""
    house.store_identities()
    house.resolver.assign(OWNER, LEAD, [Identity(IdentityKind.CUSTOMER, "stripe:70640550")])
    shopper = f'{{"customer": {{"id": "70640550"}}, "filling": "{LARGE}"}}'
    for source in ("shopify", "stripe"):
        house.keep(OWNER, f'{{"from": "{source}", {shopper[1:]}', source=source)
    query = house.dynamodb.query
    monkeypatch.setattr(house.dynamodb, "query", lambda **request: query(**{"Limit": page} | request))
    erasure = house.erase()
    house.clear("rejected texts", erasure)
    assert len(texts(house)) == 2
    house.clear("rejected", erasure)
    house.clear("rejected texts", erasure)
    assert house.clear("rejected", erasure) == {Store.REJECTED_EVENTS: 1, Store.OBJECTS: 1}
    assert [each["source"] for each in left(house)] == ["shopify"]
    assert len(texts(house)) == 1


def test_a_text_that_vanishes_while_it_is_looked_for_is_passed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.store_identities(1)
    house.orphan_texts()
    listed = house.raw_objects.keys

    def keys(prefix: str, after: str = "") -> list[str]:
        found = listed(prefix, after)
        return [f"{prefix}0", *found] if prefix.endswith("/rejected/") and not after else found

    monkeypatch.setattr(house.raw_objects, "keys", keys)
    assert house.clear("rejected texts", house.erase()) == {Store.OBJECTS: 3}
