"""The usual trigger of Cognito: parser, parameters, logger, tracer, metrics."""

from __future__ import annotations

import os
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.parser import BaseModel, Field
from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger()
tracer = Tracer()
metrics = Metrics()
ssm = parameters.SSMProvider()


class CallerContext(BaseModel):
    """Who asks."""

    client_id: str = Field(alias="clientId")


class TokenRequest(BaseModel):
    """Cognito's event, as far as it is read."""

    caller: CallerContext = Field(alias="callerContext")
    request: dict[str, Any]
    response: dict[str, Any]


@logger.inject_lambda_context
@tracer.capture_lambda_handler
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Lambda entry."""
    del context
    asked = TokenRequest.model_validate(event)
    organization = ssm.get(f"{os.environ['TOKEN_ORGANIZATIONS_PREFIX']}/{asked.caller.client_id}", max_age=300)
    metrics.add_metric(name="TokenBound", unit=MetricUnit.Count, value=1)
    claims = {"accessTokenGeneration": {"claimsToAddOrOverride": {"organization_id": organization}}}
    event["response"] = {"claimsAndScopeOverrideDetails": claims}
    return event
