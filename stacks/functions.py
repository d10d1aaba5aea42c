"""The functions: what each is given to know and to do."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import ArnFormat, Duration, Fn, Stack
from aws_cdk import aws_iam as iam

from lead_events.names import INBOX_PREFIX, ORGANIZATIONS_PREFIX, Env
from stacks.constructs import grants
from stacks.constructs.assets import Assets
from stacks.constructs.function import ServiceFunction
from stacks.constructs.layers import Layers
from stacks.constructs.nag import exempt
from stacks.messaging import Messaging
from stacks.settings import Settings
from stacks.stateful import StatefulStack
from stacks.timing import Timing


class Functions:
    """Makes them in the services stack itself: their logical ids are those of its children."""

    def __init__(
        self,
        stack: Stack,
        *,
        settings: Settings,
        assets: Assets,
        stateful: StatefulStack,
        messaging: Messaging,
        timing: Timing,
    ) -> None:
        self._stack = stack
        self._settings = settings
        self._assets = assets
        self._stateful = stateful
        self._messaging = messaging
        self._timing = timing
        self._layers = Layers(stack, "Layers", assets=assets)

        self.api = self._api()
        self.ingest = self._ingest()
        self.organizations = self._organizations()
        self.webhooks = self._webhooks()
        self.projector = self._projector()
        self.publisher = self._publisher()
        self.reprocessor = self._reprocessor()
        self.eraser = self._eraser()
        self.tokens = self._tokens() if settings.oidc is None else None

    @property
    def all(self) -> list[ServiceFunction]:
        """Every function."""
        made = [
            *(self.api, self.ingest, self.organizations, self.webhooks, *self.of_streams, self.reprocessor, self.eraser)
        ]
        return made if self.tokens is None else [*made, self.tokens]

    @property
    def of_streams(self) -> list[ServiceFunction]:
        """Those that hear of changes of tables."""
        return [self.projector, self.publisher]

    def _api(self) -> ServiceFunction:
        reprocessings, erasures = self._messaging.reprocessing_queue.queue, self._messaging.erasure_queue.queue
        function = self._function(
            "api",
            description="Lead Events: appends events, reads events and memories back, assigns identities",
            statements=grants.api_grants(self._stateful, reprocessings, erasures),
            environment={
                **self._store_environment(),
                **self._reprocessing_environment(),
                Env.MEMORIES_TABLE: self._stateful.memories_table.table_name,
                Env.CURSOR_SECRET: self._stateful.cursor_secret_arn,
            },
            timeout=self._timing.api,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX)
        return function

    def _ingest(self) -> ServiceFunction:
        messaging = self._messaging
        function = self._function(
            "ingest",
            description="Lead Events: stores the events of the ingest queue, resolves their leads",
            statements=grants.ingest_grants(
                self._stateful, messaging.ingest_queue.queue, messaging.event_bus.bus, messaging.erasure_queue.queue
            ),
            environment=self._store_environment(),
            timeout=self._timing.ingest,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX, INBOX_PREFIX)
        return function

    def _organizations(self) -> ServiceFunction:
        queues = [each.queue for each in self._messaging.category_queues.values()]
        function = self._function(
            "organizations",
            description="Lead Events: keeps what billing and offboarding tell about organisations",
            statements=grants.organizations_grants(self._stateful, queues, self._messaging.erasure_queue.queue),
            environment=self._store_environment(),
            timeout=self._timing.ingest,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX)
        return function

    def _webhooks(self) -> ServiceFunction:
        prefix = self._settings.webhook_secret_prefix
        queue = self._messaging.ingest_queue.queue
        function = self._function(
            "webhooks",
            description="Lead Events: verifies deliveries of providers and queues them",
            statements=grants.webhooks_grants(self._stateful, queue, secret_prefix=prefix),
            environment={
                Env.INGEST_QUEUE_URL: queue.queue_url,
                Env.RAW_BUCKET: self._stateful.raw_bucket.bucket_name,
                Env.WEBHOOK_SECRET_PREFIX: prefix,
            },
            timeout=self._timing.api,
            memory_mb=512,
        )
        self._exempt_objects(function, INBOX_PREFIX)
        exempt(
            function.role,
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:{prefix}/*]",
            because="One secret per provider and organisation, made by operators; their names end in random letters.",
        )
        return function

    def _projector(self) -> ServiceFunction:
        dead_letters = self._messaging.projection.dead_letters
        return self._function(
            "projector",
            description="Lead Events: folds new events into lead memories",
            statements=grants.projector_grants(self._stateful, dead_letters),
            environment={
                **self._presence_environment(),
                Env.EVENTS_TABLE: self._stateful.events_table.table_name,
                Env.MEMORIES_TABLE: self._stateful.memories_table.table_name,
                Env.STREAM_DEAD_LETTERS_URL: dead_letters.queue_url,
            },
            timeout=self._timing.stream,
            memory_mb=1024,
        )

    def _publisher(self) -> ServiceFunction:
        dead_letters, bus = self._messaging.publication.dead_letters, self._messaging.event_bus.bus
        return self._function(
            "publisher",
            description="Lead Events: puts new events and changed memories on the bus",
            statements=grants.publisher_grants(self._stateful, dead_letters, bus),
            environment={
                **self._presence_environment(),
                Env.EVENT_BUS: bus.event_bus_name,
                Env.STREAM_DEAD_LETTERS_URL: dead_letters.queue_url,
            },
            timeout=self._timing.stream,
            memory_mb=512,
        )

    def _reprocessor(self) -> ServiceFunction:
        function = self._function(
            "reprocessor",
            description="Lead Events: folds the memories of many leads anew",
            statements=grants.reprocessor_grants(self._stateful, self._messaging.reprocessing_queue.queue),
            environment={
                **self._reprocessing_environment(),
                Env.EVENTS_TABLE: self._stateful.events_table.table_name,
                Env.MEMORIES_TABLE: self._stateful.memories_table.table_name,
                Env.RAW_BUCKET: self._stateful.raw_bucket.bucket_name,
            },
            timeout=self._timing.reprocessor,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX)
        return function

    def _eraser(self) -> ServiceFunction:
        messaging = self._messaging
        dead_letters = list(messaging.dead_letters_of_data.values())
        function = self._function(
            "eraser",
            description="Lead Events: deletes what there is of erased leads and organisations",
            statements=grants.eraser_grants(
                self._stateful, messaging.erasure_queue.queue, messaging.event_bus.bus, dead_letters
            ),
            environment={
                **self._store_environment(),
                Env.MEMORIES_TABLE: self._stateful.memories_table.table_name,
                Env.REPROCESSINGS_TABLE: self._stateful.reprocessings_table.table_name,
                Env.ERASURE_QUIET_SECONDS: str(int(self._timing.erasure_quiet.to_seconds())),
                Env.DEAD_LETTER_URLS: _separated(each.queue_url for each in dead_letters),
            },
            timeout=self._timing.eraser,
            memory_mb=1024,
        )
        self._exempt_objects(function, ORGANIZATIONS_PREFIX, INBOX_PREFIX)
        return function

    def _tokens(self) -> ServiceFunction:
        prefix = self._settings.token_organizations_prefix
        parameters_arn = self._stack.format_arn(
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
            timeout=self._timing.tokens,
            memory_mb=512,
        )
        exempt(
            function.role,
            "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/"
            f"{prefix.removeprefix('/')}/*]",
            because="One parameter per client; their names are client ids, known only after the pool.",
        )
        return function

    def _store_environment(self) -> dict[str, str]:
        """What whoever appends or erases events reads. All are told of the bus, but not all of them may publish."""
        environment: dict[str, str] = {
            Env.EVENTS_TABLE: self._stateful.events_table.table_name,
            Env.CLAIMS_TABLE: self._stateful.claims_table.table_name,
            Env.IDENTITIES_TABLE: self._stateful.identities_table.table_name,
            Env.REJECTED_EVENTS_TABLE: self._stateful.rejected_events_table.table_name,
            Env.ORGANIZATIONS_TABLE: self._stateful.organizations_table.table_name,
            Env.ERASURES_TABLE: self._stateful.erasures_table.table_name,
            Env.ERASURE_QUEUE_URL: self._messaging.erasure_queue.queue.queue_url,
            Env.IDENTITY_SECRET: self._stateful.identity_secret_arn,
            Env.RAW_BUCKET: self._stateful.raw_bucket.bucket_name,
            Env.EVENT_BUS: self._messaging.event_bus.bus.event_bus_name,
        }
        if self._settings.retention_days is not None:
            environment[Env.RETENTION_DAYS] = str(self._settings.retention_days)
        return environment

    def _presence_environment(self) -> dict[str, str]:
        """Where to see whether what a stream tells of was erased since."""
        return {
            Env.ORGANIZATIONS_TABLE: self._stateful.organizations_table.table_name,
            Env.ERASURES_TABLE: self._stateful.erasures_table.table_name,
        }

    def _reprocessing_environment(self) -> dict[str, str]:
        return {
            Env.REPROCESSINGS_TABLE: self._stateful.reprocessings_table.table_name,
            Env.REPROCESSING_QUEUE_URL: self._messaging.reprocessing_queue.queue.queue_url,
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
            self._stack,
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
        arn = self._stateful.export_value(self._stateful.raw_bucket.bucket_arn)
        export = self._stack.resolve(arn)["Fn::ImportValue"]
        for prefix in prefixes:
            exempt(
                function.role,
                f"AwsSolutions-IAM5[Resource::{export}/{prefix}*]",
                because="Objects are named after events; the prefix is as exact as the grant can be.",
            )


def _separated(urls: Iterable[str]) -> str:
    return Fn.join(" ", list(urls))
