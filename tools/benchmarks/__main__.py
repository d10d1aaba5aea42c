"""`python -m tools.benchmarks`."""

import sys

from tools.benchmarks.cli import main

sys.exit(main(sys.argv[1:]))
