"""Queues and bus: no message is worked on twice at once, none is lost, and only those who may can send."""

from __future__ import annotations

import json
from typing import Any

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


def test_a_message_stays_invisible_longer_than_all_retries_of_its_batch(any_stage: Synthesis) -> None:
    mappings = any_stage.resources("AWS::Lambda::EventSourceMapping")
    assert mappings
    for mapping in mappings:
        timeout = fed_function(any_stage, mapping).properties["Timeout"]
        window = mapping.properties["MaximumBatchingWindowInSeconds"]
        assert source_queue(any_stage, mapping).properties["VisibilityTimeout"] >= 6 * timeout + window


def test_local_failures_are_visible_again_after_about_a_minute(local: Synthesis) -> None:
    (mapping,) = local.resources("AWS::Lambda::EventSourceMapping")
    assert source_queue(local, mapping).properties["VisibilityTimeout"] <= 65


def test_batches_are_large_and_report_the_messages_that_failed(any_stage: Synthesis) -> None:
    (mapping,) = any_stage.resources("AWS::Lambda::EventSourceMapping")
    assert mapping.properties["BatchSize"] == 100
    assert mapping.properties["MaximumBatchingWindowInSeconds"] == 1
    assert mapping.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping.properties["ScalingConfig"]["MaximumConcurrency"] >= 2


def dead_letter_queues(synthesis: Synthesis) -> set[str]:
    """Logical ids of the queues that take what others gave up."""
    targets = [t for rule in synthesis.resources("AWS::Events::Rule") for t in rule.properties["Targets"]]
    arns: list[Any] = [target["DeadLetterConfig"]["Arn"] for target in targets]
    arns += [
        queue.properties["RedrivePolicy"]["deadLetterTargetArn"]
        for queue in synthesis.resources("AWS::SQS::Queue")
        if "RedrivePolicy" in queue.properties
    ]
    return {arn["Fn::GetAtt"][0] for arn in arns}


def test_every_queue_is_a_dead_letter_queue_or_has_one_that_keeps_longer(any_stage: Synthesis) -> None:
    queues = {queue.logical_id: queue for queue in any_stage.resources("AWS::SQS::Queue")}
    dead = dead_letter_queues(any_stage)
    assert len(dead) == 2
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
    rule = any_stage.one("AWS::Events::Rule").properties
    assert rule["EventPattern"] == {"source": [{"anything-but": [OWN_EVENT_SOURCE]}]}
    assert rule["State"] == "ENABLED"
    (target,) = rule["Targets"]
    (mapping,) = any_stage.resources("AWS::Lambda::EventSourceMapping")
    assert target["Arn"] == mapping.properties["EventSourceArn"]
    assert not {"Input", "InputPath", "InputTransformer"} & set(target)
    assert target["RetryPolicy"]["MaximumEventAgeInSeconds"] == DAY
    assert "DeadLetterConfig" in target


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


def test_named_accounts_may_send_to_the_ingest_queue_and_nothing_else(dev: Synthesis) -> None:
    allowed = [
        (policy.properties["Queues"][0]["Ref"], set(statement["Action"]))
        for policy in dev.resources("AWS::SQS::QueuePolicy")
        for statement in statements(policy.properties["PolicyDocument"])
        if SENDER in json.dumps(statement["Principal"])
    ]
    (mapping,) = dev.resources("AWS::Lambda::EventSourceMapping")
    assert allowed == [(source_queue(dev, mapping).logical_id, {"sqs:SendMessage", "sqs:GetQueueUrl"})]


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
