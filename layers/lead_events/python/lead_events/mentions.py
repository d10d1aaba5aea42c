"""Whether a text is about a person, of whom the store knows nothing but hashes.

Identities are stored as HMACs alone. So whatever in a text could be an identity becomes one, and its HMAC is looked for among
the person's: whole values, and what looks like an e-mail or a phone inside of longer ones. A text may be JSON, a form, JSON in
a form in JSON, or neither of them.

The work is linear in the text, and bounded for texts that hold an absurd number of numbers.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, product
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from lead_events import providers
from lead_events.event import Delivery, EventDraft, Identity, IdentityKind, Translation
from lead_events.identity import DEFAULT_REGION, Resolver
from lead_events.instants import now
from lead_events.names import Source
from lead_events.ports import IdentityStore

_LAYERS: Final = 4
"""How deep texts are read that stand in texts: JSON in a form in JSON."""
_AT_ONCE: Final = 20
"""Identities that are hashed in one call; a resolver takes no more than 25."""
_MOST_NUMBERS: Final = 20_000
"""Different numbers of a text that are tried as phones: some seconds of work."""
_MOST_WINDOWS: Final = 200_000
"""Groups of digits that are put together to numbers, in a text of nothing but digits apart."""
_LONGEST: Final = 320
"""Characters of the longest value that is an identity as a whole."""
_DISTINCTIVE: Final = 6
"""Characters from which on an id is taken for itself wherever it stands. A shorter one could be a quantity."""

_PERSONAL: Final = re.compile(
    r"lead|customer|user|visitor|person|contact|buyer|member|subscri|anonymous|external.?id|identi|sender|from|subject"
    r"|reference.?id|xcod|sck|src",
    re.IGNORECASE,
)
"""Names under which a short id may be somebody's."""
_COUNTRY: Final = re.compile(r"country|region", re.IGNORECASE)
_PHONE_PART: Final = re.compile(r"phone|fone|cel|mobile|number|whats", re.IGNORECASE)
_CODE_PART: Final = re.compile(r"code|ddd|ddi|area|country|prefix", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")
_BACKSLASHES: Final = re.compile(r"\\+(?=[\"/])")
_WORD: Final = re.compile(r"[^\s\"'`,;&?<>{}\[\]()=]+")
_DIGITS: Final = re.compile(r"\d+")
_BETWEEN: Final = re.compile(r"[\s\-‐-―−ー－.()（）［］\[\]/~⁓∼～\u00ad\u200b\u2060]{1,4}")
"""What stands between the groups of a phone's digits."""
_PLUS: Final = re.compile(r"[+＋][\s(（]{0,2}\Z")

# What can stand on either side of an e-mail's @, from everything that an identity may hold to what people use.
_SIDES: Final = tuple(re.compile(rf"[{each}]+") for each in (r"^\s@<>,;\"", r"\w.!#$%&'*+/=?^`{|}~-", r"\w.+-"))
_EMAIL_LENGTH: Final = 254


@dataclass(frozen=True, slots=True)
class Person:
    """A lead, and the keys of its identities."""

    organization_id: str
    lead_id: str
    keys: frozenset[str]


class Mentions:
    """Looks for people in texts."""

    def __init__(self, resolver: Resolver, identities: IdentityStore) -> None:
        self._resolver = resolver
        self._identities = identities

    def person(self, organization_id: str, lead_id: str) -> Person:
        """A lead with what it is known by now."""
        return Person(organization_id, lead_id, self._identities.keys_of_lead(organization_id, lead_id))

    def find(self, person: Person, text: str, source: str = "", external_event_id: str | None = None) -> bool:
        """Whether ``text``, which ``source`` wrote, is about ``person``, as it is or in the provider's translation."""
        found = _Finds(person.lead_id, _prefixes(source))
        identities = found.identities(text)  # the lead's id shows on the way
        if self.are_of(person, identities) or found.named:
            return True
        return any(
            self.is_of(person, draft) for draft in _drafts(person.organization_id, source, text, external_event_id)
        )

    def is_of(self, person: Person, draft: EventDraft) -> bool:
        """Whether ``person`` is whom ``draft`` is about: by the lead it names, or else by its identities."""
        if draft.lead_id is not None:
            return draft.lead_id == person.lead_id
        return self.are_of(person, draft.identities)

    def are_of(self, person: Person, identities: Iterable[Identity]) -> bool:
        """Whether one of ``identities`` is the person's."""
        remaining = iter(identities)
        while chunk := list(islice(remaining, _AT_ONCE)):
            if person.keys and not person.keys.isdisjoint(self._resolver.known_as(person.organization_id, chunk)):
                return True
        return False


def leaves(text: str) -> Iterator[tuple[str, str]]:
    """Every value and every name in ``text``, each behind the names under which it stands, the innermost first.

    What holds other values is no value, but a text in which some are found is one as well.
    """
    pending: list[tuple[str, Any, int]] = [("", text, _LAYERS)]
    while pending:
        names, value, layers = pending.pop()
        if isinstance(value, _Pairs):
            for name, child in value:
                pending.append((names, name, layers))
                pending.append((f"{name[:_LONGEST]} {names.partition(' ')[0]}", child, layers))
                if name == "data_base64" and isinstance(child, str):
                    pending.append(("", _decoded(child), layers))
        elif isinstance(value, list):
            pending.extend((names, child, layers) for child in value)
        elif isinstance(value, str):
            inner, whole = _inner(value, outermost=layers == _LAYERS) if layers else ([], True)
            pending.extend((names, each, layers - 1) for each in inner)
            if whole:
                yield names, value


class _Pairs(list[tuple[str, Any]]):
    """An object: its names and values, also where it has a name twice."""


def _inner(text: str, *, outermost: bool) -> tuple[list[Any], bool]:
    """What ``text`` holds in whichever form, and whether it is a value itself."""
    document = _document(text)
    if document is not None:
        return [document], False
    inner: list[Any] = []
    if "=" in text:
        inner.append(_Pairs(parse_qsl(text, keep_blank_values=True)))
    elif "%" in text and (unquoted := unquote(text)) != text:
        inner.append(unquoted)
    if outermost:  # neither JSON nor a value out of it
        plain = _BACKSLASHES.sub("", _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text))
        inner += [plain] if plain != text else []
        inner.append([found for found in _WORD.findall(plain) if len(found) <= _LONGEST and found != text])
    return inner, True


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode(errors="ignore")
    except ValueError:
        return ""


def _document(text: str) -> Any:
    """JSON that holds something, read with every leniency: nobody acts on it, and what is in it must be found."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[", '"'):
        return None
    try:
        return _LENIENT.decode(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


_LENIENT: Final = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=str, parse_float=str, parse_constant=str, strict=False
)


@dataclass
class _Finds:
    """What is found in one text."""

    lead_id: str
    prefixes: Sequence[str]
    named: bool = False
    """Whether the lead's id stands in it."""
    seen: set[tuple[str, str]] = field(default_factory=set)
    numbers: dict[str, None] = field(default_factory=dict)
    """What may be phones, most likely first."""
    parts: dict[str, None] = field(default_factory=dict)
    """What less likely may be."""
    windows: int = 0
    regions: dict[str, None] = field(default_factory=lambda: {DEFAULT_REGION: None})

    def identities(self, text: str) -> Iterator[Identity]:
        """What may be an identity, each once. Ends where the lead itself is named."""
        parts = _Parts()
        for names, leaf in leaves(text):
            value = leaf if leaf.isascii() else leaf.encode(errors="ignore").decode()  # without half surrogate pairs
            self.named = self._names_lead(names, value)
            if self.named:
                return
            if "@" in value:
                yield from self._new(IdentityKind.EMAIL, _emails(value))
            if len(value) <= _LONGEST:
                yield from self._new(IdentityKind.CUSTOMER, self._customers(names, value))
                if len(value) == 2 and value.isalpha() and _COUNTRY.search(names) and len(self.regions) < 3:
                    self.regions[value.upper()] = None
            self._take_numbers(value)
            parts.take(names, value)
        yield from self._phones(parts)

    def _names_lead(self, names: str, value: str) -> bool:
        if self.lead_id not in value:
            return False
        if len(self.lead_id) >= _DISTINCTIVE:
            return _standing_alone(self.lead_id).search(value) is not None
        return value.rpartition(":")[2].strip() == self.lead_id and _is_personal(names)

    def _new(self, kind: IdentityKind, values: Iterable[str]) -> Iterator[Identity]:
        for value in values:
            if (kind, value) not in self.seen:
                self.seen.add((kind, value))
                yield Identity(kind, value)

    def _customers(self, names: str, value: str) -> Iterator[str]:
        """What a provider's own id of a person would be: the value, or what stands behind the last slash of one."""
        whole = value.strip()
        for each in dict.fromkeys((whole, whole.rpartition("/")[2])):
            if len(each) >= _DISTINCTIVE or (each and _is_personal(names)):
                yield from (f"{prefix}:{each}" for prefix in self.prefixes)
        if ":" in whole:
            yield whole

    def _take_numbers(self, value: str) -> None:
        if len(value) <= 40 and not any(each.isalpha() for each in value) and sum(map(str.isdigit, value)) >= 7:
            self.numbers[value] = None
        for number, alone in islice(_numbers(value), _MOST_WINDOWS - self.windows):
            self.windows += 1
            (self.numbers if alone else self.parts)[number] = None

    def _phones(self, parts: _Parts) -> Iterator[Identity]:
        likely = dict.fromkeys([*parts.joined(), *self.numbers, *self.parts])
        for number in islice(likely, _MOST_NUMBERS):
            for region in self.regions:
                yield Identity(IdentityKind.PHONE, number, region)
                if number.startswith(("+", "00")):
                    break  # it has its country in itself
            if number.isdigit() and len(number) >= 10:  # as WhatsApp writes them: the country's code without a plus
                yield Identity(IdentityKind.PHONE, f"+{number}")


class _Parts:
    """Phones whose codes stand in fields of their own."""

    def __init__(self) -> None:
        self._codes: dict[str, None] = {}
        self._numbers: dict[str, None] = {}

    def take(self, names: str, value: str) -> None:
        if len(value) > 20 or not (digits := "".join(filter(str.isdecimal, value))):
            return
        name = names.partition(" ")[0]
        if len(digits) <= 4 and _CODE_PART.search(name) and len(self._codes) < 10:
            self._codes[digits.lstrip("0")] = None
        if 6 <= len(digits) <= 11 and _PHONE_PART.search(names) and len(self._numbers) < 100:
            self._numbers[digits] = None

    def joined(self) -> Iterator[str]:
        for number in self._numbers:
            yield from (f"{code}{number}" for code in self._codes)
            yield from (f"+{country}{area}{number}" for country, area in product(self._codes, repeat=2))
            yield from (f"+{country}{number}" for country in self._codes)


def _emails(text: str) -> Iterator[str]:
    place = text.find("@")
    while place >= 0:
        before, after = text[max(0, place - _EMAIL_LENGTH) : place][::-1], text[place + 1 : place + _EMAIL_LENGTH]
        names = dict.fromkeys(found[0][::-1] for side in _SIDES if (found := side.match(before)))
        hosts = dict.fromkeys(found[0] for side in _SIDES if (found := side.match(after)))
        stripped = [each.lstrip("._-+*'") for each in names], [each.rstrip("._-+*'") for each in hosts]
        for name, host in dict.fromkeys(product([*names, *stripped[0]], [*hosts, *stripped[1]])):
            if name and "." in host:
                yield f"{name}@{host}"
        place = text.find("@", place + 1)


def _numbers(text: str) -> Iterator[tuple[str, bool]]:
    """Runs of digit groups of 7 to 17 digits, without what stands between the groups, and whether nothing stands around it."""
    run: list[str] = []
    end, behind_plus = 0, False
    for found in _DIGITS.finditer(text):
        start = found.start()
        joined = bool(run) and start - end <= 4 and _BETWEEN.fullmatch(text, end, start) is not None
        if not joined:
            yield from _windows(run, behind_plus=behind_plus)
            run, behind_plus = [], _PLUS.search(text, max(0, start - 3), start) is not None
        elif len(run) == 24:  # no phone has so many groups: go on with the last ones
            yield from _windows(run, behind_plus=behind_plus)
            run, behind_plus = run[-8:], False
        run.append(_ascii(found[0]))
        end = found.end()
    yield from _windows(run, behind_plus=behind_plus)


def _windows(groups: Sequence[str], *, behind_plus: bool) -> Iterator[tuple[str, bool]]:
    for first in range(len(groups)):
        number = "+" if behind_plus and first == 0 else ""
        for last in range(first, len(groups)):
            number += groups[last]
            if len(number) > 18:
                break
            if len(number) >= 7:
                yield number, first == 0 and last == len(groups) - 1


def _ascii(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(int(each)) for each in digits)


@lru_cache(maxsize=10)
def _standing_alone(lead_id: str) -> re.Pattern[str]:
    """The id, but as a part of another one or of an e-mail."""
    return re.compile(rf"(?<![\w.@-]){re.escape(lead_id)}(?![\w@-]|\.\w)", re.ASCII)


@lru_cache(maxsize=1_000)
def _is_personal(names: str) -> bool:
    return _PERSONAL.search(names) is not None


def _prefixes(source: str) -> Sequence[str]:
    """What a customer's identity begins with; of somebody who is no provider, whichever there are."""
    named = [source] if source in providers.names() else [*filter(None, [source]), *sorted(providers.names())]
    return [*named, *(["web_user"] if Source.WEB in named else [])]


def parts_of(delivery: Delivery) -> list[Translation]:
    """What a delivery holds; nothing where it cannot be read, for it may have been given up because of that."""
    try:
        return list(providers.find(delivery.provider).translate(delivery))
    except Exception:  # noqa: BLE001  # a text that was given up may be one that breaks a translation
        return []


def _drafts(organization_id: str, source: str, text: str, external_event_id: str | None) -> list[EventDraft]:
    """The events of a provider's delivery, as far as it can be read."""
    if source not in providers.names():
        return []
    delivery = providers.stored_delivery(source, organization_id, text, now(), external_event_id)
    return [each for each in parts_of(delivery) if isinstance(each, EventDraft)]
