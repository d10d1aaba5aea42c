"""Queues and bus: no message is worked on twice at once, none is lost, and only those who may can send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lead_events.names import OWN_EVENT_SOURCE
from tests.infrastructure.conftest import SENDER
from tests.infrastructure.synthesis import Resource, Synthesis, statements

DAY = 24 * 3600


def source_queue(synthesis: Synthesis, mapping: Resource) -> Resource:
    logical_id = mapping.properties["EventSourceArn"]["Fn::GetAtt"][0]
    return next(q for q in synthesis.resources("AWS::SQS::Queue") if q.logical_id == logical_id)


def fed_function(synthesis: Synthesis, mapping: Resource) -> Resource:
    logical_id = mapping.properties["FunctionName"]["Ref"]
    return next(f for f in synthesis.resources("AWS::Lambda::Function") if f.logical_id == logical_id)


def mappings(synthesis: Synthesis, attribute: str = "Arn") -> list[Resource]:
    """The mappings of queues; of streams with ``StreamArn``."""
    found = []
    for mapping in synthesis.resources("AWS::Lambda::EventSourceMapping"):
        of_queue = "Fn::GetAtt" in mapping.properties["EventSourceArn"]
        if of_queue == (attribute == "Arn"):
            found.append(mapping)
    return found


def mapping_of(synthesis: Synthesis, function: str) -> Resource:
    """The queue's mapping that feeds ``function``."""
    [found] = [each for each in mappings(synthesis) if each.properties["FunctionName"]["Ref"].startswith(function)]
    return found


def test_a_message_stays_invisible_longer_than_all_retries_of_its_batch(any_stage: Synthesis) -> None:
    assert len(mappings(any_stage)) == 5
    for mapping in mappings(any_stage):
        timeout = fed_function(any_stage, mapping).properties["Timeout"]
        window = mapping.properties.get("MaximumBatchingWindowInSeconds", 0)
        assert source_queue(any_stage, mapping).properties["VisibilityTimeout"] >= 6 * timeout + window


def test_local_failures_are_visible_again_after_about_a_minute(local: Synthesis) -> None:
    mapping = mapping_of(local, "Ingest")
    assert source_queue(local, mapping).properties["VisibilityTimeout"] <= 65


def test_batches_are_large_and_report_the_messages_that_failed(any_stage: Synthesis) -> None:
    mapping = mapping_of(any_stage, "Ingest")
    assert mapping.properties["BatchSize"] == 100
    assert mapping.properties["MaximumBatchingWindowInSeconds"] == 1
    assert mapping.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping.properties["ScalingConfig"]["MaximumConcurrency"] >= 2


@pytest.mark.parametrize(("function", "workers"), [("Reprocessor", 10), ("Eraser", 5)])
def test_slices_of_work_are_taken_one_by_one_by_a_few_workers(
    function: str, workers: int, any_stage: Synthesis
) -> None:
    mapping = mapping_of(any_stage, function)
    assert mapping.properties["BatchSize"] == 1
    assert mapping.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert 2 <= mapping.properties["ScalingConfig"]["MaximumConcurrency"] <= workers


def test_a_record_that_fails_holds_up_nothing_for_long_and_is_given_up_to_a_queue(any_stage: Synthesis) -> None:
    streams = mappings(any_stage, "StreamArn")
    assert len(streams) == 3
    for mapping in streams:
        assert mapping.properties["StartingPosition"] == "TRIM_HORIZON"
        assert mapping.properties["BatchSize"] == 100
        assert mapping.properties["BisectBatchOnFunctionError"] is True
        assert mapping.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert 0 < mapping.properties["MaximumRetryAttempts"] <= 100
        assert 0 < mapping.properties["MaximumRecordAgeInSeconds"] < DAY
        queue = mapping.properties["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]
        assert queue in dead_letter_queues(any_stage)


def test_each_function_hears_of_what_concerns_it_alone(any_stage: Synthesis) -> None:
    heard = {
        (
            mapping.properties["FunctionName"]["Ref"].partition("Function")[0],
            "Memories" if "TablesMemories" in json.dumps(mapping.properties["EventSourceArn"]) else "Events",
        ): json.loads(mapping.properties["FilterCriteria"]["Filters"][0]["Pattern"])["eventName"]
        for mapping in mappings(any_stage, "StreamArn")
    }
    assert heard == {
        ("Projector", "Events"): ["INSERT"],
        ("Publisher", "Events"): ["INSERT"],
        ("Publisher", "Memories"): ["INSERT", "MODIFY"],
    }


def dead_letter_queues(synthesis: Synthesis) -> set[str]:
    """Logical ids of the queues that take what others gave up."""
    targets = [t for rule in synthesis.resources("AWS::Events::Rule") for t in rule.properties["Targets"]]
    arns: list[Any] = [target["DeadLetterConfig"]["Arn"] for target in targets]
    arns += [
        queue.properties["RedrivePolicy"]["deadLetterTargetArn"]
        for queue in synthesis.resources("AWS::SQS::Queue")
        if "RedrivePolicy" in queue.properties
    ]
    arns += [
        each.properties["DestinationConfig"]["OnFailure"]["Destination"] for each in mappings(synthesis, "StreamArn")
    ]
    return {arn["Fn::GetAtt"][0] for arn in arns}


def test_every_queue_is_a_dead_letter_queue_or_has_one_that_keeps_longer(any_stage: Synthesis) -> None:
    queues = {queue.logical_id: queue for queue in any_stage.resources("AWS::SQS::Queue")}
    dead = dead_letter_queues(any_stage)
    assert len(dead) == 8
    for logical_id, queue in queues.items():
        if logical_id in dead:
            assert queue.properties["MessageRetentionPeriod"] == 14 * DAY
            continue
        redrive = queue.properties["RedrivePolicy"]
        assert redrive["maxReceiveCount"] == 3
        assert queue.properties["MessageRetentionPeriod"] == 4 * DAY


def test_queues_are_encrypted_without_a_key_that_senders_would_need(any_stage: Synthesis) -> None:
    for queue in any_stage.resources("AWS::SQS::Queue"):
        assert queue.properties["SqsManagedSseEnabled"] is True
        assert "KmsMasterKeyId" not in queue.properties


def test_queues_take_no_plain_http(prod: Synthesis) -> None:
    policies = {
        policy.properties["Queues"][0]["Ref"]: policy.properties["PolicyDocument"]
        for policy in prod.resources("AWS::SQS::QueuePolicy")
    }
    for queue in prod.resources("AWS::SQS::Queue"):
        assert any(
            s["Effect"] == "Deny" and s.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
            for s in statements(policies[queue.logical_id])
        ), queue.logical_id


def test_the_rule_brings_every_event_but_our_own_to_the_ingest_queue_whole(any_stage: Synthesis) -> None:
    """But for what is told about organisations, each category of which has a rule and a queue of its own: one queue each."""
    rules = {
        rule.logical_id.removeprefix("EventBusTo")[:-8]: rule.properties
        for rule in any_stage.resources("AWS::Events::Rule")
    }
    types = {
        "Ingest": {"anything-but": {"prefix": ["billing.", "offboarding."]}},
        "Billing": {"prefix": "billing."},
        "Offboarding": {"prefix": "offboarding."},
    }
    assert set(rules) == set(types)
    queues = set()
    for name, rule in rules.items():
        assert rule["EventPattern"] == {"source": [{"anything-but": [OWN_EVENT_SOURCE]}], "detail-type": [types[name]]}
        assert rule["State"] == "ENABLED"
        (target,) = rule["Targets"]
        queues.add(target["Arn"]["Fn::GetAtt"][0])
        assert target["Arn"]["Fn::GetAtt"][0].startswith(f"{name}Queue")
        assert not {"Input", "InputPath", "InputTransformer"} & set(target)
        assert target["RetryPolicy"]["MaximumEventAgeInSeconds"] == DAY
        assert "DeadLetterConfig" in target
    fed = {each.properties["EventSourceArn"]["Fn::GetAtt"][0] for each in mappings(any_stage)}
    assert queues <= fed


def test_both_categories_feed_the_organizations_function(any_stage: Synthesis) -> None:
    fed = [each for each in mappings(any_stage) if each.properties["FunctionName"]["Ref"].startswith("Organizations")]
    assert len(fed) == 2
    for mapping in fed:
        assert mapping.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert 2 <= mapping.properties["ScalingConfig"]["MaximumConcurrency"] <= 5


def test_the_bus_keeps_an_archive_of_everything(prod: Synthesis) -> None:
    assert prod.one("AWS::Events::EventBus").properties["Name"] == "lead-events"
    archive = prod.one("AWS::Events::Archive").properties
    assert archive["SourceArn"]["Fn::GetAtt"][0] == prod.one("AWS::Events::EventBus").logical_id
    assert archive["EventPattern"] == {"source": [{"prefix": ""}]}


def test_dev_can_share_an_account_with_prod(dev: Synthesis) -> None:
    assert dev.one("AWS::Events::EventBus").properties["Name"] == "lead-events-dev"


def test_named_accounts_may_put_events_but_not_in_our_name(dev: Synthesis) -> None:
    policy = dev.one("AWS::Events::EventBusPolicy").properties["Statement"]
    assert policy["Action"] == "events:PutEvents"
    assert SENDER in json.dumps(policy["Principal"])
    assert policy["Condition"] == {"ForAllValues:StringNotEquals": {"events:source": [OWN_EVENT_SOURCE]}}


def test_named_accounts_may_send_to_the_queues_of_events_and_nothing_else(dev: Synthesis) -> None:
    allowed = [
        (policy.properties["Queues"][0]["Ref"], set(statement["Action"]))
        for policy in dev.resources("AWS::SQS::QueuePolicy")
        for statement in statements(policy.properties["PolicyDocument"])
        if SENDER in json.dumps(statement["Principal"])
    ]
    of_work = ("Reprocessor", "Eraser")
    of_events = [each for each in mappings(dev) if not each.properties["FunctionName"]["Ref"].startswith(of_work)]
    assert len(of_events) == 3
    assert {queue for queue, _ in allowed} == {source_queue(dev, mapping).logical_id for mapping in of_events}
    assert all(actions == {"sqs:SendMessage", "sqs:GetQueueUrl"} for _, actions in allowed)


def test_without_named_accounts_nobody_else_may_send(prod: Synthesis) -> None:
    assert prod.resources("AWS::Events::EventBusPolicy") == []
    for policy in prod.resources("AWS::SQS::QueuePolicy"):
        for statement in statements(policy.properties["PolicyDocument"]):
            if statement["Effect"] == "Allow":
                assert statement["Principal"] == {"Service": "events.amazonaws.com"}
                assert "aws:SourceArn" in json.dumps(statement["Condition"])


def test_local_has_only_resource_types_that_the_twin_knows(local: Synthesis) -> None:
    types = {r["Type"] for template in local.templates.values() for r in template["Resources"].values()}
    assert not types & {"AWS::Events::Archive", "AWS::Events::EventBusPolicy"}
