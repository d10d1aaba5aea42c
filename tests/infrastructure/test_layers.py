"""The layers: built for the runtime of the template, small enough, the same from the same inputs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import boto3
import phonenumbers
import pytest

from lead_events.identity import normalise_phone
from stacks.constructs.assets import ROOT
from tests.infrastructure.synthesis import Synthesis
from tools.layers import build

UNZIPPED_LIMIT = 262_144_000
"""Bytes that Lambda allows a function and its layers, unzipped."""

LIBC = {"arm64": "aarch64-linux-gnu"}


@pytest.fixture(scope="module")
def lambda_layer() -> Path:
    folder = build.BUILD / build.LAMBDA
    if not build.is_current(build.LAMBDA):
        pytest.skip("the layer is not built from the present lock: run `python tools/layers/build.py lambda`")
    return folder


def native_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if re.search(r"\.(so|pyd|dylib)(\.\d+)*$", path.name))


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_native_files_are_of_the_runtime_and_architecture_of_the_template(lambda_layer: Path, prod: Synthesis) -> None:
    declared = {
        (f.properties["Runtime"], f.properties["Architectures"][0]) for f in prod.resources("AWS::Lambda::Function")
    }
    ((runtime, architecture),) = declared
    tag = f"cpython-{runtime.removeprefix('python').replace('.', '')}-{LIBC[architecture]}.so"
    files = native_files(lambda_layer)
    assert files
    assert [path.name for path in files if not path.name.endswith(f".{tag}")] == []


def test_native_files_are_elf_for_arm(lambda_layer: Path) -> None:
    """The tag in a name is a promise; the machine field of the header is the fact."""
    for path in native_files(lambda_layer):
        header = path.read_bytes()[:20]
        assert header[:4] == b"\x7fELF"
        assert int.from_bytes(header[18:20], "little") == 0xB7, path.name


def test_functions_and_layers_fit_lambda_unzipped(lambda_layer: Path) -> None:
    layers = size_of(lambda_layer) + size_of(ROOT / "layers" / "lead_events")
    for function in (ROOT / "functions").iterdir():
        assert layers + size_of(function) < UNZIPPED_LIMIT
    # What Lambda allows is far above what a quick start allows.
    assert layers < 32_000_000


def test_the_layer_brings_what_the_handlers_import_and_not_what_the_runtime_has(lambda_layer: Path) -> None:
    found = {path.name for path in (lambda_layer / "python").iterdir()}
    assert {"aws_lambda_powertools", "aws_xray_sdk", "phonenumbers", "pydantic", "simplejson"} <= found
    assert not {"boto3", "botocore", "s3transfer"} & found


def test_the_layer_has_nothing_that_no_import_needs(lambda_layer: Path) -> None:
    names = {path.name for path in lambda_layer.rglob("*")}
    assert not names & {"__pycache__", "tests", "RECORD", "INSTALLER"}
    assert not [name for name in names if name.endswith((".pyc", ".pyi"))]
    phones = lambda_layer / "python" / "phonenumbers"
    assert [path.name for path in (phones / "shortdata").iterdir()] == ["__init__.py"]
    assert len(list((phones / "data").glob("region_*.py"))) > 200


def test_a_changed_lock_makes_a_built_layer_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "requirements.txt"
    monkeypatch.setattr(build, "LOCK", lock)
    monkeypatch.setattr(build, "BUILD", tmp_path)
    lock.write_text("a==1\n")
    (tmp_path / build.LAMBDA).mkdir()
    (tmp_path / build.LAMBDA / build.STAMP).write_text(build.inputs_hash(build.LAMBDA))
    assert build.is_current(build.LAMBDA)
    lock.write_text("a==2\n")
    assert not build.is_current(build.LAMBDA)


def test_a_failed_build_leaves_the_former_layer_and_no_half_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "requirements.txt"
    lock.write_text("not a requirement at all\n")
    monkeypatch.setattr(build, "LOCK", lock)
    monkeypatch.setattr(build, "BUILD", tmp_path / "build")
    kept = tmp_path / "build" / build.LOCAL / "python"
    kept.mkdir(parents=True)
    with pytest.raises(build.BuildError, match="pip failed"):
        build.build(build.LOCAL)
    assert kept.is_dir()
    assert [path.name for path in (tmp_path / "build").iterdir()] == [build.LOCAL]


def test_stripping_keeps_code_and_licences(tmp_path: Path) -> None:
    kept = (
        "package/__init__.py",
        "package/data.json",
        "package-1.dist-info/METADATA",
        "package-1.dist-info/LICENSE",
        "phonenumbers/data/region_BR.py",
        "phonenumbers/shortdata/__init__.py",
    )
    dropped = (
        "phonenumbers/shortdata/region_BR.py",
        "package/__pycache__/x.pyc",
        "package/tests/test_x.py",
        "package/x.pyi",
        "package-1.dist-info/RECORD",
        "bin/tool",
    )
    for name in (*kept, *dropped):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    build.strip(tmp_path)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()) == sorted(kept)


RUNTIME_HAS = ("boto3", "botocore", "s3transfer", "dateutil", "six.py", "urllib3", "jmespath")
"""What Lambda's Python runtime brings and the layer leaves out, by the names in site-packages."""


@pytest.fixture
def lambda_path(tmp_path: Path) -> list[str]:
    """Where a function finds modules beside its own folder: the layers, and what the runtime brings."""
    if not build.is_current(build.LOCAL):
        pytest.skip("the layer is not built from the present lock: run `python tools/layers/build.py local`")
    site_packages = Path(boto3.__file__).parents[1]
    for name in RUNTIME_HAS:
        (tmp_path / name).symlink_to(site_packages / name)
    layers = (build.BUILD / build.LOCAL / "python", ROOT / "layers" / "lead_events" / "python")
    return [str(folder) for folder in (*layers, tmp_path)]


def run_without_site_packages(code: str, path: list[str]) -> str:
    """What ``code`` prints in an interpreter that finds modules on ``path`` alone."""
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {path!r}; {code}"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, f"{path[0]}: {finished.stderr}"
    return finished.stdout


def test_every_handler_imports_with_the_layers_and_the_runtime_alone(lambda_path: list[str]) -> None:
    """A dependency missing from the layer shows here, not at the first call."""
    for folder in sorted(path.parent for path in (ROOT / "functions").glob("*/handler.py")):
        run_without_site_packages("import handler; handler.handler", [str(folder), *lambda_path])


def test_phones_of_every_region_are_read_with_what_the_layer_holds(lambda_path: list[str]) -> None:
    """The layer leaves the short numbers' data out: nobody's phone, in no way of writing it, needs them."""
    regions = sorted(phonenumbers.SUPPORTED_REGIONS)
    styles = (
        phonenumbers.PhoneNumberFormat.E164,
        phonenumbers.PhoneNumberFormat.INTERNATIONAL,
        phonenumbers.PhoneNumberFormat.NATIONAL,
    )
    examples = [
        (phonenumbers.format_number(number, style), region)
        for region in regions
        if (number := phonenumbers.example_number(region)) is not None
        for style in styles
    ]
    assert len(examples) == 3 * len(regions)
    read = run_without_site_packages(
        "from lead_events.identity import normalise_phone; "
        f"print([normalise_phone(text, region) for text, region in {examples!r}])",
        lambda_path,
    )
    assert read.strip() == repr([normalise_phone(text, region) for text, region in examples])
    assert "None" not in read


def test_stacks_import_names_alone_of_the_library() -> None:
    code = (
        "import sys; import stacks.build; "
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('lead_events', 'boto3', 'pydantic')))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=_environment(), capture_output=True, check=True
    )
    assert finished.stdout.decode().strip() == "['lead_events', 'lead_events.names']"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "layers" / "lead_events" / "python")}
