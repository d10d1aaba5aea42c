"""The context: defaults, every form of every key, and errors that name the key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lead_events.names import Scope
from stacks.settings import DEFAULT_CLIENTS, M2mClient, OidcIssuer, SettingsError, Stage, read_settings


def settings(**context: object) -> Any:
    return read_settings(context.get)


def test_defaults_are_those_of_a_development_stage() -> None:
    read = settings()
    assert read.stage is Stage.DEV
    assert read.event_bus_name == "lead-events-dev"
    assert not read.retains
    assert (read.retention_days, read.sender_accounts, read.oidc, read.alarm_email) == (None, (), None, None)


@pytest.mark.parametrize(
    ("stage", "bus"), [("prod", "lead-events"), ("local", "lead-events"), ("dev", "lead-events-dev")]
)
def test_only_dev_appends_its_stage_to_the_bus(stage: str, bus: str) -> None:
    assert settings(stage=stage).event_bus_name == bus
    assert settings(stage=stage, eventBusName="sales").event_bus_name == "sales"


def test_only_prod_retains() -> None:
    assert [stage for stage in Stage if settings(stage=stage).retains] == [Stage.PROD]


@pytest.mark.parametrize("value", [30, "30"])
def test_retention_is_a_number_of_days(value: object) -> None:
    assert settings(retentionDays=value).retention_days == 30


@pytest.mark.parametrize(
    "value",
    ["123456789012,210987654321", '["123456789012", "210987654321"]', ["123456789012", "210987654321"]],
)
def test_sender_accounts_come_as_list_or_text(value: object) -> None:
    assert settings(senderAccounts=value).sender_accounts == ("123456789012", "210987654321")


def test_clients_come_as_list_or_json() -> None:
    clients = [{"name": "crm", "organizationId": "org_1", "scopes": ["read", "lead-events/write"]}]
    expected = (M2mClient(name="crm", organization_id="org_1", scopes=(Scope.READ, Scope.WRITE)),)
    assert settings(m2mClients=clients).m2m_clients == expected
    assert settings(m2mClients=json.dumps(clients)).m2m_clients == expected


def test_local_has_a_platform_client_and_two_demo_organizations() -> None:
    clients = settings(stage="local").m2m_clients
    assert [client.organization_id for client in clients] == [None, "org_demo", "org_other"]
    assert set(clients[0].scopes) == set(Scope)
    assert set(DEFAULT_CLIENTS) == set(Stage)


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_who_appends_events_does_not_administer(stage: str) -> None:
    platform, operations = settings(stage=stage).m2m_clients
    assert Scope.ADMIN in operations.scopes
    assert Scope.ADMIN not in platform.scopes
    assert Scope.WRITE not in operations.scopes


@pytest.mark.parametrize("audience", ["api", '["api"]', ["api"]])
def test_an_oidc_issuer_needs_its_audience(audience: object) -> None:
    read = settings(oidcIssuer="https://issuer.example", oidcAudience=audience)
    assert read.oidc == OidcIssuer(url="https://issuer.example", audience=("api",))


def client(**changes: object) -> list[dict[str, object]]:
    return [{"name": "crm", "organizationId": "org_1", "scopes": ["read"], **changes}]


@pytest.mark.parametrize(
    ("key", "context"),
    [
        ("stage", {"stage": "production"}),
        ("stage", {"stage": 1}),
        ("eventBusName", {"eventBusName": "default"}),
        ("eventBusName", {"eventBusName": "a b"}),
        ("retentionDays", {"retentionDays": "0"}),
        ("retentionDays", {"retentionDays": "ten"}),
        ("retentionDays", {"retentionDays": True}),
        ("retentionDays", {"retentionDays": 1.5}),
        ("senderAccounts", {"senderAccounts": "123"}),
        ("senderAccounts", {"senderAccounts": [123456789012]}),
        ("senderAccounts", {"senderAccounts": "123456789012,123456789012"}),
        ("senderAccounts", {"senderAccounts": "[oops"}),
        ("m2mClients", {"m2mClients": "{oops"}),
        ("m2mClients", {"m2mClients": []}),
        ("m2mClients", {"m2mClients": ["crm"]}),
        ("m2mClients", {"m2mClients": [{"name": "crm"}]}),
        ("m2mClients", {"m2mClients": client(name="CRM")}),
        ("m2mClients", {"m2mClients": client(organizationId="org#1")}),
        ("m2mClients", {"m2mClients": client(scopes=[])}),
        ("m2mClients", {"m2mClients": client(scopes=["everything"])}),
        ("m2mClients", {"m2mClients": client(scopes=["all-organizations"])}),
        ("m2mClients", {"m2mClients": client(organisationId="org_1")}),
        ("m2mClients", {"m2mClients": client() + client()}),
        ("m2mClients", {"m2mClients": [client(name=f"crm-{n}")[0] for n in range(51)]}),
        ("oidcIssuer", {"oidcIssuer": "issuer.example", "oidcAudience": "api"}),
        ("oidcAudience", {"oidcIssuer": "https://issuer.example"}),
        ("oidcAudience", {"oidcAudience": "api"}),
        ("alarmEmail", {"alarmEmail": "operations"}),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_its_key(key: str, context: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=f"context '{key}'") as raised:
        settings(**context)
    assert raised.value.key == key
