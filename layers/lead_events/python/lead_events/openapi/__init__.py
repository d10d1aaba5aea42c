"""The OpenAPI 3.1 document of the HTTP API: every route of ``names.ROUTES`` and every answer it gives.

One module a tag. ``OPTIONS`` routes are left out: a browser asks them by itself before it sends, nobody calls them.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from lead_events import openapi_schemas
from lead_events.names import ORGANIZATION_CLAIM, ROUTES, Route, Scope
from lead_events.openapi import (
    appending,
    contract,
    erasures,
    identities,
    memories,
    organizations,
    reading,
    rejected_events,
    reprocessings,
    webhooks,
)
from lead_events.openapi._parts import Operations, responses
from lead_events.openapi_schemas import Schema

VERSION: Final = "1.0.0"
"""Version of the contract; its major number is the ``/v1`` of the paths."""

_DESCRIPTION: Final = f"""\
The event store of the Lead domain. An event that is answered 2xx is durable; one that is answered 4xx was not stored; 503
means *not stored, send again*. Sending the same event again is answered 200 with the first one.

Calls carry an access token (JWT) with the scopes named at each route. A token is bound to the organization of its claim
`{ORGANIZATION_CLAIM}`; a service of the platform has the scope `{Scope.ALL_ORGANIZATIONS}` instead.

Amounts are decimal numbers in major units. Numbers are exact: they come back with the value that was sent.
"""


_TAGS: Final = (
    ("Append", appending),
    ("Read", reading),
    ("Memories", memories),
    ("Identities", identities),
    ("Organizations", organizations),
    ("Rejected events", rejected_events),
    ("Reprocessings", reprocessings),
    ("Erasures", erasures),
    ("Webhooks", webhooks),
    ("Contract", contract),
)
"""Tags in the order of the page, and their modules: the docstring describes the tag."""


@cache
def document() -> dict[str, Any]:
    """The whole document, built once for each process: not to be changed."""
    operations: Operations = {key: build for _, module in _TAGS for key, build in module.OPERATIONS.items()}
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        if route.method != "OPTIONS":
            operation = operations[route.method, route.path]()
            paths.setdefault(route.path, {})[route.method.lower()] = _secured(operation, route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lead Events", "version": VERSION, "description": _DESCRIPTION},
        # Relative to this document, which is at the root of the API, wherever that is.
        "servers": [{"url": "./"}],
        "tags": [{"name": name, "description": (module.__doc__ or "").partition("\n")[0]} for name, module in _TAGS],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "responses": responses(),
            "schemas": openapi_schemas.schemas(),
        },
    }


def _secured(operation: Schema, route: Route) -> Schema:
    found = dict(operation["responses"])
    if route.scope is not None:
        found["401"] = {"$ref": "#/components/responses/Unauthorized"}
    found["429"] = {"$ref": "#/components/responses/TooManyRequests"}
    security = [] if route.scope is None else [{"token": [str(route.scope)]}]
    return operation | {"security": security, "responses": dict(sorted(found.items()))}
