"""Puts the stacks together: the order in which they depend on each other, and the rules they are checked against."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import App, CliCredentialsStackSynthesizer, IStackSynthesizer, Tags, Validations
from cdk_nag import AwsSolutionsChecks

from lead_events import names
from stacks.constructs.assets import Assets
from stacks.monitoring import MonitoringStack
from stacks.services import ServicesStack
from stacks.settings import Settings
from stacks.stateful import StatefulStack


@dataclass(frozen=True, kw_only=True)
class Stacks:
    """The stacks of one stage."""

    stateful: StatefulStack
    services: ServicesStack
    monitoring: MonitoringStack


def build_app(app: App, *, settings: Settings, assets: Assets | None = None) -> Stacks:
    """Add the stacks of one stage to ``app``. They name no account or region: the credentials of a deployment do."""
    prefix = f"{names.SERVICE}-{settings.stage}"
    stateful = StatefulStack(
        app,
        f"{prefix}-stateful",
        settings=settings,
        synthesizer=_synthesizer(settings),
        termination_protection=settings.retains,
        description="Lead Events: tables, bucket, keys. Data lives here.",
    )
    services = ServicesStack(
        app,
        f"{prefix}-services",
        settings=settings,
        assets=assets or Assets.of_repository(settings),
        stateful=stateful,
        synthesizer=_synthesizer(settings),
        termination_protection=settings.retains,
        description="Lead Events: functions, queues, bus, rules, API.",
    )
    monitoring = MonitoringStack(
        app,
        f"{prefix}-monitoring",
        settings=settings,
        services=services,
        synthesizer=_synthesizer(settings),
        description="Lead Events: dashboard and alarms.",
    )
    Tags.of(app).add("service", names.SERVICE)
    Tags.of(app).add("stage", settings.stage)
    # Every synthesis is checked: a violation without a written reason fails `cdk synth` itself, not only the tests.
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, write_suppressions_to_cloud_formation=True))
    return Stacks(stateful=stateful, services=services, monitoring=monitoring)


def _synthesizer(settings: Settings) -> IStackSynthesizer | None:
    """The default, but for the local twin: with IAM enforced it does not let the bootstrap roles pass."""
    return CliCredentialsStackSynthesizer() if settings.is_local else None
