"""What the services of the platform send becomes the event that the contract promises."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from lead_events import catalogue, internal_domains, openapi_schemas
from lead_events.enrichment import enrich
from lead_events.envelope import read_message
from lead_events.event import EventDraft, SourceType
from lead_events.instants import now
from lead_events.internal_domains import DOMAINS
from lead_events.names import Source
from lead_events.reading import draft_of_envelope, event_type_of
from lead_events.sources import SOURCE_TYPES, source_of_domain
from tests import samples
from tests.support.builders import bus_event

MAPPED: Final = {f"{domain.name}.{event.name}": (domain, event) for domain in DOMAINS for event in domain.events}


def draft_of(envelope: dict[str, Any]) -> EventDraft:
    return draft_of_envelope(read_message(json.dumps(envelope)), None, now())


def test_every_internal_source_has_its_domain_and_no_other() -> None:
    internal = [source for source, kind in SOURCE_TYPES.items() if kind is SourceType.INTERNAL]
    assert [domain.source for domain in DOMAINS] == internal


def test_there_is_one_sample_of_each_event_and_no_other() -> None:
    assert samples.names("internal") == sorted(MAPPED)


@pytest.mark.parametrize("name", MAPPED)
def test_a_sample_is_read_as_the_event_that_the_table_says(name: str) -> None:
    domain, event = MAPPED[name]
    envelope = json.loads(samples.load("internal", name))
    draft = draft_of_envelope(read_message(samples.load("internal", name).decode()), None, now())
    assert envelope["type"] == name
    assert (draft.event_type, draft.source, draft.source_type) == (event.event_type, domain.source, SourceType.INTERNAL)
    assert (draft.organization_id, draft.lead_id) == (envelope["data"]["organizationId"], envelope["data"]["leadId"])
    assert draft.external_event_id == envelope["id"]
    catalogue.check(draft.event_type, draft.payload)
    assert enrich(draft).event_type == event.event_type


@pytest.mark.parametrize("name", MAPPED)
def test_a_sample_tells_every_field_that_its_type_requires_and_keeps_the_published_schema(name: str) -> None:
    envelope = json.loads(samples.load("internal", name))
    schema = openapi_schemas.payload_schemas()[openapi_schemas.schema_name(MAPPED[name][1].event_type)]
    Draft202012Validator(schema).validate(envelope["data"])
    assert set(schema["properties"]) & set(envelope["data"])


@pytest.mark.parametrize("name", MAPPED)
def test_the_same_over_the_bus_is_of_the_same_source(name: str) -> None:
    domain, event = MAPPED[name]
    detail = json.loads(samples.load("internal", name))
    draft = draft_of(bus_event(detail, source=domain.source.value, **{"detail-type": name}))
    assert (draft.event_type, draft.source, draft.external_event_id) == (event.event_type, domain.source, detail["id"])


SPELLINGS: Final = [
    (f"{spelling}.{name}", domain.source, event.event_type)
    for domain in DOMAINS
    for spelling in domain.spellings()
    for event in domain.events
    for name in (event.name, *event.synonyms)
]


@pytest.mark.parametrize(("cloud_event_type", "source", "event_type"), SPELLINGS)
def test_every_spelling_is_the_same_event_in_reading_and_in_the_schemas(
    cloud_event_type: str, source: Source, event_type: str
) -> None:
    assert event_type_of(cloud_event_type) == event_type
    assert source_of_domain(cloud_event_type.partition(".")[0]) == source
    pattern = openapi_schemas.cloud_event_type_pattern(event_type)
    assert Draft202012Validator({"pattern": pattern}).is_valid(cloud_event_type)


@pytest.mark.parametrize(
    ("cloud_event_type", "source", "event_type"),
    [
        ("messaging.conversation-ended", "messaging_service", "conversation_ended"),
        ("dispatch.campaign-engaged", "dispatch_service", "campaign_engaged"),
        ("ai-agents.agent-insight", "ai_agents_service", "agent_insight"),
        ("ai_agents.agent-insight", "ai_agents_service", "agent_insight"),
        ("agents.agent-insight", "ai_agents_service", "agent_insight"),
        ("agents.insight-detected", "ai_agents_service", "agent_insight"),
        ("billing.subscription-cancelled", "billing_service", "subscription_cancelled"),
        ("billing.subscription-canceled", "billing_service", "subscription_cancelled"),
        ("ticketing.ticket-opened", "ticketing_service", "ticket_opened"),
    ],
)
def test_the_types_that_were_agreed_on(cloud_event_type: str, source: str, event_type: str) -> None:
    assert (source_of_domain(cloud_event_type.partition(".")[0]), event_type_of(cloud_event_type)) == (
        source,
        event_type,
    )


@pytest.mark.parametrize(
    ("cloud_event_type", "event_type"),
    [
        ("billing.invoice-paid", "billing.invoice-paid"),
        ("crm.insight-detected", "crm.insight-detected"),
        ("shop.subscription-canceled", "shop.subscription-canceled"),
        ("ticketing.ticket-closed", "ticketing.ticket-closed"),
        ("billing.ticket-opened", "ticket_opened"),
    ],
)
def test_a_synonym_is_its_domains_alone_and_other_names_are_as_they_were(
    cloud_event_type: str, event_type: str
) -> None:
    assert event_type_of(cloud_event_type) == event_type
    for name in catalogue.EVENT_TYPES:
        pattern = openapi_schemas.cloud_event_type_pattern(name)
        assert Draft202012Validator({"pattern": pattern}).is_valid(cloud_event_type) is (name == event_type)


def test_the_table_names_types_of_the_catalogue_once_for_each_domain() -> None:
    for domain in DOMAINS:
        names = [name for event in domain.events for name in (event.name, *event.synonyms)]
        assert len(set(names)) == len(names)
        assert {event.event_type for event in domain.events} <= set(catalogue.EVENT_TYPES)
    spellings = [spelling for domain in DOMAINS for spelling in domain.spellings()]
    assert len(set(spellings)) == len(spellings)


def test_a_domain_that_is_none_of_ours_is_left_to_its_sender() -> None:
    assert internal_domains.source_of("crm") is None
    assert internal_domains.event_type_of("crm", "ticket-opened") is None
