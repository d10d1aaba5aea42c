"""The stateful stack: what must survive everything else."""

from __future__ import annotations

from typing import Unpack

from aws_cdk import CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from stacks.constructs.nag import exempt
from stacks.constructs.raw_bucket import RawBucket
from stacks.constructs.stack_options import StackOptions
from stacks.constructs.tables import Tables
from stacks.settings import Settings


class StatefulStack(Stack):
    """Tables, bucket, encryption key, and the secrets that sign cursors and key identities."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, **options: Unpack[StackOptions]
    ) -> None:
        super().__init__(scope, construct_id, **options)
        self._settings = settings
        self._removal = RemovalPolicy.RETAIN if settings.retains else RemovalPolicy.DESTROY

        self.key = kms.Key(
            self,
            "Key",
            description=f"Lead Events ({settings.stage}): tables and raw payloads",
            enable_key_rotation=True,
            pending_window=Duration.days(30 if settings.retains else 7),
            removal_policy=self._removal,
        )
        tables = Tables(self, "Tables", key=self.key, retain=settings.retains)
        self.events_table = tables.events
        self.claims_table = tables.claims
        self.identities_table = tables.identities
        self.rejected_events_table = tables.rejected_events
        self.memories_table = tables.memories
        self.reprocessings_table = tables.reprocessings
        self.organizations_table = tables.organizations
        self.erasures_table = tables.erasures
        self.raw_bucket = RawBucket(
            self, "RawBucket", key=self.key, retain=settings.retains, require_tls=not settings.is_local
        )
        self.cursor_secret_arn = self._generated_secret(
            "CursorSecret",
            "signs the cursors of the API",
            not_rotated_because="The secret signs page cursors and opens no door; rotating it on a schedule would "
            "break the listings in progress. An operator changes it by a new version when there is cause.",
        )
        self.identity_secret_arn = self._generated_secret(
            "IdentitySecret",
            "keys the hashes of identities. Never change it: every known identity would become unknown",
            not_rotated_because="Identities are stored only as hashes under this secret: under another one no known "
            "person would be recognised, and each would become a new lead.",
        )

        CfnOutput(self, "EventsTableName", value=self.events_table.table_name)
        CfnOutput(self, "ClaimsTableName", value=self.claims_table.table_name)
        CfnOutput(self, "IdentitiesTableName", value=self.identities_table.table_name)
        CfnOutput(self, "RejectedEventsTableName", value=self.rejected_events_table.table_name)
        CfnOutput(self, "MemoriesTableName", value=self.memories_table.table_name)
        CfnOutput(self, "ReprocessingsTableName", value=self.reprocessings_table.table_name)
        CfnOutput(self, "OrganizationsTableName", value=self.organizations_table.table_name)
        CfnOutput(self, "ErasuresTableName", value=self.erasures_table.table_name)
        CfnOutput(self, "RawBucketName", value=self.raw_bucket.bucket_name)
        CfnOutput(self, "CursorSecretArn", value=self.cursor_secret_arn)
        CfnOutput(self, "IdentitySecretArn", value=self.identity_secret_arn)

    def _generated_secret(self, construct_id: str, purpose: str, *, not_rotated_because: str) -> str:
        """A secret that AWS makes up and nobody needs to read; its ARN.

        A changed generator would make CloudFormation replace the value: the recorded baseline guards it.
        """
        secret = secretsmanager.Secret(
            self,
            construct_id,
            description=f"Lead Events ({self._settings.stage}): {purpose}",
            generate_secret_string=secretsmanager.SecretStringGenerator(password_length=64, exclude_punctuation=True),
            removal_policy=self._removal,
        )
        exempt(secret, "AwsSolutions-SMG4", because=not_rotated_because)
        resource = secret.node.default_child
        assert isinstance(resource, secretsmanager.CfnSecret)
        # The attribute and not the reference: both are the ARN on AWS, the local twin takes the second for the name.
        return resource.attr_id
