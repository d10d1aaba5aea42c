"""Reprocessings: jobs of a lead or an organisation alone, and what jobs over more have noted of single leads.

Jobs over everything note leads of every organisation. What they have counted stays, as it names nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lead_events.erasure import Erasure, Store
from lead_events.jobs import Scope, Status
from lead_events.mentions import Mentions, Person
from lead_events.names import ReprocessingAttribute, organization_key
from lead_events.store.items import Item
from lead_events.store.reprocessings import lock_id, segment_id
from lead_events.store.shelves.tables import AGAIN, Table, lead_of, position_at
from lead_events.store.wire import item_to_wire
from lead_events.strict_json import dumps

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_KEY: Final = (ReprocessingAttribute.SCOPE, ReprocessingAttribute.JOB_ID)
_READ: Final = ("leadId", "slices", "position", "samples", "failures")
_PAGE: Final = 50
_SEGMENTS: Final = 90
"""Segments that go in one transaction; no job has more than some."""


class Reprocessings:
    """The reprocessings table."""

    def __init__(
        self,
        client: DynamoDBClient,
        table_name: str,
        erasures_table: str,
        *,
        mentions: Mentions,
    ) -> None:
        self._table = Table(client, table_name, _KEY, erasures_table)
        self._mentions = mentions

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        """The organisation's partition first, then the one of the jobs over everything."""
        lead_id = lead_of(erasure)
        own, everything = organization_key(erasure.organization_id), Scope().owner
        place, _, behind = (position or "").partition(" ")
        if place != everything:
            if lead_id is None:
                after = self._table.clear_partition(erasure, Store.REPROCESSINGS, own, behind or None)
            else:
                after = self._clear_page(erasure, own, behind or None)
            return f"{everything} " if after is None else f"own {after}"
        after = self._clear_page(erasure, everything, behind or None)
        return None if after is None else f"{everything} {after}"

    def _clear_page(self, erasure: Erasure, owner: str, behind: str | None) -> str | None:
        """Take what a page of the partition has of the lead or the organisation; where to go on."""
        items, after = self._table.query(owner, behind, attributes=_READ, Limit=_PAGE)
        noted = _Noted(erasure, self._mentions)
        for item in items:
            if erasure.lead_id is not None and self._is_of_lead(item, owner, erasure.lead_id):
                done = self._delete(erasure, item)
            else:
                done = "slices" not in item or self._reduce(erasure, item, noted)
            if not done:
                return behind or AGAIN
            behind = position_at(self._table.key_of(item))
        return after

    def _is_of_lead(self, item: Item, owner: str, lead_id: str) -> bool:
        """Whether it is a job of the lead alone, or the lock of those."""
        name: str = item[ReprocessingAttribute.JOB_ID]
        of_lead = item.get("leadId") == lead_id or name == lock_id(Scope(lead_id=lead_id))
        return of_lead and owner != Scope().owner

    def _delete(self, erasure: Erasure, item: Item) -> bool:
        """Delete a job with its segments, or a lock."""
        prefix = segment_id(item[ReprocessingAttribute.JOB_ID])
        segments, _ = self._table.query(item[ReprocessingAttribute.SCOPE], begins=prefix, Limit=_SEGMENTS)
        actions = [self._table.deletion(each) for each in (*segments, item)]
        return self._table.take(erasure, {Store.REPROCESSINGS: len(actions)}, actions)

    def _reduce(self, erasure: Erasure, segment: Item, noted: _Noted) -> bool:
        """Take out of a segment what it has noted, unless a worker or another eraser has written it since."""
        kept: Item = {
            name: [each for each in segment[name] if not noted.names(each)] for name in ("samples", "failures")
        }
        went = sum(len(segment[name]) - len(kept[name]) for name in kept)
        if noted.stands_at(segment["position"]) and self._is_closed(segment):
            kept["position"] = None  # else it is needed: behind it the work goes on
            went += 1
        if not went:
            return True
        was = {f":was_{name}": segment[name] for name in ("slices", *kept)}
        update: dict[str, Any] = {
            "TableName": self._table.name,
            "Key": item_to_wire(self._table.key_of(segment)),
            "UpdateExpression": f"SET {', '.join(f'#{name} = :{name}' for name in kept)}",
            "ConditionExpression": " AND ".join(f"#{name} = :was_{name}" for name in ("slices", *kept)),
            "ExpressionAttributeNames": {f"#{name}": name for name in ("slices", *kept)},
            "ExpressionAttributeValues": item_to_wire({f":{name}": value for name, value in kept.items()} | was),
        }
        return self._table.take(erasure, {Store.REPROCESSINGS: went}, [{"Update": update}])

    def _is_closed(self, segment: Item) -> bool:
        """Whether the segment's job will not go on."""
        _, job_id, _ = segment[ReprocessingAttribute.JOB_ID].split("#")
        jobs, _ = self._table.query(segment[ReprocessingAttribute.SCOPE], begins=job_id, attributes=("status",))
        return not any(Status(each["status"]).open for each in jobs)


class _Noted:
    """What segments may have noted of those who are erased."""

    def __init__(self, erasure: Erasure, mentions: Mentions) -> None:
        self._owner = erasure.organization_id
        self._lead_id = erasure.lead_id
        self._mentions = mentions
        self._person: Person | None = None

    def names(self, entry: list[Any]) -> bool:
        """Whether a sample or a failure is of them; or a sample of somebody else, but with an identity of theirs."""
        if entry[0] != self._owner:
            return False
        if self._lead_id is None or entry[1] == self._lead_id:
            return True
        return len(entry) == 4 and self._mentions.find(self._known(self._lead_id), dumps(entry[3]))

    def stands_at(self, position: list[str] | None) -> bool:
        """Whether a position names them."""
        return position is not None and position[0] == self._owner and self._lead_id in (None, position[1])

    def _known(self, lead_id: str) -> Person:
        if self._person is None:
            self._person = self._mentions.person(self._owner, lead_id)
        return self._person
