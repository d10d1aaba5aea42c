"""`python -m tools.docs` writes the generated documentation; with `--check` it only says what is out of date (exit code 1)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tools.docs import documents


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code of the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description="Generated documentation.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a document is out of date")
    if not parser.parse_args(arguments).check:
        for path in documents.write():
            print(f"wrote docs/{path.name}")
        return 0
    found = documents.drift()
    for each in found:
        print(each, file=sys.stderr)
    if found:
        print("Run `make docs` and commit what it writes.", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
