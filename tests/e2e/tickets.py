"""Access tokens that open less than they seem to: without a scope, forged, expired."""

from __future__ import annotations

import base64
import json
import time
import urllib.parse
import urllib.request
from collections.abc import Iterable
from typing import Any

from lead_events.names import ORGANIZATION_CLAIM, Scope
from tests.e2e.client import Client

_KEPT = ("AllowedOAuthFlows", "AllowedOAuthScopes", "AllowedOAuthFlowsUserPoolClient", "ClientName", "ExplicitAuthFlows",
         "SupportedIdentityProviders", "AccessTokenValidity", "TokenValidityUnits")  # fmt: skip
"""What an app client would lose if an update did not name it."""


def claims_of(token: str) -> dict[str, Any]:
    """Claims of a token, unverified."""
    found: dict[str, Any] = json.loads(_unpacked(token.split(".")[1]))
    return found


def forged(token: str, organization: str) -> list[str]:
    """The token as somebody without the key would like it: other claims, another algorithm, another key, cut off."""
    head, body, signature = token.split(".")
    claims = json.dumps(claims_of(token) | {ORGANIZATION_CLAIM: organization, "scope": " ".join(Scope)})
    unsigned = _packed(json.dumps(json.loads(_unpacked(head)) | {"alg": "none"}))
    other_key = _packed(json.dumps(json.loads(_unpacked(head)) | {"kid": "another"}))
    return [
        f"{head}.{_packed(claims)}.{signature}",
        f"{unsigned}.{_packed(claims)}.",
        f"{unsigned}.{_packed(claims)}.{signature}",
        f"{other_key}.{body}.{signature}",
        f"{head}.{body}.{_packed('x' * 256)}",
        f"{head}.{body}",
        "forged.token.here",
        "x",
    ]


class TokenDesk:
    """Asks the user pool for tokens, as the clients that the stacks made."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._cognito = client.aws("cognito-idp")

    def narrowed(self, token: str, scopes: Iterable[str]) -> str:
        """A token of the same client with these scopes alone."""
        client_id, secret = self._credentials(token)
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "scope": " ".join(scopes)}).encode()
        basic = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
        headers = {"authorization": f"Basic {basic}", "content-type": "application/x-www-form-urlencoded"}
        request = urllib.request.Request(f"{self._client.stack['endpointUrl']}/oauth2/token", form, headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return str(json.load(response)["access_token"])

    def widened(self, token: str, scopes: Iterable[str]) -> str:
        """A token of the same client as if it had been given these scopes."""
        return self._changed(token, scopes, AllowedOAuthScopes=list(scopes))

    def expired(self, token: str) -> str:
        """A token of the same client with all its scopes, whose time is over."""
        scopes = claims_of(token)["scope"].split()
        soon = self._changed(token, scopes, AccessTokenValidity=1, TokenValidityUnits={"AccessToken": "seconds"})
        time.sleep(max(0.0, claims_of(soon)["exp"] + 1 - time.time()))
        return soon

    def _changed(self, token: str, scopes: Iterable[str], **changes: Any) -> str:
        """A token of the client as it is with these changes, which are taken back."""
        client_id, _ = self._credentials(token)
        pool = claims_of(token)["iss"].rpartition("/")[2]
        described = self._cognito.describe_user_pool_client(UserPoolId=pool, ClientId=client_id)["UserPoolClient"]
        before = {name: described[name] for name in _KEPT if described.get(name) is not None}
        self._cognito.update_user_pool_client(UserPoolId=pool, ClientId=client_id, **(before | changes))
        try:
            return self.narrowed(token, scopes)
        finally:
            self._cognito.update_user_pool_client(UserPoolId=pool, ClientId=client_id, **before)

    def _credentials(self, token: str) -> tuple[str, str]:
        claims = claims_of(token)
        pool, client_id = claims["iss"].rpartition("/")[2], claims["client_id"]
        described = self._cognito.describe_user_pool_client(UserPoolId=pool, ClientId=client_id)["UserPoolClient"]
        return client_id, described["ClientSecret"]


def _packed(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def _unpacked(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
