"""`python -m tools.local up|down|run|status|token`."""

import sys

from tools.local.cli import main

sys.exit(main(sys.argv[1:]))
