"""The HTTP API: routes, scopes, authorizer, access log, throttling."""

from __future__ import annotations

import json
from typing import Final

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from lead_events.names import ROUTES, SERVICE
from stacks.constructs.identity import TokenIssuer
from stacks.constructs.nag import exempt
from stacks.constructs.throttling import OPEN, limit_of

OPEN_BECAUSE: Final = {
    "api": "The contract and the health of the API are public; they show no data.",
    "webhooks": "Providers cannot fetch a token: the function checks the signature of each delivery.",
}
"""Why the routes of a function that need no scope take no token."""

ACCESS_LOG_FIELDS: Final = {
    "requestId": "$context.requestId",
    "requestTime": "$context.requestTime",
    # The route's pattern, not the path: an external id in a path may be anything.
    "routeKey": "$context.routeKey",
    "status": "$context.status",
    "responseLength": "$context.responseLength",
    "latency": "$context.responseLatency",
    "integrationLatency": "$context.integrationLatency",
    "integrationError": "$context.integrationErrorMessage",
    "authorizerError": "$context.authorizer.error",
    "clientId": "$context.authorizer.claims.client_id",
}
"""Ids only: no address, no path, no header of the caller."""


class LeadEventsApi(Construct):
    """The HTTP API in front of the functions ``api`` and ``webhooks``.

    The JWT authorizer is API Gateway's own. Its identity source is the ``Authorization`` header, so no answer is ever
    shared between tokens, and each route's scope is checked per request.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        issuer: TokenIssuer,
        api: lambda_.IFunction,
        webhooks: lambda_.IFunction,
        retain_logs: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self.api = apigateway.HttpApi(
            self, "Api", api_name=SERVICE, description="Lead Events", create_default_stage=False
        )
        self._authorizer = authorizers.HttpJwtAuthorizer(
            "Jwt",
            issuer.url,
            jwt_audience=issuer.audience,
            identity_source=["$request.header.Authorization"],
        )
        self._routes: list[apigateway.CfnRoute] = []
        self._add_routes("api", api)
        self._add_routes("webhooks", webhooks)
        self.stage = self._stage(retain_logs=retain_logs)

    def _add_routes(self, name: str, function: lambda_.IFunction) -> None:
        # One permission for the whole API: one per route would fill the function's policy, which is limited.
        integration = integrations.HttpLambdaIntegration(
            name.capitalize(),
            function,
            payload_format_version=apigateway.PayloadFormatVersion.VERSION_2_0,
            scope_permission_to_route=False,
        )
        for route in (each for each in ROUTES if each.function == name):
            authorized = route.scope is not None
            for added in self.api.add_routes(
                path=route.path,
                methods=[apigateway.HttpMethod(route.method)],
                integration=integration,
                authorizer=self._authorizer if authorized else None,
                authorization_scopes=[str(route.scope)] if authorized else None,
            ):
                route_resource = added.node.default_child
                assert isinstance(route_resource, apigateway.CfnRoute)
                self._routes.append(route_resource)
                if not authorized:
                    exempt(added, "AwsSolutions-APIG4", because=OPEN_BECAUSE[name])

    def _stage(self, *, retain_logs: bool) -> apigateway.HttpStage:
        log_group = logs.LogGroup(
            self,
            "AccessLogs",
            retention=logs.RetentionDays.THREE_MONTHS if retain_logs else logs.RetentionDays.ONE_WEEK,
            removal_policy=RemovalPolicy.RETAIN if retain_logs else RemovalPolicy.DESTROY,
        )
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            # Of a route that has no limit of its own: there is none.
            throttle=apigateway.ThrottleSettings(rate_limit=OPEN.rate, burst_limit=OPEN.burst),
        )
        resource = stage.node.default_child
        assert isinstance(resource, apigateway.CfnStage)
        self._throttle(resource)
        # Set on the resource: the construct takes log settings only as an object of an interface.
        resource.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            # Without the ":*" that the group's own attribute ends in.
            destination_arn=Stack.of(self).format_arn(
                service="logs",
                resource="log-group",
                resource_name=log_group.log_group_name,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            ),
            format=json.dumps(ACCESS_LOG_FIELDS),
        )
        return stage

    def _throttle(self, stage: apigateway.CfnStage) -> None:
        for route in self._routes:  # API Gateway refuses settings of a route that does not exist yet
            stage.add_resource_dependency(route)
        limits = {f"{route.method} {route.path}": limit_of(route) for route in ROUTES}
        # Handed to CloudFormation as it is: the names are its own, not CDK's.
        stage.route_settings = {
            key: {"ThrottlingRateLimit": limit.rate, "ThrottlingBurstLimit": limit.burst}
            for key, limit in limits.items()
        }
