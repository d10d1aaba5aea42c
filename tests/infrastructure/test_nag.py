"""cdk-nag's AwsSolutions rules hold in every stage, and whoever exempts something says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_sqs as sqs
from cdk_nag import AwsSolutionsChecks

from tests.infrastructure.synthesis import Synthesis


def test_no_rule_is_broken(any_stage: Synthesis) -> None:
    assert any_stage.report["pluginReports"] == [], json.dumps(any_stage.report, indent=1)


def test_each_exemption_has_a_written_reason(any_stage: Synthesis) -> None:
    exemptions = [
        (logical_id, rule["id"], rule["reason"])
        for template in any_stage.templates.values()
        for logical_id, resource in template["Resources"].items()
        for rule in resource.get("Metadata", {}).get("cdk_nag", {}).get("rules_to_suppress", [])
    ]
    assert exemptions
    for logical_id, rule, reason in exemptions:
        assert len(reason.split()) >= 8, (logical_id, rule, reason)


def test_a_broken_rule_would_be_reported(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    sqs.Queue(Stack(app, "Careless"), "Queue")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match="AwsSolutions-SQS4"):
        app.synth()
