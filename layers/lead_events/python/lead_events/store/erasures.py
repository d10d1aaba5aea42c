"""Erasures in DynamoDB, and the fence that they close in the organisation's item.

Of one organisation the table holds, by its sort key: each erasure (``era_…``), what stays of each lead that was erased
(``lead#…``), and which erasure is the organisation's own (``organization``). Nothing of it is ever deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.erasure import Erasure, Status, Store, Tombstone, lead_hash_of
from lead_events.errors import UnavailableError
from lead_events.instants import format_instant, parse_instant
from lead_events.names import ErasureAttribute, OrganizationAttribute
from lead_events.ports import ErasurePage
from lead_events.store.items import Item
from lead_events.store.transactions import CONTENDED, FAILED, pause, transact
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LOOKED_AT_LONGER: Final = timedelta(seconds=60)
"""For how long behind the end of a lead's erasure events are still looked at: clocks differ, and looking costs little."""

FIRST_ID: Final = "era_"
_LAST_ID: Final = "era_~"
OF_ORGANIZATION: Final = "organization"
"""Sort key of what says which erasure is the organisation's own."""
OF_LEAD: Final = "lead#"
"""What the sort keys of leads' tombstones begin with; their hashes follow."""
_PROGRESS: Final = ("slices", "stage", "position", "walkStartedAt", "foundUntil", "until")
_ATTEMPTS: Final = 5


class DynamoDbErasures:
    """The erasures table, and the organizations table, which beginning and ending want.

    All writes are transactions, also those of one item: sent twice, they are one.
    """

    def __init__(self, client: DynamoDBClient, table_name: str, organizations_table: str) -> None:
        self._client = client
        self._table = table_name
        self._organizations_table = organizations_table

    def start(self, erasure: Erasure) -> Erasure:
        record: dict[str, Any] = {
            "TableName": self._table,
            "Item": item_to_wire(_item(erasure)),
            "ConditionExpression": "attribute_not_exists(#id)",
            "ExpressionAttributeNames": {"#id": ErasureAttribute.ERASURE_ID},
        }
        for _ in range(_ATTEMPTS):
            if not self._transact([{"Put": record}, self._hold(erasure), self._close(erasure)]):
                return erasure
            known = self.get(erasure.organization_id, erasure.erasure_id) or self._holding(erasure)
            # One of a lead that has ended in between says nothing of what happened since: ours can begin now.
            if known is not None and (_runs(known) or not known.of_lead or known.erasure_id == erasure.erasure_id):
                return known
        raise UnavailableError("DynamoDB did not start an erasure.")

    def get(self, organization_id: str, erasure_id: str) -> Erasure | None:
        found = self._get(organization_id, erasure_id) if erasure_id.startswith(FIRST_ID) else None
        return None if found is None else _erasure(found)

    def page(self, organization_id: str, after: str | None, limit: int) -> ErasurePage:
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "#organization = :organization AND #id BETWEEN :first AND :last",
            "ExpressionAttributeNames": {
                "#organization": ErasureAttribute.ORGANIZATION_ID,
                "#id": ErasureAttribute.ERASURE_ID,
            },
            "ExpressionAttributeValues": item_to_wire(
                {":organization": organization_id, ":first": FIRST_ID, ":last": _LAST_ID}
            ),
            "ScanIndexForward": False,
            "ConsistentRead": True,
            "Limit": limit,
        }
        request |= {"ExclusiveStartKey": item_to_wire(_key(organization_id, after))} if after else {}
        with translated("DynamoDB"):
            answer = self._client.query(**request)
        found = [_erasure(item_from_wire(each)) for each in answer["Items"]]
        return ErasurePage(found, found[-1].erasure_id if "LastEvaluatedKey" in answer and found else None)

    def tombstone(self, organization_id: str, lead_id: str) -> Tombstone | None:
        found = self._get(organization_id, _of_lead(lead_hash_of(organization_id, lead_id)))
        return None if found is None else Tombstone(found["holder"], _instant(found.get("until")))

    def advance(self, erasure: Erasure, *, new_walk: bool = False) -> bool:
        item = _item(erasure)
        sets = {name: item[name] for name in _PROGRESS if name in item} | ({"found": False} if new_walk else {})
        removed = [name for name in _PROGRESS if name not in item and name != "until"]  # identities may have gone by it
        update = self._update(erasure, sets, removed)
        update["ConditionExpression"] += " AND #slices = :before"
        update["ExpressionAttributeValues"][":before"] = {"N": str(erasure.slices - 1)}
        return not self._transact([{"Update": update}])

    def count(self, erasure: Erasure, store: Store, number: int) -> None:
        # Where the condition fails, the erasure is done: another worker has found that nothing was left.
        self._transact([counting(self._table, erasure, {store: number})])

    def finish(self, erasure: Erasure) -> bool:
        assert erasure.until is not None
        completed_at = format_instant(erasure.completed_at or erasure.until)
        sets = {"until": format_instant(erasure.until), "completedAt": completed_at, "status": Status.DONE.value}
        # A position may name the lead as well as its id does.
        done = {"Update": self._update(erasure, sets, ["leadId", "position"])}
        if not erasure.of_lead:
            return not self._transact([done])
        for later in (True, False) * _ATTEMPTS:
            failed = self._transact([done, self._release(erasure), self._open(erasure, later=later)])
            if not failed or failed[0] == FAILED:
                return not failed
            # Else the organisation's item has a later instant, or has none so late: the other way, then.
        raise UnavailableError("DynamoDB did not finish an erasure.")

    def _hold(self, erasure: Erasure) -> dict[str, Any]:
        """Let nobody else erase the same; of a lead, make its tombstone cover whatever happens from now on."""
        free = "attribute_not_exists(#holder)"
        return {
            "Update": {
                "TableName": self._table,
                "Key": item_to_wire(_holder_key(erasure)),
                "UpdateExpression": "SET #holder = :mine REMOVE #until",
                # Behind an erasure of a lead that has ended there may be another; of an organisation there is only one, ever.
                "ConditionExpression": f"{free} OR attribute_exists(#until)" if erasure.of_lead else free,
                "ExpressionAttributeNames": {"#holder": "holder", "#until": "until"},
                "ExpressionAttributeValues": {":mine": {"S": erasure.erasure_id}},
            }
        }

    def _release(self, erasure: Erasure) -> dict[str, Any]:
        """From now on the lead's tombstone covers what happened until its end, and somebody else may erase the lead again."""
        assert erasure.until is not None
        return {
            "Update": {
                "TableName": self._table,
                "Key": item_to_wire(_holder_key(erasure)),
                "UpdateExpression": "SET #until = :until",
                "ConditionExpression": "#holder = :mine",
                "ExpressionAttributeNames": {"#holder": "holder", "#until": "until"},
                "ExpressionAttributeValues": item_to_wire(
                    {":mine": erasure.erasure_id, ":until": format_instant(erasure.until)}
                ),
            }
        }

    def _close(self, erasure: Erasure) -> dict[str, Any]:
        """Close the fence; of an organisation for ever, and so that writes of its state fail that are under way."""
        update = self._organization(erasure)
        if erasure.of_lead:
            update |= {
                "UpdateExpression": "ADD #erasing :mine",
                "ExpressionAttributeNames": {"#erasing": OrganizationAttribute.ERASING},
                "ExpressionAttributeValues": {":mine": {"SS": [erasure.erasure_id]}},
            }
        else:
            update |= {
                # Also where there is no version yet: somebody may be about to write the first.
                "UpdateExpression": "SET #erased = :true ADD #version :one",
                "ExpressionAttributeNames": {
                    "#erased": OrganizationAttribute.ERASED,
                    "#version": OrganizationAttribute.VERSION,
                },
                "ExpressionAttributeValues": {":true": {"BOOL": True}, ":one": {"N": "1"}},
            }
        return {"Update": update}

    def _open(self, erasure: Erasure, *, later: bool) -> dict[str, Any]:
        """Open the fence behind the erasure of a lead, either way on condition: with an instant ``later`` than the one that
        is there, or leaving that. So it never goes back, whichever of two erasures ends first.
        """
        update = self._organization(erasure) | {
            "UpdateExpression": "DELETE #erasing :mine",
            "ConditionExpression": "#until >= :until",
            "ExpressionAttributeNames": {
                "#erasing": OrganizationAttribute.ERASING,
                "#until": OrganizationAttribute.ERASED_UNTIL,
            },
            "ExpressionAttributeValues": {
                ":mine": {"SS": [erasure.erasure_id]},
                ":until": {"S": format_instant(looked_at_until(erasure))},
            },
        }
        if later:
            update |= {
                "UpdateExpression": "SET #until = :until DELETE #erasing :mine",
                "ConditionExpression": "attribute_not_exists(#until) OR #until < :until",
            }
        return {"Update": update}

    def _organization(self, erasure: Erasure) -> dict[str, Any]:
        key = item_to_wire({OrganizationAttribute.ORGANIZATION_ID: erasure.organization_id})
        return {"TableName": self._organizations_table, "Key": key}

    def _update(self, erasure: Erasure, sets: Mapping[str, Any], removed: Sequence[str]) -> dict[str, Any]:
        """The update of a running erasure's record."""
        removes = ", ".join(f"#{name}" for name in removed)
        return {
            "TableName": self._table,
            "Key": item_to_wire(_key(erasure.organization_id, erasure.erasure_id)),
            "UpdateExpression": f"SET {', '.join(f'#{name} = :{name}' for name in sets)}"
            + (f" REMOVE {removes}" if removes else ""),
            "ConditionExpression": "#status = :running",
            "ExpressionAttributeNames": {f"#{name}": name for name in {*sets, *removed, "status"}},
            "ExpressionAttributeValues": item_to_wire(
                {f":{name}": value for name, value in sets.items()} | {":running": Status.RUNNING.value}
            ),
        }

    def _holding(self, erasure: Erasure) -> Erasure | None:
        """The erasure that erases, or has erased, the same."""
        holder = self._get(erasure.organization_id, _holder_key(erasure)[ErasureAttribute.ERASURE_ID])
        return None if holder is None else self.get(erasure.organization_id, holder["holder"])

    def _get(self, organization_id: str, sort_key: str) -> Item | None:
        key = item_to_wire(_key(organization_id, sort_key))
        with translated("DynamoDB"):
            found = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return item_from_wire(found["Item"]) if "Item" in found else None

    def _transact(self, actions: list[Any]) -> list[str]:
        """Do all of ``actions``, or none where a condition does not hold: then give back what each has met with."""
        for _ in range(_ATTEMPTS):
            cancelled = transact(self._client, actions)
            if cancelled is None:
                return []
            if FAILED in cancelled.codes:
                return cancelled.codes
            if CONTENDED not in cancelled.codes:
                cancelled.give_up()
            pause()
        raise UnavailableError("An erasure's items are contended.")


def counting(table_name: str, erasure: Erasure, counts: Mapping[Store, int]) -> dict[str, Any]:
    """What counts in a running erasure, as part of the transaction in which the counted goes."""
    names = {f"#{store.name}": store.value for store in counts}
    sums = [f"#counts.#{store.name} = #counts.#{store.name} + :{store.name}" for store in counts]
    return {
        "Update": {
            "TableName": table_name,
            "Key": item_to_wire(_key(erasure.organization_id, erasure.erasure_id)),
            "UpdateExpression": f"SET {', '.join([*sums, '#found = :true'])}",
            "ConditionExpression": "#status = :running",
            "ExpressionAttributeNames": names
            | {"#found": "found", "#status": "status"}
            | ({"#counts": "counts"} if counts else {}),
            "ExpressionAttributeValues": item_to_wire(
                {f":{store.name}": number for store, number in counts.items()}
                | {":true": True, ":running": Status.RUNNING.value}
            ),
        }
    }


def looked_at_until(erasure: Erasure) -> datetime:
    """Up to when an organisation's events are looked at once the erasure of a lead has ended."""
    assert erasure.until is not None
    return erasure.until + LOOKED_AT_LONGER


def _key(organization_id: str, sort_key: str) -> Item:
    return {ErasureAttribute.ORGANIZATION_ID: organization_id, ErasureAttribute.ERASURE_ID: sort_key}


def _holder_key(erasure: Erasure) -> Item:
    sort_key = OF_ORGANIZATION if erasure.lead_hash is None else _of_lead(erasure.lead_hash)
    return _key(erasure.organization_id, sort_key)


def _of_lead(lead_hash: str) -> str:
    return f"{OF_LEAD}{lead_hash}"


def _runs(erasure: Erasure) -> bool:
    return erasure.status is Status.RUNNING


def _item(erasure: Erasure) -> Item:
    optional: Item = {
        "leadId": erasure.lead_id,
        "leadHash": erasure.lead_hash,
        "until": _text(erasure.until),
        "completedAt": _text(erasure.completed_at),
        "walkStartedAt": _text(erasure.walk_started_at),
        "foundUntil": _text(erasure.found_until),
        "position": erasure.position,
    }
    return (
        _key(erasure.organization_id, erasure.erasure_id)
        | {
            "requestedAt": format_instant(erasure.requested_at),
            "requestedBy": erasure.requested_by,
            "status": erasure.status.value,
            "slices": erasure.slices,
            "found": erasure.found,
            "stage": erasure.stage,
            "counts": {store.value: erasure.counts.get(store, 0) for store in Store},
        }
        | {name: value for name, value in optional.items() if value is not None}
    )


def _erasure(item: Item) -> Erasure:
    return Erasure(
        organization_id=item[ErasureAttribute.ORGANIZATION_ID],
        erasure_id=item[ErasureAttribute.ERASURE_ID],
        lead_id=item.get("leadId"),
        lead_hash=item.get("leadHash"),
        requested_at=parse_instant(item["requestedAt"], "requestedAt"),
        requested_by=item["requestedBy"],
        status=Status(item["status"]),
        until=_instant(item.get("until")),
        completed_at=_instant(item.get("completedAt")),
        slices=int(item["slices"]),
        walk_started_at=_instant(item.get("walkStartedAt")),
        found_until=_instant(item.get("foundUntil")),
        found=item["found"],
        stage=int(item["stage"]),
        position=item.get("position"),
        counts={store: int(item["counts"].get(store.value, 0)) for store in Store},
    )


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else format_instant(instant)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else parse_instant(text, "time")
