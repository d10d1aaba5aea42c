"""The OpenAPI document describes the API that there is: each route, each answer, each code."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

import lead_events
from lead_events import catalogue, docs_page, errors, openapi, openapi_schemas, providers
from lead_events.erasure import Store
from lead_events.names import ROUTES, Scope
from tests.support.openapi import DOCUMENT, validator

LIBRARY = Path(lead_events.__file__).parent
FUNCTIONS = LIBRARY.parents[3] / "functions"
BODY_LIMIT = 5_000_000
"""Lambda answers at most 6 MB, its own escapes included."""

DOCUMENTED = [route for route in ROUTES if route.method != "OPTIONS"]
"""What a browser asks before it sends is no operation: nobody calls it by hand."""

LEAD = "/v1/organizations/{organizationId}/leads/{leadId}"
REJECTED = "/v1/organizations/{organizationId}/rejected-events"
ERASURES = "/v1/organizations/{organizationId}/erasures"
REPROCESSINGS = "/v1/organizations/{organizationId}/reprocessings"

Place = tuple[str, ...]


def test_the_document_is_valid_openapi() -> None:
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


def test_every_route_is_documented_and_nothing_else() -> None:
    documented = {(method.upper(), path) for path, item in DOCUMENT["paths"].items() for method in item}
    assert documented == {(route.method, route.path) for route in DOCUMENTED}


def test_a_route_is_listed_once() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize("route", DOCUMENTED, ids=lambda route: f"{route.method} {route.path}")
def test_an_operation_names_its_scope_its_path_and_its_answers(route: Any) -> None:
    operation = DOCUMENT["paths"][route.path][route.method.lower()]
    assert operation["security"] == ([] if route.scope is None else [{"token": [route.scope]}])
    placeholders = {part.strip("{}") for part in route.path.split("/") if part.startswith("{")}
    assert {each["name"] for each in operation.get("parameters", []) if each["in"] == "path"} == placeholders
    statuses = set(operation["responses"])
    assert "429" in statuses
    assert ("401" in statuses) or route.scope is None
    assert operation["operationId"]
    assert operation["summary"]


@pytest.mark.parametrize(
    "route", [each for each in DOCUMENTED if "{" in each.path], ids=lambda route: f"{route.method} {route.path}"
)
def test_where_the_path_has_a_parameter_404_is_an_answer(route: Any) -> None:
    """A path whose parameter has a character that no route takes is nobody's, whatever the method."""
    assert "404" in DOCUMENT["paths"][route.path][route.method.lower()]["responses"]


def test_operation_ids_are_unique() -> None:
    ids = [operation["operationId"] for item in DOCUMENT["paths"].values() for operation in item.values()]
    assert len(set(ids)) == len(ids)


def test_every_route_of_the_functions_is_in_the_list() -> None:
    """Powertools' ``<organization_id>`` is the ``{organizationId}`` of API Gateway; a pattern's rest is a path's rest."""
    for name in {route.function for route in ROUTES}:
        listed = {(route.method, _skeleton(route.path)) for route in DOCUMENTED if route.function == name}
        answered = set(_routes_of(FUNCTIONS / name / "handler.py"))
        unlisted = {
            (method, path) for method, path in answered if not any(_meets(method, path, each) for each in listed)
        }
        unanswered = {each for each in listed if not any(_meets(method, path, each) for method, path in answered)}
        assert (unlisted, unanswered) == (set(), set())


def test_every_problem_code_is_documented_with_its_status_and_nothing_else() -> None:
    """``rejected`` is of a base class that nobody raises; ``internal_error`` would be a fault of ours, which is no contract."""
    documented = {(each.status, each.code) for each in openapi_schemas.PROBLEM_CODES}
    raised = set(_raised_codes()) - {(400, "rejected"), (500, "internal_error")}
    assert documented == raised


def test_every_problem_code_stands_in_the_answers_and_in_the_schema() -> None:
    responses = json.dumps(DOCUMENT["components"]["responses"])
    schema = DOCUMENT["components"]["schemas"]["Problem"]["properties"]
    for each in openapi_schemas.PROBLEM_CODES:
        assert (f"* `{each.code}`: " in responses) is each.answered
        assert (each.code in schema["code"]["enum"]) is each.answered
        assert each.status in schema["status"]["enum"]


def test_every_reason_to_reject_is_told_of_a_rejected_event_and_no_code_is_without_use() -> None:
    told = DOCUMENT["components"]["schemas"]["RejectedEvent"]["properties"]["code"]["enum"]
    assert told == sorted(each.code for each in openapi_schemas.PROBLEM_CODES if each.kept)
    assert [each.code for each in openapi_schemas.PROBLEM_CODES if not (each.answered or each.kept)] == []


def test_the_example_of_a_refusal_has_a_code_that_its_description_lists() -> None:
    for response in DOCUMENT["components"]["responses"].values():
        if (media := response["content"].get("application/problem+json")) is not None:
            assert f"* `{media['example']['code']}`: " in response["description"]


def test_an_answer_stands_under_the_status_of_its_problem() -> None:
    answers = DOCUMENT["components"]["responses"]
    found = [
        (status, answers[response["$ref"].rpartition("/")[2]]["content"].get("application/problem+json"))
        for item in DOCUMENT["paths"].values()
        for operation in item.values()
        for status, response in operation["responses"].items()
        if "$ref" in response
    ]
    assert len(found) > 50
    assert [status for status, media in found if media and str(media["example"]["status"]) != status] == []


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("put", f"{LEAD}/identities", "200 400 401 403 404 409 410 413 415 422 429 503"),
        ("get", f"{LEAD}/identities", "200 401 403 404 410 429 503"),
        ("get", REJECTED, "200 400 401 403 404 410 429 503"),
        ("get", f"{REJECTED}/{{rejectedEventId}}", "200 400 401 403 404 410 429 503"),
        ("delete", LEAD, "202 401 403 404 410 429 503"),
        ("get", ERASURES, "200 400 401 403 404 429 503"),
        ("get", f"{ERASURES}/{{erasureId}}", "200 401 403 404 429 503"),
        ("get", REPROCESSINGS, "200 400 401 403 404 410 429 503"),
        ("get", "/v1/reprocessings", "200 400 401 403 404 429 503"),
    ],
)
def test_an_operation_names_every_answer(method: str, path: str, statuses: str) -> None:
    assert list(DOCUMENT["paths"][path][method]["responses"]) == statuses.split()


@pytest.mark.parametrize(
    "route", [each for each in DOCUMENTED if each.scope is not None], ids=lambda route: f"{route.method} {route.path}"
)
def test_only_who_sends_something_is_told_that_it_was_erased(route: Any) -> None:
    """A reader learns nothing of it: what was erased is not there."""
    answer = DOCUMENT["paths"][route.path][route.method.lower()]["responses"].get("410", {})
    name = answer.get("$ref", "").rpartition("/")[2]
    sends = route.scope is Scope.WRITE
    of_everything = route.path.startswith("/v1/reprocessings")
    still_told = route.path in (ERASURES, f"{ERASURES}/{{erasureId}}", "/v1/organizations/{organizationId}")
    assert name == ("Erased" if sends else "" if of_everything or still_told else "Gone")


def test_a_receipt_counts_by_every_store() -> None:
    receipt = DOCUMENT["components"]["schemas"]["Erasure"]["properties"]
    assert list(receipt["counts"]["properties"]) == [each.value for each in Store]


def test_every_response_of_the_components_is_used() -> None:
    text = json.dumps(DOCUMENT["paths"])
    assert [name for name in DOCUMENT["components"]["responses"] if f"#/components/responses/{name}" not in text] == []


def test_every_payload_of_the_catalogue_has_its_schema_and_is_bound_to_its_type() -> None:
    components = DOCUMENT["components"]["schemas"]
    for name, model in catalogue.EVENT_TYPES.items():
        assert components[model.__name__]["description"] == model.__doc__
        for holder in ("Event", "DirectEvent", "CloudEvent"):
            assert name in json.dumps(components[holder]["allOf"])


def test_every_example_keeps_its_schema() -> None:
    checked = 0
    for place, media in _media_types(DOCUMENT, ()):
        for example in _examples(media):
            validator(*place, "schema").validate(example)
            checked += 1
    assert checked > 30


def test_every_provider_is_named_and_the_handshake_follows_the_providers() -> None:
    operations = DOCUMENT["paths"]["/v1/webhooks/{provider}/{organizationId}"]
    schema = operations["post"]["parameters"][0]["schema"]
    assert schema["enum"] == sorted(providers.names())
    shaking = [name for name in providers.names() if hasattr(providers.find(name), "handshake")]
    answers = operations["get"]["responses"]
    for status in ("200", "400", "403"):
        assert (status in answers) is bool(shaking)
    assert [name for name in shaking if f"`{name}`" not in operations["get"]["description"]] == []


def test_a_handshake_is_answered_as_plain_text() -> None:
    responses = DOCUMENT["paths"]["/v1/webhooks/{provider}/{organizationId}"]["get"]["responses"]
    assert list(responses["200"]["content"]) == ["text/plain"]


def test_the_document_is_built_once_and_plain_json() -> None:
    before = json.dumps(DOCUMENT)
    assert openapi.document() is openapi.document()
    openapi.document.cache_clear()
    assert json.dumps(openapi.document()) == before


def test_the_page_needs_no_other_host_and_fits_an_answer() -> None:
    page = docs_page.html()
    script, style = (files(docs_page.ASSETS).joinpath(name).read_text() for name in docs_page.ASSET_NAMES)
    own = page.replace(script, "").replace(style, "")
    assert "http:" not in own
    assert "https:" not in own
    assert "src=" not in own
    assert 'url: "openapi.json"' in own
    assert "</script" not in script
    assert "@import" not in style
    assert len(json.dumps(page)) < BODY_LIMIT


def _media_types(value: Any, place: Place) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every media type object of the document, with its place."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _media_types(each, (*place, str(index)))
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "content" and all("schema" in media for media in each.values()):
                yield from (((*place, key, media_type), media) for media_type, media in each.items())
            elif place[:2] != ("components", "schemas"):
                yield from _media_types(each, (*place, key))


def _examples(media: dict[str, Any]) -> list[Any]:
    named = [each["value"] for each in media.get("examples", {}).values()]
    return [media["example"], *named] if "example" in media else named


def _raised_codes() -> Iterator[tuple[int, str]]:
    """Status and code of each error of the tree, and of each place that gives one a code of its own."""
    tree = {name: each for name, each in vars(errors).items() if isinstance(each, type)}
    classes = {name: each for name, each in tree.items() if issubclass(each, errors.LeadEventsError)}
    yield from ((each.status, each.default_code) for each in classes.values())
    for path in [*LIBRARY.rglob("*.py"), *FUNCTIONS.rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call):
                continue
            function = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            error = classes.get(function.id) if isinstance(function, ast.Name) else None
            if error is None:
                continue
            for keyword in call.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    yield error.status, str(keyword.value.value)


def _routes_of(path: Path) -> Iterator[tuple[str, str]]:
    """Method and skeleton of each ``@app.get("…")`` of a handler; module constants in the path are filled in."""
    tree = ast.parse(path.read_text())
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        for call in node.decorator_list if isinstance(node, ast.FunctionDef) else []:
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in ("get", "post", "put", "delete")
            ):
                route = eval(compile(ast.Expression(call.args[0]), str(path), "eval"), dict(constants))
                yield call.func.attr.upper(), _skeleton(route)


def _skeleton(path: str) -> str:
    return "/".join("*" if part[:1] in ("<", "{") else part for part in path.split("/"))


def _meets(method: str, path: str, listed: tuple[str, str]) -> bool:
    prefix, rest, _ = path.partition("/.+")
    return method == listed[0] and (listed[1] == path or (bool(rest) and listed[1].startswith(f"{prefix}/")))
