"""The DynamoDB tables: events and the claims on them, whose they are, what they tell, what was rejected and what erased."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from lead_events.names import (
    EVENT_TYPE_INDEX_PROJECTION,
    LAST_SEEN_INDEX_PROJECTION,
    Attribute,
    ClaimAttribute,
    ErasureAttribute,
    IdentityAttribute,
    Index,
    MemoryAttribute,
    OrganizationAttribute,
    RejectionAttribute,
    ReprocessingAttribute,
)

_STRING = dynamodb.AttributeType.STRING


def _key(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=_STRING)


def _include_index(
    table: dynamodb.Table, index: Index, *, partition_key: str, sort_key: str, projection: Iterable[str]
) -> None:
    table.add_global_secondary_index(
        index_name=index,
        partition_key=_key(partition_key),
        sort_key=_key(sort_key),
        projection_type=dynamodb.ProjectionType.INCLUDE,
        non_key_attributes=[str(name) for name in projection],
    )


class Tables(Construct):
    """Append-only events, the claims that make each of them unique, the identities of leads, rejected events, lead memories
    and their reprocessings, the state of organisations, and the erasures of leads and organisations.

    No table has a fixed name, so that a restored copy can stand beside it. A key schema or a logical id never
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
        _include_index(
            self.events,
            Index.EVENT_TYPE,
            partition_key=Attribute.LEAD_ORGANIZATION_ID,
            sort_key=Attribute.EVENT_TYPE_OCCURRED_AT,
            projection=EVENT_TYPE_INDEX_PROJECTION,
        )
        self.claims = self._table("Claims", partition_key=ClaimAttribute.CLAIM_ID, key=key, retain=retain)
        self.identities = self._table("Identities", partition_key=IdentityAttribute.IDENTITY_ID, key=key, retain=retain)
        _include_index(
            self.identities,
            Index.LEAD,
            partition_key=IdentityAttribute.LEAD_ORGANIZATION_ID,
            sort_key=IdentityAttribute.SINCE,
            projection=(IdentityAttribute.KIND,),
        )
        self.rejected_events = self._table(
            "RejectedEvents",
            partition_key=RejectionAttribute.ORGANIZATION_ID,
            sort_key=RejectionAttribute.REJECTED_EVENT_ID,
            key=key,
            retain=retain,
        )
        _include_index(
            self.rejected_events,
            Index.LAST_SEEN,
            partition_key=RejectionAttribute.ORGANIZATION_ID,
            sort_key=RejectionAttribute.LAST_SEEN_AT,
            projection=LAST_SEEN_INDEX_PROJECTION,
        )
        self.memories = self._table(
            "Memories",
            partition_key=MemoryAttribute.LEAD_ORGANIZATION_ID,
            sort_key=MemoryAttribute.CATEGORY,
            key=key,
            retain=retain,
            stream=dynamodb.StreamViewType.NEW_IMAGE,
        )
        self.reprocessings = self._table(
            "Reprocessings",
            partition_key=ReprocessingAttribute.SCOPE,
            sort_key=ReprocessingAttribute.JOB_ID,
            key=key,
            retain=retain,
        )
        self.organizations = self._table(
            "Organizations", partition_key=OrganizationAttribute.ORGANIZATION_ID, key=key, retain=retain
        )
        self.erasures = self._table(
            "Erasures",
            partition_key=ErasureAttribute.ORGANIZATION_ID,
            sort_key=ErasureAttribute.ERASURE_ID,
            key=key,
            retain=retain,
        )

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
