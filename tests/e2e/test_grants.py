"""What each function may not do, tried with its own role while IAM is enforced."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.e2e.client import Client, new_lead

pytestmark = pytest.mark.e2e

FUNCTIONS = ("Api", "Ingest", "Webhooks", "Projector", "Publisher", "Reprocessor", "Organizations", "Tokens")


@pytest.fixture(scope="module", params=FUNCTIONS)
def role(request: pytest.FixtureRequest, client: Client) -> dict[str, str]:
    """Credentials of a function's role."""
    functions = client.aws("lambda").list_functions()["Functions"]
    [function] = [each for each in functions if f"services-{request.param}Function" in each["FunctionName"]]
    answer = client.aws("sts").assume_role(RoleArn=function["Role"], RoleSessionName="test")["Credentials"]
    return {
        "aws_access_key_id": answer["AccessKeyId"],
        "aws_secret_access_key": answer["SecretAccessKey"],
        "aws_session_token": answer["SessionToken"],
    }


def denied(action: Any) -> bool:
    try:
        action()
    except ClientError as error:
        return error.response["Error"]["Code"] in ("AccessDenied", "AccessDeniedException")
    return False


def test_no_function_may_change_or_delete_an_event(client: Client, role: dict[str, str]) -> None:
    event = client.append(new_lead()).json
    key = {"leadOrganizationId": {"S": event["leadOrganizationId"]}, "occurredAtId": {"S": event["occurredAtId"]}}
    dynamodb, table = client.aws("dynamodb", **role), client.stack["tables"]["events"]
    update = {"UpdateExpression": "SET payload = :p", "ExpressionAttributeValues": {":p": {"S": "forged"}}}
    assert denied(lambda: dynamodb.update_item(TableName=table, Key=key, **update))
    assert denied(lambda: dynamodb.delete_item(TableName=table, Key=key))
    assert denied(lambda: dynamodb.batch_write_item(RequestItems={table: [{"DeleteRequest": {"Key": key}}]}))
    assert denied(lambda: dynamodb.delete_table(TableName=table))
    [kept] = client.stored(event["leadId"])
    assert kept["payload"]["M"] == {"ticketId": {"S": "t1"}}


def test_no_function_may_change_or_delete_a_claim_or_delete_an_object(client: Client, role: dict[str, str]) -> None:
    dynamodb, table = client.aws("dynamodb", **role), client.stack["tables"]["claims"]
    key = {"claimId": {"S": "ORG#org#none"}}
    assert denied(lambda: dynamodb.delete_item(TableName=table, Key=key))
    assert denied(lambda: dynamodb.scan(TableName=table))
    bucket = client.stack["buckets"]["raw"]
    assert denied(lambda: client.aws("s3", **role).delete_object(Bucket=bucket, Key="organizations/org/x"))
