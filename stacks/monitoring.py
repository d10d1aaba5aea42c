"""The monitoring stack: one dashboard, and an alarm for everything that needs somebody."""

from __future__ import annotations

from typing import Unpack

from aws_cdk import Stack
from constructs import Construct

from stacks.constructs.alarms import Alarms
from stacks.constructs.dashboard import Dashboard
from stacks.constructs.stack_options import StackOptions
from stacks.services import ServicesStack
from stacks.settings import Settings


class MonitoringStack(Stack):
    """Dashboard and alarms over the services stack."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        services: ServicesStack,
        **options: Unpack[StackOptions],
    ) -> None:
        super().__init__(scope, construct_id, **options)
        alarms = Alarms(self, "Alarms", services=services, email=settings.alarm_email)
        Dashboard(self, "Dashboard", services=services, alarms=alarms.all)
