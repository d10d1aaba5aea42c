"""What each function may not do, tried with its own role while IAM is enforced.

What it may do is in the table of permissions, which the templates are held against too; everything else is tried, and
has to be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pytest
from botocore.exceptions import ClientError

from tests.e2e.client import Client, new_lead
from tests.infrastructure.permissions import (
    CLIENT_ORGANIZATIONS,
    CONSUMERS,
    DELETE,
    FUNCTIONS,
    ITEMS,
    LIST_THE_BUCKET,
    OBJECTS,
    PUBLISHERS,
    PUT,
    READ,
    SCAN,
    SECRETS,
    SENDERS,
    TABLES,
    UPDATE,
)

pytestmark = pytest.mark.e2e

Call = tuple[str, Callable[[], Any]]
"""What is tried, in words, and how."""

NOBODYS: Final = {
    "events": {"leadOrganizationId": "ORG#nobody#LEAD#nobody", "occurredAtId": "none"},
    "claims": {"claimId": "ORG#nobody#none"},
    "identities": {"identityId": "ORG#nobody#none"},
    "rejectedEvents": {"organizationId": "nobody", "rejectedEventId": "none"},
    "memories": {"leadOrganizationId": "ORG#nobody#LEAD#nobody", "category": "none"},
    "reprocessings": {"scope": "nobody", "jobId": "none"},
    "organizations": {"organizationId": "nobody"},
    "erasures": {"organizationId": "nobody", "erasureId": "none"},
}
"""Keys of items that there are not: should a call get through after all, no other test is harmed."""

INDEXES: Final = {
    "events": ("event-type-index", "leadOrganizationId"),
    "identities": ("lead-index", "leadOrganizationId"),
    "rejectedEvents": ("last-seen-index", "organizationId"),
}


@dataclass(frozen=True, slots=True)
class Role:
    """A function's name, and clients with the credentials of its role."""

    function: str
    client: Client
    credentials: dict[str, str]
    _made: dict[str, Any] = field(default_factory=dict)

    def aws(self, service: str) -> Any:
        """A client of a service, made once."""
        if service not in self._made:
            self._made[service] = self.client.aws(service, **self.credentials)
        return self._made[service]


@pytest.fixture(scope="module", params=FUNCTIONS)
def role(request: pytest.FixtureRequest, client: Client) -> Role:
    """The role of each function in turn."""
    return role_of(client, request.param)


def role_of(client: Client, name: str) -> Role:
    """The role of a function."""
    answer = client.aws("sts").assume_role(RoleArn=function_of(client, name)["Role"], RoleSessionName="test")
    found = answer["Credentials"]
    credentials = {
        "aws_access_key_id": found["AccessKeyId"],
        "aws_secret_access_key": found["SecretAccessKey"],
        "aws_session_token": found["SessionToken"],
    }
    return Role(name, client, credentials)


def function_of(client: Client, name: str) -> dict[str, Any]:
    """The configuration of a function."""
    functions: list[dict[str, Any]] = client.aws("lambda").list_functions()["Functions"]
    [function] = [each for each in functions if f"services-{name}Function" in each["FunctionName"]]
    return function


def passed(calls: Iterator[Call]) -> list[str]:
    """Which of the calls were not refused for want of a permission."""
    return [what for what, call in calls if not denied(call)]


def denied(call: Callable[[], Any]) -> bool:
    """Whether a call is refused for want of a permission; any other failure says that it got further."""
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"] in ("AccessDenied", "AccessDeniedException")
    return False


def wire(key: dict[str, str]) -> dict[str, Any]:
    """A key as DynamoDB takes it."""
    return {name: {"S": value} for name, value in key.items()}


def reads(dynamodb: Any, name: str, table: str) -> Iterator[Call]:
    """Every way to read items whose key one knows, or a part of it."""
    key = wire(NOBODYS[name])
    partition = next(iter(NOBODYS[name]))
    yield "get", partial(dynamodb.get_item, TableName=table, Key=key)
    yield "get many", partial(dynamodb.batch_get_item, RequestItems={table: {"Keys": [key]}})
    get = {"Get": {"TableName": table, "Key": key}}
    yield "get in a transaction", partial(dynamodb.transact_get_items, TransactItems=[get])
    condition = {"KeyConditionExpression": "#k = :v", "ExpressionAttributeNames": {"#k": partition},
                 "ExpressionAttributeValues": {":v": key[partition]}}  # fmt: skip
    yield "query", partial(dynamodb.query, TableName=table, **condition)
    if name in INDEXES:
        index, attribute = INDEXES[name]
        of_index = condition | {"ExpressionAttributeNames": {"#k": attribute},
                                "ExpressionAttributeValues": {":v": {"S": "nobody"}}}  # fmt: skip
        yield f"query {index}", partial(dynamodb.query, TableName=table, IndexName=index, **of_index)


def writes(dynamodb: Any, name: str, table: str, letter: str) -> Iterator[Call]:
    """Every way to scan, put, update or delete."""
    key = wire(NOBODYS[name])
    update = {"TableName": table, "Key": key, "UpdateExpression": "SET forged = :f",
              "ExpressionAttributeValues": {":f": {"S": "forged"}}}  # fmt: skip
    if letter == SCAN:
        yield "scan", partial(dynamodb.scan, TableName=table, Limit=1)
    elif letter == PUT:
        yield "put", partial(dynamodb.put_item, TableName=table, Item=key)
        yield "put in a transaction", partial(transact, dynamodb, Put={"TableName": table, "Item": key})
    elif letter == UPDATE:
        yield "update", partial(dynamodb.update_item, **update)
        yield "update in a transaction", partial(transact, dynamodb, Update=update)
    elif letter == DELETE:
        yield "delete", partial(dynamodb.delete_item, TableName=table, Key=key)
        yield "delete in a transaction", partial(transact, dynamodb, Delete={"TableName": table, "Key": key})


def transact(dynamodb: Any, **item: Any) -> None:
    """One write in a transaction."""
    dynamodb.transact_write_items(TransactItems=[item])


def never(dynamodb: Any, name: str, table: str) -> Iterator[Call]:
    """What nobody may do with a table."""
    key = wire(NOBODYS[name])
    yield "delete many", partial(dynamodb.batch_write_item, RequestItems={table: [{"DeleteRequest": {"Key": key}}]})
    yield "put many", partial(dynamodb.batch_write_item, RequestItems={table: [{"PutRequest": {"Item": key}}]})
    yield "PartiQL", partial(dynamodb.execute_statement, Statement=f'SELECT * FROM "{table}"')
    yield "export", partial(dynamodb.create_backup, TableName=table, BackupName="stolen")
    yield "drop", partial(dynamodb.delete_table, TableName=table)


def test_items_are_out_of_reach_of_whoever_has_no_business_with_them(client: Client, role: Role) -> None:
    dynamodb, tried = role.aws("dynamodb"), []
    for name, letters in zip(TABLES, ITEMS[role.function], strict=True):
        table = client.stack["tables"][name]
        calls = [*(reads(dynamodb, name, table) if READ not in letters else ()), *never(dynamodb, name, table)]
        for letter in (SCAN, PUT, UPDATE, DELETE):
            if letter not in letters:
                calls += writes(dynamodb, name, table, letter)
        tried += [(f"{what}: {name}", call) for what, call in calls]
    assert passed(iter(tried)) == []


def test_no_function_may_change_an_event_and_none_but_the_eraser_delete_it(client: Client, role: Role) -> None:
    """With an event that there is: it stays as it was."""
    event = client.append(new_lead()).json
    key = wire({"leadOrganizationId": event["leadOrganizationId"], "occurredAtId": event["occurredAtId"]})
    dynamodb, table = role.aws("dynamodb"), client.stack["tables"]["events"]
    update = {"UpdateExpression": "SET payload = :p", "ExpressionAttributeValues": {":p": {"S": "forged"}}}
    assert denied(lambda: dynamodb.update_item(TableName=table, Key=key, **update))
    if role.function != "Eraser":
        assert denied(lambda: dynamodb.delete_item(TableName=table, Key=key))
    [kept] = client.stored(event["leadId"])
    assert kept["payload"]["M"] == {"ticketId": {"S": "t1"}}


def test_objects_are_out_of_reach_of_whoever_has_no_business_with_them(client: Client, role: Role) -> None:
    s3, bucket = role.aws("s3"), client.stack["buckets"]["raw"]

    def calls() -> Iterator[Call]:
        for (prefix, verb), who in OBJECTS.items():
            if role.function in who:
                continue
            key = f"{prefix}nobody/none"
            if verb == "get":
                yield f"get {prefix}", partial(s3.get_object, Bucket=bucket, Key=key)
            elif verb == "put":
                yield f"put {prefix}", partial(s3.put_object, Bucket=bucket, Key=key, Body=b"forged")
            elif verb == "delete":
                yield f"delete {prefix}", partial(s3.delete_object, Bucket=bucket, Key=key)
                many = {"Objects": [{"Key": key}]}
                yield f"delete many {prefix}", partial(s3.delete_objects, Bucket=bucket, Delete=many)
            else:
                yield f"list {prefix}", partial(s3.list_objects_v2, Bucket=bucket, Prefix=prefix)
        if role.function not in LIST_THE_BUCKET:
            yield "list all", partial(s3.list_objects_v2, Bucket=bucket)
            yield "list others", partial(s3.list_objects_v2, Bucket=bucket, Prefix="other/")
        yield "delete the bucket", partial(s3.delete_bucket, Bucket=bucket)

    assert passed(calls()) == []


def test_queues_are_out_of_reach_of_whoever_has_no_business_with_them(client: Client, role: Role) -> None:
    sqs, queues = role.aws("sqs"), client.stack["queues"]
    assert set(queues) == set(SENDERS)

    def calls() -> Iterator[Call]:
        for name, url in queues.items():
            if role.function not in SENDERS[name]:
                yield f"send to {name}", partial(sqs.send_message, QueueUrl=url, MessageBody="{}")
            if role.function not in CONSUMERS[name]:
                yield f"receive from {name}", partial(sqs.receive_message, QueueUrl=url)
                yield f"delete from {name}", partial(sqs.delete_message, QueueUrl=url, ReceiptHandle="none")
            yield f"purge {name}", partial(sqs.purge_queue, QueueUrl=url)
            attributes = {"VisibilityTimeout": "0"}
            yield f"set {name}", partial(sqs.set_queue_attributes, QueueUrl=url, Attributes=attributes)

    assert passed(calls()) == []


def test_secrets_are_out_of_reach_of_whoever_has_no_business_with_them(client: Client, role: Role) -> None:
    secrets = role.aws("secretsmanager")

    def calls() -> Iterator[Call]:
        for secret, name in secret_names(client).items():
            if role.function not in SECRETS[secret]:
                yield f"read {secret}", partial(secrets.get_secret_value, SecretId=name)
            yield f"change {secret}", partial(secrets.put_secret_value, SecretId=name, SecretString="forged")
            yield f"delete {secret}", partial(secrets.delete_secret, SecretId=name)

    assert passed(calls()) == []


def secret_names(client: Client) -> dict[str, str]:
    """The secrets by what the table of permissions calls them."""
    pages = client.aws("secretsmanager").get_paginator("list_secrets").paginate()
    known = {each["Name"]: each.get("Description", "") for page in pages for each in page["SecretList"]}
    return {
        "cursor": next(name for name, purpose in known.items() if "signs the cursors" in purpose),
        "identity": next(name for name, purpose in known.items() if "keys the hashes" in purpose),
        "webhook": next(name for name in known if name.startswith(client.stack["webhookSecretPrefix"])),
        "other": "lead-events/local/other",
    }


def test_what_a_function_has_business_with_is_within_its_reach(client: Client, role: Role) -> None:
    """The same calls, where they harm nobody: a role that is refused everything would pass the other tests."""
    dynamodb, s3, bucket = role.aws("dynamodb"), role.aws("s3"), client.stack["buckets"]["raw"]
    for name, letters in zip(TABLES, ITEMS[role.function], strict=True):
        table = client.stack["tables"][name]
        assert bool(passed(reads(dynamodb, name, table))) == (READ in letters), name
        for letter in {SCAN, DELETE} & set(letters):
            calls = list(writes(dynamodb, name, table, letter))
            assert passed(iter(calls)) == [what for what, _ in calls], name
    for (prefix, verb), who in OBJECTS.items():
        if verb == "list" and role.function in who:
            assert s3.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}nobody/")["KeyCount"] == 0
    for secret, name in secret_names(client).items():
        if role.function in SECRETS[secret]:
            assert role.aws("secretsmanager").get_secret_value(SecretId=name)["SecretString"]


def test_the_bus_and_everything_else_is_out_of_reach(client: Client, role: Role) -> None:
    bus, eraser = client.stack["eventBusName"], function_of(client, "Eraser")
    own = function_of(client, role.function)["Role"].rpartition("/")[2]
    entry = {"EventBusName": bus, "Source": "forged", "DetailType": "forged", "Detail": "{}"}
    policy = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'
    parameter = "/lead-events/local/organization-of-client/none"

    def calls() -> Iterator[Call]:
        if role.function not in PUBLISHERS:
            yield "publish", partial(role.aws("events").put_events, Entries=[entry])
        yield "delete the bus", partial(role.aws("events").delete_event_bus, Name=bus)
        if role.function not in CLIENT_ORGANIZATIONS:
            yield "read a binding", partial(role.aws("ssm").get_parameter, Name=parameter)
        yield "bind", partial(role.aws("ssm").put_parameter, Name=parameter, Value="forged", Type="String")
        yield "erase", partial(role.aws("lambda").invoke, FunctionName=eraser["FunctionName"], Payload=b"{}")
        yield "become the eraser", partial(role.aws("sts").assume_role, RoleArn=eraser["Role"], RoleSessionName="test")
        more = {"RoleName": own, "PolicyName": "more", "PolicyDocument": policy}
        yield "allow oneself more", partial(role.aws("iam").put_role_policy, **more)

    assert passed(calls()) == []
