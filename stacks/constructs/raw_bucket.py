"""The bucket for payloads that neither a message nor an item can hold."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lead_events.names import INBOX_PREFIX
from stacks.constructs.nag import LOCAL_HTTP, exempt

INBOX_RETENTION: Final = Duration.days(30)
"""Longer than a message can live: 4 days in its queue and 14 in the dead-letter queue."""


class RawBucket(s3.Bucket):
    """Raw payloads: ``organizations/`` stays as long as its events, ``inbox/`` waits behind a queue message.

    Not emptied on deletion in any stage: that would take a role which may delete everything in it, where the eraser
    alone may delete, and ``cdk destroy`` of stage dev wants the bucket emptied first. Objects have no versions: one that
    is erased is gone.
    """

    def __init__(self, scope: Construct, construct_id: str, *, key: kms.IKey, retain: bool, require_tls: bool) -> None:
        super().__init__(
            scope,
            construct_id,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=key,
            bucket_key_enabled=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=require_tls,
            minimum_tls_version=1.2 if require_tls else None,
            lifecycle_rules=[
                s3.LifecycleRule(id="expire-inbox", prefix=INBOX_PREFIX, expiration=INBOX_RETENTION),
                s3.LifecycleRule(id="abort-uploads", abort_incomplete_multipart_upload_after=Duration.days(1)),
            ],
            removal_policy=RemovalPolicy.RETAIN if retain else RemovalPolicy.DESTROY,
        )
        exempt(
            self,
            "AwsSolutions-S1",
            because="Only functions of this service reach the bucket, by exact grants; who read which object is a matter "
            "of CloudTrail data events, which belong to the account and not to a log bucket of one service.",
        )
        if not require_tls:
            exempt(self, "AwsSolutions-S10", because=LOCAL_HTTP)
