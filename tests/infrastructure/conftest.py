"""Each stage is synthesised once per session; every test reads the same templates."""

from __future__ import annotations

import pytest

from tests.infrastructure.synthesis import Synthesis, synthesise

SENDER = "123456789012"


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """Stage prod as `make synth` makes it: no other context."""
    return synthesise(tmp_path_factory.mktemp("prod"), stage="prod")


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """Stage dev, with everything that context can add."""
    return synthesise(
        tmp_path_factory.mktemp("dev"),
        stage="dev",
        retentionDays="30",
        senderAccounts=[SENDER],
        alarmEmail="operations@example.com",
        m2mClients=[
            {"name": "platform", "organizationId": None, "scopes": ["read", "write", "all-organizations"]},
            {"name": "acme", "organizationId": "org_acme", "scopes": ["lead-events/read"]},
        ],
    )


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """Stage local, as it is deployed onto the twin."""
    return synthesise(tmp_path_factory.mktemp("local"), stage="local")


@pytest.fixture(scope="session", params=["prod", "dev", "local"])
def any_stage(request: pytest.FixtureRequest) -> Synthesis:
    """Each stage in turn, for promises that hold in all of them."""
    synthesis: Synthesis = request.getfixturevalue(request.param)
    return synthesis
