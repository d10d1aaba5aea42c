"""functions/tokens: a token is bound to the organisation of its client, or not issued when that cannot be told."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import boto3
import pytest
from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.typing import LambdaContext
from moto import mock_aws

from lead_events.names import Env
from stacks.constructs.assets import ROOT

PREFIX = "/lead-events/test/organization-of-client"
BOUND, PLATFORM = "client0bound", "client1platform"


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The handler, in an account where one client is bound to an organisation."""
    for name, value in {
        Env.TOKEN_ORGANIZATIONS_PREFIX: PREFIX,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    spec = importlib.util.spec_from_file_location("tokens_handler", ROOT / "functions" / "tokens" / "handler.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parameters.clear_caches()  # type: ignore[no-untyped-call]
    with mock_aws():
        ssm = boto3.client("ssm")
        ssm.put_parameter(Name=f"{PREFIX}/{BOUND}", Value="org_acme", Type="String")
        # Powertools keeps its client from one test to the next.
        monkeypatch.setattr(parameters.base, "DEFAULT_PROVIDERS", {})
        yield module
    parameters.clear_caches()  # type: ignore[no-untyped-call]


def trigger_event(client_id: str) -> dict[str, Any]:
    """What Cognito sends for a token of the client-credentials grant (trigger version 3)."""
    return {
        "version": "3",
        "triggerSource": "TokenGeneration_ClientCredentials",
        "region": "us-east-1",
        "userPoolId": "us-east-1_x",
        "userName": "ClientCredentials",
        "callerContext": {"awsSdkVersion": "aws-sdk-unknown-unknown", "clientId": client_id},
        "request": {
            "userAttributes": {},
            "groupConfiguration": {"groupsToOverride": [], "iamRolesToOverride": [], "preferredRole": None},
            "scopes": ["lead-events/read"],
        },
        "response": {"claimsAndScopeOverrideDetails": None},
    }


def test_a_bound_client_gets_its_organization_as_a_claim(tokens: ModuleType) -> None:
    answer = tokens.handler(trigger_event(BOUND), LambdaContext())
    assert answer["response"] == {
        "claimsAndScopeOverrideDetails": {
            "accessTokenGeneration": {"claimsToAddOrOverride": {"organization_id": "org_acme"}}
        }
    }
    assert answer["callerContext"]["clientId"] == BOUND


def test_a_platform_client_gets_no_claim(tokens: ModuleType) -> None:
    answer = tokens.handler(trigger_event(PLATFORM), LambdaContext())
    assert answer["response"] == {"claimsAndScopeOverrideDetails": None}


def test_a_caller_cannot_choose_the_organization(tokens: ModuleType) -> None:
    event = trigger_event(PLATFORM)
    event["request"]["clientMetadata"] = {"organization_id": "org_acme", "clientId": BOUND}
    assert tokens.handler(event, LambdaContext())["response"] == {"claimsAndScopeOverrideDetails": None}


def test_a_failed_look_up_gives_no_token(tokens: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise parameters.exceptions.GetParameterError("AccessDeniedException")

    monkeypatch.setattr(parameters, "get_parameter", refuse)
    with pytest.raises(parameters.exceptions.GetParameterError):
        tokens.handler(trigger_event(BOUND), LambdaContext())
