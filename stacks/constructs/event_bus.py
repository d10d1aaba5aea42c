"""The event bus, and the rules that bring other domains' events to our queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from lead_events.names import OWN_EVENT_SOURCE, OrganizationCategory
from stacks.constructs.nag import exempt
from stacks.constructs.service_queue import DLQ_RETENTION, ServiceQueue

ARCHIVE_RETENTION: Final = Duration.days(35)
"""As long as the tables' backups: EventBridge removes no single events, so what an erasure cannot reach is gone by then."""


class EventBus(Construct):
    """The bus with an archive, open to the named accounts, and the rules: each event goes to one queue.

    The local twin's CloudFormation knows neither archives nor bus policies; stage ``local`` goes without them.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        senders: tuple[str, ...],
        queue: sqs.IQueue,
        category_queues: Mapping[OrganizationCategory, sqs.IQueue],
        local: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self.bus = events.EventBus(self, "Bus", event_bus_name=name)
        if not local:
            self.bus.archive(
                "Archive",
                description="All events of the bus, for replays",
                event_pattern=events.EventPattern(source=events.Match.prefix("")),  # every event has one
                retention=ARCHIVE_RETENTION,
            )
            self._open_to(senders)
        self.undelivered = ServiceQueue(self, "Undelivered", retention_period=DLQ_RETENTION, require_tls=not local)
        exempt(
            self.undelivered,
            "AwsSolutions-SQS3",
            because="It is itself the dead-letter queue, of the rule's target; cdk-nag knows those of queues only.",
        )
        prefixes = {category: f"{category}." for category in category_queues}
        self._rule(
            "ToIngest",
            "Events of other domains, whole, to the ingest queue",
            events.Match.anything_but_prefix(*prefixes.values()),
            queue,
        )
        for category, category_queue in category_queues.items():
            self._rule(
                f"To{category.capitalize()}",
                f"What {category} tells about organisations, whole, to its queue",
                events.Match.prefix(prefixes[category]),
                category_queue,
            )

    def _rule(self, construct_id: str, description: str, detail_type: list[str], queue: sqs.IQueue) -> None:
        events.Rule(
            self,
            construct_id,
            description=description,
            event_bus=self.bus,
            # Replays from the archive pass too: an event that is already stored is recognised as a duplicate.
            event_pattern=events.EventPattern(
                source=events.Match.anything_but(OWN_EVENT_SOURCE), detail_type=detail_type
            ),
            targets=[
                targets.SqsQueue(
                    queue, dead_letter_queue=self.undelivered, max_event_age=Duration.hours(24), retry_attempts=185
                )
            ],
        )

    def _open_to(self, senders: tuple[str, ...]) -> None:
        for account in senders:
            self.bus.add_to_resource_policy(
                iam.PolicyStatement(
                    sid=f"Sender{account}",
                    principals=[iam.AccountPrincipal(account)],
                    actions=["events:PutEvents"],
                    resources=[self.bus.event_bus_arn],
                    # Nobody else speaks in our name.
                    conditions={"ForAllValues:StringNotEquals": {"events:source": [OWN_EVENT_SOURCE]}},
                )
            )
