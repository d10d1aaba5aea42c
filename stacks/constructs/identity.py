"""Who may call the API: a user pool of machine-to-machine clients, or any OIDC issuer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from aws_cdk import Aws, Duration, RemovalPolicy, Stack
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from lead_events import names
from stacks.constructs.nag import exempt
from stacks.settings import M2mClient, Settings

TOKEN_VALIDITY: Final = Duration.hours(1)

_SCOPE_DESCRIPTIONS: Final = {
    names.Scope.READ: "Read events",
    names.Scope.WRITE: "Append events",
    names.Scope.ADMIN: "Repair and reprocess",
    names.Scope.ALL_ORGANIZATIONS: "Act for every organisation; for services of the platform",
}


@dataclass(frozen=True, kw_only=True)
class TokenIssuer:
    """What an authorizer has to know of an issuer of access tokens."""

    url: str
    audience: list[str]


class Identity(Construct):
    """The user pool, which has no users: its app clients get tokens by the client-credentials grant.

    A token carries the scopes of its client and, if the client is bound to an organisation, the claim
    ``organization_id``. Cognito adds claims to such tokens only through a trigger (version V3_0, plan Essentials).
    The trigger cannot be told the client ids by its environment, as the clients depend on the pool and the pool on the
    trigger; so each binding is a parameter ``{prefix}/{client id}``, which the trigger reads when a token is issued.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, trigger: lambda_.IFunction) -> None:
        super().__init__(scope, construct_id)
        self.pool = cognito.UserPool(
            self,
            "UserPool",
            self_sign_up_enabled=False,
            sign_in_case_sensitive=False,
            account_recovery=cognito.AccountRecovery.NONE,
            feature_plan=cognito.FeaturePlan.ESSENTIALS,
            password_policy=cognito.PasswordPolicy(
                min_length=16, require_digits=True, require_lowercase=True, require_symbols=True, require_uppercase=True
            ),
            deletion_protection=settings.retains,
            removal_policy=RemovalPolicy.RETAIN if settings.retains else RemovalPolicy.DESTROY,
        )
        for rule in ("AwsSolutions-COG2", "AwsSolutions-COG3", "AwsSolutions-COG8"):
            exempt(
                self.pool,
                rule,
                because="The pool has no users and nobody can sign up: machine clients alone get tokens from it, and "
                "neither MFA nor threat protection applies to client credentials.",
            )
        self.pool.add_trigger(
            cognito.UserPoolOperation.PRE_TOKEN_GENERATION_CONFIG, trigger, cognito.LambdaVersion.V3_0
        )
        # A prefix is unique in a region among all accounts.
        self.domain = self.pool.add_domain(
            "Domain",
            cognito_domain=cognito.CognitoDomainOptions(
                domain_prefix=f"{names.SERVICE}-{settings.stage}-{Aws.ACCOUNT_ID}"
            ),
        )
        self._grantable = self._resource_server()
        self._prefix = settings.token_organizations_prefix
        self.clients = {client.name: self._client(client) for client in settings.m2m_clients}

    @property
    def issuer(self) -> TokenIssuer:
        """The pool as an issuer, composed: not every CloudFormation answers the pool's ``ProviderURL``."""
        return TokenIssuer(
            url=f"https://cognito-idp.{Stack.of(self).region}.amazonaws.com/{self.pool.user_pool_id}",
            audience=[client.user_pool_client_id for client in self.clients.values()],
        )

    @property
    def token_url(self) -> str:
        """Where clients exchange their credentials for a token."""
        return f"{self.domain.base_url()}/oauth2/token"

    def _resource_server(self) -> Callable[[names.Scope], cognito.OAuthScope]:
        identifier = names.SERVICE
        scopes = {
            scope: cognito.ResourceServerScope(
                scope_name=scope.removeprefix(f"{identifier}/"), scope_description=_SCOPE_DESCRIPTIONS[scope]
            )
            for scope in names.Scope
        }
        server = self.pool.add_resource_server("Api", identifier=identifier, scopes=list(scopes.values()))
        return lambda scope: cognito.OAuthScope.resource_server(server, scopes[scope])

    def _client(self, client: M2mClient) -> cognito.UserPoolClient:
        part = pascal_case(client.name)
        app_client = self.pool.add_client(
            f"Client{part}",
            user_pool_client_name=client.name,
            generate_secret=True,
            access_token_validity=TOKEN_VALIDITY,
            auth_flows=cognito.AuthFlow(),
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(client_credentials=True),
                scopes=[self._grantable(scope) for scope in client.scopes],
            ),
        )
        if client.organization_id is not None:
            ssm.StringParameter(
                self,
                f"OrganizationOf{part}",
                parameter_name=f"{self._prefix}/{app_client.user_pool_client_id}",
                simple_name=False,
                string_value=client.organization_id,
                description=f"Organisation to which tokens of the client {client.name} are bound",
            )
        return app_client


def pascal_case(name: str) -> str:
    """``org-demo`` → ``OrgDemo``: the form of a name in logical ids and outputs."""
    return "".join(part.capitalize() for part in name.split("-"))
