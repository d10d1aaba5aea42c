"""Records the templates of stage prod: ``python -m tests.infrastructure.record``. See ``recorded/README.md``."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Final

from tests.infrastructure.baseline import shape_of
from tests.infrastructure.synthesis import STACKS, Json, synthesise

RECORDED: Final = Path(__file__).parent / "recorded"
BASELINE: Final = RECORDED / "stateful.json"


def masked(template: Json) -> str:
    """The template as text, without the hashes of the assets, which change with every change of code."""
    return re.sub(r"\b[0-9a-f]{64}\b", "<asset>", text_of(template))


def text_of(content: object) -> str:
    """JSON as it is recorded: one value a line, keys in order."""
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def main() -> None:
    """Record the templates and the baseline of the stateful stack."""
    with tempfile.TemporaryDirectory() as folder:
        prod = synthesise(Path(folder), stage="prod")
    BASELINE.write_text(text_of(shape_of(prod.templates["stateful"])))
    for stack in STACKS:
        (RECORDED / f"prod.{stack}.json").write_text(masked(prod.templates[stack]))


if __name__ == "__main__":
    main()
