"""The services stack: functions, queues, bus, rules, API."""

from __future__ import annotations

from typing import Unpack

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from stacks.constructs.assets import Assets
from stacks.constructs.http_api import LeadEventsApi
from stacks.constructs.identity import Identity, TokenIssuer
from stacks.constructs.stack_options import StackOptions
from stacks.functions import Functions
from stacks.messaging import Messaging
from stacks.settings import Settings
from stacks.stateful import StatefulStack
from stacks.timing import Timing


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
        timing = Timing.of(settings)
        self.messaging = Messaging(self, settings=settings, timing=timing)
        self.functions = Functions(
            self, settings=settings, assets=assets, stateful=stateful, messaging=self.messaging, timing=timing
        )
        self._feed(stateful)
        self.identity: Identity | None = None
        self.http_api = LeadEventsApi(
            self,
            "HttpApi",
            issuer=self._issuer(),
            api=self.functions.api.function,
            webhooks=self.functions.webhooks.function,
            retain_logs=settings.retains,
        )
        self._outputs()

    def _feed(self, stateful: StatefulStack) -> None:
        """Which function gets what of which queue and stream."""
        messaging, functions = self.messaging, self.functions
        projector, publisher = functions.projector.function, functions.publisher.function
        messaging.ingest_queue.feed(functions.ingest.function)
        for queue in messaging.category_queues.values():
            queue.feed(functions.organizations.function)
        messaging.reprocessing_queue.feed(functions.reprocessor.function)
        messaging.erasure_queue.feed(functions.eraser.function)
        # Neither hears of what is removed: an erasure is published by itself.
        messaging.projection.feed(projector, "Events", stateful.events_table, ("INSERT",))
        messaging.publication.feed(publisher, "Events", stateful.events_table, ("INSERT",))
        messaging.publication.feed(publisher, "Memories", stateful.memories_table, ("INSERT", "MODIFY"))

    def _issuer(self) -> TokenIssuer:
        oidc = self._settings.oidc
        if oidc is not None:
            return TokenIssuer(url=oidc.url, audience=list(oidc.audience))
        assert self.functions.tokens is not None
        trigger = self.functions.tokens.function
        self.identity = Identity(self, "Identity", settings=self._settings, trigger=trigger)
        return self.identity.issuer

    def _outputs(self) -> None:
        values = {
            "ApiUrl": self.http_api.stage.url,
            "ApiId": self.http_api.api.api_id,
            "EventBusName": self.messaging.event_bus.bus.event_bus_name,
            **{f"{name}QueueUrl": queue.queue_url for name, queue in self.messaging.queues.items()},
            **{f"{name}DlqUrl": queue.queue_url for name, queue in self.messaging.dead_letters.items()},
            "WebhookSecretPrefix": self._settings.webhook_secret_prefix,
            **{f"{function.node.id}FunctionName": function.function.function_name for function in self.functions.all},
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
