"""Binds an access token to the organisation of the client that asks for it.

Cognito calls this before it signs a token of the client-credentials grant (trigger version V3_0). The organisation of a
client is the parameter ``{prefix}/{client id}``; a client without one belongs to the platform, and its token gets no
claim, which opens nothing by itself: the API then asks for the scope ``lead-events/all-organizations``. Any other
failure of the look-up is raised, so that Cognito issues no token rather than an unbound one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lead_events import settings
from lead_events.names import ORGANIZATION_CLAIM

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

BINDING_MAX_AGE: Final = 300
"""Seconds for which a found binding is taken from memory. A missing one is looked up again every time."""


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer the event with the claim added to the access token, if the client is bound."""
    organization_id = organization_of(event["callerContext"]["clientId"])
    if organization_id is not None:
        event["response"] = {
            "claimsAndScopeOverrideDetails": {
                "accessTokenGeneration": {"claimsToAddOrOverride": {ORGANIZATION_CLAIM: organization_id}}
            }
        }
    return event


def organization_of(client_id: str) -> str | None:
    """The organisation to which a client is bound. Raises GetParameterError if that cannot be told."""
    from aws_lambda_powertools.utilities import parameters

    name = f"{settings.token_organizations_prefix()}/{client_id}"
    try:
        return str(parameters.get_parameter(name, max_age=BINDING_MAX_AGE))
    except parameters.exceptions.GetParameterError as error:
        if _is_missing(error):
            return None
        raise


def _is_missing(error: Exception) -> bool:
    """Whether Parameter Store said that there is no such parameter; Powertools wraps what boto3 raised."""
    response = getattr(error.__cause__ or error.__context__, "response", {})
    return bool(response.get("Error", {}).get("Code") == "ParameterNotFound")
