"""The HTTP API: append events, read timelines. Each route wires; the library works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from lead_events import wiring
from lead_events.access import Caller
from lead_events.event import Outcome, check_id
from lead_events.http import body_bytes, lower_case
from lead_events.instants import now
from lead_events.names import Scope
from lead_events.observability import observed, record_outcome
from lead_events.responses import guard, json_response, text_response

app = APIGatewayHttpResolver()
guard(app)

LEAD = "/v1/organizations/<organization_id>/leads/<lead_id>"
ORGANIZATION = "/v1/organizations/<organization_id>"


@app.post(f"{LEAD}/events")
def append_event(organization_id: str, lead_id: str) -> Response[str]:
    """Append one event of the lead in the path."""
    from lead_events.appending import append_direct

    caller = _caller(Scope.WRITE)
    caller.may_write(check_id(organization_id, "organizationId"))
    headers, body = _headers(), _body()
    outcome = append_direct(wiring.pipeline(), headers, body, organization_id, check_id(lead_id, "leadId"))
    return _appended(outcome)


@app.post("/v1/events")
def append_cloud_events() -> Response[str]:
    """Append CloudEvents: structured, binary, or a batch with a result for each."""
    from lead_events.appending import append_batch, append_cloud_event
    from lead_events.envelope import Mode, mode_of

    caller = _caller(Scope.WRITE)
    headers, body = _headers(), _body()
    mode = mode_of(headers)
    if mode is not Mode.BATCH:
        return _appended(append_cloud_event(wiring.pipeline(), mode, headers, body, caller))
    outcomes, results = append_batch(wiring.pipeline(), wiring.executor(), body, caller)
    for outcome in outcomes:
        record_outcome(outcome)
    return json_response(200, {"results": results})


@app.get(ORGANIZATION)
def organization(organization_id: str) -> Response[str]:
    """What billing and offboarding told about the organisation; of one that has left as well."""
    _caller(Scope.READ).read_path(organization_id)
    return json_response(200, wiring.organization_queries().one(organization_id))


@app.get(f"{LEAD}/events")
def timeline(organization_id: str, lead_id: str) -> Response[str]:
    """A page of the lead's timeline."""
    _reads(organization_id, lead_id)
    return json_response(200, wiring.queries().timeline(organization_id, lead_id, _query()))


@app.get(f"{LEAD}/events/<event_id>")
def event(organization_id: str, lead_id: str, event_id: str) -> Response[str]:
    """One event."""
    from lead_events.queries import wants_raw

    _reads(organization_id, lead_id)
    raw = wants_raw(_query().get("include"))
    return json_response(200, wiring.queries().event(organization_id, lead_id, event_id, raw=raw))


@app.get(f"{LEAD}/memories")
def memories(organization_id: str, lead_id: str) -> Response[str]:
    """What is known about the lead."""
    from lead_events.memory_queries import wants_text

    _reads(organization_id, lead_id)
    query = _query()
    if wants_text(query):
        return text_response(200, wiring.memory_queries().text(organization_id, lead_id, query))
    return json_response(200, wiring.memory_queries().of_lead(organization_id, lead_id, query))


@app.get(f"{LEAD}/memories/<category>")
def memory(organization_id: str, lead_id: str, category: str) -> Response[str]:
    """What is known about the lead of one category."""
    _reads(organization_id, lead_id)
    return json_response(200, wiring.memory_queries().one(organization_id, lead_id, category, _query()))


@app.get("/v1/organizations/<organization_id>/external-events/.+")
def external_event(organization_id: str) -> Response[str]:
    """One event by the id that its source gave it."""
    from lead_events.queries import wants_raw

    _reads(organization_id)
    raw = wants_raw(_query().get("include"))
    # As API Gateway decoded them: an external id may hold what a route's pattern does not match.
    path = app.current_event.path_parameters or {}
    source, external_id = path.get("source", ""), path.get("externalEventId", "")
    return json_response(200, wiring.queries().external_event(organization_id, source, external_id, raw=raw))


@app.put(f"{LEAD}/identities")
def put_identities(organization_id: str, lead_id: str) -> Response[str]:
    """Add to what the lead is known by."""
    caller = _caller(Scope.WRITE)
    caller.may_write(check_id(organization_id, "organizationId"))
    wiring.lifecycles().check(organization_id)
    wiring.admission().check_lead(organization_id, check_id(lead_id, "leadId"), now())
    return json_response(200, wiring.lead_identities().put(organization_id, lead_id, _body()))


@app.get(f"{LEAD}/identities")
def identities(organization_id: str, lead_id: str) -> Response[str]:
    """What the lead is known by."""
    _reads(organization_id, lead_id)
    return json_response(200, wiring.lead_identities().get(organization_id, lead_id))


@app.delete(LEAD)
def erase_lead(organization_id: str, lead_id: str) -> Response[str]:
    """Erase everything of the lead; the receipt tells how far that has come."""
    caller = _caller(Scope.ADMIN)
    caller.read_path(organization_id, lead_id)
    wiring.lifecycles().check_retained(organization_id)
    receipt = wiring.erasures().erase_lead(organization_id, lead_id, caller.client_id)
    wiring.lifecycles().forget(organization_id)
    return json_response(202, receipt)


@app.get(f"{ORGANIZATION}/erasures")
def erasures(organization_id: str) -> Response[str]:
    """A page of the receipts of erasures; of an organisation that has left as well."""
    _administered(organization_id)
    return json_response(200, wiring.erasures().page(organization_id, _query()))


@app.get(f"{ORGANIZATION}/erasures/<erasure_id>")
def erasure(organization_id: str, erasure_id: str) -> Response[str]:
    """One receipt."""
    _administered(organization_id)
    return json_response(200, wiring.erasures().one(organization_id, erasure_id))


@app.get("/v1/organizations/<organization_id>/rejected-events")
def rejected_events(organization_id: str) -> Response[str]:
    """A page of the deliveries that could not become events."""
    _reads(organization_id)
    return json_response(200, wiring.rejected_events().page(organization_id, _query()))


@app.get("/v1/organizations/<organization_id>/rejected-events/<rejected_event_id>")
def rejected_event(organization_id: str, rejected_event_id: str) -> Response[str]:
    """One of them."""
    from lead_events.queries import wants_raw

    _reads(organization_id)
    raw = wants_raw(_query().get("include"))
    return json_response(200, wiring.rejected_events().one(organization_id, rejected_event_id, raw=raw))


@app.post(f"{ORGANIZATION}/reprocessings")
@app.post("/v1/reprocessings")
def start_reprocessing(organization_id: str | None = None) -> Response[str]:
    """Start to rebuild memories, or to tell what would change."""
    owner = _reprocessed(organization_id)
    return json_response(202, wiring.reprocessings().start(owner, _body() if app.current_event.body else b""))


@app.get(f"{ORGANIZATION}/reprocessings")
@app.get("/v1/reprocessings")
def reprocessings(organization_id: str | None = None) -> Response[str]:
    """A page of reprocessings."""
    return json_response(200, wiring.reprocessings().page(_reprocessed(organization_id), _query()))


@app.get(f"{ORGANIZATION}/reprocessings/<reprocessing_id>")
@app.get("/v1/reprocessings/<reprocessing_id>")
def reprocessing(reprocessing_id: str, organization_id: str | None = None) -> Response[str]:
    """One of them, with its progress."""
    return json_response(200, wiring.reprocessings().one(_reprocessed(organization_id), reprocessing_id))


@app.post(f"{ORGANIZATION}/reprocessings/<reprocessing_id>/<action>")
@app.post("/v1/reprocessings/<reprocessing_id>/<action>")
def steer_reprocessing(reprocessing_id: str, action: str, organization_id: str | None = None) -> Response[str]:
    """Pause, resume or cancel it."""
    owner = _reprocessed(organization_id)
    return json_response(200, wiring.reprocessings().act(owner, reprocessing_id, action))


@app.get("/v1/event-types")
def event_types() -> Response[str]:
    """The catalogue."""
    from lead_events import event_types

    return json_response(200, event_types.document())


@app.get("/openapi.json")
def openapi() -> Response[str]:
    """The contract of this API."""
    from lead_events import openapi

    return json_response(200, openapi.document())


@app.get("/docs")
def docs() -> Response[str]:
    """The contract for people."""
    from lead_events import docs_page

    return text_response(200, docs_page.html(), "text/html; charset=utf-8")


@app.get("/health")
def health() -> Response[str]:
    """Says that the function runs; it asks nothing of the stores, so that probing costs nothing."""
    return json_response(200, {"status": "ok"})


def _appended(outcome: Outcome) -> Response[str]:
    from lead_events.representation import event_json, status_of

    record_outcome(outcome)
    return json_response(status_of(outcome), event_json(outcome.stored()))


def _caller(scope: Scope) -> Caller:
    authorizer = app.current_event.request_context.authorizer
    caller = Caller.of((authorizer.jwt_claim if authorizer else None) or {})
    caller.require(scope)
    return caller


def _reads(organization_id: str, lead_id: str | None = None) -> None:
    """Let the caller read what it may, of an organisation that is still there. A foreign one is missing, gone or not."""
    _caller(Scope.READ).read_path(organization_id, lead_id)
    wiring.lifecycles().check(organization_id)


def _administered(organization_id: str | None) -> str | None:
    """The organisation that the caller may administer; ``None`` is all of them."""
    _caller(Scope.ADMIN).may_administer(organization_id)
    return organization_id


def _reprocessed(organization_id: str | None) -> str | None:
    """The organisation whose leads the caller may reprocess, if it is still there; ``None`` is all of them."""
    _administered(organization_id)
    if organization_id is not None:
        wiring.lifecycles().check(organization_id)
    return organization_id


def _headers() -> dict[str, str]:
    return lower_case(app.current_event.headers)


def _body() -> bytes:
    request = app.current_event
    return body_bytes(_headers(), request.body, is_base64=bool(request.is_base64_encoded))


def _query() -> Mapping[str, str]:
    return app.current_event.query_string_parameters or {}


@observed
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Lambda entry."""
    return app.resolve(event, context)
