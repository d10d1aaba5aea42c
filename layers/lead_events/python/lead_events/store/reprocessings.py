"""Reprocessings in DynamoDB.

Of one owner (an organisation, or everything) the table holds, by its sort key: each job (``rep_…``), each segment of it
(``segment#rep_…#0003``), and for each scope that had a job which one holds it (``running#…``), if any does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.errors import UnavailableError
from lead_events.instants import format_instant, parse_instant
from lead_events.jobs import Difference, Failure, Job, Kind, Scope, Segment, Status, Tally
from lead_events.names import ReprocessingAttribute
from lead_events.ports import JobPage
from lead_events.store.transactions import FAILED, transact
from lead_events.store.wire import item_from_wire, item_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = dict[str, Any]

_FIRST_JOB: Final = "rep_"
_LAST_JOB: Final = "rep_~"
_IS_EXPECTED: Final = "#status = :expected"
_NAMES: Final = {"#status": "status", "#changed": "changedAt", "#idle": "idleSeconds"}


class DynamoDbReprocessings:
    """The reprocessings table."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        self._client = client
        self._table = table_name

    def start(self, job: Job, segments: Sequence[Segment]) -> str | None:
        owner = job.scope.owner
        items = [_job_item(job), *(_segment_item(owner, job.job_id, each) for each in segments)]
        lock: dict[str, Any] = {
            "Item": item_to_wire(_key(owner, lock_id(job.scope)) | {"holder": job.job_id}),
            "ConditionExpression": "attribute_not_exists(holder) OR holder = :mine",  # ours: the same call, sent again
            "ExpressionAttributeValues": {":mine": {"S": job.job_id}},
        }
        puts = [lock, *({"Item": item_to_wire(item)} for item in items)]
        if self._transact([{"Put": {"TableName": self._table, **put}} for put in puts]):
            return None
        held = self._get(owner, lock_id(job.scope))
        if held is None or "holder" not in held:
            raise UnavailableError("DynamoDB did not start a reprocessing.")
        return str(held["holder"])

    def get(self, owner: str, job_id: str) -> Job | None:
        found = self._get(owner, job_id) if job_id.startswith(_FIRST_JOB) else None
        return None if found is None else _job(found)

    def page(self, owner: str, after: str | None, limit: int) -> JobPage:
        items, more = self._query(owner, _FIRST_JOB, _LAST_JOB, after=after, limit=limit, newest_first=True)
        jobs = [_job(item) for item in items]
        return JobPage(jobs, jobs[-1].job_id if more and jobs else None)

    def segment(self, job: Job, number: int) -> Segment | None:
        found = self._get(job.scope.owner, segment_id(job.job_id, number))
        return None if found is None else _segment(found)

    def segments(self, job: Job) -> list[Segment]:
        prefix = segment_id(job.job_id)
        found: list[Item] = []
        after, more = None, True
        while more:
            items, more = self._query(job.scope.owner, prefix, f"{prefix}~", after=after)
            found += items
            after = items[-1][ReprocessingAttribute.JOB_ID] if items else after
        return [_segment(item) for item in found]

    def change(self, job: Job, expected: Status) -> bool:
        update: dict[str, Any] = {
            "TableName": self._table,
            "Key": item_to_wire(_key(job.scope.owner, job.job_id)),
            "UpdateExpression": "SET #status = :status, #changed = :changed, #idle = :idle",
            "ConditionExpression": _IS_EXPECTED,
            "ExpressionAttributeNames": _NAMES,
            "ExpressionAttributeValues": item_to_wire({":expected": expected.value} | _status_values(job)),
        }
        free: dict[str, Any] = {
            "TableName": self._table,
            "Key": item_to_wire(_key(job.scope.owner, lock_id(job.scope))),
            "UpdateExpression": "REMOVE holder",
            "ConditionExpression": "holder = :mine",
            "ExpressionAttributeValues": {":mine": {"S": job.job_id}},
        }
        return self._transact([{"Update": each} for each in ([update] if job.status.open else [update, free])])

    def advance(self, job: Job, segment: Segment) -> bool:
        item = _segment_item(job.scope.owner, job.job_id, segment)
        with translated("DynamoDB"):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item=item_to_wire(item),
                    ConditionExpression="#slices = :before",
                    ExpressionAttributeNames={"#slices": "slices"},
                    ExpressionAttributeValues={":before": {"N": str(segment.slices - 1)}},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except self._client.exceptions.ConditionalCheckFailedException as error:
                # Our own write, if only its answer was lost and botocore sent it again.
                answer: dict[str, Any] = {**error.response}
                return "Item" in answer and item_from_wire(answer["Item"]) == item_from_wire(item_to_wire(item))
        return True

    def _get(self, owner: str, sort_key: str) -> Item | None:
        key = item_to_wire(_key(owner, sort_key))
        with translated("DynamoDB"):
            found = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return item_from_wire(found["Item"]) if "Item" in found else None

    def _query(
        self,
        owner: str,
        low: str,
        high: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> tuple[list[Item], bool]:
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "#owner = :owner AND #id BETWEEN :low AND :high",
            "ExpressionAttributeNames": {
                "#owner": ReprocessingAttribute.SCOPE,
                "#id": ReprocessingAttribute.JOB_ID,
            },
            "ExpressionAttributeValues": item_to_wire({":owner": owner, ":low": low, ":high": high}),
            "ScanIndexForward": not newest_first,
            "ConsistentRead": True,
        }
        request |= {"Limit": limit} if limit else {}
        request |= {"ExclusiveStartKey": item_to_wire(_key(owner, after))} if after else {}
        with translated("DynamoDB"):
            answer = self._client.query(**request)
        return [item_from_wire(each) for each in answer["Items"]], "LastEvaluatedKey" in answer

    def _transact(self, actions: list[Any]) -> bool:
        """Whether all of ``actions`` took effect; none did where a condition does not hold."""
        cancelled = transact(self._client, actions)
        if cancelled is not None and FAILED not in cancelled.codes:
            cancelled.give_up()
        return cancelled is None


def _key(owner: str, sort_key: str) -> Item:
    return {ReprocessingAttribute.SCOPE: owner, ReprocessingAttribute.JOB_ID: sort_key}


def lock_id(scope: Scope) -> str:
    """Sort key of what says which job of a scope is open."""
    return f"running#{scope.lead_id or ''}"


def segment_id(job_id: str, number: int | None = None) -> str:
    """Sort key of a segment of a job; without a number what those of all begin with."""
    return f"segment#{job_id}#" + ("" if number is None else f"{number:04d}")


def _status_values(job: Job) -> Item:
    return {
        ":status": job.status.value,
        ":changed": format_instant(job.changed_at),
        ":idle": int(job.idle.total_seconds()),
    }


def _job_item(job: Job) -> Item:
    values = _status_values(job)
    return _key(job.scope.owner, job.job_id) | {
        "organizationId": job.scope.organization_id,
        "leadId": job.scope.lead_id,
        "kind": job.kind.value,
        "dryRun": job.dry_run,
        "segments": job.segments,
        "expectedEvents": job.expected_events,
        "startedAt": format_instant(job.started_at),
        "status": values[":status"],
        "changedAt": values[":changed"],
        "idleSeconds": values[":idle"],
    }


def _job(item: Mapping[str, Any]) -> Job:
    expected = item["expectedEvents"]
    return Job(
        job_id=item[ReprocessingAttribute.JOB_ID],
        scope=Scope(item["organizationId"], item["leadId"]),
        kind=Kind(item["kind"]),
        dry_run=item["dryRun"],
        segments=int(item["segments"]),
        expected_events=None if expected is None else int(expected),
        started_at=_instant(item["startedAt"]),
        status=Status(item["status"]),
        changed_at=_instant(item["changedAt"]),
        idle=timedelta(seconds=int(item["idleSeconds"])),
    )


def _segment_item(owner: str, job_id: str, segment: Segment) -> Item:
    tally = segment.tally
    return _key(owner, segment_id(job_id, segment.number)) | {
        "number": segment.number,
        "slices": segment.slices,
        "position": list(segment.position) if segment.position else None,
        "done": segment.done,
        "movedAt": format_instant(segment.moved_at) if segment.moved_at else None,
        "leads": tally.leads,
        "events": tally.events,
        "changed": tally.changed,
        "failed": tally.failed,
        "failures": [[each.organization_id, each.lead_id, each.code] for each in tally.failures],
        "samples": [[each.organization_id, each.lead_id, each.subject, dict(each.fields)] for each in tally.samples],
    }


def _segment(item: Mapping[str, Any]) -> Segment:
    return Segment(
        number=int(item["number"]),
        slices=int(item["slices"]),
        position=tuple(item["position"]) if item["position"] else None,
        done=item["done"],
        moved_at=_instant(item["movedAt"]) if item["movedAt"] else None,
        tally=Tally(
            leads=int(item["leads"]),
            events=int(item["events"]),
            changed=int(item["changed"]),
            failed=int(item["failed"]),
            failures=tuple(Failure(*each) for each in item["failures"]),
            samples=tuple(Difference(*each) for each in item["samples"]),
        ),
    )


def _instant(text: str) -> datetime:
    return parse_instant(text, "time")
