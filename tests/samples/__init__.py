"""Recorded payloads: named files of one provider each, behind this one loader. All people and shops are invented."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent


def names(provider: str) -> list[str]:
    """Names of a provider's samples, sorted."""
    return sorted(path.stem for path in (_FOLDER / provider).glob("*.json"))


def load(provider: str, name: str) -> bytes:
    """The body of a sample, byte for byte as its provider would send it."""
    return (_FOLDER / provider / f"{name}.json").read_bytes()
