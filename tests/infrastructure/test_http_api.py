"""The HTTP API: who may call what, and who issues the tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lead_events.names import Scope
from tests.infrastructure.synthesis import Synthesis, synthesise

LEAD = "/v1/organizations/{organizationId}/leads/{leadId}"
ERASURES = "/v1/organizations/{organizationId}/erasures"
REPROCESSINGS = "/v1/organizations/{organizationId}/reprocessings"
ROUTES = {
    f"POST {LEAD}/events": Scope.WRITE,
    "POST /v1/events": Scope.WRITE,
    f"GET {LEAD}/events": Scope.READ,
    f"GET {LEAD}/events/{{eventId}}": Scope.READ,
    "GET /v1/organizations/{organizationId}/external-events/{source}/{externalEventId}": Scope.READ,
    f"GET {LEAD}/memories": Scope.READ,
    f"GET {LEAD}/memories/{{category}}": Scope.READ,
    f"POST {REPROCESSINGS}": Scope.ADMIN,
    f"GET {REPROCESSINGS}": Scope.ADMIN,
    f"GET {REPROCESSINGS}/{{reprocessingId}}": Scope.ADMIN,
    f"POST {REPROCESSINGS}/{{reprocessingId}}/{{action}}": Scope.ADMIN,
    "POST /v1/reprocessings": Scope.ADMIN,
    "GET /v1/reprocessings": Scope.ADMIN,
    "GET /v1/reprocessings/{reprocessingId}": Scope.ADMIN,
    "POST /v1/reprocessings/{reprocessingId}/{action}": Scope.ADMIN,
    "GET /v1/organizations/{organizationId}": Scope.READ,
    f"PUT {LEAD}/identities": Scope.WRITE,
    f"GET {LEAD}/identities": Scope.READ,
    "GET /v1/organizations/{organizationId}/rejected-events": Scope.READ,
    "GET /v1/organizations/{organizationId}/rejected-events/{rejectedEventId}": Scope.READ,
    f"DELETE {LEAD}": Scope.ADMIN,
    f"GET {ERASURES}": Scope.ADMIN,
    f"GET {ERASURES}/{{erasureId}}": Scope.ADMIN,
    "GET /v1/event-types": None,
    "GET /openapi.json": None,
    "GET /docs": None,
    "GET /health": None,
    "POST /v1/webhooks/{provider}/{organizationId}": None,
    "GET /v1/webhooks/{provider}/{organizationId}": None,
    "OPTIONS /v1/webhooks/{provider}/{organizationId}": None,
}
OUTPUTS = {
    "EventsTableName",
    "ClaimsTableName",
    "RawBucketName",
    "IdentitiesTableName",
    "RejectedEventsTableName",
    "MemoriesTableName",
    "ReprocessingsTableName",
    "OrganizationsTableName",
    "ErasuresTableName",
    "ErasureQueueUrl",
    "ErasureDlqUrl",
    "EraserFunctionName",
    "BillingQueueUrl",
    "BillingDlqUrl",
    "OffboardingQueueUrl",
    "OffboardingDlqUrl",
    "OrganizationsFunctionName",
    "ReprocessingQueueUrl",
    "ReprocessingDlqUrl",
    "ProjectorDlqUrl",
    "PublisherDlqUrl",
    "ProjectorFunctionName",
    "PublisherFunctionName",
    "ReprocessorFunctionName",
    "CursorSecretArn",
    "IdentitySecretArn",
    "ApiUrl",
    "ApiId",
    "EventBusName",
    "IngestQueueUrl",
    "IngestDlqUrl",
    "UndeliveredDlqUrl",
    "WebhookSecretPrefix",
    "ApiFunctionName",
    "IngestFunctionName",
    "WebhooksFunctionName",
}
POOL_OUTPUTS = {"UserPoolId", "TokenUrl", "ClientIds", "TokensFunctionName"}


@pytest.fixture(scope="module")
def oidc(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    folder: Path = tmp_path_factory.mktemp("oidc")
    return synthesise(folder, stage="dev", oidcIssuer="https://issuer.example/realm", oidcAudience="lead-events-api")


def test_routes_and_scopes_are_the_contract(any_stage: Synthesis) -> None:
    found = {}
    for route in any_stage.resources("AWS::ApiGatewayV2::Route"):
        scopes = route.properties.get("AuthorizationScopes", [])
        assert len(scopes) <= 1
        found[route.properties["RouteKey"]] = scopes[0] if scopes else None
        # A scope without an authorizer would be ignored in silence.
        assert (route.properties["AuthorizationType"] == "JWT") == bool(scopes)
        assert ("AuthorizerId" in route.properties) == bool(scopes)
    assert found == ROUTES


def test_the_webhooks_function_answers_browsers_that_ask_first(any_stage: Synthesis) -> None:
    """Origins differ by organisation: a CORS configuration of the API would answer for all of them, unasked."""
    assert "CorsConfiguration" not in any_stage.one("AWS::ApiGatewayV2::Api").properties
    targets = {
        route.properties["RouteKey"].partition(" ")[0]: json.dumps(route.properties["Target"])
        for route in any_stage.resources("AWS::ApiGatewayV2::Route")
        if "/v1/webhooks/" in route.properties["RouteKey"]
    }
    assert set(targets) == {"POST", "GET", "OPTIONS"}
    assert len(set(targets.values())) == 1


def test_tokens_are_told_apart_by_the_authorization_header(any_stage: Synthesis) -> None:
    """A cached answer for one token must never serve another: the identity source is the token itself.

    API Gateway's own JWT authorizer keeps no policy of a method, so a token that may read may write by the next call
    if it has that scope; there is no result to cache and no time-out to set.
    """
    authorizer = any_stage.one("AWS::ApiGatewayV2::Authorizer").properties
    assert authorizer["AuthorizerType"] == "JWT"
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]
    assert "AuthorizerResultTtlInSeconds" not in authorizer


def test_the_user_pool_is_the_issuer_and_its_clients_the_audience(any_stage: Synthesis) -> None:
    jwt = any_stage.one("AWS::ApiGatewayV2::Authorizer").properties["JwtConfiguration"]
    clients = {client.logical_id for client in any_stage.resources("AWS::Cognito::UserPoolClient")}
    assert clients
    assert {audience["Ref"] for audience in jwt["Audience"]} == clients
    pool = any_stage.one("AWS::Cognito::UserPool").logical_id
    assert {"Ref": pool} in jwt["Issuer"]["Fn::Join"][1]


def test_clients_get_tokens_by_their_credentials_alone(any_stage: Synthesis) -> None:
    for client in any_stage.resources("AWS::Cognito::UserPoolClient"):
        assert client.properties["AllowedOAuthFlows"] == ["client_credentials"]
        assert client.properties["GenerateSecret"] is True
        assert client.properties["AccessTokenValidity"] == 60


def test_the_resource_server_has_the_scopes_of_the_api(any_stage: Synthesis) -> None:
    server = any_stage.one("AWS::Cognito::UserPoolResourceServer").properties
    assert {f"{server['Identifier']}/{scope['ScopeName']}" for scope in server["Scopes"]} == set(Scope)


def test_clients_have_the_scopes_that_the_context_gives_them(dev: Synthesis) -> None:
    granted = {
        client.properties["ClientName"]: [part["Fn::Join"][1][1] for part in client.properties["AllowedOAuthScopes"]]
        for client in dev.resources("AWS::Cognito::UserPoolClient")
    }
    assert granted == {"platform": ["/read", "/write", "/all-organizations"], "acme": ["/read"]}


def test_bound_clients_are_bound_by_a_parameter_under_their_id(dev: Synthesis) -> None:
    parameter = dev.one("AWS::SSM::Parameter").properties
    assert parameter["Value"] == "org_acme"
    acme = dev.one("AWS::Cognito::UserPoolClient", starting="IdentityUserPoolClientAcme").logical_id
    assert parameter["Name"]["Fn::Join"][1] == ["/lead-events/dev/organization-of-client/", {"Ref": acme}]
    tokens = dev.one("AWS::Lambda::Function", starting="Tokens").properties
    prefix = tokens["Environment"]["Variables"]["TOKEN_ORGANIZATIONS_PREFIX"]
    assert prefix == "/lead-events/dev/organization-of-client"


def test_the_trigger_is_the_one_that_machine_clients_need(any_stage: Synthesis) -> None:
    pool = any_stage.one("AWS::Cognito::UserPool").properties
    trigger = pool["LambdaConfig"]["PreTokenGenerationConfig"]
    assert trigger["LambdaVersion"] == "V3_0"
    assert trigger["LambdaArn"]["Fn::GetAtt"][0].startswith("TokensFunction")
    # Below the plan Essentials Cognito does not call it for client credentials.
    assert pool["UserPoolTier"] == "ESSENTIALS"
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True


def test_any_oidc_issuer_takes_the_place_of_the_user_pool(oidc: Synthesis) -> None:
    jwt = oidc.one("AWS::ApiGatewayV2::Authorizer").properties["JwtConfiguration"]
    assert jwt == {"Issuer": "https://issuer.example/realm", "Audience": ["lead-events-api"]}
    assert oidc.resources("AWS::Cognito::UserPool") == []
    assert oidc.outputs() == OUTPUTS


def test_outputs_are_those_that_tools_read(any_stage: Synthesis) -> None:
    assert any_stage.outputs() == OUTPUTS | POOL_OUTPUTS


def test_the_stage_is_throttled_and_logged_without_personal_data(any_stage: Synthesis) -> None:
    stage = any_stage.one("AWS::ApiGatewayV2::Stage").properties
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] > 0
    assert stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] > 0
    fields = json.loads(stage["AccessLogSettings"]["Format"])
    assert "requestId" in fields
    logged = set(fields.values())
    assert not {v for v in logged if "sourceIp" in v or "userAgent" in v or "path" in v.lower() or "sub" in v}


def limits(synthesis: Synthesis) -> dict[str, tuple[int, int]]:
    """Rate and burst of each route that has a limit of its own."""
    settings = synthesis.one("AWS::ApiGatewayV2::Stage").properties["RouteSettings"]
    return {key: (each["ThrottlingRateLimit"], each["ThrottlingBurstLimit"]) for key, each in settings.items()}


def test_every_route_has_a_limit_of_its_own_and_exists_before_it(any_stage: Synthesis) -> None:
    routes = any_stage.resources("AWS::ApiGatewayV2::Route")
    assert set(limits(any_stage)) == {route.properties["RouteKey"] for route in routes}
    assert {route.logical_id for route in routes} <= set(
        any_stage.one("AWS::ApiGatewayV2::Stage").definition["DependsOn"]
    )


def test_limits_let_a_burst_through_and_stay_within_what_an_account_has(any_stage: Synthesis) -> None:
    for route, (rate, burst) in limits(any_stage).items():
        assert 1 <= rate <= burst <= 10 * rate, route
        # An account has 10 000 a second and 5 000 at once: no single route takes a quarter of them.
        assert rate < 2_500, route
        assert burst < 1_250, route


def test_the_more_a_request_sets_off_the_fewer_are_taken(prod: Synthesis) -> None:
    of = limits(prod)
    starts = [route for route, scope in ROUTES.items() if scope is Scope.ADMIN and not route.startswith("GET ")]
    looks = [route for route, scope in ROUTES.items() if scope is Scope.ADMIN and route.startswith("GET ")]
    reads = [route for route, scope in ROUTES.items() if scope is Scope.READ]
    appends = [route for route, scope in ROUTES.items() if scope is Scope.WRITE]
    documents = [route for route, scope in ROUTES.items() if scope is None and "webhooks" not in route]
    assert {f"DELETE {LEAD}", "POST /v1/reprocessings"} <= set(starts)
    assert max(of[route] for route in starts) < min(of[route] for route in looks)
    assert max(of[route] for route in looks) < min(of[route] for route in reads)
    assert max(of[route] for route in reads) < min(of[route] for route in appends)
    # Nobody shows a token for these.
    assert max(of[route] for route in documents) < min(of[route] for route in reads)
    webhook = "/v1/webhooks/{provider}/{organizationId}"
    # A provider is not slowed down below the platform; a question is asked less often than an event is sent.
    assert of[f"POST {webhook}"] >= min(of[route] for route in appends)
    assert of[f"GET {webhook}"] < of[f"OPTIONS {webhook}"] < of[f"POST {webhook}"]


def test_payloads_are_of_format_2(any_stage: Synthesis) -> None:
    integrations = any_stage.resources("AWS::ApiGatewayV2::Integration")
    assert {integration.properties["PayloadFormatVersion"] for integration in integrations} == {"2.0"}
    assert len(integrations) == 2
