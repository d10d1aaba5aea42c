"""Whose a dead letter is: a message that nothing could become of, of whichever queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lead_events import webhook_message
from lead_events.envelope import Envelope, read_message
from lead_events.erasure import Erasure
from lead_events.errors import ObjectMissingError, RejectedError
from lead_events.event import Delivery, EventDraft
from lead_events.instants import now
from lead_events.mentions import Mentions, Person, leaves, parts_of
from lead_events.names import lead_key, organization_key
from lead_events.organizations import contract
from lead_events.ports import ObjectStore
from lead_events.reading import draft_of_envelope, organization_of
from lead_events.strict_json import Json, loads

_ORGANIZATION: Final = "organizationId"
_OF_STREAMS: Final = {"condition", "error", "key", "sequenceNumber"}
"""What a stream's function writes of a record that it gives up."""
_CONDITIONS: Final = ("RecordCannotBeProjected", "RecordCannotBePublished")
_OF_REPROCESSINGS: Final = {"owner", "jobId", "segment", "slice", "attempt"}
"""What a reprocessing writes of a slice."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether everything in a message is of those who are erased."""

    theirs: bool
    body_key: str | None = None
    """The object that holds the message's body, and goes with it."""
    body_characters: int = 0
    """How many that object has, if it was looked into."""


class Letters:
    """Reads messages as those would who failed to take them."""

    def __init__(self, objects: ObjectStore, mentions: Mentions) -> None:
        self._objects = objects
        self._mentions = mentions

    def judge(self, text: str, erasure: Erasure, person: Person | None) -> Judgement:
        """``person`` is whom the erasure is of, if not of an organisation."""
        fields = _fields(text)
        if (key := _record_of(fields)) is not None:
            return Judgement(_is_of_key(key.partition(" ")[0], erasure))
        if fields.keys() == _OF_REPROCESSINGS:
            return Judgement(person is None and fields.get("owner") == organization_key(erasure.organization_id))
        try:
            message = read_message(text)
        except RejectedError:
            return Judgement(self._is_of_unreadable(text, erasure.organization_id, person))
        if organization_of(message) != erasure.organization_id:
            return Judgement(theirs=False)
        is_webhook = message.type == webhook_message.TYPE and not message.from_bus
        if person is not None and not is_webhook:
            return Judgement(self._is_of_event(message, person))
        return self._webhook(message, person) if is_webhook else Judgement(theirs=True)

    def _is_of_unreadable(self, text: str, organization_id: str, person: Person | None) -> bool:
        """Of a message that breaks the rules of messages: it must still tell its organisation, and no other."""
        named = {value for names, value in leaves(text) if names.partition(" ")[0] == _ORGANIZATION}
        return named == {organization_id} and (person is None or self._mentions.find(person, text))

    def _is_of_event(self, message: Envelope, person: Person) -> bool:
        try:
            draft = draft_of_envelope(message, None, now())
        except RejectedError:
            draft = None
        if draft is not None and draft.lead_id is not None:
            return draft.lead_id == person.lead_id
        if draft is not None and contract.find(message.type) is not None:
            return False  # of the organisation, whomever it mentions
        return self._mentions.find(person, message.text, (message.source or "").lower())

    def _webhook(self, message: Envelope, person: Person | None) -> Judgement:
        key = webhook_message.body_key(message)
        if person is None:
            return Judgement(theirs=True, body_key=key)
        try:
            delivery = webhook_message.read(message, self._objects)
        except ObjectMissingError:
            # A body only goes when all that it held is stored, or erased: nothing can become of the message any more.
            return Judgement(theirs=True)
        except RejectedError:
            return Judgement(self._mentions.find(person, message.text))
        characters = 0 if key is None else len(delivery.body)
        return Judgement(self._is_of_delivery(delivery, person), key, characters)

    def _is_of_delivery(self, delivery: Delivery, person: Person) -> bool:
        """Whether each part is the person's; of one that cannot be taken apart, whether it is about the person at all."""
        parts = parts_of(delivery)
        if any(isinstance(each, EventDraft) for each in parts):
            return all(isinstance(each, EventDraft) and self._is_of_part(each, delivery, person) for each in parts)
        return delivery.lead_id == person.lead_id or self._mentions.find(person, delivery.body, delivery.provider)

    def _is_of_part(self, part: EventDraft, delivery: Delivery, person: Person) -> bool:
        if self._mentions.is_of(person, part):
            return True
        # Whoever is named by id is whom the event is of; else it is the person's if it mentions the person anywhere.
        text = part.raw_payload or delivery.body
        return part.lead_id is None and self._mentions.find(person, text, delivery.provider)


def _record_of(fields: dict[str, Json]) -> str | None:
    """The record that a stream's function gave up; of a message that is no such letter none, whatever it calls its key."""
    key = fields.get("key")
    is_letter = fields.keys() == _OF_STREAMS and fields["condition"] in _CONDITIONS
    return key if is_letter and isinstance(key, str) else None


def _is_of_key(key: str, erasure: Erasure) -> bool:
    """Whether a key of an item is of the lead, or of the organisation."""
    if erasure.lead_id is not None:
        return key == lead_key(erasure.organization_id, erasure.lead_id)
    return key.startswith(lead_key(erasure.organization_id, ""))


def _fields(text: str) -> dict[str, Json]:
    try:
        value = loads(text)
    except RejectedError:
        return {}
    return value if isinstance(value, dict) else {}
