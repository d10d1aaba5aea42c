"""The schemas and samples of the OpenAPI document say what the code does: it takes them, and answers them."""

from __future__ import annotations

import json
from concurrent.futures import Executor, Future
from datetime import datetime, timedelta
from typing import Any

import pytest

from lead_events import catalogue, errors, openapi_schemas
from lead_events.access import Caller
from lead_events.appending import append_batch
from lead_events.cursors import Cursors
from lead_events.envelope import read_message
from lead_events.erasing import Eraser
from lead_events.erasure import Erasure
from lead_events.erasures import Erasures
from lead_events.event import occurred_at_of
from lead_events.identity import Resolver
from lead_events.in_memory import pipeline_in_memory
from lead_events.instants import format_instant, now, parse_instant
from lead_events.lead_identities import LeadIdentities
from lead_events.names import Source
from lead_events.organizations.contract import RetentionExpired
from lead_events.reading import draft_of_direct, draft_of_envelope
from lead_events.rejected_events import RejectedEvents
from lead_events.store.memory import InMemoryBus, InMemoryClaims, InMemoryIdentities, InMemoryRejections
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_organizations import InMemoryOrganizations
from lead_events.store.memory_queue import InMemoryQueue
from lead_events.strict_json import dumps
from tests.support.openapi import DOCUMENT, component


def test_the_results_of_a_batch_keep_their_schema() -> None:
    """Stored, duplicate, conflict, and two kinds of rejection, as the API answers them."""
    sample = openapi_schemas.cloud_event_sample("subscription_created")
    other = sample | {"data": sample["data"] | {"amount": 1}}
    foreign = sample | {"data": sample["data"] | {"organizationId": "org_other"}}
    pipeline = pipeline_in_memory()
    caller = Caller(frozenset(), openapi_schemas.ORGANIZATION)
    body = json.dumps([sample, sample, other, sample | {"specversion": "0.3"}, foreign]).encode()
    _, results = append_batch(pipeline, _Here(), body, caller)
    assert [each["status"] for each in results] == [201, 200, 409, 422, 403]
    component("BatchResults").validate({"results": json.loads(dumps(results))})


def test_every_example_of_a_payload_keeps_its_schema() -> None:
    for name, model in catalogue.EVENT_TYPES.items():
        for example in DOCUMENT["components"]["schemas"][model.__name__]["examples"]:
            component(model.__name__).validate(example)
            component("CloudEvent").validate(openapi_schemas.cloud_event_sample(name))


@pytest.mark.parametrize("name", catalogue.EVENT_TYPES)
def test_an_envelope_sample_is_read_as_its_type_from_a_known_source(name: str) -> None:
    envelope = read_message(json.dumps(openapi_schemas.cloud_event_sample(name)))
    draft = draft_of_envelope(envelope, None, now())
    assert (draft.event_type, draft.lead_id) == (name, openapi_schemas.LEAD)
    assert draft.source in set(Source)
    catalogue.check(name, draft.payload)


def test_the_sample_of_a_direct_append_is_read_as_the_event_shown() -> None:
    text = json.dumps(openapi_schemas.direct_sample())
    draft = draft_of_direct(text, openapi_schemas.ORGANIZATION, openapi_schemas.LEAD, None, now())
    shown = openapi_schemas.event_sample()
    assert (draft.source, draft.event_type, draft.external_event_id) == (
        shown["source"],
        shown["eventType"],
        shown["externalEventId"],
    )
    assert format_instant(draft.occurred_at) == shown["occurredAt"]
    assert occurred_at_of(shown["eventId"]) == draft.occurred_at


@pytest.mark.parametrize(
    "change",
    [
        {"eventType": "sentiment_detected"},
        {"payload": None},
        {"source": "has blanks"},
        {"unknown": 1},
        {"sourceType": "FOREIGN"},
        {"occurredAt": 0},
    ],
)
def test_a_direct_event_that_breaks_a_rule_breaks_its_schema(change: dict[str, Any]) -> None:
    assert not component("DirectEvent").is_valid(openapi_schemas.direct_sample() | change)


@pytest.mark.parametrize(
    "change",
    [
        {"specversion": "0.3"},
        {"id": ""},
        {"data": {"organizationId": "org_01HX", "leadId": "lead_01HX"}},
        {"data": {"planId": "plan_pro"}},
        {"Upper": "x"},
        {"extension": {}},
        {"data_base64": "e30="},
    ],
)
def test_an_envelope_that_breaks_a_rule_breaks_its_schema(change: dict[str, Any]) -> None:
    assert not component("CloudEvent").is_valid(openapi_schemas.cloud_event_sample("subscription_created") | change)


def test_other_types_and_sources_take_any_payload() -> None:
    free = {"eventType": "message.received", "source": "own_shop", "sourceType": "EXTERNAL", "payload": [1, None]}
    assert component("DirectEvent").is_valid(openapi_schemas.direct_sample() | free)
    envelope = {"type": "own.thing", "sourcetype": "EXTERNAL", "subject": "lead_01HX", "data": "text"}
    assert component("CloudEvent").is_valid(openapi_schemas.cloud_event_sample("subscription_created") | envelope)


def test_the_sample_of_identities_is_taken_and_answered_as_shown() -> None:
    identities = LeadIdentities(Resolver(InMemoryIdentities(), lambda: "secret"))
    body = json.dumps(openapi_schemas.new_identities_sample()).encode()
    shown = identities.put(openapi_schemas.ORGANIZATION, openapi_schemas.LEAD, body)
    component("Identities").validate(shown)
    sample = openapi_schemas.identities_sample()
    assert {each["kind"] for each in shown["identities"]} == {each["kind"] for each in sample["identities"]}
    with pytest.raises(errors.ConflictError) as caught:
        identities.put(openapi_schemas.ORGANIZATION, "lead_other", body)
    component("Problem").validate(errors.problem(caught.value))
    assert caught.value.code == "identity_conflict"


IDENTITY: dict[str, Any] = {"kind": "email", "value": "ana.teste@example.org"}


@pytest.mark.parametrize(
    "body",
    [
        {}, {"identities": []}, {"identities": [IDENTITY] * 21}, {"identities": [IDENTITY], "more": 1},
        {"identities": [IDENTITY | {"kind": "cpf"}]}, {"identities": [IDENTITY | {"value": ""}]},
        {"identities": [IDENTITY | {"value": "x" * 256}]}, {"identities": [IDENTITY | {"region": "BRA"}]},
        {"identities": [IDENTITY | {"region": "12"}]}, {"identities": [IDENTITY | {"more": 1}]},
        {"identities": [{"kind": "email"}]},
        {"identities": [{"kind": "customer", "value": "115"}]}, {"identities": [{"kind": "customer", "value": "Shopify:115"}]},
    ],
)  # fmt: skip
def test_identities_that_break_a_rule_break_their_schema(body: dict[str, Any]) -> None:
    assert not component("NewIdentities").is_valid(body)
    with pytest.raises(errors.InvalidError):
        LeadIdentities(Resolver(InMemoryIdentities(), lambda: "secret")).put("org", "lead", json.dumps(body).encode())


def test_the_sample_of_a_rejected_event_is_what_the_pipeline_leaves_behind() -> None:
    sample = openapi_schemas.rejected_event_sample(raw=True)
    clock, rejections = [parse_instant(sample["firstSeenAt"], "")], InMemoryRejections()
    pipeline = pipeline_in_memory(rejections=rejections, clock=lambda: clock[0])
    for seen_at in (sample["firstSeenAt"], sample["lastSeenAt"]):
        clock[0] = parse_instant(seen_at, "")
        pipeline.process_message(read_message(sample["rawPayload"]))
    rejected = RejectedEvents(rejections, Cursors(lambda: "secret"))
    shown = rejected.one(openapi_schemas.ORGANIZATION, sample["rejectedEventId"], raw=True)
    assert shown == sample
    component("RejectedEvent").validate(shown)
    page = rejected.page(openapi_schemas.ORGANIZATION, {})
    component("RejectedEventPage").validate(page)
    assert page == {"items": [openapi_schemas.rejected_event_sample()], "cursor": None}


def test_the_samples_of_an_erasure_are_what_the_service_shows_from_the_beginning_to_the_end() -> None:
    beginning = openapi_schemas.erasure_sample(done=False)
    organization, lead = beginning["organizationId"], beginning["leadId"]
    clock: list[datetime] = [parse_instant(beginning["requestedAt"], "")]
    store, queue = InMemoryErasures(InMemoryOrganizations(InMemoryClaims())), InMemoryQueue()
    erasures = Erasures(erasures=store, queue=queue, cursors=Cursors(lambda: "secret"), clock=lambda: clock[0])
    asked = erasures.erase_lead(organization, lead, beginning["requestedBy"])
    component("Erasure").validate(asked)
    assert asked | {"erasureId": beginning["erasureId"]} == beginning

    clock[0] = parse_instant(openapi_schemas.erasure_sample()["completedAt"], "")
    eraser = Eraser(
        erasures=store, queue=queue, shelves_of_lead=[], shelves_of_organization=[], identities=_Nothing(),
        remove_body=lambda _: None, bus=InMemoryBus(), clock=lambda: clock[0], quiet_period=timedelta(),
    )  # fmt: skip
    assert eraser.work(queue.sent[0], redelivered=False) is not None
    receipt = erasures.one(organization, asked["erasureId"])
    component("Erasure").validate(receipt)
    own = {
        "erasureId",
        "counts",
        "erasedUntil",
    }  # ``erasedUntil`` is a moment before the end, which the clock here has not
    end = openapi_schemas.erasure_sample()
    assert {name: value for name, value in receipt.items() if name not in own} == {
        name: value for name, value in end.items() if name not in own
    }
    page = erasures.page(organization, {"leadId": lead})
    component("ErasurePage").validate(page)
    assert page == {"items": [receipt], "cursor": None}
    assert openapi_schemas.erasure_page_sample() == {"items": [end], "cursor": None}


def test_the_receipt_of_an_organization_keeps_the_schema() -> None:
    store = InMemoryErasures(InMemoryOrganizations(InMemoryClaims()))
    erasures = Erasures(erasures=store, queue=InMemoryQueue(), cursors=Cursors(lambda: "secret"), clock=now)
    erasures.erase_organization(openapi_schemas.ORGANIZATION, RetentionExpired.type)
    [receipt] = erasures.page(openapi_schemas.ORGANIZATION, {})["items"]
    component("Erasure").validate(receipt)
    assert (receipt["scope"], receipt["leadId"], receipt["requestedBy"]) == (
        "organization",
        None,
        RetentionExpired.type,
    )


class _Nothing:
    """A shelf on which there is nothing."""

    def clear(self, erasure: Erasure, position: str | None) -> str | None:  # a shelf's signature
        return None


class _Here(Executor):
    """Runs everything at once, in the caller's thread."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future
