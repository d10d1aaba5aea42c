"""The OpenAPI document describes the API that there is: each route, each answer, each code."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

import lead_events
from lead_events import catalogue, docs_page, errors, openapi, openapi_schemas, providers
from lead_events.access import Caller
from lead_events.appending import append_batch
from lead_events.cursors import Cursors
from lead_events.envelope import read_message
from lead_events.event import occurred_at_of
from lead_events.identity import Resolver
from lead_events.instants import format_instant, now, parse_instant
from lead_events.lead_identities import LeadIdentities
from lead_events.names import ROUTES, Source
from lead_events.reading import draft_of_direct, draft_of_envelope
from lead_events.rejected_events import RejectedEvents
from lead_events.store.memory import InMemoryIdentities, InMemoryRejections
from lead_events.strict_json import dumps
from lead_events.wiring import pipeline_in_memory

DOCUMENT = openapi.document()
LIBRARY = Path(lead_events.__file__).parent
FUNCTIONS = LIBRARY.parents[3] / "functions"
BODY_LIMIT = 5_000_000
"""Lambda answers at most 6 MB, its own escapes included."""

DOCUMENTED = [route for route in ROUTES if route.method != "OPTIONS"]
"""What a browser asks before it sends is no operation: nobody calls it by hand."""

LEAD = "/v1/organizations/{organizationId}/leads/{leadId}"
REJECTED = "/v1/organizations/{organizationId}/rejected-events"

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
    for item in DOCUMENT["paths"].values():
        for operation in item.values():
            for status, response in operation["responses"].items():
                name = response.get("$ref", "").rpartition("/")[2]
                content = DOCUMENT["components"]["responses"][name]["content"] if name else {}
                assert content.get("application/problem+json", {"example": {"status": int(status)}})["example"][
                    "status"
                ] == int(status)


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("put", f"{LEAD}/identities", "200 400 401 403 409 413 415 422 429 503"),
        ("get", f"{LEAD}/identities", "200 401 403 404 429 503"),
        ("get", REJECTED, "200 400 401 403 404 429 503"),
        ("get", f"{REJECTED}/{{rejectedEventId}}", "200 400 401 403 404 429 503"),
    ],
)
def test_identities_and_rejected_events_name_every_answer(method: str, path: str, statuses: str) -> None:
    assert list(DOCUMENT["paths"][path][method]["responses"]) == statuses.split()


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
            _validator(*place, "schema").validate(example)
            checked += 1
    assert checked > 30


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
    _component("BatchResults").validate({"results": json.loads(dumps(results))})


def test_every_example_of_a_payload_keeps_its_schema() -> None:
    for name, model in catalogue.EVENT_TYPES.items():
        for example in DOCUMENT["components"]["schemas"][model.__name__]["examples"]:
            _component(model.__name__).validate(example)
            _component("CloudEvent").validate(openapi_schemas.cloud_event_sample(name))


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
    assert not _component("DirectEvent").is_valid(openapi_schemas.direct_sample() | change)


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
    assert not _component("CloudEvent").is_valid(openapi_schemas.cloud_event_sample("subscription_created") | change)


def test_other_types_and_sources_take_any_payload() -> None:
    free = {"eventType": "message.received", "source": "own_shop", "sourceType": "EXTERNAL", "payload": [1, None]}
    assert _component("DirectEvent").is_valid(openapi_schemas.direct_sample() | free)
    envelope = {"type": "own.thing", "sourcetype": "EXTERNAL", "subject": "lead_01HX", "data": "text"}
    assert _component("CloudEvent").is_valid(openapi_schemas.cloud_event_sample("subscription_created") | envelope)


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


def test_the_sample_of_identities_is_taken_and_answered_as_shown() -> None:
    identities = LeadIdentities(Resolver(InMemoryIdentities(), lambda: "secret"))
    body = json.dumps(openapi_schemas.new_identities_sample()).encode()
    shown = identities.put(openapi_schemas.ORGANIZATION, openapi_schemas.LEAD, body)
    _component("Identities").validate(shown)
    sample = openapi_schemas.identities_sample()
    assert {each["kind"] for each in shown["identities"]} == {each["kind"] for each in sample["identities"]}
    with pytest.raises(errors.ConflictError) as caught:
        identities.put(openapi_schemas.ORGANIZATION, "lead_other", body)
    _component("Problem").validate(errors.problem(caught.value))
    assert caught.value.code == "identity_conflict"


IDENTITY: dict[str, Any] = {"kind": "email", "value": "ana.teste@example.org"}


@pytest.mark.parametrize(
    "body",
    [
        {}, {"identities": []}, {"identities": [IDENTITY] * 21}, {"identities": [IDENTITY], "more": 1},
        {"identities": [IDENTITY | {"kind": "cpf"}]}, {"identities": [IDENTITY | {"value": ""}]},
        {"identities": [IDENTITY | {"value": "x" * 256}]}, {"identities": [IDENTITY | {"region": "BRA"}]},
        {"identities": [IDENTITY | {"region": "12"}]}, {"identities": [IDENTITY | {"more": 1}]}, {"identities": [{"kind": "email"}]},
        {"identities": [{"kind": "customer", "value": "115"}]}, {"identities": [{"kind": "customer", "value": "Shopify:115"}]},
    ],
)  # fmt: skip
def test_identities_that_break_a_rule_break_their_schema(body: dict[str, Any]) -> None:
    assert not _component("NewIdentities").is_valid(body)
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
    _component("RejectedEvent").validate(shown)
    page = rejected.page(openapi_schemas.ORGANIZATION, {})
    _component("RejectedEventPage").validate(page)
    assert page == {"items": [openapi_schemas.rejected_event_sample()], "cursor": None}


def test_the_document_is_built_once_and_plain_json() -> None:
    before = json.dumps(DOCUMENT)
    assert openapi.document() is DOCUMENT
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


class _Here(Executor):
    """Runs everything at once, in the caller's thread."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def _validator(*place: str) -> Draft202012Validator:
    registry: Registry[Any] = Registry().with_resource("urn:api", DRAFT202012.create_resource(DOCUMENT))
    pointer = "/".join(
        part.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D") for part in place
    )
    return Draft202012Validator(
        {"$ref": f"urn:api#/{pointer}"}, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def _component(name: str) -> Draft202012Validator:
    return _validator("components", "schemas", name)


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
                and call.func.attr in ("get", "post", "put")
            ):
                route = eval(compile(ast.Expression(call.args[0]), str(path), "eval"), dict(constants))
                yield call.func.attr.upper(), _skeleton(route)


def _skeleton(path: str) -> str:
    return "/".join("*" if part[:1] in ("<", "{") else part for part in path.split("/"))


def _meets(method: str, path: str, listed: tuple[str, str]) -> bool:
    prefix, rest, _ = path.partition("/.+")
    return method == listed[0] and (listed[1] == path or (bool(rest) and listed[1].startswith(f"{prefix}/")))
