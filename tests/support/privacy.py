"""What is personal or secret in all that the suites send, gathered from their samples and their code, and how it is found.

Two nets. *Shapes* find an e-mail, a phone, a document or a token whoever made it up, so also what tests draw at random.
*Values* are what the samples hold, whatever its shape: names, addresses, sentences, ids of people, barcodes, URLs.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

TESTS: Final = Path(__file__).resolve().parents[1]

SHAPES: Final[Mapping[str, re.Pattern[str]]] = {
    "e-mail": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "phone": re.compile(
        r"\+\d{1,3}[ .-]?\(?\d{2}\)?[ .-]?9?\d{4}[ .-]?\d{4}(?!\d)"  # +55 (82) 90000-0001
        r"|\(\d{2}\) ?9?\d{4}-?\d{4}"
        r"|(?<![\w.-])55\d{2}9?\d{8}(?![\w.-])"
    ),
    "document": re.compile(r"(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)|(?<!\d)\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}(?!\d)"),
    "token": re.compile(r"eyJ[\w-]{8,}\.|whsec_\w|sk_(?:live|test)_|sha256=[0-9a-f]|(?i:bearer )\w|t=\d+,v1="),
}
"""Recognised by their form."""

CHANGING: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,}|\d{4}-\d\d-\d\d[T ][\d:.,Z+-]+|\b1[5-9]\d{8,11}\b"
)
"""Ids, hashes and instants: of lines that differ in nothing else one is looked at."""

START: Final = 6
"""Values are looked up by so many of their first characters; shorter ones count as whole words."""

_SHORT_NAME: Final = re.compile(r"[A-ZÀ-Ý][a-zà-ÿ]{2,4}")
_WORD: Final = re.compile(r"(?<![\w+/=-])[^\W\d_]{3,5}(?![\w+/=-])")
"""By itself, and no part of a random id."""
_OF_A_PROTOCOL: Final = re.compile(r"[a-z][a-z_./-]*|[A-Z][A-Z_]*|[a-z]+(?:[A-Z][a-z]+)+|[a-z]+/[a-z0-9.+-]+")
"""``payment_intent.succeeded``, ``PURCHASE_APPROVED``, ``dueDate``, ``application/json``: no datum of anybody."""
_OURS: Final = re.compile(
    r"(?:lead|org|evt|rej|rep|era)_[\w-]*|(?i:hotmart|instagram|shopify|stripe|typeform|whatsapp|webhook|\w*_service)"
)
"""Ids of organisations, leads and events are in the logs on purpose; names of providers are those of modules too."""
_SAYS_WHOSE: Final = re.compile(
    r"secret|(?<!_)token$|hottok|password|(?:first|last|full|user|nick|customer|formatted)_?name"
)
_INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?")
_LITTLE_NUMBER: Final = re.compile(r"[-+\d.,]{0,7}")
_NO_PERSON: Final = frozenset({"Count", "Unit", "Type", "True", "False", "None", "Name", "Sent", "Tax", "Max"})


class Privacy:
    """Finds what was told in a text."""

    def __init__(self, told: Iterable[str]) -> None:
        self._by_start: dict[str, set[str]] = defaultdict(set)
        self._words: set[str] = set()
        for text in told:
            if len(text) >= START:
                folded = text.casefold()
                self._by_start[folded[:START]].add(folded)
            elif _SHORT_NAME.fullmatch(text) and text not in _NO_PERSON:
                self._words.add(text)

    def __len__(self) -> int:
        return len(self._words) + sum(len(each) for each in self._by_start.values())

    def found_in(self, text: str) -> list[str]:
        """What is personal or secret in ``text``, each with its kind; JSON is looked at as it is written and as it is read."""
        found: dict[str, None] = {}
        for form in (text, *_strings_of(text)):
            found |= {f"{kind} {match[0]!r}": None for kind, shape in SHAPES.items() for match in shape.finditer(form)}
            found |= {f"name {each!r}": None for each in _WORD.findall(form) if each in self._words}
            folded = form.casefold()
            for index in range(len(folded) - START + 1):
                for value in self._by_start.get(folded[index : index + START], ()):
                    if folded.startswith(value, index) and not _is_part_of_a_number(value, folded, index):
                        found[f"value {value!r}"] = None
        return list(found)


@cache
def everything_told() -> frozenset[str]:
    """All that the suites send."""
    return frozenset({*samples_tell(TESTS / "samples"), *shared_samples_tell(), *secrets_of_the_suites()})


def samples_tell(folder: Path) -> Iterator[str]:
    """Every personal, free or secret text of the samples below ``folder``."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".json":
            yield from told_by(_read(path.read_bytes()))
        elif path.suffix == ".form":
            yield from told_by([value for _, value in parse_qsl(path.read_text(encoding="utf-8"))])


def shared_samples_tell() -> Iterator[str]:
    """The same of the recorded deliveries that several repositories share, where they are there."""
    if shared := os.environ.get("LEAD_EVENTS_SHARED"):
        yield from samples_tell(Path(shared) / "providers" / "samples")


def secrets_of_the_suites() -> Iterator[str]:
    """Every text that the suites' code uses as a secret: what it stores as one or signs with."""
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and re.search("secret|_headers$|^delivery$|^verify$|^of$", _name(node.func)):
                yield from _secrets([*node.args, *(each.value for each in node.keywords)])
            elif isinstance(node, ast.Assign) and re.search("SECRET|TOKEN|secret$|token$", _name(node.targets[0])):
                yield from _secrets([node.value])


def told_by(value: Any, name: str = "") -> Iterator[str]:
    """The texts in a JSON value that are somebody's, and no word of a protocol, instant or small number.

    ``name`` is that of the field: of some it says more than what stands in them.
    """
    if isinstance(value, dict):
        for key, each in value.items():
            yield from told_by(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from told_by(each, name)
    elif isinstance(value, str):
        inner = _read(value.encode()) if value[:1] in ("{", "[") else None
        yield from told_by(inner)
        text = value.strip()
        if _SAYS_WHOSE.search(name) or not any(
            shape.fullmatch(text) for shape in (_OF_A_PROTOCOL, _OURS, _INSTANT, _LITTLE_NUMBER)
        ):
            yield text


def _is_part_of_a_number(value: str, text: str, index: int) -> bool:
    around = text[max(0, index - 1) : index] + text[index + len(value) : index + len(value) + 1]
    return value.isdecimal() and any(each.isdecimal() for each in around)


def _secrets(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and re.search(r"[\d _-]", each.value):
                yield from told_by(each.value)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _read(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _strings_of(text: str) -> list[str]:
    """Keys and values of JSON text, as they are without its escapes; as one text, since most have nothing to be found."""
    if not text.startswith(("{", "[")) or "\\" not in text:
        return []
    strings: list[str] = []
    waiting = [_read(text.encode(errors="replace"))]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            strings.append(value)
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
    return ["\n".join(strings)]
