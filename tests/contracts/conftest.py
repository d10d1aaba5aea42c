"""Each store twice: in memory, and on DynamoDB and S3 as moto plays them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import boto3
import pytest
from moto import mock_aws

from lead_events.aws_errors import client_config
from lead_events.ports import (
    ClaimStore,
    ErasureStore,
    EventStore,
    IdentityStore,
    LeadScan,
    MemoryStore,
    ObjectStore,
    OrganizationStore,
    RejectionStore,
    ReprocessingStore,
)
from lead_events.store.dynamodb import DynamoDbClaims, DynamoDbEvents
from lead_events.store.erasures import DynamoDbErasures
from lead_events.store.identities import DynamoDbIdentities
from lead_events.store.memories import DynamoDbMemories
from lead_events.store.memory import (
    InMemoryClaims,
    InMemoryEvents,
    InMemoryIdentities,
    InMemoryObjects,
    InMemoryRejections,
)
from lead_events.store.memory_erasures import InMemoryErasures
from lead_events.store.memory_jobs import InMemoryLeads, InMemoryReprocessings
from lead_events.store.memory_memories import InMemoryMemories
from lead_events.store.memory_organizations import InMemoryOrganizations
from lead_events.store.organizations import DynamoDbOrganizations
from lead_events.store.rejections import DynamoDbRejections
from lead_events.store.reprocessings import DynamoDbReprocessings
from lead_events.store.s3 import S3Objects
from lead_events.store.scanning import DynamoDbLeads
from tests.support.aws import (
    BUCKET,
    CREDENTIALS,
    create_claims,
    create_erasures,
    create_events,
    create_identities,
    create_memories,
    create_organizations,
    create_rejected,
    create_reprocessings,
    one_call_at_a_time,
)
from tests.support.shelves import House


@dataclass(frozen=True)
class Aws:
    """The clients behind the AWS adapters, and a name for the tables of this test."""

    dynamodb: Any
    s3: Any
    name: str


@pytest.fixture(scope="module")
def _clients() -> Iterator[tuple[Any, Any]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(boto3, "DEFAULT_SESSION", None)
        for name, value in CREDENTIALS.items():
            patched.setenv(name, value)
        one_call_at_a_time(patched)
        with mock_aws():
            s3 = boto3.client("s3")
            s3.create_bucket(Bucket=BUCKET)
            # As many connections as there are threads in a test, or urllib3 warns of discarded ones.
            yield boto3.client("dynamodb", config=client_config(50)), s3


_NUMBERS = count()


@pytest.fixture
def aws(_clients: tuple[Any, Any]) -> Aws:
    return Aws(*_clients, name=f"table-{next(_NUMBERS)}")


@pytest.fixture(params=["memory", "aws"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def objects(kind: str, request: pytest.FixtureRequest) -> ObjectStore:
    if kind == "memory":
        return InMemoryObjects()
    client = request.getfixturevalue("aws").s3
    return S3Objects(lambda: client, BUCKET)


@pytest.fixture
def events(kind: str, objects: ObjectStore, request: pytest.FixtureRequest) -> EventStore:
    if kind == "memory":
        return InMemoryEvents()
    return dynamodb_events(request.getfixturevalue("aws"), objects)


@pytest.fixture
def aws_events(aws: Aws) -> DynamoDbEvents:
    return dynamodb_events(aws, S3Objects(lambda: aws.s3, BUCKET))


def dynamodb_events(aws: Aws, objects: ObjectStore) -> DynamoDbEvents:
    create_events(aws.dynamodb, aws.name)
    return DynamoDbEvents(aws.dynamodb, aws.name, objects)


@pytest.fixture
def claims(kind: str, request: pytest.FixtureRequest) -> ClaimStore:
    if kind == "memory":
        return InMemoryClaims()
    aws = request.getfixturevalue("aws")
    create_claims(aws.dynamodb, aws.name)
    return DynamoDbClaims(aws.dynamodb, aws.name)


@pytest.fixture
def identities(kind: str, request: pytest.FixtureRequest) -> IdentityStore:
    if kind == "memory":
        return InMemoryIdentities()
    aws = request.getfixturevalue("aws")
    create_identities(aws.dynamodb, aws.name)
    return DynamoDbIdentities(aws.dynamodb, aws.name)


@pytest.fixture
def rejections(kind: str, objects: ObjectStore, request: pytest.FixtureRequest) -> RejectionStore:
    if kind == "memory":
        return InMemoryRejections()
    aws = request.getfixturevalue("aws")
    create_rejected(aws.dynamodb, aws.name)
    return DynamoDbRejections(aws.dynamodb, aws.name, objects)


@pytest.fixture
def organizations(kind: str, claims: ClaimStore, request: pytest.FixtureRequest) -> OrganizationStore:
    """The organisations whose events are claimed in ``claims``."""
    if kind == "memory":
        return InMemoryOrganizations(claims)
    aws = request.getfixturevalue("aws")
    name = f"{aws.name}-organizations"
    create_organizations(aws.dynamodb, name)
    return DynamoDbOrganizations(aws.dynamodb, name, aws.name)


@pytest.fixture
def erasures(organizations: OrganizationStore, request: pytest.FixtureRequest) -> ErasureStore:
    """Erasures that close and open the fence in ``organizations``."""
    if isinstance(organizations, InMemoryOrganizations):
        return InMemoryErasures(organizations)
    return dynamodb_erasures(request.getfixturevalue("aws"))


def dynamodb_erasures(aws: Aws) -> DynamoDbErasures:
    create_erasures(aws.dynamodb, f"{aws.name}-erasures")
    return DynamoDbErasures(aws.dynamodb, f"{aws.name}-erasures", f"{aws.name}-organizations")


@pytest.fixture
def memories(kind: str, request: pytest.FixtureRequest) -> MemoryStore:
    if kind == "memory":
        return InMemoryMemories()
    aws = request.getfixturevalue("aws")
    create_memories(aws.dynamodb, aws.name)
    return DynamoDbMemories(aws.dynamodb, aws.name)


@pytest.fixture
def jobs(kind: str, request: pytest.FixtureRequest) -> ReprocessingStore:
    if kind == "memory":
        return InMemoryReprocessings()
    aws = request.getfixturevalue("aws")
    create_reprocessings(aws.dynamodb, aws.name)
    return DynamoDbReprocessings(aws.dynamodb, aws.name)


@pytest.fixture
def leads(events: EventStore, request: pytest.FixtureRequest) -> LeadScan:
    """The leads of ``events``."""
    if isinstance(events, InMemoryEvents):
        return InMemoryLeads(events)
    aws = request.getfixturevalue("aws")
    return DynamoDbLeads(aws.dynamodb, aws.name)


@pytest.fixture
def house(aws: Aws) -> House:
    """All stores at once, and the shelves that an erasure clears."""
    return House(aws.dynamodb, aws.s3, boto3.client("sqs"), aws.name)
