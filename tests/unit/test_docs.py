"""The generated documentation is complete, true and in step with the code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from lead_events import catalogue, event_types, reconciling
from lead_events.envelope import read_message
from lead_events.instants import now
from lead_events.internal_domains import DOMAINS
from lead_events.names import OrganizationCategory
from lead_events.organizations import contract
from lead_events.reading import draft_of_envelope
from lead_events.sources import SOURCE_TYPES
from tests import samples
from tools.docs import __main__ as command
from tools.docs import asyncapi, documents, events, internal_events, markdown, organizations, published

PAGE = events.text()
ASYNCAPI: dict[str, Any] = yaml.safe_load(asyncapi.text())
MESSAGES: dict[str, Any] = ASYNCAPI["components"]["messages"]
PUBLISHED = list(published.messages())
ABOUT_ORGANIZATIONS = list(organizations.messages())
RECEIVED = [each for each in MESSAGES if each not in [*PUBLISHED, *ABOUT_ORGANIZATIONS]]


def test_the_committed_documents_are_in_step() -> None:
    assert documents.drift() == []


def test_generating_twice_gives_the_same() -> None:
    assert documents.generate() == documents.generate()


def test_a_missing_and_an_old_document_are_named_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(documents.drift, "__defaults__", (tmp_path,))
    monkeypatch.setattr(documents.write, "__defaults__", (tmp_path,))
    documents.write()
    (tmp_path / "asyncapi.yaml").unlink()
    (tmp_path / "events.md").write_text(PAGE.replace("The lead looked at a product.", "An old text."), encoding="utf-8")

    assert command.main(["--check"]) == 1
    told = capsys.readouterr().err
    assert "docs/asyncapi.yaml is missing." in told
    assert "docs/events.md is out of date:" in told
    assert "-An old text." in told
    assert "+The lead looked at a product." in told
    assert "openapi.json" not in told
    assert "make docs" in told

    assert command.main([]) == 0
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", catalogue.EVENT_TYPES)
def test_an_event_type_has_its_section_with_every_field_and_its_sample(name: str) -> None:
    section = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
    schema = event_types.payload_schema(name)
    assert str(catalogue.EVENT_TYPES[name].__doc__) in section
    for field, rules in schema["properties"].items():
        required = "yes" if field in schema.get("required", ()) else "no"
        assert f"| `{field}` | {markdown.type_text(rules)} | {required} | {rules['description']} |" in section
    sample = section.split("```json\n")[1].split("```")[0]
    assert json.loads(sample) == event_types.plain(catalogue.EVENT_TYPES[name].sample)


def test_every_source_and_type_is_on_the_page() -> None:
    head = PAGE.split("\n## purchase_completed")[0]
    assert [source for source in SOURCE_TYPES if f"`{source}`" not in head] == []
    assert [name for name in catalogue.EVENT_TYPES if f"[`{name}`](#{name})" not in head] == []


def test_every_internal_event_has_its_section_its_fields_and_the_sample_that_is_tested() -> None:
    page = internal_events.text()
    overview = page.split("\n## All of them\n")[1].split("\n## ")[0]
    for domain in DOMAINS:
        for event in domain.events:
            name = f"{domain.name}.{event.name}"
            section = page.split(f"\n### {name}\n")[1].split("\n## ")[0].split("\n### ")[0]
            assert markdown.fields(event_types.payload_schema(event.event_type)) in section
            assert section.split("```json\n")[1].split("```")[0].encode() == samples.load("internal", name)
            row = next(
                line for line in overview.splitlines() if line.startswith(f"| [`{name}`](#{name.replace('.', '')}) |")
            )
            for told in (
                f"`{domain.source}`",
                f"[`{event.event_type}`](events.md#{event.event_type})",
                *event.synonyms,
            ):
                assert told in row


def test_every_spelling_of_a_domain_is_on_the_page_and_every_type_that_no_service_tells() -> None:
    page = internal_events.text()
    assert [each for domain in DOMAINS for each in domain.spellings() if f"`{each}." not in page] == []
    assert [name for name in catalogue.EVENT_TYPES if f"events.md#{name})" not in page] == []


def test_every_event_type_may_be_sent_over_bus_and_queue() -> None:
    names = [model.__name__ for model in catalogue.EVENT_TYPES.values()]
    for name in ("eventBus", "ingestQueue"):
        assert [each for each in names if each not in ASYNCAPI["channels"][name]["messages"]] == []
    assert list(ASYNCAPI["channels"][asyncapi.PUBLISHED]["messages"]) == PUBLISHED


def test_every_reference_of_the_asyncapi_document_leads_somewhere() -> None:
    for reference in _references(ASYNCAPI):
        target: Any = ASYNCAPI
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]


@pytest.mark.parametrize("name", [published.RECORDED, published.UPDATED])
def test_what_is_told_keeps_its_schema(name: str) -> None:
    sample = MESSAGES[name]["examples"][0]["payload"]
    _payload_validator(name).validate(sample)
    content = "payload" if name == published.RECORDED else "memory"
    for wrong in ({}, {"reference": "elsewhere"}):
        data = {key: value for key, value in sample["data"].items() if key != content} | wrong
        assert not _payload_validator(name).is_valid(sample | {"data": data})
    data = {key: value for key, value in sample["data"].items() if key != content} | {"reference": "/v1/x"}
    _payload_validator(name).validate(sample | {"data": data})


@pytest.mark.parametrize("name", [published.OF_LEAD_ERASED, published.OF_ORGANIZATION_ERASED])
def test_who_was_erased_is_told_by_ids_and_an_instant_alone(name: str) -> None:
    sample = MESSAGES[name]["examples"][0]["payload"]
    _payload_validator(name).validate(sample)
    data = sample["data"]
    of_lead = name == published.OF_LEAD_ERASED
    assert set(data) == {"organizationId", "erasureId", "erasedUntil"} | ({"leadId"} if of_lead else set())
    assert sample["time"] == data["erasedUntil"]
    for wrong in (
        *({field: value for field, value in data.items() if field != missing} for missing in data),
        data | {"payload": {}},
        data | ({} if of_lead else {"leadId": "lead_1"}) | {"erasureId": "rep_1"},
    ):
        assert not _payload_validator(name).is_valid(sample | {"data": wrong})


@pytest.mark.parametrize("name", RECEIVED)
def test_a_sample_message_keeps_its_schema_and_is_read(name: str) -> None:
    sample = MESSAGES[name]["examples"][0]["payload"]
    _payload_validator(name).validate(sample)
    if name == asyncapi.PLAIN:
        detail_type = MESSAGES[name]["examples"][0]["name"]
        event = {"id": "1", "detail-type": detail_type, "source": "ticketing_service", "time": "2026-03-25T14:00:00Z"}
        sample = event | {"detail": sample}
    draft = draft_of_envelope(read_message(json.dumps(sample)), None, now())
    catalogue.check(draft.event_type, draft.payload)
    if name not in (asyncapi.OTHER, asyncapi.PLAIN):
        assert draft.event_type == MESSAGES[name]["name"]


@pytest.mark.parametrize("missing", ["organizationId", "leadId", "planId"])
def test_a_message_without_what_it_needs_breaks_its_schema(missing: str) -> None:
    sample = json.loads(json.dumps(MESSAGES["SubscriptionCreated"]["examples"][0]["payload"]))
    del sample["data"][missing]
    assert not _payload_validator("SubscriptionCreated").is_valid(sample)


def test_a_message_of_another_type_breaks_the_schema() -> None:
    sample = MESSAGES["SubscriptionCreated"]["examples"][0]["payload"]
    assert not _payload_validator("SubscriptionCreated").is_valid(sample | {"type": "billing.invoice-paid"})
    assert _payload_validator(asyncapi.OTHER).is_valid(sample | {"type": "billing.invoice-paid"})


def test_events_about_organizations_may_be_sent_over_the_bus_and_the_queue_of_their_category() -> None:
    channels = ASYNCAPI["channels"]
    assert set(ABOUT_ORGANIZATIONS) <= set(channels["eventBus"]["messages"])
    queues = [name for category in OrganizationCategory for name in channels[f"{category}Queue"]["messages"]]
    assert queues == ABOUT_ORGANIZATIONS


@pytest.mark.parametrize("model", contract.EVENTS, ids=lambda model: model.type)
def test_an_event_about_an_organization_has_its_section_and_a_sample_that_keeps_its_schema_and_is_read(
    model: type[contract.OrganizationPayload],
) -> None:
    section = organizations.text().split(f"\n## {model.type}\n")[1].split("\n## ")[0]
    assert str(model.__doc__) in section
    sample = MESSAGES[organizations.message_name(model)]["examples"][0]["payload"]
    assert json.loads(section.split("```json\n")[1].split("```")[0]) == sample
    _payload_validator(organizations.message_name(model)).validate(sample)
    recorded = json.loads(samples.load("organizations", model.type))
    _payload_validator(organizations.message_name(model)).validate(recorded)
    for missing in ("time", "data"):
        cut = {name: value for name, value in sample.items() if name != missing}
        assert not _payload_validator(organizations.message_name(model)).is_valid(cut)
    fact, _ = reconciling.read(read_message(json.dumps(sample)), now())
    assert fact.type == MESSAGES[organizations.message_name(model)]["name"]


def _payload_validator(name: str) -> Draft202012Validator:
    registry: Registry[Any] = Registry().with_resource("urn:bus", DRAFT202012.create_resource(ASYNCAPI))
    return Draft202012Validator({"$ref": f"urn:bus#/components/messages/{name}/payload"}, registry=registry)


def _references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [each for child in value for each in _references(child)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [each for child in value.values() for each in _references(child)]
