"""What was erased stays out, wherever it comes back from; what happens later comes in."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.envelope import read_message
from lead_events.errors import ErasedError, GoneError, RetentionExpiredError
from lead_events.event import Delivery, Identity, Outcome, OutcomeKind
from lead_events.idempotency import claim_id
from lead_events.instants import format_instant
from lead_events.lifecycles import Lifecycles
from lead_events.pipeline import Sender
from lead_events.ports import Rejection
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION, bus_event, draft, envelope
from tests.support.clock import START
from tests.support.erased import ERASED_AT, Land
from tests.support.identities import ANA, BOB

LATER = ERASED_AT + timedelta(microseconds=1)
SENDER = Sender(ORGANIZATION, "billing_service", "{}")


def taken(land: Land, at: datetime, lead: str | None = LEAD, **changes: object) -> Outcome:
    return land.pipeline.take(
        draft(occurred_at=at, received_at=at, lead_id=lead, external_event_id=None, **changes), SENDER
    )


def gone(_organization_id: str) -> None:
    raise GoneError


def test_an_event_of_before_the_erasure_is_erased_and_kept_nowhere() -> None:
    land = Land()
    land.erase()
    assert taken(land, ERASED_AT).kind is OutcomeKind.ERASED
    assert land.events.all() == []
    assert land.rejections.all() == []


def test_an_event_of_after_the_erasure_is_of_a_lead_that_has_returned() -> None:
    land = Land()
    land.erase()
    assert taken(land, LATER).kind is OutcomeKind.STORED


def test_while_the_erasure_runs_nothing_of_the_lead_comes_in_whenever_it_happened() -> None:
    land = Land()
    erasure = land.begin()
    assert taken(land, ERASED_AT + timedelta(days=3)).kind is OutcomeKind.ERASED
    assert taken(land, LATER, "lead_10").kind is OutcomeKind.STORED
    land.end(erasure)
    land.pipeline._admission._lifecycles.forget(ORGANIZATION)
    assert taken(land, LATER).kind is OutcomeKind.STORED


def test_a_lead_of_the_same_name_in_another_organisation_is_another_lead() -> None:
    land = Land()
    land.erase()
    assert taken(land, START, organization_id=OTHER_ORGANIZATION).kind is OutcomeKind.STORED


@pytest.mark.parametrize("known", ANA)
def test_an_old_event_of_the_person_is_erased_though_it_names_no_lead(known: Identity) -> None:
    land = Land()
    land.erase("lead_ana", identities=ANA)
    assert taken(land, START, None, identities=(known, *BOB)).kind is OutcomeKind.ERASED
    assert not land.resolver.records(ORGANIZATION, BOB)  # and teaches nothing
    assert taken(land, START, None, identities=BOB).kind is OutcomeKind.STORED


def test_a_person_who_returns_is_known_again_and_what_happened_before_still_stays_out() -> None:
    land = Land()
    land.erase("lead_ana", identities=ANA)
    back = taken(land, LATER, None, identities=ANA)
    assert back.kind is OutcomeKind.STORED
    assert back.stored().lead_id != "lead_ana"
    assert taken(land, START, None, identities=ANA).kind is OutcomeKind.ERASED
    again = taken(land, LATER + timedelta(days=1), None, identities=ANA[:1])
    assert again.stored().lead_id == back.stored().lead_id


def test_an_identity_leads_to_its_lead_while_that_is_being_erased() -> None:
    land = Land()
    land.resolver.resolve(ORGANIZATION, "lead_ana", ANA)
    land.begin("lead_ana")
    assert taken(land, LATER, None, identities=ANA[:1] + BOB).kind is OutcomeKind.ERASED
    assert not land.resolver.records(ORGANIZATION, BOB)


def test_an_old_event_that_breaks_its_contract_is_not_kept_among_the_rejected() -> None:
    land = Land()
    land.erase()
    assert taken(land, START, payload={"planId": 5}).kind is OutcomeKind.ERASED
    assert land.rejections.all() == []
    assert taken(land, LATER, payload={"planId": 5}).kind is OutcomeKind.REJECTED


@pytest.mark.parametrize(
    "changes",
    [
        {"source": "nobody_knows"},  # a source that has to say its type
        {"sourcetype": "NO"},
        {"type": "t" * 200},
        {"source": "nobody_knows", "data": {"organizationId": ORGANIZATION}, "subject": LEAD},
    ],
)
def test_a_message_that_breaks_a_rule_is_not_kept_where_it_names_an_erased_lead(changes: dict[str, Any]) -> None:
    land = Land()
    land.erase()
    data = {"organizationId": ORGANIZATION, "leadId": LEAD, "note": "Ana Lima"}
    for at, kind, kept in ((START, OutcomeKind.ERASED, 0), (LATER, OutcomeKind.REJECTED, 1)):
        text = json.dumps(envelope(time=format_instant(at), **{"data": data} | changes))
        assert {each.kind for each in land.pipeline.process_message(read_message(text))} == {kind}
        assert len(land.rejections.all()) == kept


def test_a_delivery_that_breaks_a_rule_is_not_kept_where_its_address_names_an_erased_lead() -> None:
    land = Land()
    land.erase()
    told = Delivery(
        provider="stripe", organization_id=ORGANIZATION, body="{}", received_at=START, headers={}, lead_id=LEAD
    )
    assert [each.kind for each in land.pipeline.process_delivery(told)] == [OutcomeKind.ERASED]
    assert land.rejections.all() == []


def test_what_an_organisation_that_left_is_sent_of_an_erased_lead_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    land = Land()
    land.erase()
    monkeypatch.setattr(land.pipeline._admission._lifecycles, "check", gone)
    assert taken(land, START).kind is OutcomeKind.ERASED
    assert land.rejections.all() == []
    assert taken(land, LATER).kind is OutcomeKind.REJECTED


def test_an_event_without_a_time_that_was_sent_before_the_erasure_stays_out_however_late_it_comes() -> None:
    land = Land()
    land.erase()
    data = {"organizationId": ORGANIZATION, "leadId": LEAD, "planId": "pro"}
    untimed = {name: value for name, value in envelope(data=data).items() if name != "time"}
    for number, (sent_at, kind) in enumerate(((START, OutcomeKind.ERASED), (LATER, OutcomeKind.STORED))):
        event = untimed | {"id": f"e-{number}"}
        late = read_message(json.dumps(event | {"source": "billing_service"}), sent_at)
        assert [each.kind for each in land.pipeline.process_message(late)] == [kind]
        on_the_bus = bus_event(event | {"id": f"b-{number}"}, time=format_instant(sent_at), **{"replay-name": "r1"})
        replayed = read_message(json.dumps(on_the_bus), START + timedelta(days=30))
        assert [each.kind for each in land.pipeline.process_message(replayed)] == [kind]
    assert {each.occurred_at for each in land.events.all()} == {LATER}


def test_a_lead_that_is_erased_anew_is_not_brought_back_by_an_identity_that_was_let_go() -> None:
    land = Land()
    [first] = [taken(land, START, None, identities=ANA[:1]).event]
    assert first is not None
    land.erase(first.lead_id, identities=ANA[:1])
    land.begin(first.lead_id)
    land.pipeline._admission._lifecycles.forget(ORGANIZATION)
    assert taken(land, LATER, None, identities=ANA[:1]).kind is OutcomeKind.ERASED
    assert [each for each in land.events.all() if each.occurred_at == LATER] == []


def test_a_redelivery_meets_the_claim_of_its_erased_event_whatever_time_it_tells() -> None:
    land = Land()
    first = draft(external_event_id="e-1")
    assert land.pipeline.process(first).kind is OutcomeKind.STORED
    land.events._events.clear()
    land.claims.erase(claim_id(ORGANIZATION, "billing_service", "e-1"))
    for at in (START, LATER + timedelta(days=30)):
        outcome = land.pipeline.take(
            draft(external_event_id="e-1", occurred_at=at, received_at=at, lead_id="lead_2"), SENDER
        )
        assert outcome.kind is OutcomeKind.ERASED
    assert land.events.all() == []
    assert land.rejections.all() == []


def test_a_claim_whose_writer_died_is_not_completed_for_an_erased_lead() -> None:
    land = Land()
    land.pipeline.process(draft(external_event_id="e-1", occurred_at=START))
    land.events._events.clear()  # the writer died behind the claim
    land.erase()
    land.pipeline._admission._lifecycles.forget(ORGANIZATION)
    late = draft(external_event_id="e-1", occurred_at=LATER, lead_id="lead_2")  # now resolves to another lead
    assert land.pipeline.process(late).kind is OutcomeKind.ERASED
    assert land.events.all() == []


def test_nothing_of_an_organisation_that_is_erased_is_kept_not_even_what_is_refused() -> None:
    land = Land()
    land.begin(None)
    assert taken(land, LATER + timedelta(days=9)).kind is OutcomeKind.ERASED
    delivery = Delivery(provider="stripe", organization_id=ORGANIZATION, body="not even JSON", received_at=START)
    assert [each.kind for each in land.pipeline.process_delivery(delivery)] == [OutcomeKind.ERASED]
    assert land.rejections.all() == []
    assert taken(land, START, organization_id=OTHER_ORGANIZATION).kind is OutcomeKind.STORED


def test_the_error_says_that_it_is_gone_for_good() -> None:
    land = Land()
    land.erase()
    with pytest.raises(ErasedError) as caught:
        land.admission.check(draft(occurred_at=START))
    assert (caught.value.status, caught.value.code) == (410, "erased")
    closed = Land()
    closed.begin(None)
    with pytest.raises(RetentionExpiredError) as gone:
        closed.admission.check(draft())
    assert (gone.value.status, gone.value.code) == (410, "organization_gone")


def test_live_events_of_others_cost_no_look_at_any_tombstone() -> None:
    land = Land()
    land.erase("lead_other", identities=BOB)
    live = ERASED_AT + timedelta(minutes=2)  # a minute and more after the end of the last erasure
    for number in range(20):
        taken(land, live + timedelta(seconds=number), f"lead_{number}")
        taken(land, live + timedelta(seconds=number), None, identities=ANA)
    assert land.erasures.looks == 0
    assert land.organizations.reads == 1


def test_what_a_process_remembers_of_an_organisation_is_not_older_than_half_a_minute() -> None:
    land, now = Land(), [0.0]
    lifecycles = Lifecycles(land.organizations, land.clock, lambda: now[0])
    assert lifecycles.fence(ORGANIZATION).passes(LATER)
    land.begin()
    assert lifecycles.fence(ORGANIZATION).passes(LATER)
    now[0] = 30.0
    assert not lifecycles.fence(ORGANIZATION).passes(LATER)


MOMENTS = st.integers(-3, 3).map(lambda steps: ERASED_AT + timedelta(seconds=steps))


@given(st.lists(st.tuples(MOMENTS, st.sampled_from([None, "lead_ana", "lead_2"])), max_size=12))
def test_whatever_comes_in_whatever_order_only_what_happened_later_is_there(
    arrivals: list[tuple[datetime, str | None]],
) -> None:
    land = Land()
    land.erase("lead_ana", identities=ANA)
    for at, lead in arrivals:
        taken(land, at, lead, identities=ANA if lead is None else ())
    stored = [(each.lead_id, each.occurred_at) for each in land.events.all()]
    assert not [at for lead, at in stored if lead != "lead_2" and at <= ERASED_AT]
    expected = [at for at, lead in arrivals if lead == "lead_2" or at > ERASED_AT]
    assert sorted(at for _, at in stored) == sorted(expected)


def test_a_rejection_that_was_erased_is_not_kept_again() -> None:
    land = Land()
    broken = Rejection(
        organization_id=ORGANIZATION, code="invalid", detail="d", source="stripe", raw_payload="x", seen_at=START
    )
    rejected_id = land.rejections.keep(broken)
    land.rejections.erase(ORGANIZATION, rejected_id)
    assert land.rejections.keep(broken) == rejected_id
    assert land.rejections.get(ORGANIZATION, rejected_id, raw=True) is None


def test_presence_follows_when_a_record_was_stored() -> None:
    land = Land()
    land.erase()
    assert not land.presence.has(ORGANIZATION, LEAD, ERASED_AT - timedelta(seconds=2))
    assert not land.presence.has(ORGANIZATION, LEAD, None)
    assert land.presence.has(ORGANIZATION, LEAD, ERASED_AT)  # to the second: it may have been stored just behind it
    assert land.presence.has(ORGANIZATION, "lead_2", START)
    assert land.presence.has(OTHER_ORGANIZATION, LEAD, START)
    land.begin(None)
    land.lifecycles.forget(ORGANIZATION)
    assert not land.presence.has(ORGANIZATION, "lead_2", LATER + timedelta(days=1))
