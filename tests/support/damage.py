"""Damages JSON documents at random: fields go missing or become what nobody documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers() | st.integers(10**30, 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=300),
    st.lists(st.integers() | st.text(), max_size=3),
    st.dictionaries(st.text(), st.text(), max_size=3),
    st.sampled_from(["", "BRL", "1", 1, 0, "x" * 256, {"id": 1}, {"": 1}, [{}], [None], {"k" * 2000: "v"}]),
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, child in children for found in [(*path, key), *_paths(child, (*path, key))]]


@st.composite
def damaged(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    read: Callable[[str], Any],
    names: Sequence[str],
    junk: st.SearchStrategy[Any] = JUNK,
) -> Any:
    """A document of one of these names, read anew, with one to six of its places taken out or replaced."""
    document = read(draw(st.sampled_from(names)))
    for _ in range(draw(st.integers(1, 6))):
        if not (places := _paths(document)):
            break
        *parents, key = draw(st.sampled_from(places))
        place: Any = document
        for each in parents:
            place = place[each]
        if draw(st.booleans()):
            del place[key]
        else:
            place[key] = deepcopy(draw(junk))  # the next damage may be done to it
    return document
