"""The alarms, and the topic that carries them to an address."""

from __future__ import annotations

from typing import Final

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from stacks.services import ServicesStack

_PERIOD: Final = Duration.minutes(5)
OLDEST_MESSAGE_SECONDS: Final = 900
"""Longer than one redelivery takes (the visibility time-out): a single failed attempt wakes nobody."""

ITERATOR_AGE_MILLISECONDS: Final = 15 * 60 * 1_000
"""How far a function may be behind the streams it reads."""

API_ERRORS: Final = 5
"""Answers 5xx in five minutes; a caller's single 503 is answered by sending again."""


class Alarms(Construct):
    """An alarm for every dead-letter queue, every function, the age of queue and streams, and the API's errors."""

    def __init__(self, scope: Construct, construct_id: str, *, services: ServicesStack, email: str | None) -> None:
        super().__init__(scope, construct_id)
        self.all: list[cloudwatch.IAlarm] = []
        self._topic = self._make_topic(email) if email else None

        messaging, functions = services.messaging, services.functions
        for name, queue in messaging.dead_letters.items():
            self._alarm(
                f"{name}DlqNotEmpty",
                queue.metric_approximate_number_of_messages_visible(period=_PERIOD, statistic="Maximum"),
                threshold=1,
                description="Messages were given up: read them, repair the cause, redrive.",
            )
        self._alarm(
            "IngestQueueOld",
            messaging.ingest_queue.queue.metric_approximate_age_of_oldest_message(period=_PERIOD, statistic="Maximum"),
            threshold=OLDEST_MESSAGE_SECONDS,
            description="Events wait: the ingest function fails, is throttled or cannot keep up.",
        )
        for name, category in messaging.category_queues.items():
            self._alarm(
                f"{name.capitalize()}QueueOld",
                category.queue.metric_approximate_age_of_oldest_message(period=_PERIOD, statistic="Maximum"),
                threshold=OLDEST_MESSAGE_SECONDS,
                description="Events about organisations wait: the organizations function fails or is throttled.",
            )
        for function in functions.all:
            name = function.node.id
            self._alarm(
                f"{name}Errors",
                function.function.metric_errors(period=_PERIOD),
                threshold=1,
                description=f"The function {name.lower()} raised or timed out.",
            )
            self._alarm(
                f"{name}Throttles",
                function.function.metric_throttles(period=_PERIOD),
                threshold=1,
                description=f"The function {name.lower()} had no free concurrency.",
            )
        for function in functions.of_streams:
            name = function.node.id
            self._alarm(
                f"{name}Behind",
                function.function.metric("IteratorAge", period=_PERIOD, statistic="Maximum"),
                threshold=ITERATOR_AGE_MILLISECONDS,
                description=f"The function {name.lower()} is behind its streams, which keep a record for 24 hours.",
            )
        self._alarm(
            "ApiServerErrors",
            services.http_api.api.metric_server_error(period=_PERIOD, statistic="Sum"),
            threshold=API_ERRORS,
            description="The API answered 5xx.",
        )

    def _alarm(self, name: str, metric: cloudwatch.IMetric, *, threshold: int, description: str) -> None:
        alarm = cloudwatch.Alarm(
            self,
            name,
            metric=metric,
            threshold=threshold,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=description,
        )
        if self._topic is not None:
            alarm.add_alarm_action(actions.SnsAction(self._topic))
            alarm.add_ok_action(actions.SnsAction(self._topic))
        self.all.append(alarm)

    def _make_topic(self, email: str) -> sns.Topic:
        # A key of its own: CloudWatch cannot publish to a topic under the key that AWS manages for SNS.
        key = kms.Key(self, "TopicKey", description="Lead Events: alarm topic", enable_key_rotation=True)
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                resources=["*"],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        topic.add_subscription(subscriptions.EmailSubscription(email))
        return topic
