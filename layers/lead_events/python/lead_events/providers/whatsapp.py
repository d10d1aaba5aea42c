"""WhatsApp Cloud API.

Signature, handshake and the rule of conversations: ``_meta``. What a message or status becomes: ``_whatsapp_facts``. Times are
unix seconds everywhere, in messages and statuses as strings. One body may hold several entries, changes, messages and
statuses; each is translated alone, so that a bad one keeps none of the others out.

A person is known by the business-scoped user id and by the phone, each of which may be missing. ``contacts`` say which belong
together; they are found by either id, never by position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final

from lead_events.errors import InvalidError
from lead_events.event import Delivery, Identity, IdentityKind, Translation
from lead_events.instants import format_instant, from_unix_seconds
from lead_events.names import Source
from lead_events.providers import _whatsapp_facts as facts
from lead_events.providers._excerpts import Cuttable
from lead_events.providers._meta import (
    Entry,
    Fact,
    Told,
    attempt,
    code,
    conversation,
    customer,
    digest,
    drafts,
    entries,
    event_id,
    handshake,
    organization_event,
    verify,
    word,
)
from lead_events.providers._reading import at, items, known, reference, text
from lead_events.strict_json import Json

__all__ = ["handshake", "translate", "verify"]

_PHONE: Final = re.compile(r"\+?([1-9][0-9]{6,14})", re.ASCII)
_TEST_PHONE: Final = "16315551181"
"""Sender of what the dashboard's test button sends."""

# Fields that tell of the business account and never of a person.
_OF_THE_ACCOUNT: Final = re.compile(r"(account|business|message_template|phone_number|template)_\w+|flows|security")


def translate(delivery: Delivery) -> list[Translation]:
    """Every message, status and other notice of a delivery.

    Raises ``RejectedError`` where it is no delivery of a WhatsApp business account.
    """
    found: list[Translation] = []
    for entry in entries(delivery, Source.WHATSAPP, "whatsapp_business_account"):
        if not isinstance(entry, Entry):
            found.append(entry)
            continue
        changes = items(entry.value, "changes")
        if not changes:
            found.append(InvalidError.of(f"{entry.path}.changes", "must be a list with at least one change"))
        for index, (change, change_text) in enumerate(zip(changes, entry.text.elements("changes"), strict=True)):
            found += _change(entry, f"{entry.path}.changes[{index}]", change, change_text)
    return found


@dataclass(frozen=True, slots=True)
class _Item:
    """One element of a change's lists, with what stands around it."""

    entry: Entry
    path: str
    value: dict[str, Json]
    body: Json
    text: str
    list: str
    """Name of the list that it stands in."""
    contacts: Sequence[tuple[Json, str]]
    alone: bool
    """Whether the change holds nothing else."""
    change_text: Cuttable
    value_text: Cuttable

    def cut(self, contact_texts: Sequence[str]) -> str:
        """The delivery's text with this element, and these of the change's contacts, alone."""
        others: dict[str, Sequence[str]] = dict.fromkeys(_LISTS, ())
        lists = {} if self.alone else others | {self.list: [self.text], "contacts": contact_texts}
        value = self.value_text.keeping(lists)
        return self.entry.raw({"changes": [self.change_text.replacing({"value": value})]})

    @property
    def number_id(self) -> str | None:
        """Id of the business's phone number."""
        return reference(self.value, "metadata", "phone_number_id")

    def time(self) -> datetime:
        return from_unix_seconds(at(self.body, "timestamp"), f"{self.path}.timestamp")

    def message_id(self) -> str:
        found = text(self.body, "id")
        if found is None:
            raise InvalidError.of(f"{self.path}.id", "must be the message's id")
        return found

    def business(self, *phones: Json) -> dict[str, Json]:
        return known(phoneNumberId=self.number_id, test=True if _TEST_PHONE in phones else self.entry.test)


@dataclass(frozen=True, slots=True)
class _Person:
    user_id: str | None
    phone: Json
    contact_texts: tuple[str, ...]

    @property
    def key(self) -> str | None:
        """The person's strongest id."""
        return self.user_id or (self.phone if isinstance(self.phone, str) and self.phone.strip() else None)

    def identities(self, *other_phones: Json) -> tuple[Identity, ...]:
        return customer(Source.WHATSAPP, self.user_id) + _phones(self.phone, *other_phones)


def _change(entry: Entry, path: str, change: Json, change_text: str) -> list[Translation]:
    if not isinstance(change, dict):
        return [InvalidError.of(path, "must be an object")]
    value = at(change, "value")
    lists = {name: items(value, name) for name in _LISTS}
    total = sum(map(len, lists.values()))
    if not isinstance(value, dict) or not total:
        return list(attempt(partial(_other, entry, path, change, change_text)))
    whole = Cuttable(change_text)
    part = Cuttable(whole.member("value") or "")
    contacts = list(zip(items(value, "contacts"), part.elements("contacts"), strict=True))
    found: list[Translation] = []
    for name, translated in _LISTS.items():
        for index, (body, text_) in enumerate(zip(lists[name], part.elements(name), strict=True)):
            place = f"{path}.value.{name}[{index}]"
            item = _Item(entry, place, value, body, text_, name, contacts, total == 1, whole, part)
            found += attempt(partial(translated, item))
    return found


def _message(item: _Item) -> Sequence[Translation]:
    message, time, message_id = item.body, item.time(), item.message_id()
    person = _person(item, at(message, "from"), at(message, "from_user_id"))
    said = facts.content(message) | item.business(at(message, "from"))
    told = Told(
        entry=item.entry,
        id=event_id(message_id),
        occurred_at=time,
        raw=item.cut(person.contact_texts),
        identities=_changed(message, person) or person.identities(*facts.own_phones(message)),
        leads=facts.planted_leads(message),
        tracking=facts.tracking(message),
        object_id_ref=reference(message_id),
    )
    found = facts.facts_of(message, said)
    unknown = facts.told_as_it_is(message, said)
    if word(message, "type") in facts.SPOKEN and person.key and not at(message, "group_id"):
        context = facts.context_of(facts.referral(message))
        business = item.number_id or item.entry.id
        started = conversation(item.entry, business, person.key, time, context)
        found = [*(found or [unknown]), *_interest(item, message_id), started]
    return drafts(told, unknown, found)


def _interest(item: _Item, message_id: str) -> list[Fact]:
    found = facts.interest(item.body, item.business(at(item.body, "from")))
    return [replace(found, id=event_id(message_id, "interest_detected"))] if found else []


def _changed(message: Json, person: _Person) -> tuple[Identity, ...]:
    """Who somebody was and is now, where they changed their number or id; the former first: that one we know."""
    new = at(message, "system")
    if new is None:
        return ()
    ids = dict.fromkeys([person.user_id, reference(new, "user_id")])
    customers = tuple(each for user_id in ids for each in customer(Source.WHATSAPP, user_id))
    return customers + _phones(person.phone, at(new, "wa_id"), at(new, "new_wa_id"))


def _echo(item: _Item) -> Sequence[Translation]:
    """A message that the business wrote in its app; the lead is who it went to."""
    message, message_id = item.body, item.message_id()
    person = _person(item, at(message, "to"), at(message, "to_user_id"))
    said = facts.content(message) | item.business()
    told = Told(
        entry=item.entry,
        id=event_id(message_id),
        occurred_at=item.time(),
        raw=item.cut(person.contact_texts),
        identities=person.identities(),
        object_id_ref=reference(message_id),
    )
    return drafts(told, Fact("whatsapp.message_echo", said), [])


def _status(item: _Item) -> Sequence[Translation]:
    status, message_id = item.body, item.message_id()
    group = at(status, "recipient_type") == "group"  # then recipient_id is the group's
    person = _person(item, None if group else at(status, "recipient_id"), at(status, "recipient_user_id"))
    recipients = {name: value for name, value in status.items() if name.startswith("recipient_")
                  and isinstance(value, str)} if group and isinstance(status, dict) else {}  # fmt: skip
    each = (digest(*(f"{name}={recipients[name]}" for name in sorted(recipients))),) if group else ()
    told = Told(
        entry=item.entry,
        id=event_id(message_id, word(status, "status") or "unknown", *each),
        occurred_at=item.time(),
        raw=item.cut(person.contact_texts),
        identities=person.identities(),
        leads=facts.lead_ids(text(status, "biz_opaque_callback_data")),
        object_id_ref=reference(message_id),
    )
    return drafts(told, *facts.status_facts(status, item.business()))


def _preference(item: _Item) -> Sequence[Translation]:
    """Somebody stopped or resumed marketing messages. They have no id: who, what and when is one."""
    told, time = item.body, item.time()
    person = _person(item, at(told, "wa_id"), at(told, "user_id"))
    category, value = word(told, "category") or "unknown", word(told, "value") or "unknown"
    who = person.key or ""
    return drafts(
        Told(
            entry=item.entry,
            id=event_id("user_preferences", digest(who, category, value, format_instant(time))),
            occurred_at=time,
            raw=item.cut(person.contact_texts),
            identities=person.identities(),
        ),
        Fact(
            f"whatsapp.user_preferences.{value}",
            known(category=category, value=value, detail=text(told, "detail"), **item.business()),
        ),
        [],
    )


def _error(item: _Item) -> Sequence[Translation]:
    """An error of the account's; errors of a message stand in its status."""
    payload = known(errorCode=code(item.body, "code"), errorTitle=text(item.body, "title"), **item.business())
    name = event_id("errors", digest(item.entry.id, item.number_id or "", item.text))
    told = Told(entry=item.entry, id=name, occurred_at=_sent(item.entry), raw=item.cut(()))
    return drafts(told, Fact("whatsapp.errors", payload), [])


_LISTS: Final[Mapping[str, Callable[[_Item], Sequence[Translation]]]] = {
    "messages": _message,
    "statuses": _status,
    "message_echoes": _echo,
    "user_preferences": _preference,
    "errors": _error,
}
"""The lists that a change's value may hold; each element is translated alone."""


def _other(entry: Entry, path: str, change: dict[str, Json], change_text: str) -> Sequence[Translation]:
    """A change of another kind. It has no id: its own text is one."""
    name = word(change, "field")
    if name is None:
        raise InvalidError.of(f"{path}.field", "must be the name of what changed")
    value = at(change, "value")
    contacts = items(value, "contacts")
    only = contacts[0] if len(contacts) == 1 else None
    told = Told(
        entry=entry,
        id=event_id(name, digest(entry.id, str(entry.value.get("time")), change_text)),
        occurred_at=_sent(entry),
        raw=entry.raw({"changes": [change_text]}),
        identities=customer(Source.WHATSAPP, reference(only, "user_id")) + _phones(at(only, "wa_id")),
    )
    if _OF_THE_ACCOUNT.fullmatch(name):
        return [organization_event(told, name, value)]
    payload = known(field=name, phoneNumberId=reference(value, "metadata", "phone_number_id"), test=entry.test)
    return drafts(told, Fact(f"whatsapp.{name}", payload), [])


def _sent(entry: Entry) -> datetime:
    """When WhatsApp sent an entry, else when it came: for what has no time of its own."""
    try:
        return from_unix_seconds(entry.value.get("time"), f"{entry.path}.time")
    except InvalidError:
        return entry.delivery.received_at


def _person(item: _Item, phone: Json, user_id: Json) -> _Person:
    """Who is named by either id, completed from the contact that has one of them.

    A message that names nobody belongs to the only contact of a change that holds nothing else.
    """
    named = {each for each in (phone, user_id) if isinstance(each, str) and each}
    matching = [pair for pair in item.contacts if not named.isdisjoint(_ids(pair[0]))]
    if not named and item.alone and len(item.contacts) == 1:
        matching = list(item.contacts)
    contact, texts = (matching[0][0], (matching[0][1],)) if matching else (None, ())
    own = reference({"id": user_id}, "id")
    return _Person(own or reference(contact, "user_id"), phone or at(contact, "wa_id"), texts)


def _ids(contact: Json) -> set[str]:
    return {each for each in (at(contact, "wa_id"), at(contact, "user_id")) if isinstance(each, str)}


def _phones(*digits: Json) -> tuple[Identity, ...]:
    """Phones as WhatsApp writes them, digits with the country's code, each once."""
    matches = [_PHONE.fullmatch(each) for each in digits if isinstance(each, str)]
    found = dict.fromkeys(f"+{match[1]}" for match in matches if match)
    return tuple(Identity(IdentityKind.PHONE, phone) for phone in found)
