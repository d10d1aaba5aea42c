"""Write the next dictionary: ``python -m tools.raw_dictionary 2`` makes version 2 from the samples as they are now.

A version that has been released is part of the stored format and is never made anew: what was compressed under it could not
be read again. Add the new version to ``raw_payload`` beside the old ones.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.benchmarks.corpus import read
from tools.raw_dictionary.build import build

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Command line entry."""
    parser = argparse.ArgumentParser(prog="python -m tools.raw_dictionary", description=__doc__)
    parser.add_argument("version", type=int, help="number of the new dictionary")
    version = parser.parse_args().version
    target = ROOT / f"layers/lead_events/python/lead_events/raw_dictionary_{version}.bin"
    if target.exists():
        print(f"{target.name} exists; a dictionary is never made anew.", file=sys.stderr)
        return 1
    samples = read("repository", ROOT / "tests/samples", "org_repository")
    texts = sorted({draft.raw_payload for draft in samples.drafts if draft.raw_payload})
    dictionary = build(texts)
    target.write_bytes(dictionary)
    print(f"{target.name}: {len(dictionary)} bytes from {len(texts)} raw payloads")
    return 0


if __name__ == "__main__":
    sys.exit(main())
