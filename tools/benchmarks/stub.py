"""An endpoint that answers AWS calls after a fixed time and works out nothing else: what remains is the caller's own time.

    python -m tools.benchmarks.stub --delay 0.005

prints its port and serves until its standard input ends. It speaks the JSON protocols of DynamoDB (conditional puts,
updates, reads and queries by key), SQS, EventBridge, Secrets Manager and Parameter Store, as far as the measured handlers do.
Tables are made by CreateTable. A condition with ``attribute_not_exists`` fails where the key is taken, other ones and those of
transactions hold; nothing expires.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import sys
import uuid
from typing import Any, Final

SECRET: Final = "whsec_benchmark"
ORGANIZATION: Final = "org_bench"

Item = dict[str, Any]
Answer = tuple[int, dict[str, Any] | bytes]


class Stub:
    """The state: items by table and key, each with its JSON text."""

    def __init__(self) -> None:
        self._keys: dict[str, list[str]] = {}
        self._items: dict[str, dict[tuple[str, ...], Item]] = {}
        self._texts: dict[tuple[str, str, tuple[str, ...]], bytes] = {}

    def answer(self, target: str, body: Item) -> Answer:
        """Status and body of one call."""
        operation = target.rpartition(".")[2]
        method = getattr(self, f"_{_snake(operation)}", None)
        if method is None:
            return 400, {"__type": "UnknownOperationException", "message": target}
        found: Answer = method(body)
        return found

    def _create_table(self, body: Item) -> Answer:
        name = body["TableName"]
        self._keys[name] = [each["AttributeName"] for each in body["KeySchema"]]
        self._items[name] = {}
        return 200, {"TableDescription": {"TableName": name, "TableStatus": "ACTIVE"}}

    def _put_item(self, body: Item) -> Answer:
        name, item = body["TableName"], body["Item"]
        key = self._key(name, item)
        first = self._items[name].get(key)
        if first is not None and "attribute_not_exists" in body.get("ConditionExpression", ""):
            refused: Item = {
                "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
                "message": "The conditional request failed",
            }
            if body.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
                refused["Item"] = first
            return 400, refused
        self._items[name][key] = item
        return 200, {}

    def _update_item(self, body: Item) -> Answer:
        name, key = body["TableName"], self._key(body["TableName"], body["Key"])
        names, values = body.get("ExpressionAttributeNames", {}), body.get("ExpressionAttributeValues", {})
        changed = {
            names.get(attribute, attribute): values[value]
            for attribute, value in re.findall(r"(#?\w+)\s*=\s*(:\w+)", body["UpdateExpression"])
        }
        self._items[name][key] = {**(self._items[name].get(key) or body["Key"]), **changed}
        return 200, {}

    def _transact_write_items(self, body: Item) -> Answer:
        """Conditions are not looked at."""
        for action in body["TransactItems"]:
            for kind, each in action.items():
                if kind == "Update":
                    self._update_item(each)
                else:
                    self._items[each["TableName"]][self._key(each["TableName"], each["Item"])] = each["Item"]
        return 200, {}

    def _get_item(self, body: Item) -> Answer:
        found = self._items[body["TableName"]].get(self._key(body["TableName"], body["Key"]))
        return 200, {"Item": found} if found else {}

    def _query(self, body: Item) -> Answer:
        """The first ``Limit`` items of a partition between the bounds of its sort key, if there are any.

        Texts of items are made once, so that later answers cost next to nothing here.
        """
        name = body["TableName"]
        partition = next(iter(sorted(body["ExpressionAttributeValues"].values(), key=_starts_with_organization)))["S"]
        low, high = _bounds(body)
        keys = sorted(key for key in self._items[name] if key[0] == partition and low <= key[-1] <= high)
        if not body.get("ScanIndexForward", True):
            keys.reverse()
        shown = keys[: body.get("Limit", len(keys))]
        parts = [b'{"Items":[', b",".join(self._text(body, key) for key in shown), b'],"Count":%d' % len(shown)]
        if len(shown) < len(keys):
            last = {attribute: {"S": part} for attribute, part in zip(self._keys[name], shown[-1], strict=True)}
            parts.append(b',"LastEvaluatedKey":' + json.dumps(last).encode())
        return 200, b"".join(parts) + b"}"

    def _send_message(self, body: Item) -> Answer:
        digest = hashlib.md5(body["MessageBody"].encode(), usedforsecurity=False).hexdigest()
        return 200, {"MD5OfMessageBody": digest, "MessageId": str(uuid.uuid4())}

    def _put_events(self, body: Item) -> Answer:
        return 200, {"FailedEntryCount": 0, "Entries": [{"EventId": str(uuid.uuid4())} for _ in body["Entries"]]}

    def _get_secret_value(self, body: Item) -> Answer:
        value = json.dumps({"secrets": [SECRET]})
        return 200, {"ARN": "arn:aws:secretsmanager:::secret", "Name": body["SecretId"], "SecretString": value}

    def _get_parameter(self, body: Item) -> Answer:
        return 200, {"Parameter": {"Name": body["Name"], "Type": "String", "Value": ORGANIZATION, "Version": 1}}

    def _key(self, table: str, item: Item) -> tuple[str, ...]:
        return tuple(item[each]["S"] for each in self._keys[table])

    def _text(self, body: Item, key: tuple[str, ...]) -> bytes:
        table, projection = body["TableName"], body.get("ProjectionExpression", "")
        text = self._texts.get((table, projection, key))
        if text is None:
            item = self._items[table][key]
            if projection:
                names = [body["ExpressionAttributeNames"][each.strip()] for each in projection.split(",")]
                item = {name: item[name] for name in names if name in item}
            text = self._texts[table, projection, key] = json.dumps(item).encode()
        return text


class Connection(asyncio.Protocol):
    """HTTP/1.1 with kept connections, as far as botocore speaks it."""

    def __init__(self, stub: Stub, delay: float) -> None:
        self._stub = stub
        self._delay = delay
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, rest = self._buffer.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")[1:]
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            length = int(headers.get("content-length", "0"))
            if len(rest) < length:
                return
            self._buffer = rest[length:]
            self._serve(headers.get("x-amz-target", ""), rest[:length])

    def _serve(self, target: str, body: bytes) -> None:
        status, answer = self._stub.answer(target, json.loads(body or b"{}"))
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        head = (
            f"HTTP/1.1 {status} {'OK' if status == 200 else 'Bad Request'}\r\n"
            f"Content-Type: application/x-amz-json-1.0\r\nContent-Length: {len(text)}\r\n\r\n"
        )
        if self._delay:
            asyncio.get_running_loop().call_later(self._delay, self._send, head.encode() + text)
        else:
            self._send(head.encode() + text)

    def _send(self, response: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(response)


async def serve(delay: float) -> None:
    """Serve until standard input ends, so that the stub never outlives who started it."""
    loop = asyncio.get_running_loop()
    stub = Stub()
    server = await loop.create_server(lambda: Connection(stub, delay), "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _bounds(query: Item) -> tuple[str, str]:
    """Lowest and highest sort key that is asked for."""
    found = re.search(r"BETWEEN (:\w+) AND (:\w+)", query["KeyConditionExpression"])
    values = query["ExpressionAttributeValues"]
    return (values[found[1]]["S"], values[found[2]]["S"]) if found else ("", "\U0010ffff")


def _starts_with_organization(value: Item) -> bool:
    return not str(value.get("S", "")).startswith("ORG#")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0, help="seconds until each answer")
    asyncio.run(serve(parser.parse_args().delay))
