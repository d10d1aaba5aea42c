"""What the roles allow: nothing that changes an event, nothing by wildcard, nothing more than is used."""

from __future__ import annotations

import json

import pytest

from tests.infrastructure.expected_grants import EXPECTED, allowed, named, roles
from tests.infrastructure.synthesis import Synthesis, role_statements, statements

VIA = {
    "Api": {"dynamodb", "s3"},
    "Ingest": {"dynamodb", "s3"},
    "Organizations": {"dynamodb", "s3"},
    "Webhooks": {"s3"},
    "Projector": {"dynamodb"},
    "Publisher": {"dynamodb"},
    "Reprocessor": {"dynamodb", "s3"},
    "Eraser": {"dynamodb", "s3"},
    "Tokens": set[str](),
}
"""Through which services the key is used, by whom."""


@pytest.mark.parametrize("function", EXPECTED)
def test_each_function_may_do_exactly_what_it_does(function: str, any_stage: Synthesis) -> None:
    expected = {(resource.format(stage=any_stage.stage), action) for resource, action in EXPECTED[function]}
    assert allowed(roles(any_stage)[function]) == expected


def test_every_role_of_a_function_is_known_here(any_stage: Synthesis) -> None:
    assert len(roles(any_stage)) == len(EXPECTED)
    assert len(any_stage.resources("AWS::IAM::Role")) == len(EXPECTED)
    # All grants are inline: no policy is attached from elsewhere.
    assert any_stage.resources("AWS::IAM::Policy") == []
    assert any_stage.resources("AWS::IAM::ManagedPolicy") == []
    for role in any_stage.resources("AWS::IAM::Role"):
        assert "ManagedPolicyArns" not in role.properties


def test_the_roles_are_for_lambda_alone(any_stage: Synthesis) -> None:
    for role in any_stage.resources("AWS::IAM::Role"):
        [trust] = statements(role.properties["AssumeRolePolicyDocument"])
        assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}


def test_the_eraser_alone_deletes(any_stage: Synthesis) -> None:
    deletions = {
        (function, action)
        for function, role in roles(any_stage).items()
        for _, action in allowed(role)
        if "Delete" in action and action != "sqs:DeleteMessage"
    }
    assert deletions == {("Eraser", "dynamodb:DeleteItem"), ("Eraser", "s3:DeleteObject")}


def test_the_eraser_writes_neither_events_nor_memories_nor_objects(any_stage: Synthesis) -> None:
    writes = {
        resource
        for resource, action in allowed(roles(any_stage)["Eraser"])
        if action in ("dynamodb:PutItem", "dynamodb:UpdateItem", "s3:PutObject")
    }
    tombstones = {"TablesClaims", "TablesIdentities", "TablesRejectedEvents"}
    assert writes == tombstones | {"TablesOrganizations", "TablesReprocessings", "TablesErasures"}


def test_the_eraser_lists_the_objects_of_two_prefixes_alone(any_stage: Synthesis) -> None:
    [listing] = [s for s in role_statements(roles(any_stage)["Eraser"]) if s["Action"] == ["s3:ListBucket"]]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["organizations/*", "inbox/*"]}}


def test_no_role_may_change_an_event_a_claim_or_a_memory_in_place(any_stage: Synthesis) -> None:
    """Changed are counts of deliveries, progress, life cycles; an identity is given its lead, once and for all."""
    updated = {
        resource
        for role in roles(any_stage).values()
        for resource, action in allowed(role)
        if action == "dynamodb:UpdateItem"
    }
    assert not updated & {"TablesEvents", "TablesClaims", "TablesMemories"}


def test_no_action_is_a_wildcard_and_only_tracing_has_no_resource(any_stage: Synthesis) -> None:
    for role in any_stage.resources("AWS::IAM::Role"):
        for statement in role_statements(role):
            assert not {"NotAction", "NotResource"} & set(statement)
            assert not [action for action in statement["Action"] if "*" in action], role.logical_id
            if "*" in statement["Resource"]:
                assert set(statement["Action"]) == {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}


def test_every_wildcard_in_a_resource_has_a_reason(any_stage: Synthesis) -> None:
    for role in any_stage.resources("AWS::IAM::Role"):
        rules = role.definition["Metadata"]["cdk_nag"]["rules_to_suppress"]
        exempted = [rule["id"] for rule in rules if rule["reason"]]
        wild = {
            named(resource)
            for statement in role_statements(role)
            for resource in statement["Resource"]
            if "*" in named(resource)
        }
        assert len(exempted) == len(wild), role.logical_id
        for resource in wild:
            ending = resource.partition("/")[2] or resource
            assert any(rule.endswith(f"{ending}]") for rule in exempted), (role.logical_id, resource)


@pytest.mark.parametrize("function", EXPECTED)
def test_the_key_is_used_through_the_stores_that_a_function_uses_alone(function: str, any_stage: Synthesis) -> None:
    through = []
    for statement in role_statements(roles(any_stage)[function]):
        if any(action.startswith("kms:") for action in statement["Action"]):
            assert set(statement["Condition"]) == {"StringEquals"}
            assert set(statement["Condition"]["StringEquals"]) == {"kms:ViaService"}
            services = statement["Condition"]["StringEquals"]["kms:ViaService"]
            services = services if isinstance(services, list) else [services]
            through += [service["Fn::Join"][1][0].removesuffix(".") for service in services]
    assert sorted(through) == sorted(VIA[function])


def test_the_key_itself_leaves_it_to_the_roles_and_encrypts_the_stores_alone(any_stage: Synthesis) -> None:
    """Its policy lets in nobody but the account, whose roles say the rest; no service has the key but through them."""
    [statement] = statements(any_stage.one("AWS::KMS::Key", starting="Key").properties["KeyPolicy"])
    assert statement["Effect"] == "Allow"
    assert list(statement["Principal"]) == ["AWS"]
    assert json.dumps(statement["Principal"]).count(":root") == 1
    key = any_stage.one("AWS::KMS::Key", starting="Key").logical_id
    users = {
        resource["Type"]
        for resource in any_stage.templates["stateful"]["Resources"].values()
        if key in json.dumps(resource.get("Properties", {}))
    }
    assert users == {"AWS::DynamoDB::Table", "AWS::S3::Bucket"}
    # Logs, secrets and parameters are under keys of AWS, which ask nothing of a role; so are the queues.
    for kind in ("AWS::Logs::LogGroup", "AWS::SecretsManager::Secret", "AWS::SSM::Parameter", "AWS::SQS::Queue"):
        for other in any_stage.resources(kind):
            assert not {"KmsKeyId", "KmsMasterKeyId"} & set(other.properties), other.logical_id


def test_each_function_has_a_role_of_its_own(any_stage: Synthesis) -> None:
    functions = any_stage.resources("AWS::Lambda::Function")
    assert len({json.dumps(function.properties["Role"]) for function in functions}) == len(functions) == len(EXPECTED)
