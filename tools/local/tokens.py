"""Access tokens of a twin, fetched as any machine does: by the client-credentials grant of the user pool."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Final

from lead_events.names import ORGANIZATION_CLAIM
from tools.local import aws
from tools.local.config import Twin
from tools.local.console import TwinError

PLATFORM: Final = "platform"
"""Short name of the token that is bound to no organisation."""

TRIES: Final = 3
"""The pool's trigger has five seconds, in which a busy machine may not even have started it."""


def fetch(twin: Twin, outputs: dict[str, str]) -> dict[str, str]:
    """A fresh token of each machine client of the user pool, by the organisation that it is bound to.

    Raises:
        TwinError: the token endpoint refuses a client.
    """
    client = aws.cognito(twin)
    pool = outputs["UserPoolId"]
    tokens = {}
    for listed in client.list_user_pool_clients(UserPoolId=pool, MaxResults=60)["UserPoolClients"]:
        described = client.describe_user_pool_client(UserPoolId=pool, ClientId=listed["ClientId"])["UserPoolClient"]
        token = _grant(twin, described["ClientId"], described["ClientSecret"])
        tokens[organization_of(token) or PLATFORM] = token
    if PLATFORM not in tokens:
        raise TwinError(f"No machine client of user pool {pool} is free of an organisation; tokens: {sorted(tokens)}")
    return tokens


def organization_of(token: str) -> str | None:
    """The organisation that a token is bound to, read from its claims without a check of its signature."""
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims.get(ORGANIZATION_CLAIM)


def _grant(twin: Twin, client_id: str, client_secret: str) -> str:
    basic = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()
    request = urllib.request.Request(
        # Every user pool of MiniStack grants at this path of its one port; on AWS it is the pool's own domain.
        f"{twin.endpoint}/oauth2/token",
        data=urllib.parse.urlencode({"grant_type": "client_credentials"}).encode(),
        headers={"authorization": f"Basic {basic}", "content-type": "application/x-www-form-urlencoded"},
        method="POST",
    )
    refusal = ""
    for _ in range(TRIES):
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return str(json.load(response)["access_token"])
        except urllib.error.HTTPError as error:
            refusal = f"{error.code} {error.read()!r}"
    raise TwinError(f"The token endpoint refused client {client_id} {TRIES} times, last with {refusal}")
