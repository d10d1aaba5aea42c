"""What the stacks let functions and the gateway write down."""

from __future__ import annotations

import pytest

from tests.infrastructure.synthesis import Synthesis

TALKATIVE = (
    "POWERTOOLS_DEBUG", "POWERTOOLS_DEV", "POWERTOOLS_LOGGER_LOG_EVENT", "POWERTOOLS_LOGGER_SAMPLE_RATE", "LOG_LEVEL",
    "POWERTOOLS_TRACER_CAPTURE_RESPONSE", "POWERTOOLS_TRACER_CAPTURE_ERROR", "AWS_LAMBDA_LOG_LEVEL", "PYTHONWARNINGS",
    "POWERTOOLS_TRACE_PATCH_MODULES", "PYTHONASYNCIODEBUG", "BOTO_DEBUG",
)  # fmt: skip
"""Variables with which libraries log events, answers, errors or requests."""


def test_no_function_logs_below_info(any_stage: Synthesis) -> None:
    """Below it boto3 and urllib3 write requests down, bodies included; ours has nothing to say there."""
    functions = any_stage.resources("AWS::Lambda::Function")
    assert functions
    for function in functions:
        variables = function.properties["Environment"]["Variables"]
        assert variables["POWERTOOLS_LOG_LEVEL"] == "INFO"
        assert function.properties["LoggingConfig"]["LogFormat"] == "JSON"
        # The runtime drops what is below, whichever logger it comes from.
        assert function.properties["LoggingConfig"]["ApplicationLogLevel"] == "INFO"
        assert not set(TALKATIVE) & set(variables)


def test_no_variable_of_a_function_holds_a_secret(any_stage: Synthesis) -> None:
    """Secrets are told by name or ARN: variables are shown by consoles and kept by CloudTrail."""
    for function in any_stage.resources("AWS::Lambda::Function"):
        for name, value in function.properties["Environment"]["Variables"].items():
            assert "resolve:" not in str(value), name
            if "SECRET" in name and not isinstance(value, str):
                assert set(value) == {"Fn::ImportValue"}, name


@pytest.mark.parametrize("part", ["path", "querystring", "header", "sourceIp", "userAgent", "rawPath", "error.message"])
def test_the_gateway_logs_nothing_of_the_request(part: str, any_stage: Synthesis) -> None:
    for stage in any_stage.resources("AWS::ApiGatewayV2::Stage"):
        assert f"$context.{part}" not in stage.properties["AccessLogSettings"]["Format"]
        assert f"$context.identity.{part}" not in stage.properties["AccessLogSettings"]["Format"]
        assert not stage.properties.get("DefaultRouteSettings", {}).get("DataTraceEnabled")
