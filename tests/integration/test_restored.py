"""Whoever was erased does not come back by a restored table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws

from lead_events.categories import Category
from lead_events.erasure import Erasure, Status, lead_hash_of
from lead_events.event import IdentityKind
from lead_events.idempotency import Claim
from lead_events.lifecycles import Lifecycles
from lead_events.memory import Memory
from lead_events.store.dynamodb import DynamoDbClaims, DynamoDbEvents
from lead_events.store.erasures import DynamoDbErasures
from lead_events.store.identities import DynamoDbIdentities
from lead_events.store.memories import DynamoDbMemories
from lead_events.store.memory import InMemoryObjects
from lead_events.store.organizations import DynamoDbOrganizations
from tests.support.aws import (
    CLAIMS,
    CREDENTIALS,
    ERASURES,
    EVENTS,
    IDENTITIES,
    MEMORIES,
    ORGANIZATIONS,
    create_stores,
)
from tests.support.builders import stored_event
from tools import restored

UNTIL = datetime(2026, 3, 26, tzinfo=UTC)
BEFORE, AFTER = UNTIL - timedelta(hours=1), UNTIL + timedelta(hours=1)
LEFT = "org_left"
ERASED = ("org_A", "lead_erased")
STAYS = ("org_A", "lead_stays")
OF_LEFT = (LEFT, "lead_1")


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Restored tables, and the erasures that have been since: of a lead, and of an organisation."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        client = boto3.client("dynamodb")
        create_stores(client, boto3.client("s3"))
        erasures = DynamoDbErasures(client, ERASURES, ORGANIZATIONS)
        finish(erasures, begin(erasures, *ERASED))
        finish(erasures, begin(erasures, LEFT, None))
        yield client


def begin(erasures: DynamoDbErasures, organization_id: str, lead_id: str | None) -> Erasure:
    return erasures.start(
        Erasure(
            organization_id=organization_id,
            erasure_id=f"era_{organization_id}_{lead_id}",
            lead_id=lead_id,
            lead_hash=lead_hash_of(organization_id, lead_id) if lead_id else None,
            requested_at=BEFORE,
            requested_by="somebody",
        )
    )


def finish(erasures: DynamoDbErasures, erasure: Erasure) -> None:
    assert erasures.finish(replace(erasure, status=Status.DONE, until=UNTIL, completed_at=UNTIL))


def run(table: str, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], str]:
    """The leads that were named, and how many items went."""
    capsys.readouterr()
    assert restored.main([table, ERASURES]) == 0
    told = capsys.readouterr()
    return told.out.splitlines(), told.err.strip()


def test_events_of_the_erased_are_struck_out_and_those_of_a_lead_who_returned_stay(
    dynamodb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    events = DynamoDbEvents(dynamodb, EVENTS, InMemoryObjects())
    stored = [
        stored_event(organization_id=organization, lead_id=lead, occurred_at=at)
        for organization, lead in (ERASED, STAYS, OF_LEFT)
        for at in (BEFORE, UNTIL, AFTER)
    ]
    for each in stored:
        events.append(each)
    assert run(EVENTS, capsys) == (["org_A lead_erased"], "5 items")
    left = [(each.lead_id, each.occurred_at) for each in stored if events.get(each.key)]
    assert left == [("lead_erased", AFTER), *(("lead_stays", at) for at in (BEFORE, UNTIL, AFTER))]
    assert run(EVENTS, capsys) == ([], "0 items")


def test_an_event_that_was_dated_ahead_is_struck_out_if_it_was_stored_before(
    dynamodb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    events = DynamoDbEvents(dynamodb, EVENTS, InMemoryObjects())
    ahead = [stored_event(organization_id=ERASED[0], lead_id=ERASED[1], occurred_at=AFTER) for _ in range(2)]
    for each, stored_at in zip(ahead, (BEFORE, AFTER), strict=True):
        events.append(each)
        dynamodb.update_item(
            TableName=EVENTS,
            Key={
                "leadOrganizationId": {"S": each.key.lead_organization_id},
                "occurredAtId": {"S": each.key.occurred_at_id},
            },
            UpdateExpression="SET storedAt = :at",
            ExpressionAttributeValues={":at": {"N": str(int(stored_at.timestamp()))}},
        )
    assert run(EVENTS, capsys) == (["org_A lead_erased"], "1 items")
    assert [events.get(each.key) is None for each in ahead] == [True, False]


def test_claims_and_identities_of_the_erased_become_what_keeps_them_out(
    dynamodb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    claims, identities = DynamoDbClaims(dynamodb, CLAIMS), DynamoDbIdentities(dynamodb, IDENTITIES)
    for organization, lead in (ERASED, STAYS, OF_LEFT):
        claim = Claim.of(stored_event(organization_id=organization, lead_id=lead, external_event_id=lead))
        assert claim is not None
        claims.claim(replace(claim, claim_id=f"ORG#{organization}#{lead}"))
        identities.claim(organization, lead, f"ORG#{organization}#{lead}", IdentityKind.EMAIL)
    assert run(CLAIMS, capsys) == (["org_A lead_erased"], "2 items")
    key = "ORG#org_A#lead_erased"
    assert claims.get(key) == Claim.of_erased(key)
    assert claims.get("ORG#org_A#lead_stays") is not None
    assert claims.get(f"ORG#{LEFT}#lead_1") is None

    boto3.resource("dynamodb").Table(IDENTITIES).update_item(
        Key={"identityId": key},
        UpdateExpression="SET since = :before",
        ExpressionAttributeValues={":before": "2026-03-25T00:00:00.000000Z"},
    )
    assert run(IDENTITIES, capsys) == (["org_A lead_erased"], "2 items")
    [record] = identities.records([key]).values()
    assert (record.lead_id, record.erased_until) == (None, UNTIL)
    assert set(identities.records(["ORG#org_A#lead_stays", f"ORG#{LEFT}#lead_1"])) == {"ORG#org_A#lead_stays"}
    assert run(IDENTITIES, capsys) == ([], "0 items")


def test_an_identity_of_a_lead_whose_erasure_is_under_way_still_leads_to_it(
    dynamodb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    begin(DynamoDbErasures(dynamodb, ERASURES, ORGANIZATIONS), *STAYS)
    identities, events = DynamoDbIdentities(dynamodb, IDENTITIES), DynamoDbEvents(dynamodb, EVENTS, InMemoryObjects())
    identities.claim(*STAYS, "ORG#org_A#1", IdentityKind.EMAIL)
    events.append(stored_event(organization_id=STAYS[0], lead_id=STAYS[1], occurred_at=AFTER))
    assert run(IDENTITIES, capsys) == ([], "0 items")
    assert run(EVENTS, capsys) == (["org_A lead_stays"], "1 items")


def test_memories_of_the_erased_go(dynamodb: Any, capsys: pytest.CaptureFixture[str]) -> None:
    memories = DynamoDbMemories(dynamodb, MEMORIES)
    for organization, lead in (ERASED, STAYS, OF_LEFT):
        memory = Memory(organization_id=organization, lead_id=lead, category=Category.PURCHASE, state={}, version=1)
        assert memories.put(memory)
    assert run(MEMORIES, capsys) == (["org_A lead_erased"], "2 items")
    assert memories.of_lead(*STAYS) != []


@pytest.mark.parametrize("told_of", [True, False])
def test_the_fences_are_closed_anew_in_organizations_from_before(
    dynamodb: Any, capsys: pytest.CaptureFixture[str], *, told_of: bool
) -> None:
    erasures = DynamoDbErasures(dynamodb, ERASURES, ORGANIZATIONS)
    begin(erasures, "org_B", "lead_running")
    table = boto3.resource("dynamodb").Table(ORGANIZATIONS)
    for organization in ("org_A", "org_B", LEFT):
        table.delete_item(Key={"organizationId": organization})
        if told_of:
            table.put_item(Item={"organizationId": organization, "state": {"costs": {}}, "version": 3})
    organizations = DynamoDbOrganizations(dynamodb, ORGANIZATIONS, CLAIMS)
    assert run(ORGANIZATIONS, capsys) == ([], "3 items")
    fence: Callable[[str], Any] = Lifecycles(organizations, lambda: AFTER).fence
    assert fence(LEFT).closed
    assert "costs" not in organizations.get(LEFT).state
    assert organizations.get(LEFT).version == (4 if told_of else 1)
    assert not fence("org_A").passes(UNTIL)
    assert fence("org_A").erasing is False
    assert fence("org_B").erasing
    assert organizations.get("org_A").state == ({"costs": {}} if told_of else {})


def test_what_is_none_of_these_tables_is_left_alone(dynamodb: Any) -> None:
    with pytest.raises(SystemExit, match="erasures is none of the tables"):
        restored.main([ERASURES, ERASURES])
    assert dynamodb.describe_table(TableName=ERASURES)["Table"]["ItemCount"] > 0
