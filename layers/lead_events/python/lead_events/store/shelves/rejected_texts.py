"""Texts of rejected events in the raw bucket that no item leads to.

A large text is stored before the item that refers to it. Whoever died in between, or was so slow that the item had been erased
meanwhile, has left a text that nothing names: the shelf of rejected events never comes to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lead_events.errors import ObjectMissingError
from lead_events.names import rejected_texts_prefix
from lead_events.store.shelves.tables import lead_of

if TYPE_CHECKING:
    from lead_events.erasure import Erasure
    from lead_events.mentions import Mentions
    from lead_events.store.shelves.objects import RawObjects
    from lead_events.store.shelves.rejected import Rejected

_CHARACTERS: Final = 1_000_000
"""Of texts that are looked into in one go; the last of them may be longer."""


class RejectedTexts:
    """Rejected texts of the organisation that are objects. One to which an item leads is left to that: it knows who sent it."""

    def __init__(self, objects: RawObjects, mentions: Mentions, rejected: Rejected) -> None:
        self._objects = objects
        self._mentions = mentions
        self._rejected = rejected

    def clear(self, erasure: Erasure, position: str | None) -> str | None:
        lead_id = lead_of(erasure)
        if lead_id is None:  # of an organisation they go with the other objects
            return None
        owner, characters = erasure.organization_id, 0
        keys = self._objects.keys(rejected_texts_prefix(owner), after=position or "")
        person = self._mentions.person(owner, lead_id) if keys else None
        for key in keys:
            if characters >= _CHARACTERS:
                return position
            text = self._text(key)
            characters += len(text)
            # Nobody knows who sent it: any provider may have, so an id that two of them use counts as the person's.
            about = person is not None and self._mentions.find(person, text)
            if about and not self._rejected.refers_to(owner, key):
                self._objects.remove(erasure, [key])
            position = key
        return position if keys else None

    def _text(self, key: str) -> str:
        try:
            return self._objects.get(key)
        except ObjectMissingError:  # somebody else was faster
            return ""
