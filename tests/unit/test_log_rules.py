"""What the code may hand to logs, metrics and traces, and that it leaves the loggers of others alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "layers/lead_events/python").rglob("*.py"), *(ROOT / "functions").rglob("*.py")])
OBSERVABILITY = ROOT / "layers/lead_events/python/lead_events/observability.py"

IDS = {
    "organizationId",
    "leadId",
    "messageId",
    "category",
    "key",
    "queue",
    "reprocessingId",
    "erasureId",
    "requestedBy",
}
"""What a line says beside our words; ``key`` is that of an item: ids and a time; ``requestedBy`` an app client."""

LEVELS = ("debug", "info", "warning", "error", "critical", "log")

FORBIDDEN = {
    "basicConfig", "setLevel", "set_stream_logger", "set_package_logger", "copy_config_to_registered_loggers",  # others' loggers
    "append_keys", "append_context_keys", "thread_safe_append_keys", "set_correlation_id", "structure_logs",  # keys that stay
    "add_dimension", "set_default_dimensions", "single_metric",  # a dimension could be a lead
    "put_annotation", "put_metadata", "capture_method", "exception", "print_exc", "format_exc",
}  # fmt: skip


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a module with the last name of what is called."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            name = (
                called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
            )
            yield name, node


def every_call(*names: str) -> list[tuple[str, ast.Call]]:
    """Calls of these anywhere in the product, with their places."""
    found = [(path, call) for path in SOURCES for name, call in calls(path) if name in names]
    assert found
    return [(f"{path.relative_to(ROOT)}:{call.lineno}", call) for path, call in found]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_widens_what_is_logged_measured_or_traced(path: Path) -> None:
    assert {name for name, _ in calls(path)} & FORBIDDEN == set()
    assert "print" not in {name for name, _ in calls(path)}


def test_observability_alone_makes_loggers_and_tracers() -> None:
    for path in SOURCES:
        imported = [
            alias.name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        ]
        assert path == OBSERVABILITY or not {"logging", "warnings", "Logger", "Tracer", "tracer"} & set(imported), path


def test_a_log_line_has_our_own_words_and_ids() -> None:
    for path in [each for each in SOURCES if each != OBSERVABILITY]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        maps = {
            ast.unparse(node.targets[0]): node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        }
        for name, call in calls(path):
            if name in LEVELS and ast.unparse(call.func).startswith("logger()"):
                [message], [extra] = call.args, [each.value for each in call.keywords if each.arg == "extra"]
                told = extra if isinstance(extra, ast.Dict) else maps[ast.unparse(extra)]
                assert isinstance(message, ast.Constant), path
                assert {key.value for key in told.keys if isinstance(key, ast.Constant)} <= IDS, path
                assert all(isinstance(key, ast.Constant) for key in told.keys), path


def test_a_failure_is_logged_under_our_own_words_with_ids() -> None:
    for place, call in every_call("log_failure"):
        message, _ = call.args
        assert isinstance(message, ast.Constant), place
        assert {keyword.arg for keyword in call.keywords} <= IDS, place


def test_a_metric_has_our_own_name() -> None:
    for place, call in every_call("add_metric"):
        [name] = [keyword.value for keyword in call.keywords if keyword.arg == "name"]
        # The one that is composed has the kind of an outcome in it.
        assert isinstance(name, ast.Constant) or ast.unparse(name) == "f'Event{outcome.kind.capitalize()}'", place


def test_no_event_is_logged_whole() -> None:
    for place, call in every_call("inject_lambda_context"):
        assert {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords} == {"clear_state": "True"}, place
    for place, call in every_call("capture_lambda_handler"):
        captured = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert captured == {"capture_response": "False", "capture_error": "False"}, place
    for place, call in every_call("APIGatewayHttpResolver"):
        assert call.keywords == [], place  # no debug mode, which answers with a traceback
