"""Which documents are generated, and whether they are in step."""

from __future__ import annotations

import json
from difflib import unified_diff
from pathlib import Path
from typing import Final

from lead_events import openapi
from tools.docs import asyncapi, events, internal_events, memories, organizations

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs"
SHOWN_LINES: Final = 20
"""Lines of a difference that a message shows."""


def generate() -> dict[str, str]:
    """Every generated document by its file name."""
    return {
        "events.md": events.text(),
        "internal-events.md": internal_events.text(),
        "memories.md": memories.text(),
        "organization-events.md": organizations.text(),
        "openapi.json": json.dumps(openapi.document(), indent=2, ensure_ascii=False) + "\n",
        "asyncapi.yaml": asyncapi.text(),
    }


def write(folder: Path = FOLDER) -> list[Path]:
    """Write those that differ; gives back which."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in generate().items():
        path = folder / name
        if _read(path) != text:
            path.write_bytes(text.encode())
            written.append(path)
    return written


def drift(folder: Path = FOLDER) -> list[str]:
    """What is out of step, in words; nothing if all is well."""
    found = []
    for name, text in generate().items():
        is_there = _read(folder / name)
        if is_there is None:
            found.append(f"docs/{name} is missing.")
        elif is_there != text:
            lines = list(
                unified_diff(is_there.splitlines(), text.splitlines(), "committed", "generated", n=1, lineterm="")
            )
            more = [f"… and {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
            found.append("\n".join([f"docs/{name} is out of date:", *lines[:SHOWN_LINES], *more]))
    return found


def _read(path: Path) -> str | None:
    return path.read_bytes().decode() if path.is_file() else None
