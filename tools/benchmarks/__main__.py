"""`python -m tools.benchmarks`."""

import sys
from pathlib import Path

# The library as the functions see it; `make` sets it too.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "layers" / "lead_events" / "python"))

from tools.benchmarks.cli import main

sys.exit(main(sys.argv[1:]))
