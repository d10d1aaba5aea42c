"""The names that functions and infrastructure share need nothing but the standard library."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from lead_events import names
from lead_events.names import EVENT_TYPE_INDEX_PROJECTION, ROUTES, Attribute, webhook_secret_name

SEEDS = ["leadOrganizationId", "occurredAtId", "sourceType", "source", "eventType", "objectId", "objectIdRef", "payload",
         "rawPayload", "externalEventId", "receivedAt"]  # fmt: skip


def test_attribute_names_are_those_of_the_seeds_to_the_letter() -> None:
    assert [each.value for each in Attribute][: len(SEEDS)] == SEEDS


def test_the_event_type_index_projects_everything_that_readers_of_a_timeline_see_but_the_raw_payload() -> None:
    keys = {Attribute.LEAD_ORGANIZATION_ID, Attribute.OCCURRED_AT_ID, Attribute.EVENT_TYPE_OCCURRED_AT}
    left_out = set(Attribute) - set(EVENT_TYPE_INDEX_PROJECTION) - keys
    assert left_out == {Attribute.RAW_PAYLOAD, Attribute.STORED_AT, Attribute.SHARED_FACT_ID}


def test_names_import_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(names.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"__future__", "enum", "typing"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


def test_no_route_is_listed_twice() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize(
    "route", [each for each in ROUTES if "{organizationId}" in each.path and each.function == "api"]
)
def test_every_route_of_an_organisation_asks_for_a_scope(route: names.Route) -> None:
    assert route.scope is not None


def test_a_webhook_secrets_name_is_its_prefix_provider_and_organisation() -> None:
    assert webhook_secret_name("lead-events/dev/webhooks", "stripe", "org_A") == "lead-events/dev/webhooks/stripe/org_A"
