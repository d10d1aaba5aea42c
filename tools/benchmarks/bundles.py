"""Functions laid out as Lambda unpacks them: ``task`` (the function), ``opt`` (the layers), ``runtime`` (AWS's boto3).

Byte code is compiled beforehand for all of it. The interpreter is the one that runs this, and the third-party layer is the
one that ``tools/layers`` builds for it.
"""

from __future__ import annotations

import compileall
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lead_events.names import Env
from tools.benchmarks import tables

ROOT: Final = tables.ROOT
RUNTIME_PACKAGES: Final = ("boto3", "botocore", "s3transfer", "dateutil", "urllib3", "jmespath", "six")
TIMEOUT_SECONDS: Final = 300
FUNCTIONS: Final = ("api", "ingest", "webhooks", "tokens", "projector", "publisher", "reprocessor")
USUAL: Final = "tools/benchmarks/reference/usual"

_IGNORED: Final = shutil.ignore_patterns("__pycache__", "*.pyc", ".inputs.sha256")


class BundleError(Exception):
    """A bundle did not run; the text has the end of what it said."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One function of one side."""

    name: str
    path: tuple[Path, ...]

    def run(self, folder: Path, environment: dict[str, str], events: Sequence[str]) -> dict[str, Any]:
        """Run it in a new process; ``folder`` takes the description of the run. Raises ``BundleError``."""
        spec = folder / "spec.json"
        spec.write_text(json.dumps({"path": [str(each) for each in self.path], "events": list(events)}))
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(Path(__file__).with_name("runner.py")), str(spec)]
        finished = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
        )
        if finished.returncode:
            raise BundleError(f"{self.name}: {finished.stderr[-2000:]}")
        try:
            result: dict[str, Any] = json.loads(finished.stdout)
        except ValueError:
            raise BundleError(f"{self.name} said {finished.stdout[:2000]}") from None
        return result


@dataclass(frozen=True, slots=True)
class Bundles:
    """Both sides of every function."""

    ours: dict[str, Bundle]
    usual: dict[str, Bundle]


def lay_out(folder: Path) -> Bundles:
    """Make all bundles below ``folder``."""
    from tools.layers.build import LOCAL, build

    dependencies = build(LOCAL) / "python"
    runtime = folder / "runtime"
    runtime.mkdir(parents=True)
    for package in RUNTIME_PACKAGES:
        _link_package(package, runtime)
    opt = {side: folder / side / "opt" / "python" for side in ("ours", "usual")}
    shutil.copytree(dependencies, opt["ours"], ignore=_IGNORED)
    shutil.copytree(dependencies, opt["usual"], ignore=_IGNORED)
    library = ROOT / "layers" / "lead_events" / "python"
    shutil.copytree(library, opt["ours"], ignore=_IGNORED, dirs_exist_ok=True)
    shutil.copytree(ROOT / USUAL, opt["usual"] / USUAL, ignore=_IGNORED)
    for package_file in ("tools/__init__.py", "tools/benchmarks/__init__.py", f"{USUAL}/../__init__.py"):
        shutil.copy(ROOT / package_file, opt["usual"] / package_file)
    bundles = Bundles({}, {})
    for name in FUNCTIONS:
        ours, usual = folder / "ours" / name, folder / "usual" / name
        shutil.copytree(ROOT / "functions" / name, ours, ignore=_IGNORED)
        usual.mkdir()
        shutil.copy(ROOT / USUAL / f"{name}.py", usual / "handler.py")
        bundles.ours[name] = Bundle(f"ours/{name}", (ours, opt["ours"], runtime))
        bundles.usual[name] = Bundle(f"usual/{name}", (usual, opt["usual"], runtime))
    compileall.compile_dir(folder, quiet=2, maxlevels=30)
    return bundles


def environment(name: str, port: int) -> dict[str, str]:
    """What Lambda and the stacks set, with every AWS service at ``port`` of this machine."""
    return {str(each): "" if each is Env.RETENTION_DAYS else f"bench-{each.lower()}" for each in Env} | {
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "LAMBDA_TASK_ROOT": "/var/task",
        "LAMBDA_RUNTIME_DIR": "/var/runtime",
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_LAMBDA_FUNCTION_NAME": f"lead-events-{name}",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_SESSION_TOKEN": "bench",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR",
        "AWS_XRAY_DAEMON_ADDRESS": "127.0.0.1:2000",
        "_X_AMZN_TRACE_ID": "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
        "POWERTOOLS_SERVICE_NAME": "lead-events",
        "POWERTOOLS_METRICS_NAMESPACE": "LeadEvents",
        "POWERTOOLS_LOG_LEVEL": "INFO",
        "LEAD_EVENTS_STAGE": "bench",
        "EVENTS_TABLE_NAME": tables.EVENTS,
        "CLAIMS_TABLE_NAME": tables.CLAIMS,
        "IDEMPOTENCY_TABLE_NAME": tables.IDEMPOTENCY,
        "MEMORIES_TABLE_NAME": tables.MEMORIES,
        "ORGANIZATIONS_TABLE_NAME": tables.ORGANIZATIONS,
        "REPROCESSINGS_TABLE_NAME": tables.REPROCESSINGS,
        "RAW_BUCKET_NAME": "bench-raw",
        "EVENT_BUS_NAME": "bench",
        "INGEST_QUEUE_URL": f"http://127.0.0.1:{port}/000000000000/ingest",
        "REPROCESSING_QUEUE_URL": f"http://127.0.0.1:{port}/000000000000/reprocessing",
        "STREAM_DEAD_LETTERS_URL": f"http://127.0.0.1:{port}/000000000000/stream-dead-letters",
        "WEBHOOK_SECRET_PREFIX": "lead-events/bench/webhooks",
        "CURSOR_SECRET_NAME": "cursor",
        "TOKEN_ORGANIZATIONS_PREFIX": "/lead-events/bench/organizations",
    }


def usual_environment(name: str, port: int) -> dict[str, str]:
    """As ``environment``, with the literal design's tables of events and memories."""
    return environment(name, port) | {
        "EVENTS_TABLE_NAME": tables.LITERAL_EVENTS,
        "MEMORIES_TABLE_NAME": tables.LITERAL_MEMORIES,
    }


def _link_package(package: str, folder: Path) -> None:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise BundleError(f"{package} is missing in this virtual environment")
    origin = Path(found.origin)
    target = origin.parent if origin.name == "__init__.py" else origin
    (folder / target.name).symlink_to(target)
