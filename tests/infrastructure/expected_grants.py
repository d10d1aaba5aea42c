"""What each role is meant to be allowed, and how a template's statements are read as that."""

from __future__ import annotations

from typing import Final

from tests.infrastructure.synthesis import Resource, Synthesis, role_statements

RUNTIME: Final = {"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTraceSegments", "xray:PutTelemetryRecords"}
TABLE_KEY: Final = {
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
}

STREAM: Final = {"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"}
CONSUME: Final = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"}
MEMORY: Final = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}
REPROCESSING: Final = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Query"}
DATA_DEAD_LETTERS: Final = (
    *("IngestQueueDeadLetters", "BillingQueueDeadLetters", "OffboardingQueueDeadLetters", "EventBusUndelivered"),
    *("ProjectionDeadLetters", "PublicationDeadLetters", "ReprocessingQueueDeadLetters"),
)
START_ERASURES: Final = {
    ("TablesOrganizations", "dynamodb:GetItem"),
    ("TablesOrganizations", "dynamodb:UpdateItem"),
    ("TablesErasures", "dynamodb:GetItem"),
    ("TablesErasures", "dynamodb:PutItem"),
    ("TablesErasures", "dynamodb:UpdateItem"),
    ("ErasureQueue", "sqs:SendMessage"),
}

EXPECTED: Final = {
    "Api": {
        ("TablesEvents", "dynamodb:DescribeTable"),
        ("TablesMemories", "dynamodb:GetItem"),
        ("TablesMemories", "dynamodb:Query"),
        *(("TablesReprocessings", action) for action in REPROCESSING),
        ("ReprocessingQueue", "sqs:SendMessage"),
        *START_ERASURES,
        ("TablesErasures", "dynamodb:Query"),
        ("TablesEvents", "dynamodb:PutItem"),
        ("TablesEvents", "dynamodb:GetItem"),
        ("TablesEvents", "dynamodb:Query"),
        ("TablesEvents", "dynamodb:BatchGetItem"),
        ("TablesEvents/index/event-type-index", "dynamodb:Query"),
        ("TablesEvents/index/idempotency-index", "dynamodb:Query"),
        ("TablesClaims", "dynamodb:PutItem"),
        ("TablesClaims", "dynamodb:GetItem"),
        ("TablesIdentities", "dynamodb:UpdateItem"),
        ("TablesIdentities", "dynamodb:BatchGetItem"),
        ("TablesIdentities/index/lead-index", "dynamodb:Query"),
        ("TablesRejectedEvents", "dynamodb:GetItem"),
        ("TablesRejectedEvents/index/last-seen-index", "dynamodb:Query"),
        ("RawBucket/organizations/*", "s3:PutObject"),
        ("RawBucket/organizations/*", "s3:GetObject"),
        ("CursorSecret", "secretsmanager:GetSecretValue"),
        ("IdentitySecret", "secretsmanager:GetSecretValue"),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Ingest": {
        ("TablesEvents", "dynamodb:PutItem"),
        ("TablesEvents", "dynamodb:GetItem"),
        ("TablesClaims", "dynamodb:PutItem"),
        ("TablesClaims", "dynamodb:GetItem"),
        *START_ERASURES,
        ("TablesIdentities", "dynamodb:UpdateItem"),
        ("TablesIdentities", "dynamodb:BatchGetItem"),
        ("TablesRejectedEvents", "dynamodb:GetItem"),
        ("TablesRejectedEvents", "dynamodb:UpdateItem"),
        ("IdentitySecret", "secretsmanager:GetSecretValue"),
        ("EventBus", "events:PutEvents"),
        ("RawBucket/organizations/*", "s3:PutObject"),
        ("RawBucket/inbox/*", "s3:GetObject"),
        ("RawBucket", "s3:ListBucket"),
        *(("IngestQueue", action) for action in CONSUME),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Organizations": {
        *START_ERASURES,
        ("TablesClaims", "dynamodb:PutItem"),
        ("TablesClaims", "dynamodb:GetItem"),
        ("TablesEvents", "dynamodb:PutItem"),
        ("TablesEvents", "dynamodb:GetItem"),
        ("TablesRejectedEvents", "dynamodb:GetItem"),
        ("TablesRejectedEvents", "dynamodb:UpdateItem"),
        ("RawBucket/organizations/*", "s3:PutObject"),
        *(("BillingQueue", action) for action in CONSUME),
        *(("OffboardingQueue", action) for action in CONSUME),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Webhooks": {
        ("IngestQueue", "sqs:SendMessage"),
        ("RawBucket/inbox/*", "s3:PutObject"),
        ("secret:lead-events/{stage}/webhooks/*", "secretsmanager:GetSecretValue"),
        ("Key", "kms:Decrypt"),
        ("Key", "kms:GenerateDataKey"),
    },
    "Projector": {
        *(("TablesEvents/stream", action) for action in STREAM),
        ("TablesEvents", "dynamodb:Query"),
        ("TablesOrganizations", "dynamodb:GetItem"),
        ("TablesErasures", "dynamodb:GetItem"),
        *(("TablesMemories", action) for action in MEMORY),
        ("ProjectionDeadLetters", "sqs:SendMessage"),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Publisher": {
        *(("TablesEvents/stream", action) for action in STREAM),
        *(("TablesMemories/stream", action) for action in STREAM),
        ("TablesOrganizations", "dynamodb:GetItem"),
        ("TablesErasures", "dynamodb:GetItem"),
        ("EventBus", "events:PutEvents"),
        ("PublicationDeadLetters", "sqs:SendMessage"),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Reprocessor": {
        ("TablesEvents", "dynamodb:Scan"),
        ("TablesEvents", "dynamodb:Query"),
        *(("TablesMemories", action) for action in MEMORY),
        *(("TablesReprocessings", action) for action in REPROCESSING),
        ("RawBucket/organizations/*", "s3:GetObject"),
        *(("ReprocessingQueue", action) for action in {"sqs:SendMessage", *CONSUME}),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Eraser": {
        *(("TablesEvents", f"dynamodb:{action}") for action in ("Query", "Scan", "DeleteItem")),
        *(("TablesClaims", f"dynamodb:{action}") for action in ("Scan", "PutItem", "DeleteItem")),
        *(("TablesMemories", f"dynamodb:{action}") for action in ("Query", "Scan", "DeleteItem")),
        ("TablesIdentities/index/lead-index", "dynamodb:Query"),
        *(("TablesIdentities", f"dynamodb:{action}") for action in ("Scan", "PutItem", "DeleteItem")),
        *(("TablesRejectedEvents", f"dynamodb:{action}") for action in ("Query", "PutItem", "DeleteItem")),
        *(("TablesOrganizations", f"dynamodb:{action}") for action in ("GetItem", "UpdateItem")),
        *(("TablesReprocessings", f"dynamodb:{action}") for action in ("Query", "UpdateItem", "DeleteItem")),
        *(("TablesErasures", f"dynamodb:{action}") for action in ("GetItem", "UpdateItem")),
        ("RawBucket", "s3:ListBucket"),
        *(("RawBucket/organizations/*", f"s3:{action}") for action in ("GetObject", "DeleteObject")),
        *(("RawBucket/inbox/*", f"s3:{action}") for action in ("GetObject", "DeleteObject")),
        *(("ErasureQueue", action) for action in {"sqs:SendMessage", *CONSUME}),
        *((queue, action) for queue in DATA_DEAD_LETTERS for action in CONSUME),
        ("EventBus", "events:PutEvents"),
        ("IdentitySecret", "secretsmanager:GetSecretValue"),
        *(("Key", action) for action in TABLE_KEY),
    },
    "Tokens": {("parameter/lead-events/{stage}/organization-of-client/*", "ssm:GetParameter")},
}

_CONSTRUCTS: Final = (
    *("TablesEvents", "TablesClaims", "TablesIdentities", "TablesRejectedEvents", "TablesMemories"),
    *("TablesReprocessings", "TablesOrganizations", "TablesErasures"),
    *("RawBucket", "CursorSecret", "IdentitySecret", "Key"),
    # The longer name first: a dead-letter queue is a child of its queue.
    *(*DATA_DEAD_LETTERS, "ErasureQueueDeadLetters", "EventBus"),
    *("IngestQueue", "BillingQueue", "OffboardingQueue", "ReprocessingQueue", "ErasureQueue"),
)


def roles(synthesis: Synthesis) -> dict[str, Resource]:
    """The roles by the name of their function."""
    return {
        name: synthesis.one("AWS::IAM::Role", starting=f"{name}Role")
        for name in EXPECTED
        if any(role.logical_id.startswith(f"{name}Role") for role in synthesis.resources("AWS::IAM::Role"))
    }


def allowed(role: Resource) -> set[tuple[str, str]]:
    """What a role allows: resources by their readable names, and actions; without what every function needs to run."""
    return {
        (named(resource), action)
        for statement in role_statements(role)
        for resource in statement["Resource"]
        for action in statement["Action"]
        if action not in RUNTIME
    }


def named(resource: object) -> str:
    """A resource of a statement in a readable form: the construct, and what was added to its ARN."""
    match resource:
        case str():
            return resource
        case {"Fn::GetAtt": [logical_id, *_]} | {"Ref": logical_id}:
            return without_hash(logical_id)
        case {"Fn::ImportValue": export}:
            name = export.partition(":ExportsOutput")[2].removeprefix("Ref").removeprefix("FnGetAtt")
            return without_hash(name) + ("/stream" if "StreamArn" in name else "")
        case {"Fn::Join": [_, [str(), *parts]]}:
            return str(parts[-1]).removeprefix(":")
        case {"Fn::Join": [_, [base, *parts]]}:
            return named(base) + "".join(parts)
    raise AssertionError(f"unknown form of a resource: {resource}")


def without_hash(logical_id: str) -> str:
    """The construct's name in a logical id."""
    return next((name for name in _CONSTRUCTS if logical_id.startswith(name)), logical_id)
