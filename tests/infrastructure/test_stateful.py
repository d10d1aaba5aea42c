"""The stateful stack: the tables of the seeds, and data that outlives every accident."""

from __future__ import annotations

import json

from lead_events.names import (
    EVENT_TYPE_INDEX_PROJECTION,
    Attribute,
    ClaimAttribute,
    IdentityAttribute,
    Index,
    RejectionAttribute,
)
from tests.infrastructure.synthesis import Json, Resource, Synthesis

TABLE = "AWS::DynamoDB::Table"


def events_table(synthesis: Synthesis) -> Resource:
    return synthesis.one(TABLE, starting="TablesEvents")


def keys(schema: list[Json]) -> list[tuple[str, str]]:
    return [(key["KeyType"], key["AttributeName"]) for key in schema]


def test_events_table_has_the_keys_of_the_seeds(any_stage: Synthesis) -> None:
    properties = events_table(any_stage).properties
    assert keys(properties["KeySchema"]) == [("HASH", "leadOrganizationId"), ("RANGE", "occurredAtId")]
    assert {a["AttributeType"] for a in properties["AttributeDefinitions"]} == {"S"}
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}
    assert properties["TimeToLiveSpecification"] == {"AttributeName": Attribute.TTL, "Enabled": True}


def test_events_table_has_the_two_indexes_of_the_seeds(any_stage: Synthesis) -> None:
    indexes = {i["IndexName"]: i for i in events_table(any_stage).properties["GlobalSecondaryIndexes"]}
    assert set(indexes) == {Index.IDEMPOTENCY, Index.EVENT_TYPE}
    idempotency, by_type = indexes[Index.IDEMPOTENCY], indexes[Index.EVENT_TYPE]
    assert keys(idempotency["KeySchema"]) == [("HASH", "source"), ("RANGE", "externalEventId")]
    assert idempotency["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert keys(by_type["KeySchema"]) == [("HASH", "leadOrganizationId"), ("RANGE", "eventType#occurredAt")]
    assert by_type["Projection"]["ProjectionType"] == "INCLUDE"


def test_event_type_index_projects_all_attributes_but_the_raw_payload(prod: Synthesis) -> None:
    (by_type,) = (
        i for i in events_table(prod).properties["GlobalSecondaryIndexes"] if i["IndexName"] == Index.EVENT_TYPE
    )
    projected = set(by_type["Projection"]["NonKeyAttributes"])
    assert projected == {str(name) for name in EVENT_TYPE_INDEX_PROJECTION}
    in_every_index = {Attribute.LEAD_ORGANIZATION_ID, Attribute.OCCURRED_AT_ID, Attribute.EVENT_TYPE_OCCURRED_AT}
    # When it was stored concerns the stream alone; which fact it told first, whoever looks for its claim.
    assert set(Attribute) - projected - in_every_index == {
        Attribute.RAW_PAYLOAD,
        Attribute.STORED_AT,
        Attribute.SHARED_FACT_ID,
    }
    # DynamoDB allows 20 in one index.
    assert len(projected) <= 20


def test_no_index_gathers_a_tenant_or_a_day_in_one_partition(any_stage: Synthesis) -> None:
    """A hot index partition throttles the writes of its table.

    Events by type are spread over the leads: their partition is the lead's, as in the table. The one index whose
    partition is of low cardinality is the seeds' ``idempotency-index`` by source, and it carries keys alone, only for
    events that have an external id; its sort key is distinct, so DynamoDB can split the partition. Rejected events are
    listed by organisation, as in their table; they are few, and a delivery that cannot be kept waits in the queue.
    """
    partitions = {
        (index["IndexName"], index["KeySchema"][0]["AttributeName"])
        for table in any_stage.resources(TABLE)
        for index in table.properties.get("GlobalSecondaryIndexes", [])
    }
    assert partitions == {
        ("event-type-index", "leadOrganizationId"),
        ("idempotency-index", "source"),
        ("lead-index", "leadOrganizationId"),
        ("last-seen-index", "organizationId"),
    }


def test_claims_table_is_keyed_by_the_claim(any_stage: Synthesis) -> None:
    properties = any_stage.one(TABLE, starting="TablesClaims").properties
    assert keys(properties["KeySchema"]) == [("HASH", ClaimAttribute.CLAIM_ID)]
    # Claims are kept for ever: neither an expiry nor an index to pay for.
    assert "TimeToLiveSpecification" not in properties
    assert "GlobalSecondaryIndexes" not in properties


def test_identities_table_is_keyed_by_the_identity_and_indexed_by_the_lead(any_stage: Synthesis) -> None:
    properties = any_stage.one(TABLE, starting="TablesIdentities").properties
    assert keys(properties["KeySchema"]) == [("HASH", "identityId")]
    (index,) = properties["GlobalSecondaryIndexes"]
    assert index["IndexName"] == Index.LEAD
    assert keys(index["KeySchema"]) == [("HASH", "leadOrganizationId"), ("RANGE", "since")]
    assert index["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["kind"]}
    # With the keys of index and table that is all there is of an identity; what stays of an erased one has no lead.
    projected = {"identityId", "leadOrganizationId", "since", "kind"}
    assert set(IdentityAttribute) - projected == {IdentityAttribute.ERASED_UNTIL}
    assert "TimeToLiveSpecification" not in properties


def test_rejected_events_table_lists_an_organisation_by_the_last_delivery(any_stage: Synthesis) -> None:
    properties = any_stage.one(TABLE, starting="TablesRejectedEvents").properties
    assert keys(properties["KeySchema"]) == [("HASH", "organizationId"), ("RANGE", "rejectedEventId")]
    (index,) = properties["GlobalSecondaryIndexes"]
    assert index["IndexName"] == Index.LAST_SEEN
    assert keys(index["KeySchema"]) == [("HASH", "organizationId"), ("RANGE", "lastSeenAt")]
    assert index["Projection"]["ProjectionType"] == "INCLUDE"
    # Everything is in the index but what was sent, which may be large and is asked for one by one. What stays of an
    # erased one has no time of delivery: it is not in the index at all.
    in_every_index = {"organizationId", "rejectedEventId", "lastSeenAt"}
    projected = set(index["Projection"]["NonKeyAttributes"])
    assert set(RejectionAttribute) - projected - in_every_index == {
        RejectionAttribute.RAW_PAYLOAD,
        RejectionAttribute.ERASED_AT,
    }


def test_events_and_memories_alone_have_a_stream(any_stage: Synthesis) -> None:
    streaming = [table for table in any_stage.resources(TABLE) if "StreamSpecification" in table.properties]
    memories = any_stage.one(TABLE, starting="TablesMemories")
    assert {table.logical_id for table in streaming} == {events_table(any_stage).logical_id, memories.logical_id}
    for table in streaming:
        assert table.properties["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}


def test_memories_are_keyed_by_lead_and_category(any_stage: Synthesis) -> None:
    properties = any_stage.one(TABLE, starting="TablesMemories").properties
    assert keys(properties["KeySchema"]) == [("HASH", "leadOrganizationId"), ("RANGE", "category")]
    assert "TimeToLiveSpecification" not in properties


def test_reprocessings_are_keyed_by_scope_and_job(any_stage: Synthesis) -> None:
    properties = any_stage.one(TABLE, starting="TablesReprocessings").properties
    assert keys(properties["KeySchema"]) == [("HASH", "scope"), ("RANGE", "jobId")]
    assert "TimeToLiveSpecification" not in properties


def test_the_state_of_an_organisation_is_one_item(any_stage: Synthesis) -> None:
    properties = any_stage.one(TABLE, starting="TablesOrganizations").properties
    assert keys(properties["KeySchema"]) == [("HASH", "organizationId")]
    assert not {"TimeToLiveSpecification", "StreamSpecification", "GlobalSecondaryIndexes"} & set(properties)


def test_erasures_are_keyed_by_organisation_and_erasure_and_stay(any_stage: Synthesis) -> None:
    properties = any_stage.one(TABLE, starting="TablesErasures").properties
    assert keys(properties["KeySchema"]) == [("HASH", "organizationId"), ("RANGE", "erasureId")]
    assert not {"TimeToLiveSpecification", "StreamSpecification", "GlobalSecondaryIndexes"} & set(properties)


def test_tables_can_be_restored_and_are_encrypted_with_our_key(any_stage: Synthesis) -> None:
    tables = any_stage.resources(TABLE)
    assert len(tables) == 8
    key = any_stage.one("AWS::KMS::Key", starting="Key").logical_id
    for table in tables:
        assert table.properties["BillingMode"] == "PAY_PER_REQUEST"
        assert table.properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
        encryption = table.properties["SSESpecification"]
        assert encryption == {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Fn::GetAtt": [key, "Arn"]}}
        # A fixed name would stand in the way of a restored copy and of a replacement.
        assert "TableName" not in table.properties


def test_prod_keeps_its_data_whatever_happens_to_the_stack(prod: Synthesis) -> None:
    kept = [
        *prod.resources(TABLE),
        *prod.resources("AWS::S3::Bucket"),
        *prod.resources("AWS::KMS::Key", stack="stateful"),
        *prod.resources("AWS::SecretsManager::Secret"),
        *prod.resources("AWS::Cognito::UserPool"),
    ]
    assert len(kept) == 13
    for resource in kept:
        assert resource.definition["DeletionPolicy"] == "Retain", resource.logical_id
        assert resource.definition["UpdateReplacePolicy"] == "Retain", resource.logical_id
    assert all(table.properties["DeletionProtectionEnabled"] is True for table in prod.resources(TABLE))
    assert prod.one("AWS::Cognito::UserPool").properties["DeletionProtection"] == "ACTIVE"


def test_prod_stacks_are_protected_against_termination(prod: Synthesis, dev: Synthesis) -> None:
    def protected(synthesis: Synthesis) -> set[str]:
        return {
            name.rpartition("-")[2]
            for name, artifact in synthesis.manifest["artifacts"].items()
            if artifact["type"] == "aws:cloudformation:stack" and artifact["properties"].get("terminationProtection")
        }

    assert protected(prod) == {"stateful", "services"}
    assert protected(dev) == set()


def test_dev_leaves_nothing_behind(dev: Synthesis) -> None:
    for table in dev.resources(TABLE):
        assert table.definition["DeletionPolicy"] == "Delete"
        assert not table.properties.get("DeletionProtectionEnabled")


def test_the_key_rotates(any_stage: Synthesis) -> None:
    for key in any_stage.resources("AWS::KMS::Key"):
        assert key.properties["EnableKeyRotation"] is True


def test_raw_bucket_is_private_encrypted_and_forgets_the_inbox(any_stage: Synthesis) -> None:
    properties = any_stage.one("AWS::S3::Bucket").properties
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    (encryption,) = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    rules = properties["LifecycleConfiguration"]["Rules"]
    expiring = [rule for rule in rules if "ExpirationInDays" in rule]
    assert [(rule["Prefix"], rule["ExpirationInDays"]) for rule in expiring] == [("inbox/", 30)]
    assert any("AbortIncompleteMultipartUpload" in rule for rule in rules)


def test_an_object_that_is_deleted_is_gone(any_stage: Synthesis) -> None:
    """Neither versions nor a lock keep what an erasure deleted; no copy of it is made elsewhere."""
    assert not {"VersioningConfiguration", "ObjectLockEnabled", "ReplicationConfiguration"} & set(
        any_stage.one("AWS::S3::Bucket").properties
    )


def test_raw_bucket_takes_no_plain_http(prod: Synthesis, dev: Synthesis) -> None:
    for synthesis in (prod, dev):
        policy = synthesis.one("AWS::S3::BucketPolicy").properties["PolicyDocument"]
        assert any(
            statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
            for statement in policy["Statement"]
        )


def test_secrets_are_generated(any_stage: Synthesis) -> None:
    secrets = any_stage.resources("AWS::SecretsManager::Secret")
    assert {secret.logical_id.rstrip("0123456789ABCDEF") for secret in secrets} == {"CursorSecret", "IdentitySecret"}
    for secret in secrets:
        assert secret.properties["GenerateSecretString"]["PasswordLength"] == 64
        assert "SecretString" not in secret.properties


def test_the_identity_secret_says_what_a_change_would_do_and_is_never_rotated(any_stage: Synthesis) -> None:
    description = any_stage.one("AWS::SecretsManager::Secret", starting="IdentitySecret").properties["Description"]
    assert "every known identity would become unknown" in description
    assert any_stage.resources("AWS::SecretsManager::RotationSchedule") == []


def test_templates_are_free_of_account_and_region(any_stage: Synthesis) -> None:
    for artifact in any_stage.manifest["artifacts"].values():
        if artifact["type"] == "aws:cloudformation:stack":
            assert artifact["environment"] == "aws://unknown-account/unknown-region"
    assert "us-east-1" not in json.dumps(any_stage.templates)
