"""Lead memories: one pure fold per category, found by the category's name.

A category's module has the four names of ``Fold``. Its folds see each event once and in any order; what they keep is made of
the parts in ``_shapes``, so it is a function of the *set* of events and bounded in size. Adding a field to a memory touches
its category's module; adding a category its module and the catalogue. Modules whose name starts with an underscore are shared.

Of every event of a category its memory keeps that it was there: how many, the first, the last. An event whose payload says
``test: true`` (a provider's test purchase, a form's test response) counts there and as a test, and nowhere else. What only a
browser told (``trust: "browser"``) counts as everything else does, and how many such events there were is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, Protocol, cast

from lead_events.categories import Category
from lead_events.event import StoredEvent
from lead_events.memories import _fields, _text
from lead_events.memories._fact import Fact
from lead_events.memories._shapes import Map, count, counted
from lead_events.memories._showing import canonical, when
from lead_events.memory import State

View = dict[str, Any]
"""A memory as it is shown: JSON with names in camelCase."""

COMMON_FIELDS: Final = {
    "eventCount": "integer: Events of this category, tests included.",
    "firstSeen": "instant?: When the first of them occurred.",
    "lastSeen": "instant?: When the last of them occurred.",
    "testEvents": "integer: Tests of a provider; counted here and nowhere else.",
    "browserEvents": "integer: Events that nobody but a browser vouches for. They count as the others do.",
}
"""What every category shows, before its own fields."""


class Fold(Protocol):
    """What a category's module offers."""

    __doc__: str | None
    """What the memory is of."""
    TITLE: str
    """Its heading in a text."""
    FIELDS: Mapping[str, str]
    """Each field of the view by its path: ``type: meaning``. ``?`` after the type: it may be null."""
    FOLDS: Mapping[str, Callable[[Map, Fact], None]]
    """By event type, what its event changes: the given map, which is a copy, but no map or list inside of it."""

    def view(self, state: Map) -> View:
        """The state as it is shown."""
        ...

    def lines(self, shown: View) -> list[str]:
        """The view in sentences that cite events, the most important first."""
        ...


def category_of(event: StoredEvent) -> Category | None:
    """The memory that ``event`` belongs to; ``None`` for types that are not of the catalogue."""
    return _categories().get(event.event_type)


def apply(category: Category, state: State, event: StoredEvent) -> State:
    """The state with one more event, which it must not hold already; ``state`` stays as it is.

    What it costs does not depend on how many events there were before.
    """
    fact, seen, known = Fact(event), dict(state.get("seen", {})), dict(state.get("known", {}))
    count(seen, "n")
    seen["first"] = min(seen.get("first", fact.id), fact.id)
    seen["last"] = max(seen.get("last", fact.id), fact.id)
    if fact.is_flagged("trust", "browser"):
        count(seen, "browser")
    if fact.is_flagged("test"):
        count(seen, "tests")
    else:
        fold_of(category).FOLDS[event.event_type](known, fact)
    return {"seen": seen, "known": known}


def fold(events: Iterable[StoredEvent]) -> dict[Category, State]:
    """The memories of one lead from its events, each given once; in the order of the categories."""
    states: dict[Category, State] = {}
    for event in events:
        category = category_of(event)
        if category is not None:
            states[category] = apply(category, states.get(category, {}), event)
    return {category: states[category] for category in Category if category in states}


def view(category: Category, state: State) -> View:
    """The memory as it is shown. It depends on nothing but the events: a rebuild shows the same."""
    seen = state.get("seen", {})
    return {
        "eventCount": counted(seen, "n"),
        "firstSeen": when(seen.get("first")),
        "lastSeen": when(seen.get("last")),
        "testEvents": counted(seen, "tests"),
        "browserEvents": counted(seen, "browser"),
        **canonical(fold_of(category).view(state.get("known", {}))),
    }


def text(views: Mapping[Category, View]) -> str:
    """The whole memory as a short text for an agent's prompt, citing event ids: at most ``_text.MAX_BYTES``."""
    sections = []
    for category in Category:
        if category in views:
            shown, module = views[category], fold_of(category)
            sections.append(_text.Section(module.TITLE, shown, module.lines(shown)))
    return _text.write(sections)


def fields(category: Category) -> dict[str, str]:
    """Every field of a category's view by its path, with type and meaning."""
    return {**COMMON_FIELDS, **fold_of(category).FIELDS}


def schema(category: Category) -> dict[str, Any]:
    """JSON Schema (2020-12) of a category's view."""
    return _fields.schema(fields(category))


def event_count(state: State) -> int:
    """Events that a state holds."""
    return counted(state.get("seen", {}), "n")


@cache
def fold_of(category: Category) -> Fold:
    """The module of a category."""
    return cast("Fold", import_module(f"{__name__}.{category.value}"))


@cache
def _categories() -> dict[str, Category]:
    names = [each.name for each in iter_modules(__path__) if not each.name.startswith("_")]
    return {event_type: Category(name) for name in names for event_type in fold_of(Category(name)).FOLDS}
