"""What billing and offboarding told about an organization."""

from __future__ import annotations

from typing import Final

from lead_events import openapi_schemas as shapes
from lead_events.openapi._parts import ORGANIZATION, UNGATED_REFUSALS, Operations, answer, refused
from lead_events.openapi_schemas import Schema, ref


def _get() -> Schema:
    return {
        "tags": ["Organizations"],
        "operationId": "readOrganization",
        "summary": "The state of an organization",
        "description": "Follows from its `billing.…` and `offboarding.…` events, whatever their order of arrival. 404 until "
        "the first of them. An organization that has left is still told of here; all that was below it is 410, at the "
        "latest 30 seconds later.",
        "parameters": [ORGANIZATION],
        "responses": {
            "200": answer("The state.", ref("Organization"), shapes.organization_sample()),
            **refused(*UNGATED_REFUSALS),
        },
    }


OPERATIONS: Final[Operations] = {("GET", "/v1/organizations/{organizationId}"): _get}
