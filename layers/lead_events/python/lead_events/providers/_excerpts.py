"""Cutting one element out of a batch: the batch's own text without the element's siblings, byte for byte.

An event of a batch keeps this as its raw payload. It can be translated alone, does not repeat what a thousand other events
keep too, and holds nobody else's personal data. What remains is never written anew: escapes, spaces and numbers stay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

_SCANNER: Final = json.JSONDecoder(parse_int=str, parse_float=str)  # only where values end is asked
_SPACE: Final = json.decoder.WHITESPACE.match  # type: ignore[attr-defined]  # what json itself skips


class Cuttable:
    """The text of a JSON object that was read before without an error."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._spans = _members(text)
        self._elements: dict[str, list[str]] = {}

    def member(self, name: str) -> str | None:
        """The text of a member's value."""
        span = self._spans.get(name)
        return None if span is None else self.text[span]

    def elements(self, name: str) -> list[str]:
        """The texts of a list's elements; none where there is no such list."""
        if name not in self._elements:
            found = self.member(name)
            self._elements[name] = _elements(found) if found and found.startswith("[") else []
        return self._elements[name]

    def keeping(self, lists: Mapping[str, Sequence[str]]) -> str:
        """The text with only these elements of the lists named; a list that keeps all of them stays to the letter."""
        cut = {name: kept for name, kept in lists.items() if list(kept) != self.elements(name)}
        return self.replacing({name: f"[{','.join(kept)}]" for name, kept in cut.items()})

    def replacing(self, members: Mapping[str, str]) -> str:
        """The text with other texts for the values of these members."""
        position, parts = 0, []
        for span, text in sorted(((self._spans[name], text) for name, text in members.items()), key=_start):
            parts += [self.text[position : span.start], text]
            position = span.stop
        return "".join([*parts, self.text[position:]])


def _start(replacement: tuple[slice, str]) -> int:
    start: int = replacement[0].start
    return start


def _members(text: str) -> dict[str, slice]:
    found: dict[str, slice] = {}
    position = _skip(text, text.index("{") + 1)
    while text[position] == '"':
        name, position = _SCANNER.raw_decode(text, position)
        position = _skip(text, _skip(text, position) + 1)
        _, end = _SCANNER.raw_decode(text, position)
        found[name] = slice(position, end)
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return found


def _elements(text: str) -> list[str]:
    found: list[str] = []
    position = _skip(text, 1)
    while text[position] != "]":
        _, end = _SCANNER.raw_decode(text, position)
        found.append(text[position:end])
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return found


def _skip(text: str, position: int) -> int:
    end: int = _SPACE(text, position).end()
    return end
