"""The DynamoDB tables: the events and the claims on them."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from lead_events.names import EVENT_TYPE_INDEX_PROJECTION, Attribute, ClaimAttribute, Index

_STRING = dynamodb.AttributeType.STRING


def _key(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=_STRING)


class Tables(Construct):
    """Append-only events, and the claims that make each of them unique.

    Neither table has a fixed name, so that a restored copy can stand beside it. A key schema or a logical id never
    changes: CloudFormation would replace the table. The recorded baseline in ``tests/infrastructure`` guards that.
    """

    def __init__(self, scope: Construct, construct_id: str, *, key: kms.IKey, retain: bool) -> None:
        super().__init__(scope, construct_id)
        self.events = self._table(
            "Events",
            partition_key=Attribute.LEAD_ORGANIZATION_ID,
            sort_key=Attribute.OCCURRED_AT_ID,
            key=key,
            retain=retain,
            stream=dynamodb.StreamViewType.NEW_IMAGE,
            time_to_live_attribute=Attribute.TTL,
        )
        self.events.add_global_secondary_index(
            index_name=Index.IDEMPOTENCY,
            partition_key=_key(Attribute.SOURCE),
            sort_key=_key(Attribute.EXTERNAL_EVENT_ID),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )
        self.events.add_global_secondary_index(
            index_name=Index.EVENT_TYPE,
            partition_key=_key(Attribute.LEAD_ORGANIZATION_ID),
            sort_key=_key(Attribute.EVENT_TYPE_OCCURRED_AT),
            projection_type=dynamodb.ProjectionType.INCLUDE,
            non_key_attributes=[str(name) for name in EVENT_TYPE_INDEX_PROJECTION],
        )
        self.claims = self._table("Claims", partition_key=ClaimAttribute.CLAIM_ID, key=key, retain=retain)

    def _table(
        self,
        construct_id: str,
        *,
        partition_key: str,
        key: kms.IKey,
        retain: bool,
        sort_key: str | None = None,
        stream: dynamodb.StreamViewType | None = None,
        time_to_live_attribute: str | None = None,
    ) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            construct_id,
            partition_key=_key(partition_key),
            sort_key=_key(sort_key) if sort_key else None,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED,
            encryption_key=key,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            stream=stream,
            time_to_live_attribute=time_to_live_attribute,
            deletion_protection=retain,
            removal_policy=RemovalPolicy.RETAIN if retain else RemovalPolicy.DESTROY,
        )
