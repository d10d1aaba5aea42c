"""Rejected deliveries: what tells them apart, what the pipeline keeps of them, and how the API shows them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from lead_events import providers
from lead_events.cursors import Cursors
from lead_events.envelope import read_message
from lead_events.errors import FieldError, InvalidError, NotFoundError, UnavailableError, UnreadableError
from lead_events.event import Delivery, Identity, IdentityKind, OrganizationEvent, OutcomeKind, Translation
from lead_events.ports import Rejection
from lead_events.rejected_events import RejectedEvents
from lead_events.rejecting import rejected_event_id
from lead_events.store.memory import InMemoryBus, InMemoryRejections
from lead_events.webhook_message import write as write_message
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION, bus_event, draft, envelope, envelope_text
from tests.support.clock import START
from tests.support.fakes import World, secret

STORED, DUPLICATE, CONFLICT, REJECTED, ERASED, FORWARDED, APPLIED = OutcomeKind


def rejection(**changes: Any) -> Rejection:
    values: dict[str, Any] = {
        "organization_id": ORGANIZATION, "code": "lead_unresolved", "detail": "No lead.", "source": "stripe",
        "raw_payload": "{}",
        "seen_at": START,
    }  # fmt: skip
    return Rejection(**values | changes)


def test_a_replay_of_the_bus_is_the_same_delivery_again() -> None:
    plain, held = bus_event({"a": 1.50}), bus_event(envelope())
    again = {"id": "another", "time": "2026-04-01T00:00:00Z", "replay-name": "r1"}
    first = [rejected_event_id(rejection(raw_payload=json.dumps(each))) for each in (plain, held)]
    replayed = [plain | {"replay-name": "r1"}, held | again]
    assert [rejected_event_id(rejection(raw_payload=json.dumps(each))) for each in replayed] == first
    others = [plain | again, bus_event({"a": 1}), bus_event(envelope(id="e-2")), bus_event(envelope(), source="crm")]
    assert not {rejected_event_id(rejection(raw_payload=json.dumps(each))) for each in others} & set(first)


@pytest.mark.parametrize(
    "raw", ['{"detail-type"', '["detail-type"]', '{"detail-type": 1}', '{"detail-type": 1, "a": 1}']
)
def test_what_is_no_event_of_the_bus_is_told_apart_by_its_text(raw: str) -> None:
    assert rejected_event_id(rejection(raw_payload=raw)) != rejected_event_id(rejection(raw_payload=f"{raw} "))


def told(world: World, *translations: Translation, body: str = "the whole delivery") -> list[OutcomeKind]:
    """Deliver what a provider of these tests translates into ``translations``."""

    class Dummy:
        @staticmethod
        def translate(_: Delivery) -> list[Translation]:
            return list(translations)

    delivery = Delivery(provider="stripe", organization_id=ORGANIZATION, body=body, received_at=START)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(providers, "find", lambda _: Dummy)
        return [
            each.kind for each in world.pipeline.process_message(read_message(write_message(delivery, world.objects)))
        ]


# ---------------------------------------------------------------------------------------------------------------- ids


def test_the_same_delivery_rejected_for_the_same_reason_has_the_same_id() -> None:
    assert rejected_event_id(rejection()) == rejected_event_id(rejection(seen_at=START + timedelta(days=1)))
    assert rejected_event_id(rejection()).startswith("rej_")


@pytest.mark.parametrize(
    "change",
    [
        {"raw_payload": "{} "},
        {"source": "hotmart"},
        {"code": "invalid"},
        {"detail": "Other."},
        {"external_event_id": "e"},
    ],
)
def test_whatever_tells_two_rejections_apart_makes_another_id(change: dict[str, Any]) -> None:
    assert rejected_event_id(rejection()) != rejected_event_id(rejection(**change))


# ----------------------------------------------------------------------------------------------------- what is kept


def test_an_event_without_a_lead_is_kept_with_its_provider_type_and_id() -> None:
    world = World()
    nobody = draft(
        lead_id=None, source="stripe", event_type="stripe.balance", external_event_id="evt_1", raw_payload="its part"
    )
    assert told(world, nobody) == [REJECTED]
    [kept] = world.rejections.all()
    assert (kept.code, kept.source, kept.event_type, kept.external_event_id) == (
        "lead_unresolved",
        "stripe",
        "stripe.balance",
        "evt_1",
    )
    assert kept.raw_payload == "its part"
    assert len(world.claims.inner) == 0


def test_of_a_delivery_with_good_and_bad_entries_each_ends_its_own_way() -> None:
    world = World()
    bad = [InvalidError.of(f"entry[{number}]", "must be an object") for number in (1, 3)]
    good = [draft(external_event_id=f"e-{number}") for number in range(2)]
    for count in (1, 2):
        kinds = told(world, good[0], bad[0], good[1], bad[1], draft(external_event_id="e-2", lead_id=None))
        assert kinds == [STORED if count == 1 else DUPLICATE, REJECTED] * 2 + [REJECTED]
        assert sorted((each.detail[:8], each.deliveries) for each in world.rejections.all()) == [
            ("The even", count), ("entry[1]", count), ("entry[3]", count),
        ]  # fmt: skip
    assert {each.raw_payload for each in world.rejections.all()} == {"the whole delivery"}


def test_a_delivery_that_holds_nothing_is_kept_and_does_not_end_in_silence() -> None:
    world = World()
    assert told(world) == [REJECTED]
    assert [each.raw_payload for each in world.rejections.all()] == ["the whole delivery"]


def test_a_conflict_is_kept_every_time_and_the_first_event_stays() -> None:
    world = World()
    first, other = (draft(payload={"planId": each}, raw_payload=each) for each in ("one", "two"))
    assert told(world, first, other, first, other) == [STORED, CONFLICT, DUPLICATE, CONFLICT]
    [kept] = world.rejections.all()
    assert (kept.code, kept.raw_payload, kept.deliveries) == ("idempotency_conflict", "two", 2)
    assert [each.payload for each in world.stored] == [{"planId": "one"}]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"data": {"organizationId": ORGANIZATION, "leadId": "no id!"}}, "invalid_id"),
        ({"data": {"organizationId": ORGANIZATION, "planId": "p"}}, "lead_unresolved"),
        ({"time": "2031-01-01T00:00:00Z"}, "invalid_time"),
        ({"source": "ACME", "type": "acme.did-it"}, "invalid"),
    ],
)
def test_a_rejected_message_tells_its_type_and_id_as_far_as_it_was_read(changes: dict[str, Any], code: str) -> None:
    world = World()
    text = envelope_text(**changes)
    [outcome] = world.pipeline.process_message(read_message(text))
    assert outcome.kind is REJECTED
    [kept] = world.rejections.all()
    assert (kept.code, kept.external_event_id, kept.raw_payload) == (code, envelope()["id"], text)
    assert kept.event_type in (envelope(**changes)["type"], "subscription_created")
    assert kept.source == (changes.get("source") or "billing_service").lower()


@pytest.mark.parametrize("data", [None, "text", {}, {"leadId": LEAD}, {"organizationId": 5}, {"organizationId": "a b"}])
def test_a_message_without_an_organisation_of_its_own_stays_on_the_queue(data: Any) -> None:
    world = World()
    with pytest.raises(InvalidError):
        world.pipeline.process_message(read_message(json.dumps(envelope() | {"data": data})))
    assert world.rejections.all() == []


def test_where_a_rejection_cannot_be_kept_the_message_stays_on_the_queue() -> None:
    world = World()

    class Down(InMemoryRejections):
        def keep(self, rejection: Rejection) -> str:
            raise UnavailableError("DynamoDB did not answer.")

    world.pipeline._rejections = Down()
    with pytest.raises(UnavailableError):
        told(world, draft(lead_id=None))


def test_a_caller_of_the_api_is_told_and_nothing_is_kept() -> None:
    world = World()
    assert world.pipeline.process(draft(lead_id=None)).kind is REJECTED
    assert world.rejections.all() == []


def test_a_rejected_event_teaches_no_identity() -> None:
    world = World()
    person = (Identity(IdentityKind.EMAIL, "ana.teste@example.org"),)
    assert (
        told(
            world,
            draft(payload={"planId": 5}, identities=person),
            draft(payload={"planId": 5}, lead_id=None, identities=person),
        )
        == [REJECTED] * 2
    )
    assert world.identities._owners == {}


# ------------------------------------------------------------------------------------------- events of organisations

PRIVACY = OrganizationEvent(
    organization_id=ORGANIZATION, source="shopify", type="privacy.shop-redaction-requested", external_event_id="s:1",
    occurred_at=START, payload={"shop_id": 1},
)  # fmt: skip


def test_what_concerns_an_organisation_is_handed_on_with_the_same_id_every_time() -> None:
    world = World()
    assert told(world, PRIVACY, draft()) == [FORWARDED, STORED]
    assert told(world, PRIVACY) == [FORWARDED]
    first, again = world.bus.published
    assert first == again
    assert first["type"] == "privacy.shop-redaction-requested"
    assert first["data"] == {"organizationId": ORGANIZATION, "source": "shopify", "payload": {"shop_id": 1}}
    assert (world.rejections.all(), len(world.stored)) == ([], 1)


def test_where_it_cannot_be_handed_on_the_message_stays_on_the_queue() -> None:
    class Down(InMemoryBus):
        def publish(self, entries: Any) -> None:
            raise UnavailableError("EventBridge did not answer.")

    world = World()
    world.pipeline._bus = Down()
    with pytest.raises(UnavailableError):
        told(world, PRIVACY)


# ------------------------------------------------------------------------------------------------ as the API shows it


@pytest.fixture
def kept() -> InMemoryRejections:
    return InMemoryRejections()


@pytest.fixture
def shown(kept: InMemoryRejections) -> RejectedEvents:
    return RejectedEvents(kept, Cursors(secret))


def test_one_is_shown_with_its_reason_and_its_text_only_where_asked_for(
    kept: InMemoryRejections, shown: RejectedEvents
) -> None:
    whole = rejection(
        errors=(FieldError("payload.a", "must be a number"),),
        event_type="x",
        external_event_id="e",
        raw_payload="{ }\n",
    )
    rejected_id = kept.keep(whole)
    expected = {
        "rejectedEventId": rejected_id, "organizationId": ORGANIZATION, "source": "stripe", "eventType": "x",
        "externalEventId": "e",
        "code": "lead_unresolved", "detail": "No lead.", "errors": [{"field": "payload.a", "rule": "must be a number"}],
        "firstSeenAt": "2026-03-25T14:00:00.000000Z", "lastSeenAt": "2026-03-25T14:00:00.000000Z", "deliveries": 1,
    }  # fmt: skip
    assert shown.one(ORGANIZATION, rejected_id) == expected
    assert shown.one(ORGANIZATION, rejected_id, raw=True) == expected | {"rawPayload": "{ }\n"}


def test_what_is_not_there_or_anothers_or_no_id_is_not_found(kept: InMemoryRejections, shown: RejectedEvents) -> None:
    mine = kept.keep(rejection())
    for organization, rejected_id in (
        (OTHER_ORGANIZATION, mine),
        (ORGANIZATION, f"rej_{'0' * 40}"),
        (ORGANIZATION, "x" * 2_000),
        (ORGANIZATION, ""),
    ):
        with pytest.raises(NotFoundError):
            shown.one(organization, rejected_id)


def test_an_id_that_cannot_be_one_never_reaches_the_store() -> None:
    """DynamoDB refuses keys of more than 1,024 bytes: that would be a 503 for what a caller sent."""

    class Refusing(InMemoryRejections):
        def get(self, *_: Any, **__: Any) -> None:
            raise UnavailableError("DynamoDB answered ValidationException.")

    with pytest.raises(NotFoundError):
        RejectedEvents(Refusing(), Cursors(secret)).one(ORGANIZATION, f"rej_{'a' * 2_000}")


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_show_each_once_last_seen_first(kept: InMemoryRejections, shown: RejectedEvents, limit: int) -> None:
    for number in range(7):
        kept.keep(rejection(raw_payload=str(number), detail=f"{number}", seen_at=START + timedelta(seconds=number)))
    kept.keep(rejection(organization_id=OTHER_ORGANIZATION))
    found: list[dict[str, Any]] = []
    parameters = {"limit": str(limit)}
    while True:
        page = shown.page(ORGANIZATION, parameters)
        assert len(page["items"]) <= limit
        found += page["items"]
        if page["cursor"] is None:
            break
        parameters["cursor"] = page["cursor"]
    assert [each["detail"] for each in found] == list("6543210")
    assert not any("rawPayload" in each for each in found)


def test_a_cursor_is_its_organisations_and_its_lists_alone(kept: InMemoryRejections, shown: RejectedEvents) -> None:
    for number in range(3):
        kept.keep(rejection(raw_payload=str(number)))
    cursor = shown.page(ORGANIZATION, {"limit": "1"})["cursor"]
    timeline = Cursors(secret).seal(["timeline", ORGANIZATION], b"2026#rej_1")
    for organization, wrong in (
        (OTHER_ORGANIZATION, cursor),
        (ORGANIZATION, cursor[:-1]),
        (ORGANIZATION, "x"),
        (ORGANIZATION, timeline),
    ):
        with pytest.raises(UnreadableError) as caught:
            shown.page(organization, {"cursor": wrong})
        assert caught.value.code == "invalid_cursor"


@pytest.mark.parametrize("limit", ["0", "101", "x", "-1", "1.5", ""])
def test_a_limit_is_1_to_100(shown: RejectedEvents, limit: str) -> None:
    with pytest.raises(UnreadableError):
        shown.page(ORGANIZATION, {"limit": limit})
