"""Strikes out of a restored table who was erased since its time: `python -m tools.restored RESTORED ERASURES`.

A backup holds what was there at its time. Before a restored copy is read, copied from or put in the place of its table, this
takes out of it whom the erasures table has as erased: of a lead what happened until the end of the erasure, of an organisation
everything. In a copy of the organizations table it closes the fences instead. It may be run again at any time.

It prints the leads that it met, as organisation and lead: what cannot be told from keys, such as their rejected events, goes
when they are erased once more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import boto3

from lead_events.erasure import lead_hash_of
from lead_events.instants import format_instant, now
from lead_events.names import (
    Attribute,
    ClaimAttribute,
    ErasureAttribute,
    IdentityAttribute,
    MemoryAttribute,
    OrganizationAttribute,
    RejectionAttribute,
    ReprocessingAttribute,
    ids_of,
)
from lead_events.organizations.state import only_lifecycle
from lead_events.store.dynamodb import claim_tombstone
from lead_events.store.erasures import OF_LEAD, OF_ORGANIZATION
from lead_events.store.identities import identity_tombstone

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

Item = dict[str, Any]
Lead = tuple[str, str]

ORGANIZATIONS: Final = (OrganizationAttribute.ORGANIZATION_ID,)
ERASURES: Final = (ErasureAttribute.ORGANIZATION_ID, ErasureAttribute.ERASURE_ID)
STRUCK: Final[tuple[tuple[str, ...], ...]] = (
    (Attribute.LEAD_ORGANIZATION_ID, Attribute.OCCURRED_AT_ID),
    (MemoryAttribute.LEAD_ORGANIZATION_ID, MemoryAttribute.CATEGORY),
    (ClaimAttribute.CLAIM_ID,),
    (IdentityAttribute.IDENTITY_ID,),
    (RejectionAttribute.ORGANIZATION_ID, RejectionAttribute.REJECTED_EVENT_ID),
    (ReprocessingAttribute.SCOPE, ReprocessingAttribute.JOB_ID),
)
"""Keys of the tables out of which somebody can be struck."""

_RUNNING: Final = "9999"
"""Up to when an erasure that is under way covers: whatever happens."""
_INSTANT: Final = len("2026-01-01T00:00:00.000000Z")


@dataclass(frozen=True, slots=True)
class Erased:
    """Who was erased."""

    organizations: frozenset[str]
    leads: dict[tuple[str, str], str]
    """Until when, by organisation and the lead's hash."""
    running: dict[str, set[str]]
    """Ids of the erasures of leads that are under way, by organisation."""

    @classmethod
    def read(cls, erasures: Table) -> Erased:
        """What stays in the erasures table of the erased."""
        organizations: set[str] = set()
        leads: dict[tuple[str, str], str] = {}
        running: dict[str, set[str]] = {}
        for item in _items(erasures):
            organization_id, key = item[ErasureAttribute.ORGANIZATION_ID], item[ErasureAttribute.ERASURE_ID]
            if key == OF_ORGANIZATION:
                organizations.add(organization_id)
            elif key.startswith(OF_LEAD):
                leads[organization_id, key.removeprefix(OF_LEAD)] = item.get("until", _RUNNING)
                if "until" not in item:
                    running.setdefault(organization_id, set()).add(item["holder"])
        return cls(frozenset(organizations), leads, running)

    def until(self, lead: Lead) -> str:
        """Up to when what happened to a lead is erased; empty for one that never was."""
        return self.leads.get((lead[0], lead_hash_of(*lead)), "")


def strike(restored: Table, erased: Erased) -> tuple[int, list[Lead]]:
    """Take the erased out of a restored table; how many items that were, and of which leads."""
    keys = tuple(each["AttributeName"] for each in restored.key_schema)
    if keys == ORGANIZATIONS:
        return close(restored, erased), []
    if keys not in STRUCK:
        raise SystemExit(f"{restored.name} is none of the tables out of which somebody can be struck.")
    count, leads = 0, dict[Lead, None]()
    for item in _items(restored):
        organization_id, lead = _owner(item, keys)
        until = erased.until(lead) if lead else ""
        if until == _RUNNING and IdentityAttribute.IDENTITY_ID in item:
            until = ""  # it leads to the lead's fence, and is let go at the end
        if organization_id in erased.organizations:
            remains = None
        elif lead and until and _happened(item) <= until:
            remains = _remains(item, until)
            leads[lead] = None
        else:
            continue
        count += 1
        if remains is None:
            restored.delete_item(Key={each: item[each] for each in keys})
        else:
            restored.put_item(Item=remains)
    return count, list(leads)


def close(organizations: Table, erased: Erased) -> int:
    """Close the fences in a restored organizations table: it may not know of them. How many there are."""
    for organization_id in erased.organizations:
        found = organizations.get_item(Key={OrganizationAttribute.ORGANIZATION_ID: organization_id}).get("Item", {})
        version: Any = found.get(OrganizationAttribute.VERSION, 0)
        state: Any = found.get(OrganizationAttribute.STATE, {})
        organizations.put_item(
            Item={
                OrganizationAttribute.ORGANIZATION_ID: organization_id,
                OrganizationAttribute.STATE: only_lifecycle(state),
                OrganizationAttribute.VERSION: version + 1,
                OrganizationAttribute.ERASED: True,
            }
        )
    of_leads = {organization_id for organization_id, _ in erased.leads} - erased.organizations
    for organization_id in of_leads:
        erasing = erased.running.get(organization_id)
        names = {"#until": OrganizationAttribute.ERASED_UNTIL, "#erasing": OrganizationAttribute.ERASING}
        organizations.update_item(
            Key={OrganizationAttribute.ORGANIZATION_ID: organization_id},
            # Later than need be: what is looked at in vain is let pass.
            UpdateExpression="SET #until = :now" + (", #erasing = :erasing" if erasing else " REMOVE #erasing"),
            ExpressionAttributeNames=names,
            ExpressionAttributeValues={":now": format_instant(now())} | ({":erasing": erasing} if erasing else {}),
        )
    return len(erased.organizations) + len(of_leads)


def _items(table: Table) -> Iterator[Item]:
    for page in table.meta.client.get_paginator("scan").paginate(TableName=table.name, ConsistentRead=True):
        yield from page["Items"]


def _owner(item: Item, keys: Sequence[str]) -> tuple[str, Lead | None]:
    """Whose an item is: the organisation, and the lead where it names one."""
    named = item.get(Attribute.LEAD_ORGANIZATION_ID, "")
    lead = ids_of(named) if "#LEAD#" in named else None
    if lead is not None:
        return lead[0], lead
    of_key = str(item[keys[0]])
    return (of_key.split("#")[1] if of_key.startswith("ORG#") else of_key), None


def _happened(item: Item) -> str:
    """When that was of which an item is; a memory is of everything and can be folded anew.

    What is dated ahead was there when it was stored.
    """
    told = str(item.get(Attribute.OCCURRED_AT_ID) or item.get(IdentityAttribute.SINCE, ""))[:_INSTANT]
    stored_at: Any = item.get(Attribute.STORED_AT)
    return told if stored_at is None else min(told, format_instant(datetime.fromtimestamp(int(stored_at), UTC)))


def _remains(item: Item, until: str) -> Item | None:
    """What keeps the erased out in the place of an item, as an erasure leaves it."""
    if (identity := IdentityAttribute.IDENTITY_ID) in item:
        return identity_tombstone(item[identity], until)
    if (claim := ClaimAttribute.CLAIM_ID) in item:
        return claim_tombstone(item[claim], now())
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code of the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.restored", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("restored", help="name of the restored copy")
    parser.add_argument("erasures", help="name of the erasures table that is in use")
    chosen = parser.parse_args(arguments)
    tables = boto3.resource("dynamodb")
    count, leads = strike(tables.Table(chosen.restored), Erased.read(tables.Table(chosen.erasures)))
    for organization_id, lead_id in leads:
        print(organization_id, lead_id)
    print(f"{count} items", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
