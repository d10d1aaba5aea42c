"""What the roles allow: nothing that changes or deletes an event, nothing by wildcard, nothing more than is used."""

from __future__ import annotations

import json

import pytest

from tests.infrastructure.synthesis import Resource, Synthesis, role_statements

FORBIDDEN = {
    "dynamodb:DeleteItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:PartiQLUpdate",
    "dynamodb:PartiQLDelete",
    "dynamodb:PartiQLInsert",
    "dynamodb:UpdateTable",
    "dynamodb:DeleteTable",
    "dynamodb:UpdateTimeToLive",
}
RUNTIME = {"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTraceSegments", "xray:PutTelemetryRecords"}
TABLE_KEY = {
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
}

STREAM = {"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"}
CONSUME = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"}
MEMORY = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}
REPROCESSING = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Query"}

EXPECTED = {
    "Api": {
        ("TablesEvents", "dynamodb:DescribeTable"),
        ("TablesMemories", "dynamodb:GetItem"),
        ("TablesMemories", "dynamodb:Query"),
        ("TablesOrganizations", "dynamodb:GetItem"),
        *(("TablesReprocessings", action) for action in REPROCESSING),
        ("ReprocessingQueue", "sqs:SendMessage"),
        ("TablesEvents", "dynamodb:PutItem"),
        ("TablesEvents", "dynamodb:GetItem"),
        ("TablesEvents", "dynamodb:Query"),
        ("TablesEvents", "dynamodb:BatchGetItem"),
        ("TablesEvents/index/event-type-index", "dynamodb:Query"),
        ("TablesEvents/index/idempotency-index", "dynamodb:Query"),
        ("TablesClaims", "dynamodb:PutItem"),
        ("TablesClaims", "dynamodb:GetItem"),
        ("TablesIdentities", "dynamodb:PutItem"),
        ("TablesIdentities", "dynamodb:BatchGetItem"),
        ("TablesIdentities/index/lead-index", "dynamodb:Query"),
        ("TablesRejectedEvents", "dynamodb:GetItem"),
        ("TablesRejectedEvents/index/last-seen-index", "dynamodb:Query"),
        ("RawBucket/organizations/*", "s3:PutObject"),
        ("RawBucket/organizations/*", "s3:GetObject"),
        ("CursorSecret", "secretsmanager:GetSecretValue"),
        ("IdentitySecret", "secretsmanager:GetSecretValue"),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Ingest": {
        ("TablesEvents", "dynamodb:PutItem"),
        ("TablesEvents", "dynamodb:GetItem"),
        ("TablesClaims", "dynamodb:PutItem"),
        ("TablesClaims", "dynamodb:GetItem"),
        ("TablesOrganizations", "dynamodb:PutItem"),
        ("TablesOrganizations", "dynamodb:GetItem"),
        ("TablesIdentities", "dynamodb:PutItem"),
        ("TablesIdentities", "dynamodb:BatchGetItem"),
        ("TablesRejectedEvents", "dynamodb:UpdateItem"),
        ("IdentitySecret", "secretsmanager:GetSecretValue"),
        ("EventBus", "events:PutEvents"),
        ("RawBucket/organizations/*", "s3:PutObject"),
        ("RawBucket/inbox/*", "s3:GetObject"),
        *(("IngestQueue", action) for action in CONSUME),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Organizations": {
        ("TablesOrganizations", "dynamodb:PutItem"),
        ("TablesOrganizations", "dynamodb:GetItem"),
        ("TablesClaims", "dynamodb:PutItem"),
        ("TablesClaims", "dynamodb:GetItem"),
        ("TablesEvents", "dynamodb:PutItem"),
        ("TablesEvents", "dynamodb:GetItem"),
        ("TablesRejectedEvents", "dynamodb:UpdateItem"),
        ("RawBucket/organizations/*", "s3:PutObject"),
        *(("BillingQueue", action) for action in CONSUME),
        *(("OffboardingQueue", action) for action in CONSUME),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Webhooks": {
        ("IngestQueue", "sqs:SendMessage"),
        ("RawBucket/inbox/*", "s3:PutObject"),
        ("secret:lead-events/{stage}/webhooks/*", "secretsmanager:GetSecretValue"),
        ("Key", "kms:Decrypt"),
        ("Key", "kms:GenerateDataKey"),
    },
    "Projector": {
        *(("TablesEvents/stream", action) for action in STREAM),
        ("TablesEvents", "dynamodb:Query"),
        *(("TablesMemories", action) for action in MEMORY),
        ("ProjectionDeadLetters", "sqs:SendMessage"),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Publisher": {
        *(("TablesEvents/stream", action) for action in STREAM),
        *(("TablesMemories/stream", action) for action in STREAM),
        ("EventBus", "events:PutEvents"),
        ("PublicationDeadLetters", "sqs:SendMessage"),
        ("Key", "kms:Decrypt"),
        ("Key", "kms:DescribeKey"),
    },
    "Reprocessor": {
        ("TablesEvents", "dynamodb:Scan"),
        ("TablesEvents", "dynamodb:Query"),
        *(("TablesMemories", action) for action in MEMORY),
        *(("TablesReprocessings", action) for action in REPROCESSING),
        ("RawBucket/organizations/*", "s3:GetObject"),
        *(("ReprocessingQueue", action) for action in {"sqs:SendMessage", *CONSUME}),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Tokens": {("parameter/lead-events/{stage}/organization-of-client/*", "ssm:GetParameter")},
}


def roles(synthesis: Synthesis) -> dict[str, Resource]:
    """The roles by the name of their function."""
    return {
        name: synthesis.one("AWS::IAM::Role", starting=f"{name}Role")
        for name in EXPECTED
        if any(role.logical_id.startswith(f"{name}Role") for role in synthesis.resources("AWS::IAM::Role"))
    }


def named(resource: object) -> str:
    """A resource of a statement in a readable form: the construct, and what was added to its ARN."""
    match resource:
        case str():
            return resource
        case {"Fn::GetAtt": [logical_id, *_]} | {"Ref": logical_id}:
            return without_hash(logical_id)
        case {"Fn::ImportValue": export}:
            name = export.partition(":ExportsOutput")[2].removeprefix("Ref").removeprefix("FnGetAtt")
            return without_hash(name) + ("/stream" if "StreamArn" in name else "")
        case {"Fn::Join": [_, [str(), *parts]]}:
            return str(parts[-1]).removeprefix(":")
        case {"Fn::Join": [_, [base, *parts]]}:
            return named(base) + "".join(parts)
    raise AssertionError(f"unknown form of a resource: {resource}")


def without_hash(logical_id: str) -> str:
    for name in (
        *("TablesEvents", "TablesClaims", "TablesIdentities", "TablesRejectedEvents"),
        *("TablesMemories", "TablesReprocessings", "TablesOrganizations", "BillingQueue", "OffboardingQueue"),
        *("RawBucket", "CursorSecret", "IdentitySecret", "IngestQueue", "EventBus", "Key"),
        *("ReprocessingQueue", "ProjectionDeadLetters", "PublicationDeadLetters"),
    ):
        if logical_id.startswith(name):
            return name
    return logical_id


@pytest.mark.parametrize("function", EXPECTED)
def test_each_function_may_do_exactly_what_it_does(function: str, any_stage: Synthesis) -> None:
    allowed = {
        (named(resource), action)
        for statement in role_statements(roles(any_stage)[function])
        for resource in statement["Resource"]
        for action in statement["Action"]
        if action not in RUNTIME
    }
    assert allowed == {(resource.format(stage=any_stage.stage), action) for resource, action in EXPECTED[function]}


def test_every_role_of_a_function_is_known_here(any_stage: Synthesis) -> None:
    assert len(roles(any_stage)) == len(EXPECTED)
    assert len(any_stage.resources("AWS::IAM::Role")) == len(EXPECTED)
    # All grants are inline: no policy is attached from elsewhere.
    assert any_stage.resources("AWS::IAM::Policy") == []
    assert any_stage.resources("AWS::IAM::ManagedPolicy") == []
    for role in any_stage.resources("AWS::IAM::Role"):
        assert "ManagedPolicyArns" not in role.properties


def test_no_role_may_change_or_delete_an_event(any_stage: Synthesis) -> None:
    """Nothing is deleted from any table; changed are the counts of rejected events and the progress of reprocessings."""
    updated = set()
    for role in any_stage.resources("AWS::IAM::Role"):
        for statement in role_statements(role):
            assert not FORBIDDEN & set(statement["Action"]), role.logical_id
            if "dynamodb:UpdateItem" in statement["Action"]:
                updated |= {named(resource) for resource in statement["Resource"]}
    assert updated == {"TablesRejectedEvents", "TablesReprocessings"}


def test_memories_are_written_by_projector_and_reprocessor_alone(any_stage: Synthesis) -> None:
    writers = {
        function
        for function, role in roles(any_stage).items()
        for statement in role_statements(role)
        if "dynamodb:PutItem" in statement["Action"]
        and any(named(resource) == "TablesMemories" for resource in statement["Resource"])
    }
    assert writers == {"Projector", "Reprocessor"}


def test_the_state_of_organisations_is_written_by_those_who_take_queue_messages_alone(any_stage: Synthesis) -> None:
    writers = {
        function
        for function, role in roles(any_stage).items()
        for statement in role_statements(role)
        if "dynamodb:PutItem" in statement["Action"]
        and any(named(resource) == "TablesOrganizations" for resource in statement["Resource"])
    }
    assert writers == {"Ingest", "Organizations"}


def test_the_identity_secret_is_read_by_those_who_resolve_leads_alone(any_stage: Synthesis) -> None:
    readers = {
        function
        for function, role in roles(any_stage).items()
        for statement in role_statements(role)
        if any(named(resource) == "IdentitySecret" for resource in statement["Resource"])
    }
    assert readers == {"Api", "Ingest"}


def test_no_role_may_delete_an_object(any_stage: Synthesis) -> None:
    for role in any_stage.resources("AWS::IAM::Role"):
        assert "s3:Delete" not in json.dumps(role.properties), role.logical_id


def test_no_action_is_a_wildcard_and_only_tracing_has_no_resource(any_stage: Synthesis) -> None:
    for role in any_stage.resources("AWS::IAM::Role"):
        for statement in role_statements(role):
            assert "NotAction" not in statement
            assert not [action for action in statement["Action"] if "*" in action], role.logical_id
            if "*" in statement["Resource"]:
                assert set(statement["Action"]) == {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}


def test_the_key_is_used_through_our_stores_alone(any_stage: Synthesis) -> None:
    found = 0
    for role in any_stage.resources("AWS::IAM::Role"):
        for statement in role_statements(role):
            if any(action.startswith("kms:") for action in statement["Action"]):
                found += 1
                assert set(statement["Condition"]["StringEquals"]) == {"kms:ViaService"}
    assert found == 7


def test_each_function_has_a_role_of_its_own(any_stage: Synthesis) -> None:
    functions = any_stage.resources("AWS::Lambda::Function")
    assert len({json.dumps(function.properties["Role"]) for function in functions}) == len(functions) == len(EXPECTED)
