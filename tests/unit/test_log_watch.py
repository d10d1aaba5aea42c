"""The watch over what the suites log: a run in which somebody's data is logged fails, and says where."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import privacy

ROOT = Path(__file__).resolve().parents[2]

LEAKING = """
import json, logging

from lead_events.observability import log_failure, logger, metrics

def test_in_a_field():
    logger().info("event", extra={"note": "mail ANA.LIMA@clientes.example now"})

def test_in_debug():
    logger().setLevel("DEBUG")
    logger().debug("Bia")

def test_in_what_is_swallowed(capfd):
    logger().info("event", extra={"note": "O curso de viol\\u00e3o tem certificado?"})
    capfd.readouterr()

def test_in_a_traceback():
    try:
        raise ValueError("Rua das Flores 1")
    except ValueError:
        logger().exception("failed")

def test_in_a_metric():
    metrics().add_metric(name="00020101INVENTED", unit="Count", value=1)
    metrics().flush_metrics()

def test_on_standard_error():
    import sys
    print("a phone: (82) 90000-0001", file=sys.stderr)

def test_by_another_library():
    logging.getLogger("urllib3").warning("Retrying with %s", "whsec_c2VjcmV0")

def test_a_secret():
    logger().info("event", extra={"secret": "INVENTED-HOTTOK-OLD"})

def test_in_an_escape():
    print(json.dumps({"text": "\\"Volta \\u00e0s aulas\\""}))
"""

CLEAN = """
import logging

from lead_events.observability import log_failure, logger, metrics

def test_ids_and_codes():
    ids = {"organizationId": "org_A", "leadId": "lead_ana", "eventId": "evt_019b9d6e-0000-7000-8000-00000000ffff"}
    logger().info("event", extra={"outcome": "stored", "code": "invalid_time", **ids})
    metrics().add_metric(name="EventStored", unit="Count", value=1)
    metrics().flush_metrics()

def test_failures():
    try:
        raise ValueError("Rua das Flores 1")
    except ValueError as error:
        log_failure("request failed", error, messageId="m-1")

def test_what_no_function_lets_through():
    logging.getLogger("botocore.endpoint").debug("ana.lima@clientes.example")
"""


def run(folder: Path, code: str, suite: str = "unit", *options: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` as a module of a suite, under the conftest of all suites."""
    tests = folder / "tests" / suite
    tests.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    (tests / "test_it.py").write_text(code, encoding="utf-8")
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    path = os.pathsep.join([str(ROOT), str(ROOT / "layers/lead_events/python")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "tests"],
        cwd=folder, env={"PATH": os.environ["PATH"], "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_run_that_logs_something_personal_or_secret_fails_and_says_where(tmp_path: Path, processes: str) -> None:
    done = run(tmp_path, LEAKING, "unit", "-n", processes)
    leaks = [line for line in done.stdout.splitlines() if line.startswith("LEAK ")]
    expected = {
        "test_in_a_field": "e-mail 'ANA.LIMA@clientes.example'",
        "test_in_debug": "name 'Bia'",
        "test_in_what_is_swallowed": "value 'o curso de violão tem certificado?'",
        "test_in_a_traceback": "value 'rua das flores 1'",
        "test_in_a_metric": "value '00020101invented'",
        "test_on_standard_error": "phone '(82) 90000-0001'",
        "test_by_another_library": "token 'whsec_c'",
        "test_a_secret": "value 'invented-hottok-old'",
        "test_in_an_escape": "value 'volta às aulas'",
    }
    for test, what in expected.items():
        assert [each for each in leaks if f"::{test} " in each and what in each], (test, done.stdout, done.stderr)
    assert "9 passed" in done.stdout  # it is not the tests that fail
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


def test_a_run_that_logs_ids_and_codes_passes(tmp_path: Path) -> None:
    done = run(tmp_path, CLEAN)
    assert (done.returncode, "LEAK" in done.stdout) == (0, False), done.stdout + done.stderr


def test_what_is_told_to_others_than_the_product_is_nobodys_business(tmp_path: Path) -> None:
    done = run(tmp_path, LEAKING, suite="infrastructure")
    assert (done.returncode, "LEAK" in done.stdout) == (0, False), done.stdout + done.stderr


def test_what_the_samples_tell_is_gathered_from_all_of_them() -> None:
    told = set(privacy.samples_tell(privacy.TESTS / "samples"))
    assert {
        "ana.lima@clientes.example",
        "Bia Melo",
        "00000000191",
        "Rua das Flores 1",
        "57000-000",
        "203.0.113.7",
    } <= told
    assert {
        "BR.2000000000000011",
        "INVENTED-HOTTOK-çé-0001",
        "pi_invented_secret_invented",
        '{"nome":"Ana Lima"}',
    } <= told
    assert not {"purchase_completed", "PURCHASE_APPROVED", "application/json", "lead_ana", "2026-03-20"} & told
    assert len(told) > 400


def test_no_sample_tells_what_a_random_id_may_hold_by_chance() -> None:
    told = privacy.samples_tell(privacy.TESTS / "samples")
    assert not [each for each in told if privacy.START <= len(each) < 8 and re.fullmatch("[0-9a-fA-F]+", each)]


def test_every_secret_of_the_suites_code_is_looked_for() -> None:
    assert {"cursor secret", "identity secret", "INVENTED-HOTTOK-OLD"} <= set(privacy.secrets_of_the_suites())


@pytest.mark.parametrize(
    "text",
    [
        '{"function_arn":"arn:aws:lambda:us-east-1:123456789012:function:x","Timestamp":1796076663979}',
        '{"eventId":"evt_019b9d6e-5582-7000-8000-558290000000","messageId":"5c5ecdc9-e6f9-4e55-8290-000001558290"}',
        "x-amz-id-2 s9lzHYrFp76ZVxRcpX9+5cjAna/EH2ROuNkd2BfHIa6Bia=",
        '{"places":["whatsapp.py:12 translate","stripe.py:3 verify"],"error":"UnavailableError < ClientError"}',
    ],
)
def test_ids_and_places_look_like_nobodys(text: str) -> None:
    assert privacy.Privacy(privacy.everything_told()).found_in(text) == []
