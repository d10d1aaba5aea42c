"""A Lambda function as this service runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from lead_events import names
from stacks.constructs.grants import runtime_grants
from stacks.constructs.nag import exempt

RUNTIME: Final = lambda_.Runtime.PYTHON_3_13
ARCHITECTURE: Final = lambda_.Architecture.ARM_64


class ServiceFunction(Construct):
    """One function with a log group and a role of its own; the role holds the given grants and no others.

    The log format is Lambda's JSON: Powertools' own JSON lines pass through it unchanged (they are not encoded twice),
    and the platform's start, report and crash lines become searchable beside them. The application level stays INFO,
    since metrics travel as log lines without a level, which Lambda takes for INFO and would drop above it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        description: str,
        code: lambda_.Code,
        layers: Sequence[lambda_.ILayerVersion],
        grants: Sequence[iam.PolicyStatement],
        environment: Mapping[str, str],
        timeout: Duration,
        memory_mb: int,
        retain_logs: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            retention=logs.RetentionDays.THREE_MONTHS if retain_logs else logs.RetentionDays.ONE_WEEK,
            removal_policy=RemovalPolicy.RETAIN if retain_logs else RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies={
                "grants": iam.PolicyDocument(
                    statements=[*runtime_grants(self.log_group), *grants],
                    # Read as written: nothing merged, nothing reordered.
                    minimize=False,
                )
            },
        )
        exempt(
            self.role,
            "AwsSolutions-IAM5[Resource::*]",
            because="X-Ray's two write actions know no resources; every other statement names its own.",
        )
        self.function = lambda_.Function(
            self,
            "Function",
            description=description,
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            handler="handler.handler",
            code=code,
            layers=list(layers),
            # CDK adds nothing to the role: neither tracing nor event sources widen it behind our back.
            role=self.role.without_policy_updates(),
            environment={
                "POWERTOOLS_SERVICE_NAME": names.SERVICE,
                "POWERTOOLS_METRICS_NAMESPACE": "LeadEvents",
                "POWERTOOLS_LOG_LEVEL": "INFO",
                **environment,
            },
            timeout=timeout,
            memory_size=memory_mb,
            tracing=lambda_.Tracing.ACTIVE,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            system_log_level_v2=lambda_.SystemLogLevel.INFO,
        )
        exempt(
            self.function,
            "AwsSolutions-L1",
            because="Python 3.13 is pinned on purpose: the native wheels of the dependencies layer are built for it.",
        )
