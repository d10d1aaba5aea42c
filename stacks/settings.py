"""Typed settings of the stacks, read from the CDK context (``-c key=value`` or ``cdk.json``).

=================  ============================================================================================
stage              ``local`` (the twin), ``dev`` (default; destroyed with its stacks) or ``prod`` (retained)
eventBusName       name of the event bus; default ``lead-events``, in stage dev ``lead-events-dev``, so that dev and
                   prod can share an account
retentionDays      days after which an event expires; without it events stay for ever
senderAccounts     account ids that may put events on the bus and send messages to the ingest queue
m2mClients         ``[{"name": …, "organizationId": … or null, "scopes": ["read", …]}]``: app clients of the user pool
oidcIssuer         issuer of the access tokens instead of the Cognito user pool
oidcAudience       audience (or list of them) that such tokens carry; required with ``oidcIssuer``
alarmEmail         address that hears of alarms
=================  ============================================================================================

Lists and objects may be given as JSON text, as ``-c`` hands over nothing but text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from lead_events import names

Lookup = Callable[[str], object]
"""Answers the context value of a key, or None."""


class SettingsError(ValueError):
    """A context value cannot be used; the message names its key."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"context '{key}': {problem}")
        self.key = key


class Stage(StrEnum):
    """Where a deployment runs."""

    LOCAL = "local"
    DEV = "dev"
    PROD = "prod"


@dataclass(frozen=True, kw_only=True)
class M2mClient:
    """A machine-to-machine client: bound to one organisation, or a service of the platform (``None``)."""

    name: str
    organization_id: str | None
    scopes: tuple[names.Scope, ...]


@dataclass(frozen=True, kw_only=True)
class OidcIssuer:
    """Any OIDC issuer whose tokens the API takes instead of those of the user pool."""

    url: str
    audience: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What differs between deployments."""

    stage: Stage
    event_bus_name: str
    retention_days: int | None
    sender_accounts: tuple[str, ...]
    m2m_clients: tuple[M2mClient, ...]
    oidc: OidcIssuer | None
    alarm_email: str | None

    @property
    def retains(self) -> bool:
        """Whether data outlives its stack."""
        return self.stage is Stage.PROD

    @property
    def is_local(self) -> bool:
        """Whether the stacks go to the local twin, which lacks a few resource types."""
        return self.stage is Stage.LOCAL

    @property
    def webhook_secret_prefix(self) -> str:
        """Secrets Manager prefix under which operators keep the secrets of webhook providers."""
        return f"{names.SERVICE}/{self.stage}/webhooks"

    @property
    def token_organizations_prefix(self) -> str:
        """Parameter Store prefix under which the organisation of a client id is kept."""
        return f"/{names.SERVICE}/{self.stage}/organization-of-client"


PLATFORM_CLIENT: Final = M2mClient(
    name="platform",
    organization_id=None,
    scopes=(names.Scope.READ, names.Scope.WRITE, names.Scope.ALL_ORGANIZATIONS),
)
OPERATIONS_CLIENT: Final = M2mClient(
    name="operations",
    organization_id=None,
    scopes=(names.Scope.READ, names.Scope.ADMIN, names.Scope.ALL_ORGANIZATIONS),
)
"""For people and jobs that look after the service: they start reprocessings, and append nothing."""

MAX_CLIENTS: Final = 50

_DEMO_SCOPES: Final = (names.Scope.READ, names.Scope.WRITE)

DEFAULT_CLIENTS: Final[Mapping[Stage, tuple[M2mClient, ...]]] = {
    Stage.LOCAL: (
        # One token for everything: nobody works with three on their own machine.
        replace(PLATFORM_CLIENT, scopes=tuple(names.Scope)),
        M2mClient(name="org-demo", organization_id="org_demo", scopes=_DEMO_SCOPES),
        M2mClient(name="org-other", organization_id="org_other", scopes=_DEMO_SCOPES),
    ),
    Stage.DEV: (PLATFORM_CLIENT, OPERATIONS_CLIENT),
    Stage.PROD: (PLATFORM_CLIENT, OPERATIONS_CLIENT),
}

_CLIENT_KEYS: Final = frozenset({"name", "organizationId", "scopes"})


def read_settings(lookup: Lookup) -> Settings:
    """Read the settings from the context. Raises SettingsError, which names the key, for a value it cannot use."""
    stage = _stage(lookup)
    return Settings(
        stage=stage,
        event_bus_name=_event_bus_name(lookup, stage),
        retention_days=_retention_days(lookup),
        sender_accounts=_sender_accounts(lookup),
        m2m_clients=_m2m_clients(lookup, stage),
        oidc=_oidc(lookup),
        alarm_email=_alarm_email(lookup),
    )


def _stage(lookup: Lookup) -> Stage:
    value = _text(lookup, "stage") or Stage.DEV
    if value not in set(Stage):
        raise SettingsError("stage", f"one of {', '.join(Stage)} expected, got {value!r}")
    return Stage(value)


def _event_bus_name(lookup: Lookup, stage: Stage) -> str:
    value = _text(lookup, "eventBusName")
    if value is None:
        return f"{names.EVENT_BUS_NAME}-{stage}" if stage is Stage.DEV else names.EVENT_BUS_NAME
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,256}", value) or value == "default":
        raise SettingsError("eventBusName", "letters, digits, '.', '_' and '-' expected, and not 'default'")
    return value


def _retention_days(lookup: Lookup) -> int | None:
    value = lookup("retentionDays")
    if value is None or value == "":
        return None
    if isinstance(value, str) and re.fullmatch(r"\d{1,6}", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise SettingsError("retentionDays", f"a whole number of days from 1 expected, got {value!r}")
    return value


def _sender_accounts(lookup: Lookup) -> tuple[str, ...]:
    accounts = _strings(lookup, "senderAccounts")
    for account in accounts:
        if not re.fullmatch(r"\d{12}", account):
            raise SettingsError("senderAccounts", f"account ids of 12 digits expected, got {account!r}")
    if len(set(accounts)) != len(accounts):
        raise SettingsError("senderAccounts", "an account is listed twice")
    return accounts


def _m2m_clients(lookup: Lookup, stage: Stage) -> tuple[M2mClient, ...]:
    value = _json(lookup, "m2mClients")
    if value is None:
        return DEFAULT_CLIENTS[stage]
    if not isinstance(value, list) or not value:
        raise SettingsError("m2mClients", "a list with at least one client expected")
    if len(value) > MAX_CLIENTS:
        raise SettingsError(
            "m2mClients", f"at most {MAX_CLIENTS}: an authorizer of API Gateway takes no more audiences"
        )
    clients = tuple(_m2m_client(item) for item in value)
    # Names become parts of logical ids, where only letters and digits count.
    if len({client.name.replace("-", "") for client in clients}) != len(clients):
        raise SettingsError("m2mClients", "two clients have the same name")
    return clients


def _m2m_client(item: object) -> M2mClient:
    key = "m2mClients"
    if not isinstance(item, dict) or set(item) - _CLIENT_KEYS or not {"name", "scopes"} <= set(item):
        raise SettingsError(key, f"objects with name, organizationId and scopes expected, got {item!r}")
    name, organization_id, scopes = item["name"], item.get("organizationId"), item["scopes"]
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", name):
        raise SettingsError(key, f"name: lower-case letters, digits and '-' expected, got {name!r}")
    if organization_id is not None and not (
        isinstance(organization_id, str) and re.fullmatch(names.ID_PATTERN, organization_id)
    ):
        raise SettingsError(key, f"{name}: organizationId must match {names.ID_PATTERN} or be null")
    if not isinstance(scopes, list) or not scopes:
        raise SettingsError(key, f"{name}: scopes must be a list with at least one scope")
    granted = tuple(_scope(name, scope) for scope in scopes)
    if organization_id is not None and names.Scope.ALL_ORGANIZATIONS in granted:
        raise SettingsError(key, f"{name}: bound to an organisation, so it cannot have {names.Scope.ALL_ORGANIZATIONS}")
    return M2mClient(name=name, organization_id=organization_id, scopes=granted)


def _scope(client: str, value: object) -> names.Scope:
    """A scope by its full name (``lead-events/read``) or by the part after the slash."""
    known = {form: scope for scope in names.Scope for form in (str(scope), scope.rpartition("/")[2])}
    if not isinstance(value, str) or value not in known:
        raise SettingsError("m2mClients", f"{client}: scopes are {', '.join(names.Scope)}, got {value!r}")
    return known[value]


def _oidc(lookup: Lookup) -> OidcIssuer | None:
    issuer, audience = _text(lookup, "oidcIssuer"), _strings(lookup, "oidcAudience")
    if issuer is None:
        if audience:
            raise SettingsError("oidcAudience", "given without oidcIssuer")
        return None
    if not re.fullmatch(r"https?://[^\s?#]+", issuer):
        raise SettingsError("oidcIssuer", f"an https URL without query expected, got {issuer!r}")
    if not audience:
        raise SettingsError("oidcAudience", "required with oidcIssuer")
    return OidcIssuer(url=issuer, audience=audience)


def _alarm_email(lookup: Lookup) -> str | None:
    value = _text(lookup, "alarmEmail")
    if value is not None and not re.fullmatch(r"[^@\s]+@[^@\s]+", value):
        raise SettingsError("alarmEmail", "an e-mail address expected")
    return value


def _text(lookup: Lookup, key: str) -> str | None:
    value = lookup(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise SettingsError(key, f"text expected, got {value!r}")
    return value


def _strings(lookup: Lookup, key: str) -> tuple[str, ...]:
    """A list of texts: a list, its JSON text, or texts separated by commas."""
    value = lookup(key)
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        value = _json(lookup, key) if value.startswith("[") else [part.strip() for part in value.split(",")]
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise SettingsError(key, f"a list of texts expected, got {value!r}")
    return tuple(value)


def _json(lookup: Lookup, key: str) -> object:
    value = lookup(key)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value else None
    except json.JSONDecodeError as error:
        raise SettingsError(key, f"not JSON ({error})") from None
