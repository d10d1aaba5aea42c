"""The dashboard: is anything wrong, what comes in, what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from stacks.services import ServicesStack

_PERIOD = Duration.minutes(5)


class Dashboard(Construct):
    """One page for whoever operates the service."""

    def __init__(
        self, scope: Construct, construct_id: str, *, services: ServicesStack, alarms: Sequence[cloudwatch.IAlarm]
    ) -> None:
        super().__init__(scope, construct_id)
        api = services.http_api.api
        queue = services.messaging.ingest_queue.queue
        functions = [function.function for function in services.functions.all]
        cloudwatch.Dashboard(
            self,
            "Dashboard",
            default_interval=Duration.hours(6),
            widgets=[
                [cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=24)],
                [
                    _graph("API: requests", api.metric_count(period=_PERIOD)),
                    _graph(
                        "API: errors",
                        api.metric_client_error(period=_PERIOD, statistic="Sum"),
                        api.metric_server_error(period=_PERIOD, statistic="Sum"),
                    ),
                    _graph(
                        "API: latency (ms)",
                        api.metric_latency(period=_PERIOD, statistic="p50"),
                        api.metric_latency(period=_PERIOD, statistic="p99"),
                    ),
                ],
                [
                    _graph(
                        "Ingest queue: messages",
                        queue.metric_number_of_messages_sent(period=_PERIOD),
                        queue.metric_approximate_number_of_messages_visible(period=_PERIOD),
                    ),
                    _graph(
                        "Ingest queue: oldest message (s)",
                        queue.metric_approximate_age_of_oldest_message(period=_PERIOD, statistic="Maximum"),
                    ),
                    _graph(
                        "Dead letters",
                        *(
                            each.metric_approximate_number_of_messages_visible(period=_PERIOD, label=name.lower())
                            for name, each in services.messaging.dead_letters.items()
                        ),
                    ),
                ],
                [
                    _graph(
                        "Streams: behind by (ms)",
                        *(
                            f.function.metric("IteratorAge", period=_PERIOD, statistic="Maximum")
                            for f in services.functions.of_streams
                        ),
                    ),
                    _graph(
                        "Reprocessing: slices",
                        services.messaging.reprocessing_queue.queue.metric_number_of_messages_sent(period=_PERIOD),
                    ),
                    _graph(
                        "Erasure: messages",
                        services.messaging.erasure_queue.queue.metric_number_of_messages_sent(period=_PERIOD),
                    ),
                ],
                [
                    _graph("Functions: invocations", *(f.metric_invocations(period=_PERIOD) for f in functions)),
                    _graph("Functions: errors", *(f.metric_errors(period=_PERIOD) for f in functions)),
                    _graph(
                        "Functions: duration p99 (ms)",
                        *(f.metric_duration(period=_PERIOD, statistic="p99") for f in functions),
                    ),
                ],
            ],
        )


def _graph(title: str, *metrics: cloudwatch.IMetric) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=8)
