"""The functions: runtime, logs, tracing, environment."""

from __future__ import annotations

import pytest

from lead_events.names import Env
from tests.infrastructure.synthesis import Json, Synthesis
from tests.infrastructure.test_messaging import dead_letter_queues, fed_function, mappings, source_queue

STORE = {
    Env.EVENTS_TABLE,
    Env.CLAIMS_TABLE,
    Env.IDENTITIES_TABLE,
    Env.REJECTED_EVENTS_TABLE,
    Env.ORGANIZATIONS_TABLE,
    Env.ERASURES_TABLE,
    Env.ERASURE_QUEUE_URL,
    Env.RAW_BUCKET,
    Env.EVENT_BUS,
    Env.IDENTITY_SECRET,
}
REPROCESSING = {Env.REPROCESSINGS_TABLE, Env.REPROCESSING_QUEUE_URL}
PRESENCE = {Env.ORGANIZATIONS_TABLE, Env.ERASURES_TABLE}
ENVIRONMENT = {
    "Api": {*STORE, *REPROCESSING, Env.MEMORIES_TABLE, Env.CURSOR_SECRET, Env.STAGE},
    "Ingest": {*STORE, Env.STAGE},
    "Organizations": {*STORE, Env.STAGE},
    "Webhooks": {Env.INGEST_QUEUE_URL, Env.RAW_BUCKET, Env.WEBHOOK_SECRET_PREFIX, Env.STAGE},
    "Projector": {*PRESENCE, Env.EVENTS_TABLE, Env.MEMORIES_TABLE, Env.STREAM_DEAD_LETTERS_URL, Env.STAGE},
    "Publisher": {*PRESENCE, Env.EVENT_BUS, Env.STREAM_DEAD_LETTERS_URL, Env.STAGE},
    "Reprocessor": {*REPROCESSING, Env.EVENTS_TABLE, Env.MEMORIES_TABLE, Env.RAW_BUCKET, Env.STAGE},
    "Eraser": {
        *STORE,
        Env.MEMORIES_TABLE,
        Env.REPROCESSINGS_TABLE,
        Env.ERASURE_QUIET_SECONDS,
        Env.DEAD_LETTER_URLS,
        Env.STAGE,
    },
    "Tokens": {Env.TOKEN_ORGANIZATIONS_PREFIX, Env.STAGE},
}
POWERTOOLS = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_METRICS_NAMESPACE", "POWERTOOLS_LOG_LEVEL"}


def test_all_run_python_3_13_on_arm64_with_both_layers(any_stage: Synthesis) -> None:
    functions = any_stage.resources("AWS::Lambda::Function")
    assert len(functions) == len(ENVIRONMENT)
    for function in functions:
        assert function.properties["Runtime"] == "python3.13"
        assert function.properties["Architectures"] == ["arm64"]
        assert function.properties["Handler"] == "handler.handler"
        assert len(function.properties["Layers"]) == 2
    for layer in any_stage.resources("AWS::Lambda::LayerVersion"):
        assert layer.properties["CompatibleRuntimes"] == ["python3.13"]
        assert layer.properties["CompatibleArchitectures"] == ["arm64"]


def test_all_trace_and_log_json_into_a_group_that_forgets(any_stage: Synthesis) -> None:
    groups = {group.logical_id: group for group in any_stage.resources("AWS::Logs::LogGroup")}
    for function in any_stage.resources("AWS::Lambda::Function"):
        assert function.properties["TracingConfig"] == {"Mode": "Active"}
        logging = function.properties["LoggingConfig"]
        assert logging["LogFormat"] == "JSON"
        # Metrics are lines without a level, taken for INFO: above it they would be dropped.
        assert logging["ApplicationLogLevel"] == "INFO"
        assert groups[logging["LogGroup"]["Ref"]].properties["RetentionInDays"] > 0
    assert all(group.properties["RetentionInDays"] for group in groups.values())


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_each_gets_the_environment_that_it_reads(name: str, prod: Synthesis) -> None:
    function = prod.one("AWS::Lambda::Function", starting=f"{name}Function")
    variables = function.properties["Environment"]["Variables"]
    assert set(variables) == {str(key) for key in ENVIRONMENT[name]} | POWERTOOLS
    assert variables[Env.STAGE] == "prod"
    assert variables["POWERTOOLS_SERVICE_NAME"] == "lead-events"


@pytest.mark.parametrize("name", ["Api", "Ingest", "Organizations", "Eraser"])
def test_tables_and_secrets_are_told_apart(name: str, prod: Synthesis) -> None:
    """Each variable comes through the export of the resource that it names."""
    variables = prod.one("AWS::Lambda::Function", starting=f"{name}Function").properties["Environment"]["Variables"]
    expected = {
        Env.EVENTS_TABLE: "RefTablesEvents",
        Env.CLAIMS_TABLE: "RefTablesClaims",
        Env.IDENTITIES_TABLE: "RefTablesIdentities",
        Env.REJECTED_EVENTS_TABLE: "RefTablesRejectedEvents",
        Env.ORGANIZATIONS_TABLE: "RefTablesOrganizations",
        Env.ERASURES_TABLE: "RefTablesErasures",
        Env.IDENTITY_SECRET: "FnGetAttIdentitySecret",
    }
    for key, export in expected.items():
        assert variables[key]["Fn::ImportValue"].partition(":ExportsOutput")[2].startswith(export), key
    assert variables[Env.EVENT_BUS] == {"Ref": prod.one("AWS::Events::EventBus").logical_id}
    assert variables[Env.ERASURE_QUEUE_URL] == {"Ref": prod.one("AWS::SQS::Queue", starting="ErasureQueue6").logical_id}


@pytest.mark.parametrize("name", ["Api", "Ingest", "Organizations"])
def test_retention_reaches_those_who_write_events(name: str, dev: Synthesis) -> None:
    function = dev.one("AWS::Lambda::Function", starting=f"{name}Function")
    assert function.properties["Environment"]["Variables"][Env.RETENTION_DAYS] == "30"


def test_idempotency_is_never_switched_off(any_stage: Synthesis) -> None:
    for function in any_stage.resources("AWS::Lambda::Function"):
        assert "POWERTOOLS_IDEMPOTENCY_DISABLED" not in function.properties["Environment"]["Variables"]


def test_the_api_gives_up_before_the_gateway_does(any_stage: Synthesis) -> None:
    for name in ("Api", "Webhooks"):
        assert any_stage.one("AWS::Lambda::Function", starting=f"{name}Function").properties["Timeout"] < 30
    # Cognito waits five seconds for a trigger.
    assert any_stage.one("AWS::Lambda::Function", starting="TokensFunction").properties["Timeout"] <= 5


def eraser_variables(synthesis: Synthesis) -> Json:
    function = synthesis.one("AWS::Lambda::Function", starting="EraserFunction")
    variables: Json = function.properties["Environment"]["Variables"]
    return variables


def test_an_erasure_looks_into_every_dead_letter_queue_but_its_own(any_stage: Synthesis) -> None:
    separator, urls = eraser_variables(any_stage)[Env.DEAD_LETTER_URLS]["Fn::Join"]
    assert separator == " "
    looked_into = [url["Ref"] for url in urls]
    assert len(looked_into) == len(set(looked_into))
    own = any_stage.one("AWS::SQS::Queue", starting="ErasureQueueDeadLetters").logical_id
    assert set(looked_into) == dead_letter_queues(any_stage) - {own}


def test_an_erasure_outlasts_whatever_was_under_way(prod: Synthesis) -> None:
    """A message that fails comes back until its last delivery; a function runs on with what it believed of a lead."""
    quiet = int(eraser_variables(prod)[Env.ERASURE_QUIET_SECONDS])
    for mapping in mappings(prod):
        if fed_function(prod, mapping).logical_id.startswith(("Ingest", "Organizations")):
            queue = source_queue(prod, mapping).properties
            assert quiet > queue["RedrivePolicy"]["maxReceiveCount"] * queue["VisibilityTimeout"]
    cached = 30
    for name in ("Api", "Ingest", "Organizations", "Projector", "Publisher", "Reprocessor"):
        assert quiet > prod.one("AWS::Lambda::Function", starting=f"{name}Function").properties["Timeout"] + cached
    assert quiet <= 30 * 60, "somebody waits for the receipt"


def test_locally_an_erasure_takes_no_longer_than_somebody_waits(local: Synthesis) -> None:
    assert 30 < int(eraser_variables(local)[Env.ERASURE_QUIET_SECONDS]) <= 60
