"""The alarms: whatever needs somebody calls for somebody."""

from __future__ import annotations

import json

from tests.infrastructure.synthesis import Resource, Synthesis
from tests.infrastructure.test_messaging import dead_letter_queues, mapping_of, source_queue

ALARM = "AWS::CloudWatch::Alarm"


def watched(alarms: list[Resource], metric: str) -> list[str]:
    """What the alarms on a metric watch, as text."""
    return [json.dumps(a.properties["Dimensions"]) for a in alarms if a.properties["MetricName"] == metric]


def test_every_dead_letter_queue_has_an_alarm(any_stage: Synthesis) -> None:
    alarms = watched(any_stage.resources(ALARM), "ApproximateNumberOfMessagesVisible")
    queues = dead_letter_queues(any_stage)
    assert len(alarms) == len(queues)
    for queue in queues:
        assert any(queue in alarm for alarm in alarms), queue


def test_every_function_has_alarms_for_errors_and_throttles(any_stage: Synthesis) -> None:
    for function in any_stage.resources("AWS::Lambda::Function"):
        for metric in ("Errors", "Throttles"):
            alarms = watched(any_stage.resources(ALARM), metric)
            assert any(function.logical_id in alarm for alarm in alarms), (function.logical_id, metric)


def test_waiting_events_and_server_errors_raise_an_alarm(any_stage: Synthesis) -> None:
    assert len(watched(any_stage.resources(ALARM), "5xx")) == 1
    ages = [a for a in any_stage.resources(ALARM) if a.properties["MetricName"] == "ApproximateAgeOfOldestMessage"]
    assert [a.logical_id[:-8] for a in ages] == [
        "AlarmsIngestQueueOld",
        "AlarmsBillingQueueOld",
        "AlarmsOffboardingQueueOld",
    ]
    visibility = source_queue(any_stage, mapping_of(any_stage, "Ingest")).properties["VisibilityTimeout"]
    # One failed attempt is no alarm.
    assert all(age.properties["Threshold"] > visibility for age in ages)


def test_silence_is_no_alarm(any_stage: Synthesis) -> None:
    for alarm in any_stage.resources(ALARM):
        assert alarm.properties["TreatMissingData"] == "notBreaching"
        assert alarm.properties["AlarmDescription"]


def test_a_function_that_is_behind_its_streams_raises_an_alarm(any_stage: Synthesis) -> None:
    alarms = watched(any_stage.resources(ALARM), "IteratorAge")
    assert len(alarms) == 2
    for name in ("Projector", "Publisher"):
        assert any(f"{name}Function" in alarm for alarm in alarms)


def test_alarms_reach_the_address_over_an_encrypted_topic(dev: Synthesis) -> None:
    topic = dev.one("AWS::SNS::Topic")
    key = dev.one("AWS::KMS::Key", starting="AlarmsTopicKey")
    assert topic.properties["KmsMasterKeyId"]["Fn::GetAtt"][0] == key.logical_id
    assert "cloudwatch.amazonaws.com" in json.dumps(key.properties["KeyPolicy"])
    assert dev.one("AWS::SNS::Subscription").properties["Endpoint"] == "operations@example.com"
    for alarm in dev.resources(ALARM):
        assert alarm.properties["AlarmActions"] == [{"Ref": topic.logical_id}]


def test_without_an_address_there_is_no_topic(prod: Synthesis) -> None:
    assert prod.resources("AWS::SNS::Topic") == []


def test_there_is_one_dashboard(any_stage: Synthesis) -> None:
    assert any_stage.one("AWS::CloudWatch::Dashboard")
