"""The services stack: functions, queues, bus, rules, API."""

from __future__ import annotations

from typing import Final, Unpack

from aws_cdk import ArnFormat, CfnOutput, Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from lead_events.names import INBOX_PREFIX, ORGANIZATIONS_PREFIX, Env, OrganizationCategory
from stacks.constructs import grants
from stacks.constructs.assets import Assets
from stacks.constructs.event_bus import EventBus
from stacks.constructs.function import ServiceFunction
from stacks.constructs.http_api import LeadEventsApi
from stacks.constructs.identity import Identity, TokenIssuer
from stacks.constructs.ingest_queue import IngestQueue
from stacks.constructs.layers import Layers
from stacks.constructs.nag import exempt
from stacks.constructs.organization_queue import OrganizationQueue
from stacks.constructs.reprocessing_queue import ReprocessingQueue
from stacks.constructs.stack_options import StackOptions
from stacks.constructs.table_stream import StreamConsumer
from stacks.settings import OidcIssuer, Settings
from stacks.stateful import StatefulStack

API_TIMEOUT: Final = Duration.seconds(20)
"""Below the 30 s after which API Gateway gives up."""

INGEST_TIMEOUT: Final = Duration.seconds(60)
STREAM_TIMEOUT: Final = Duration.seconds(120)
"""A batch takes less than a second, but a lead with a great many events may have to be read whole."""
REPROCESSOR_TIMEOUT: Final = Duration.seconds(300)
"""A slice takes some seconds; its last lead is finished, however many events it has."""
TOKENS_TIMEOUT: Final = Duration.seconds(5)
"""Cognito waits no longer for a trigger."""

LOCAL_REPROCESSOR_TIMEOUT: Final = Duration.seconds(30)
LOCAL_TIMEOUT: Final = Duration.seconds(10)
"""On the local twin a failed message is visible again after about a minute, not six."""


class ServicesStack(Stack):
    """Everything that can be thrown away and deployed again."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        assets: Assets,
        stateful: StatefulStack,
        **options: Unpack[StackOptions],
    ) -> None:
        super().__init__(scope, construct_id, **options)
        self._settings = settings
        self._assets = assets
        self._stateful = stateful
        self._layers = Layers(self, "Layers", assets=assets)

        ingest_timeout = LOCAL_TIMEOUT if settings.is_local else INGEST_TIMEOUT
        self.ingest_queue = IngestQueue(
            self,
            "IngestQueue",
            function_timeout=ingest_timeout,
            senders=settings.sender_accounts,
            require_tls=not settings.is_local,
        )
        self.category_queues = {
            category: OrganizationQueue(
                self,
                f"{category.capitalize()}Queue",
                function_timeout=ingest_timeout,
                senders=settings.sender_accounts,
                require_tls=not settings.is_local,
            )
            for category in OrganizationCategory
        }
        self.event_bus = EventBus(
            self,
            "EventBus",
            name=settings.event_bus_name,
            senders=settings.sender_accounts,
            queue=self.ingest_queue.queue,
            category_queues={category: each.queue for category, each in self.category_queues.items()},
            local=settings.is_local,
        )
        reprocessor_timeout = LOCAL_REPROCESSOR_TIMEOUT if settings.is_local else REPROCESSOR_TIMEOUT
        self.reprocessing_queue = ReprocessingQueue(
            self, "ReprocessingQueue", function_timeout=reprocessor_timeout, require_tls=not settings.is_local
        )
        self.projection = StreamConsumer(self, "Projection", local=settings.is_local)
        self.publication = StreamConsumer(self, "Publication", local=settings.is_local)

        self.api_function = self._api_function()
        self.ingest_function = self._ingest_function(ingest_timeout)
        self.organizations_function = self._organizations_function(ingest_timeout)
        self.webhooks_function = self._webhooks_function()
        self.projector_function = self._projector_function()
        self.publisher_function = self._publisher_function()
        self.reprocessor_function = self._reprocessor_function(reprocessor_timeout)
        self.stream_functions = [self.projector_function, self.publisher_function]
        self.functions = [
            self.api_function,
            self.ingest_function,
            self.organizations_function,
            self.webhooks_function,
            *self.stream_functions,
            self.reprocessor_function,
        ]
        self.ingest_queue.feed(self.ingest_function.function)
        for queue in self.category_queues.values():
            queue.feed(self.organizations_function.function)
        self.reprocessing_queue.feed(self.reprocessor_function.function)
        self.projection.feed(self.projector_function.function, "Events", stateful.events_table, ("INSERT",))
        self.publication.feed(self.publisher_function.function, "Events", stateful.events_table, ("INSERT",))
        self.publication.feed(
            self.publisher_function.function, "Memories", stateful.memories_table, ("INSERT", "MODIFY")
        )

        self.http_api = LeadEventsApi(
            self,
            "HttpApi",
            issuer=self._issuer(settings.oidc),
            api=self.api_function.function,
            webhooks=self.webhooks_function.function,
            retain_logs=settings.retains,
        )
        self._outputs()

    def _api_function(self) -> ServiceFunction:
        function = self._function(
            "api",
            description="Lead Events: appends events, reads events and memories back, assigns identities",
            statements=grants.api_grants(self._stateful, self.reprocessing_queue.queue),
            environment={
                **self._store_environment(),
                **self._reprocessing_environment(),
                Env.MEMORIES_TABLE: self._stateful.memories_table.table_name,
                Env.CURSOR_SECRET: self._stateful.cursor_secret_arn,
            },
            timeout=API_TIMEOUT,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX)
        return function

    def _ingest_function(self, timeout: Duration) -> ServiceFunction:
        function = self._function(
            "ingest",
            description="Lead Events: stores the events of the ingest queue, resolves their leads",
            statements=grants.ingest_grants(self._stateful, self.ingest_queue.queue, self.event_bus.bus),
            environment=self._store_environment(),
            timeout=timeout,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX, INBOX_PREFIX)
        return function

    def _organizations_function(self, timeout: Duration) -> ServiceFunction:
        queues = [each.queue for each in self.category_queues.values()]
        function = self._function(
            "organizations",
            description="Lead Events: keeps what billing and offboarding tell about organisations",
            statements=grants.organizations_grants(self._stateful, queues),
            environment=self._store_environment(),
            timeout=timeout,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX)
        return function

    def _webhooks_function(self) -> ServiceFunction:
        prefix = self._settings.webhook_secret_prefix
        function = self._function(
            "webhooks",
            description="Lead Events: verifies deliveries of providers and queues them",
            statements=grants.webhooks_grants(self._stateful, self.ingest_queue.queue, secret_prefix=prefix),
            environment={
                Env.INGEST_QUEUE_URL: self.ingest_queue.queue.queue_url,
                Env.RAW_BUCKET: self._stateful.raw_bucket.bucket_name,
                Env.WEBHOOK_SECRET_PREFIX: prefix,
            },
            timeout=API_TIMEOUT,
            memory_mb=512,
        )
        self._exempt_objects(function, INBOX_PREFIX)
        exempt(
            function.role,
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:{prefix}/*]",
            because="One secret per provider and organisation, made by operators; their names end in random letters.",
        )
        return function

    def _projector_function(self) -> ServiceFunction:
        return self._function(
            "projector",
            description="Lead Events: folds new events into lead memories",
            statements=grants.projector_grants(self._stateful, self.projection.dead_letters),
            environment={
                Env.EVENTS_TABLE: self._stateful.events_table.table_name,
                Env.MEMORIES_TABLE: self._stateful.memories_table.table_name,
                Env.STREAM_DEAD_LETTERS_URL: self.projection.dead_letters.queue_url,
            },
            timeout=STREAM_TIMEOUT,
            memory_mb=1024,
        )

    def _publisher_function(self) -> ServiceFunction:
        return self._function(
            "publisher",
            description="Lead Events: puts new events and changed memories on the bus",
            statements=grants.publisher_grants(self._stateful, self.publication.dead_letters, self.event_bus.bus),
            environment={
                Env.EVENT_BUS: self.event_bus.bus.event_bus_name,
                Env.STREAM_DEAD_LETTERS_URL: self.publication.dead_letters.queue_url,
            },
            timeout=STREAM_TIMEOUT,
            memory_mb=512,
        )

    def _reprocessor_function(self, timeout: Duration) -> ServiceFunction:
        function = self._function(
            "reprocessor",
            description="Lead Events: folds the memories of many leads anew",
            statements=grants.reprocessor_grants(self._stateful, self.reprocessing_queue.queue),
            environment={
                **self._reprocessing_environment(),
                Env.EVENTS_TABLE: self._stateful.events_table.table_name,
                Env.MEMORIES_TABLE: self._stateful.memories_table.table_name,
                Env.RAW_BUCKET: self._stateful.raw_bucket.bucket_name,
            },
            timeout=timeout,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX)
        return function

    def _tokens_function(self) -> ServiceFunction:
        prefix = self._settings.token_organizations_prefix
        parameters_arn = self.format_arn(
            service="ssm",
            resource="parameter",
            resource_name=f"{prefix.removeprefix('/')}/*",
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        function = self._function(
            "tokens",
            description="Lead Events: binds access tokens to the organisation of their client",
            statements=grants.tokens_grants(parameters_arn),
            environment={Env.TOKEN_ORGANIZATIONS_PREFIX: prefix},
            timeout=TOKENS_TIMEOUT,
            memory_mb=512,
        )
        exempt(
            function.role,
            "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/"
            f"{prefix.removeprefix('/')}/*]",
            because="One parameter per client; their names are client ids, known only after the pool.",
        )
        return function

    def _issuer(self, oidc: OidcIssuer | None) -> TokenIssuer:
        self.identity: Identity | None = None
        if oidc is not None:
            return TokenIssuer(url=oidc.url, audience=list(oidc.audience))
        self.tokens_function = self._tokens_function()
        self.functions.append(self.tokens_function)
        self.identity = Identity(self, "Identity", settings=self._settings, trigger=self.tokens_function.function)
        return self.identity.issuer

    def _store_environment(self) -> dict[str, str]:
        """What whoever appends events reads. All of them are told of the bus, but only ``ingest`` may publish."""
        environment: dict[str, str] = {
            Env.EVENTS_TABLE: self._stateful.events_table.table_name,
            Env.CLAIMS_TABLE: self._stateful.claims_table.table_name,
            Env.IDENTITIES_TABLE: self._stateful.identities_table.table_name,
            Env.REJECTED_EVENTS_TABLE: self._stateful.rejected_events_table.table_name,
            Env.ORGANIZATIONS_TABLE: self._stateful.organizations_table.table_name,
            Env.IDENTITY_SECRET: self._stateful.identity_secret_arn,
            Env.RAW_BUCKET: self._stateful.raw_bucket.bucket_name,
            Env.EVENT_BUS: self.event_bus.bus.event_bus_name,
        }
        if self._settings.retention_days is not None:
            environment[Env.RETENTION_DAYS] = str(self._settings.retention_days)
        return environment

    def _reprocessing_environment(self) -> dict[str, str]:
        return {
            Env.REPROCESSINGS_TABLE: self._stateful.reprocessings_table.table_name,
            Env.REPROCESSING_QUEUE_URL: self.reprocessing_queue.queue.queue_url,
        }

    def _function(
        self,
        name: str,
        *,
        description: str,
        statements: list[iam.PolicyStatement],
        environment: dict[str, str],
        timeout: Duration,
        memory_mb: int,
    ) -> ServiceFunction:
        return ServiceFunction(
            self,
            name.capitalize(),
            description=description,
            code=self._assets.function_code(name),
            layers=self._layers.all,
            grants=statements,
            environment={Env.STAGE: self._settings.stage, **environment},
            timeout=timeout,
            memory_mb=memory_mb,
            retain_logs=self._settings.retains,
        )

    def _exempt_objects(self, function: ServiceFunction, *prefixes: str) -> None:
        # cdk-nag names a resource of another stack by the export through which its ARN comes.
        export = self.resolve(self._stateful.export_value(self._stateful.raw_bucket.bucket_arn))["Fn::ImportValue"]
        for prefix in prefixes:
            exempt(
                function.role,
                f"AwsSolutions-IAM5[Resource::{export}/{prefix}*]",
                because="Objects are named after events; the prefix is as exact as the grant can be.",
            )

    def _outputs(self) -> None:
        values = {
            "ApiUrl": self.http_api.stage.url,
            "ApiId": self.http_api.api.api_id,
            "EventBusName": self.event_bus.bus.event_bus_name,
            "IngestQueueUrl": self.ingest_queue.queue.queue_url,
            "IngestDlqUrl": self.ingest_queue.dead_letters.queue_url,
            **{f"{name.capitalize()}QueueUrl": each.queue.queue_url for name, each in self.category_queues.items()},
            **{
                f"{name.capitalize()}DlqUrl": each.dead_letters.queue_url for name, each in self.category_queues.items()
            },
            "ReprocessingQueueUrl": self.reprocessing_queue.queue.queue_url,
            "ReprocessingDlqUrl": self.reprocessing_queue.dead_letters.queue_url,
            "ProjectorDlqUrl": self.projection.dead_letters.queue_url,
            "PublisherDlqUrl": self.publication.dead_letters.queue_url,
            "UndeliveredDlqUrl": self.event_bus.undelivered.queue_url,
            "WebhookSecretPrefix": self._settings.webhook_secret_prefix,
            **{f"{function.node.id}FunctionName": function.function.function_name for function in self.functions},
        }
        if self.identity is not None:
            clients = {name: client.user_pool_client_id for name, client in self.identity.clients.items()}
            values |= {
                "UserPoolId": self.identity.pool.user_pool_id,
                "TokenUrl": self.identity.token_url,
                "ClientIds": self.to_json_string(clients),
            }
        for name, value in values.items():
            CfnOutput(self, name, value=value)
