"""The security document cites tests that exist, knows every store there is, and tells of each role what it may do."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.infrastructure.expected_grants import EXPECTED
from tests.infrastructure.synthesis import Synthesis

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")

QUEUE = {f"sqs:{it}" for it in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes", "ChangeMessageVisibility")}
WORDS = {
    "take": QUEUE,
    "look through": QUEUE,
    "send": {"sqs:SendMessage"},
    "hear": {f"dynamodb:{it}" for it in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")},
    "publish": {"events:PutEvents"},
}
"""What the document says in a word."""

THINGS = {
    "organizations/": "RawBucket/organizations/*",
    "inbox/": "RawBucket/inbox/*",
    "bucket": "RawBucket",
    "bus": "EventBus",
    "IngestDlq": "IngestQueueDeadLetters",
    "BillingDlq": "BillingQueueDeadLetters",
    "OffboardingDlq": "OffboardingQueueDeadLetters",
    "ReprocessingDlq": "ReprocessingQueueDeadLetters",
    "UndeliveredDlq": "EventBusUndelivered",
    "ProjectorDlq": "ProjectionDeadLetters",
    "PublisherDlq": "PublicationDeadLetters",
    "webhook secrets": "secret:lead-events/{stage}/webhooks/*",
    "organisations of clients": "parameter/lead-events/{stage}/organization-of-client/*",
    "cursor secret": "CursorSecret",
    "identity secret": "IdentitySecret",
}
"""Names of the document, and those of the expected grants."""


def section(title: str) -> str:
    """A section, without its title."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The cells of a section's first table, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@cache
def names_of_tests() -> frozenset[str]:
    """Names of all tests."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "tests").rglob("test_*.py")]
    return frozenset(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", PAGE))) or ["none is cited"])
def test_a_test_that_is_cited_exists(name: str) -> None:
    assert name in names_of_tests()


def test_every_threat_has_its_proof() -> None:
    threats = rows("Threats")
    assert len(threats) > 15
    assert [who for who, *_, proof in threats if "`test_" not in proof] == []


def test_every_store_is_on_the_map_of_personal_data(any_stage: Synthesis) -> None:
    mapped = " ".join(row[0] for row in rows("Where personal data is"))
    outputs = {
        name for name in any_stage.outputs() if re.fullmatch(r"\w+(?:TableName|QueueUrl|DlqUrl|BucketName)", name)
    }
    assert {name for name in outputs if f"`{name}`" not in mapped} == set()
    kinds = ("AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::S3::Bucket")
    assert len(outputs) == sum(len(any_stage.resources(kind)) for kind in kinds)  # no store is without its output
    assert set(re.findall(r"`(\w+(?:TableName|QueueUrl|DlqUrl|BucketName))`", mapped)) == outputs


def test_every_function_is_in_the_table_of_what_it_may_do() -> None:
    folders = sorted(path.parent.name for path in (ROOT / "functions").glob("*/handler.py"))
    assert sorted(row[0].strip("`") for row in rows("What each function may do")) == folders


@pytest.mark.parametrize("function", EXPECTED)
def test_what_a_function_may_do_is_what_the_document_says(function: str) -> None:
    """But for the key, of which it says elsewhere who uses it through what."""
    [row] = [row for row in rows("What each function may do") if row[0] == f"`{function.lower()}`"]
    told = {
        grant
        for cell in row[1:3]
        for entry in cell.split("; ")
        if entry != "none"
        for grant in grants(*entry.split(": "))
    }
    assert told == {(resource, action) for resource, action in EXPECTED[function] if resource != "Key"}


def grants(thing: str, words: str) -> set[tuple[str, str]]:
    """An entry of the table as the expected grants have it."""
    resource, found = THINGS.get(thing, thing), set[str]()
    if thing[0].islower() and thing not in THINGS:
        table, _, rest = thing.partition("/")
        resource = f"Tables{table[0].upper()}{table[1:]}" + (
            f"/{rest}" if rest == "stream" else f"/index/{rest}" if rest else ""
        )
    for word in words.split(", "):
        if word == "read":
            found.add("ssm:GetParameter" if resource.startswith("parameter") else "secretsmanager:GetSecretValue")
        elif word in WORDS:
            found |= WORDS[word]
        else:
            found.add(f"{'s3' if resource.startswith('RawBucket') else 'dynamodb'}:{word}")
    return {(resource, action) for action in found}


def test_every_secret_of_the_stacks_is_told(any_stage: Synthesis) -> None:
    made = {resource.logical_id for resource in any_stage.resources("AWS::SecretsManager::Secret")}
    told = {name for name in ("CursorSecret", "IdentitySecret") if f"`{name}Arn`" in section("Secrets")}
    assert {next(name for name in told if each.startswith(name)) for each in made} == told
    assert len(made) == len(told)


def test_every_link_leads_to_a_heading() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        file, _, anchor = target.partition("#")
        page = PAGE if not file else (ROOT / "docs" / file).resolve().read_text(encoding="utf-8")
        headings = [
            re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
            for line in page.splitlines()
            if line.startswith("#")
        ]
        assert not anchor or anchor in headings, target
