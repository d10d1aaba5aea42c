"""What the roles do not allow: whatever could do harm is for those who stand in the table of permissions, for nobody else."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

import pytest

from tests.infrastructure.expected_grants import EXPECTED, allowed, roles, without_hash
from tests.infrastructure.permissions import (
    CLIENT_ORGANIZATIONS,
    CONSUMERS,
    DELETE,
    FUNCTIONS,
    ITEMS,
    OBJECTS,
    PUBLISHERS,
    PUT,
    READ,
    SCAN,
    SECRETS,
    SENDERS,
    TABLES,
    UPDATE,
)
from tests.infrastructure.synthesis import Synthesis

ACTIONS: Final = {
    READ: ("GetItem", "BatchGetItem", "Query", "ConditionCheckItem"),
    SCAN: ("Scan",),
    PUT: ("PutItem",),
    UPDATE: ("UpdateItem",),
    DELETE: ("DeleteItem",),
}
NO_TABLE: Final = (
    *("BatchWriteItem", "PartiQLDelete", "PartiQLInsert", "PartiQLSelect", "PartiQLUpdate"),
    *("CreateTable", "DeleteTable", "UpdateTable", "UpdateTimeToLive", "UpdateContinuousBackups"),
    *("CreateBackup", "DeleteBackup", "RestoreTableFromBackup", "RestoreTableToPointInTime", "ImportTable"),
    *("ExportTableToPointInTime", "PutResourcePolicy", "DeleteResourcePolicy", "EnableKinesisStreamingDestination"),
    *("CreateTableReplica", "CreateGlobalTable", "TagResource"),
)
"""What nobody may do with a table; the others below are of their kinds."""
NO_OBJECT: Final = (
    *("DeleteObjectVersion", "PutObjectAcl", "GetObjectVersion", "RestoreObject", "ReplicateObject", "ReplicateDelete"),
    *("PutObjectRetention", "PutObjectLegalHold", "BypassGovernanceRetention", "AbortMultipartUpload"),
)
NO_BUCKET: Final = (
    *("DeleteBucket", "PutBucketPolicy", "DeleteBucketPolicy", "PutBucketAcl", "PutBucketPublicAccessBlock"),
    *("PutLifecycleConfiguration", "PutEncryptionConfiguration", "PutBucketVersioning", "PutReplicationConfiguration"),
    *("PutBucketNotification", "PutInventoryConfiguration", "ListBucketVersions"),
)
NO_QUEUE: Final = (
    *("PurgeQueue", "DeleteQueue", "SetQueueAttributes", "AddPermission", "RemovePermission", "StartMessageMoveTask"),
)
NO_SECRET: Final = (
    *("PutSecretValue", "UpdateSecret", "DeleteSecret", "RotateSecret", "PutResourcePolicy", "BatchGetSecretValue"),
    *("ListSecrets", "UpdateSecretVersionStage", "CreateSecret", "ReplicateSecretToRegions"),
)
NO_KEY: Final = (
    *("CreateGrant", "PutKeyPolicy", "ScheduleKeyDeletion", "DisableKey", "DisableKeyRotation", "ReplicateKey"),
    *("UpdateKeyDescription", "GenerateDataKeyPair", "Sign", "GenerateMac", "RetireGrant", "RevokeGrant"),
)
NO_BUS: Final = (
    "DeleteEventBus",
    "PutRule",
    "PutTargets",
    "DeleteRule",
    "PutPermission",
    "DeleteArchive",
    "StartReplay",
)

SERVICES: Final = {"dynamodb", "s3", "sqs", "events", "secretsmanager", "ssm", "kms"}
"""Nothing is allowed in any other service: no role passes or assumes a role, calls a function, or reads a log."""

NAMES: Final = {
    "cursor": "CursorSecret",
    "identity": "IdentitySecret",
    "webhook": "secret:lead-events/{stage}/webhooks/stripe/org-AbCdEf",
    "other": "secret:lead-events/{stage}/other",
    "undeliveredDlq": "EventBusUndelivered",
    "projectorDlq": "ProjectionDeadLetters",
    "publisherDlq": "PublicationDeadLetters",
}


def construct(queue: str) -> str:
    """The construct of a queue."""
    if queue.endswith("Dlq"):
        return NAMES.get(queue) or f"{queue.removesuffix('Dlq').capitalize()}QueueDeadLetters"
    return f"{queue.capitalize()}Queue"


def table_construct(table: str) -> str:
    """The construct of a table."""
    return f"Tables{table[0].upper()}{table[1:]}"


def may(granted: set[tuple[str, str]], resource: str, action: str) -> bool:
    """Whether IAM would let it through; a table's index counts as the table."""
    return any(
        (fnmatchcase(resource, pattern) or pattern.startswith(f"{resource}/index/")) and fnmatchcase(action, each)
        for pattern, each in granted
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_items_are_read_and_written_by_those_who_must(function: str, any_stage: Synthesis) -> None:
    granted = allowed(roles(any_stage)[function])
    for table, letters in zip(TABLES, ITEMS[function], strict=True):
        for letter, actions in ACTIONS.items():
            found = any(may(granted, table_construct(table), f"dynamodb:{action}") for action in actions)
            assert found == (letter in letters), (table, actions)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nobody_changes_a_table_or_reads_and_writes_it_by_another_way(function: str, any_stage: Synthesis) -> None:
    granted = allowed(roles(any_stage)[function])
    for table in TABLES:
        for action in NO_TABLE:
            assert not may(granted, table_construct(table), f"dynamodb:{action}"), (table, action)


def test_every_role_table_and_queue_stands_in_the_table_of_permissions(any_stage: Synthesis) -> None:
    assert set(FUNCTIONS) == set(EXPECTED)
    tables = {without_hash(each.logical_id) for each in any_stage.resources("AWS::DynamoDB::Table")}
    assert tables == {table_construct(table) for table in TABLES}
    queues = {without_hash(each.logical_id) for each in any_stage.resources("AWS::SQS::Queue")}
    assert queues == {construct(queue) for queue in SENDERS} == {construct(queue) for queue in CONSUMERS}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_objects_are_read_written_and_deleted_by_those_who_must(function: str, any_stage: Synthesis) -> None:
    granted = allowed(roles(any_stage)[function])
    for (prefix, verb), who in OBJECTS.items():
        if verb == "list":
            assert may(granted, "RawBucket", "s3:ListBucket") == (function in who), prefix
            continue
        assert may(granted, f"RawBucket/{prefix}x", f"s3:{verb.capitalize()}Object") == (function in who), (
            prefix,
            verb,
        )
        for forbidden in NO_OBJECT:
            assert not may(granted, f"RawBucket/{prefix}x", f"s3:{forbidden}"), (prefix, forbidden)
    for forbidden in NO_BUCKET:
        assert not may(granted, "RawBucket", f"s3:{forbidden}"), forbidden


@pytest.mark.parametrize("function", FUNCTIONS)
def test_messages_are_sent_and_taken_by_those_who_must(function: str, any_stage: Synthesis) -> None:
    granted = allowed(roles(any_stage)[function])
    for queue in SENDERS:
        assert may(granted, construct(queue), "sqs:SendMessage") == (function in SENDERS[queue]), queue
        for action in ("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility"):
            assert may(granted, construct(queue), f"sqs:{action}") == (function in CONSUMERS[queue]), (queue, action)
        for forbidden in NO_QUEUE:
            assert not may(granted, construct(queue), f"sqs:{forbidden}"), (queue, forbidden)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_secrets_parameters_bus_and_key_are_for_those_who_must(function: str, any_stage: Synthesis) -> None:
    granted = allowed(roles(any_stage)[function])
    for secret, who in SECRETS.items():
        name = NAMES[secret].format(stage=any_stage.stage)
        assert may(granted, name, "secretsmanager:GetSecretValue") == (function in who), secret
        for forbidden in NO_SECRET:
            assert not may(granted, name, f"secretsmanager:{forbidden}"), (secret, forbidden)
    parameter = f"parameter/lead-events/{any_stage.stage}/organization-of-client/x"
    assert may(granted, parameter, "ssm:GetParameter") == (function in CLIENT_ORGANIZATIONS)
    assert not may(granted, parameter, "ssm:PutParameter")
    assert may(granted, "EventBus", "events:PutEvents") == (function in PUBLISHERS)
    for forbidden in NO_BUS:
        assert not may(granted, "EventBus", f"events:{forbidden}"), forbidden
    for forbidden in NO_KEY:
        assert not may(granted, "Key", f"kms:{forbidden}"), forbidden


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_is_allowed_in_any_other_service(function: str, any_stage: Synthesis) -> None:
    used = {action.partition(":")[0] for _, action in allowed(roles(any_stage)[function])}
    assert used <= SERVICES
