"""Looks for something in everything that a twin keeps: tables, queues, buckets and logs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lead_events.raw_payload import decompress
from tests.e2e.client import Client
from tools.local.aws import log_events


def places_of(client: Client, needles: Sequence[str], *, logs: Sequence[Path] = ()) -> dict[str, set[str]]:
    """Where any of ``needles`` is found, and which; empty where none is anywhere."""
    found: dict[str, set[str]] = {}
    for place, text in everything(client, logs):
        hits = {each for each in needles if each in text}
        if hits:
            found.setdefault(place, set()).update(hits)
    return found


def everything(client: Client, logs: Sequence[Path] = ()) -> Iterator[tuple[str, str]]:
    """Each piece of stored text with its place."""
    for table in client.stack["tables"]:
        for item in client.items(table):
            yield f"table {table}", json.dumps(item, default=_text, ensure_ascii=False)
    s3 = client.aws("s3")
    for name, bucket in client.stack["buckets"].items():
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for each in page.get("Contents", []):
                yield f"bucket {name} {each['Key'].partition('/')[0]}", each["Key"]
                body = s3.get_object(Bucket=bucket, Key=each["Key"])["Body"].read()
                yield f"bucket {name} {each['Key'].partition('/')[0]}", body.decode()
    sqs = client.aws("sqs")
    for name, url in client.stack["queues"].items():
        for body in waiting(sqs, url):
            yield f"queue {name}", body
    yield from ((f"log group {group}", line) for group, line in log_lines(client))
    for path in logs:
        yield f"log {path.name}", path.read_text(encoding="utf-8", errors="replace")


def waiting(sqs: Any, url: str) -> list[str]:
    """Bodies of the messages of a queue, which are all visible again afterwards."""
    bodies: dict[str, str] = {}
    handles: list[str] = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=30).get("Messages"):
        bodies |= {each["MessageId"]: each["Body"] for each in messages}
        handles += [each["ReceiptHandle"] for each in messages]
    for handle in handles:
        sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
    return list(bodies.values())


def log_lines(client: Client) -> Iterator[tuple[str, str]]:
    """Every line that CloudWatch Logs of the twin have, with its group."""
    logs = client.aws("logs")
    for page in logs.get_paginator("describe_log_groups").paginate():
        for group in page["logGroups"]:
            name = group["logGroupName"]
            for event in log_events(logs, name):
                yield from ((name, line) for line in event["message"].splitlines())


def _text(value: object) -> str:
    """Binary values of items: raw payloads are compressed."""
    assert isinstance(value, bytes)
    try:
        return decompress(value)
    except Exception:  # windows of memories are binary too
        return value.hex()
