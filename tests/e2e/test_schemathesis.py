"""The API keeps its own OpenAPI document: Schemathesis plays callers who read nothing else, good and bad, on the twin.

``LEAD_EVENTS_E2E_EXAMPLES=50`` takes so many of each kind for each operation.
"""

from __future__ import annotations

import copy
import os
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.config import (
    CacheConfig,
    ChecksConfig,
    GenerationConfig,
    NotAServerErrorConfig,
    PositiveDataAcceptanceConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
    SimpleCheckConfig,
)
from schemathesis.config._checks import NegativeDataRejectionConfig

from lead_events.names import ROUTES, Route
from tests.e2e.client import Client, new_lead

pytestmark = pytest.mark.e2e

EXAMPLES: Final = int(os.environ.get("LEAD_EVENTS_E2E_EXAMPLES", "4"))
REFUSALS: Final = [str(status) for status in (400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503)]
OPERATIONS: Final = [route for route in ROUTES if route.method != "OPTIONS"]
CHECKS: Final = ChecksConfig(
    # Not stored, send again: the only one, and the document says so; its Retry-After is looked at below.
    not_a_server_error=NotAServerErrorConfig(expected_statuses=["2xx", "4xx", "503"]),
    # A schema cannot say that a cursor is ours or that a time is one: what is refused has a code of the document.
    positive_data_acceptance=PositiveDataAcceptanceConfig(expected_statuses=["2xx", *REFUSALS]),
    negative_data_rejection=NegativeDataRejectionConfig(expected_statuses=REFUSALS),
    # API Gateway answers 404 for a method that a path does not have.
    unsupported_method=SimpleCheckConfig(enabled=False),
)


@pytest.fixture(scope="module")
def apis(client: Client) -> dict[GenerationMode, Any]:
    """The document as the twin serves it, for good callers and for bad ones."""
    document = client.call("GET", "/openapi.json", token=None).json
    for name in ("DirectEvent", "CloudEvent"):
        # "If it is of this type, its data is so", twenty times, is more than can be generated from. Answers are held to it.
        del document["components"]["schemas"][name]["allOf"]
    spoilt = copy.deepcopy(document)
    # One bad event keeps none of the others out: such a batch is answered 200, with a refusal inside.
    spoilt["components"]["schemas"]["CloudEventBatch"]["items"] = {}
    # A parameter that no route has is ignored.
    project = ProjectConfig(checks=CHECKS, generation=GenerationConfig(allow_extra_parameters=False))
    config = SchemathesisConfig(cache=CacheConfig(enabled=False), projects=ProjectsConfig(default=project))
    load = schemathesis.openapi.from_dict
    return {
        GenerationMode.POSITIVE: load(document, config=config),
        GenerationMode.NEGATIVE: load(spoilt, config=config),
    }


@pytest.fixture(scope="module")
def known(client: Client) -> dict[str, str]:
    """Values of paths that lead to something."""
    event = client.append(new_lead(), externalEventId=f"ext-{new_lead()}").json
    names = ("organizationId", "leadId", "eventId", "externalEventId", "source")
    return {name: event[name] for name in names}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: str(mode.value))
@pytest.mark.parametrize("token", ["platform", None], ids=["authorised", "not"])
@pytest.mark.parametrize("route", OPERATIONS, ids=lambda route: f"{route.method} {route.path}")
def test_an_operation_answers_as_its_document_says(
    client: Client,
    apis: dict[GenerationMode, Any],
    known: dict[str, str],
    route: Route,
    token: str | None,
    mode: GenerationMode,
) -> None:
    operation = apis[mode][route.path][route.method]
    if mode is GenerationMode.NEGATIVE and not (operation.definition.raw.get("parameters") or operation.body):
        pytest.skip("takes nothing that could be wrong")
    headers = {} if token is None else {"Authorization": f"Bearer {client.stack['tokens'][token]}"}

    @settings(max_examples=EXAMPLES, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), found=st.booleans())
    def answers(case: Case, found: bool) -> None:
        if found and mode is GenerationMode.POSITIVE:
            case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
        response = case.call_and_validate(base_url=client.stack["apiUrl"].rstrip("/"), headers=headers)
        assert response.status_code != 503 or "retry-after" in response.headers
        if token is None and route.scope is not None:
            assert response.status_code in (401, 404)  # 404: a path that is of no route, as of an empty id

    answers()
