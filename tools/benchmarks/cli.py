"""The command line: measures what is named, prints the table, writes the JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from rich.console import Console

from tools.benchmarks.figures import Figure, show
from tools.benchmarks.lab import Lab
from tools.benchmarks.tables import ROOT

NAMES: Final = ("writes", "calls", "cold", "batch", "cpu", "page", "folds", "projector", "rebuild")
"""One module each, with ``measure(lab)``."""


def main(arguments: Sequence[str]) -> int:
    """Run; answers 1 where a bar does not hold. Few repetitions judge nothing: with ``--quick`` it is always 0."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument(
        "--json", type=Path, default=ROOT / ".local" / "benchmarks.json", help="where figures are written"
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions: shows that it runs, not what it costs")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(NAMES)):
        parser.error(f"unknown: {', '.join(unknown)}")
    console = Console()
    begun = time.monotonic()
    figures: list[Figure] = []
    with Lab(quick=options.quick, say=lambda text: print(f"· {text}", file=sys.stderr, flush=True)) as lab:
        for name in options.names or NAMES:
            measure: Callable[[Lab], list[Figure]] = import_module(f"tools.benchmarks.{name}").measure
            figures += measure(lab)
    show(figures, console)
    write(figures, options.json, quick=options.quick, seconds=time.monotonic() - begun)
    console.print(f"  {options.json}", highlight=False, soft_wrap=True)
    return 1 if not options.quick and any(each.holds is False for each in figures) else 0


def write(figures: Sequence[Figure], file: Path, *, quick: bool, seconds: float) -> None:
    """Write the figures with what they were measured on."""
    document = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "quick": quick,
        "seconds": round(seconds, 1),
        "figures": [each.as_json() for each in figures],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
