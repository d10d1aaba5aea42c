"""Instagram messaging and comments.

Signature, handshake and the rule of conversations: ``_meta``. The app secret is Meta's or, with Instagram Login, Instagram's
own: list both. One body may hold several entries and items; each is translated alone.

Times. An item of ``messaging`` or ``standby`` has unix *milliseconds*, as a number. Inside ``changes`` it has unix *seconds*,
as a string; what has no such string happened when its entry was sent, which ``_sent`` reads.

A message is one event: ``product_asked`` where it asks about a product, ``campaign_engaged`` where it is a quick reply that
names its campaign, else ``message.received``. An advertisement or story that it answers tells of an interest too: a second
event. A code of ours that Instagram hands back, a postback's or quick reply's ``payload``, names its campaign as
``campaignId=…&…`` or in a JSON object; the ``ref`` of a link may also be the campaign's id alone. No lead is read from a
``ref``: anybody can write one. Addresses of media are left to the raw payload: they are signed and expire, and a redelivery
may have others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from lead_events.errors import InvalidError
from lead_events.event import Delivery, Translation
from lead_events.instants import from_unix_milliseconds, from_unix_seconds, to_microseconds
from lead_events.names import Source
from lead_events.providers._meta import (
    Entry,
    Fact,
    Told,
    attempt,
    campaign_of,
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

_LISTS: Final = ("messaging", "standby", "changes")
_AROUND: Final = frozenset({"sender", "recipient", "timestamp"})
_COMMENTS: Final = ("comments", "live_comments")
_OF_THE_ACCOUNT: Final = frozenset({"story_insights"})


def translate(delivery: Delivery) -> list[Translation]:
    """Every message, reaction, comment and other notice of a delivery.

    Raises ``RejectedError`` where it is no delivery of an Instagram account.
    """
    found: list[Translation] = []
    for entry in entries(delivery, Source.INSTAGRAM, "instagram"):
        if not isinstance(entry, Entry):
            found.append(entry)
            continue
        told = [
            (f"{entry.path}.{name}[{index}]", name, item, text_)
            for name in _LISTS
            for index, (item, text_) in enumerate(zip(items(entry.value, name), entry.text.elements(name), strict=True))
        ]
        if not told and "field" in entry.value:  # some set-ups send the change as the entry itself
            told = [(entry.path, "", entry.value, entry.text.text)]
        if not told:
            found.append(InvalidError.of(entry.path, "must have messaging, standby or changes"))
        for path, name, item, text_ in told:
            found += attempt(partial(_translated, entry, path, name, item, text_))
    return found


@dataclass(frozen=True, slots=True)
class _Item:
    """One thing that happened in a conversation, with who, when and what else."""

    entry: Entry
    path: str
    key: str
    """Name of the field that says what happened."""
    item: dict[str, Json]
    text: str
    occurred_at: datetime
    raw: str

    @property
    def body(self) -> Json:
        return at(self.item, self.key)

    @property
    def echo(self) -> bool:
        """Whether the business did it."""
        sender = reference(self.item, "sender", "id")
        return at(self.body, "is_echo") is True or (sender is not None and sender == self.entry.id)

    @property
    def person(self) -> str | None:
        """Instagram's id of the person, scoped to the business; sender and recipient change places in an echo."""
        return reference(self.item, "recipient" if self.echo else "sender", "id")

    def own(self) -> dict[str, Json]:
        """What every payload has."""
        return known(accountId=self.entry.id, test=self.entry.test)

    def told(self, *parts: str | None) -> Told:
        """The frame of its events. Where Instagram gives no id, its own text is one."""
        given = [part for part in parts if part is not None]
        return Told(
            entry=self.entry,
            id=event_id(*given) if len(given) == len(parts) else event_id(self.key, digest(self.entry.id, self.text)),
            occurred_at=self.occurred_at,
            raw=self.raw,
            identities=customer(Source.INSTAGRAM, self.person),
            tracking=_tracking(self.referral),
            object_id_ref=reference(self.body, "mid"),
        )

    @property
    def referral(self) -> Json:
        """The link, advertisement or product that it came from."""
        return self.body if self.key == "referral" else at(self.body, "referral")

    def started(self) -> list[Fact]:
        """The conversation that it may have started."""
        if self.echo or self.person is None:
            return []
        came_from = _came_from(self.referral)
        context = came_from.get("adTitle") or came_from.get("ref") or came_from.get("source")
        told = known(context=context or ("referral" if came_from else None), referral=came_from or None)
        return [conversation(self.entry, self.entry.id, self.person, self.occurred_at, told)]


def _translated(entry: Entry, path: str, name: str, item: Json, text_: str) -> Sequence[Translation]:
    raw = entry.raw({each: [text_] if each == name else [] for each in _LISTS} if name else {})
    if not isinstance(item, dict):
        raise InvalidError.of(path, "must be an object")
    if name in ("messaging", "standby"):
        time = from_unix_milliseconds(item.get("timestamp"), f"{path}.timestamp")
        return _happened(entry, path, item, text_, time, raw)
    field, value = word(item, "field"), item.get("value")
    if field is None:
        raise InvalidError.of(f"{path}.field", "must be the name of what changed")
    if isinstance(value, dict) and ("sender" in value or "recipient" in value):
        return _happened(entry, path, value, text_, _changed_at(entry, path, value), raw)
    if field in _COMMENTS and isinstance(value, dict):
        return _comment(entry, path, field, value, raw)
    told = Told(
        entry=entry,
        id=event_id(field, digest(entry.id, str(entry.value.get("time")), text_)),
        occurred_at=_sent(entry),
        raw=raw,
    )
    if field in _OF_THE_ACCOUNT:
        return [organization_event(told, field, value)]
    payload = known(field=field, mediaId=reference(value, "media_id"), commentId=reference(value, "comment_id"),
                    accountId=entry.id, test=entry.test)  # fmt: skip
    return drafts(told, Fact(f"instagram.{field}", payload), [])


def _happened(
    entry: Entry, path: str, item: dict[str, Json], text_: str, time: datetime, raw: str
) -> Sequence[Translation]:
    key = next((each for each in _KINDS if each in item), None)
    key = key or next((each for each in item if each not in _AROUND), None)
    if key is None:
        raise InvalidError.of(path, "must say what happened")
    happened = _Item(entry, path, key, item, text_, time, raw)
    return _KINDS.get(key, _unknown)(happened)


def _message(item: _Item) -> Sequence[Translation]:
    message, mid = item.body, text(item.body, "mid")
    if mid is None:
        raise InvalidError.of(f"{item.path}.message.mid", "must be the message's id")
    if at(message, "is_deleted") is True:
        return drafts(item.told(mid, "deleted"), Fact("instagram.message_deleted", item.own() | {"deleted": True}), [])
    said = _content(message) | item.own()
    as_told = Fact("instagram.message_echo" if item.echo else "instagram.message", said)
    if item.echo:
        return drafts(item.told(mid), as_told, [])
    if at(message, "is_unsupported") is True:
        as_told = Fact("instagram.message.unsupported", said | known(mediaType="unsupported"))
        return drafts(item.told(mid), as_told, [as_told, *item.started()])
    campaign = campaign_of(text(message, "quick_reply", "payload"), bare=False)
    if campaign:
        main = Fact("campaign_engaged", known(campaignId=campaign, engagementType="quick_reply") | said)
    elif "productId" in said and "text" in said:
        main = Fact("product_asked", known(question=said["text"], channel="instagram") | _without_text(said))
    else:
        main = Fact("message.received", said)
    found = [main, *_interest(item, message, mid), *item.started()]
    return drafts(item.told(mid), as_told, found)


def _interest(item: _Item, message: Json, mid: str) -> list[Fact]:
    """What a message says besides its words: the advertisement or the story that it answers."""
    came_from, story = _came_from(at(message, "referral")), reference(message, "reply_to", "story", "id")
    signal = "ad" if {"adId", "ref"} & set(came_from) else "story_reply" if at(message, "reply_to", "story") else None
    if signal is None:
        return []
    payload = known(productId=came_from.get("productId"), signal=signal, channel="instagram", storyId=story)
    return [Fact("interest_detected", payload | came_from | item.own(), event_id(mid, "interest_detected"))]


def _reaction(item: _Item) -> Sequence[Translation]:
    payload = known(
        reactsTo=reference(item.body, "mid"),
        action=word(item.body, "action"),
        reaction=word(item.body, "reaction"),
        emoji=text(item.body, "emoji"),
        outbound=item.echo or None,
    )
    told = item.told(text(item.body, "mid"), word(item.body, "action") or "react", _by(item))
    return drafts(told, Fact("instagram.reaction", payload | item.own()), [])


def _postback(item: _Item) -> Sequence[Translation]:
    written = text(item.body, "payload")
    said = (
        known(title=text(item.body, "title"), payload=written, referral=_came_from(item.referral) or None) | item.own()
    )
    campaign = campaign_of(written, bare=False)
    as_told = Fact("instagram.postback", said)
    engaged = known(campaignId=campaign, engagementType="postback")
    main = Fact("campaign_engaged", engaged | said) if campaign else as_told
    return drafts(item.told(text(item.body, "mid")), as_told, [main, *item.started()])


def _referral(item: _Item) -> Sequence[Translation]:
    """Somebody came back by a link or an advertisement."""
    came_from = _came_from(item.body)
    said = came_from | item.own()
    campaign = campaign_of(text(item.body, "ref"), bare=True)
    as_told = main = Fact("instagram.referral", said)
    if campaign:
        main = Fact("campaign_engaged", known(campaignId=campaign, engagementType="link") | said)
    elif "adId" in came_from or "productId" in came_from:
        signal = "ad" if "adId" in came_from else "product"
        main = Fact("interest_detected", known(signal=signal, channel="instagram") | said)
    return drafts(item.told("referral", _by(item)), as_told, [main, *item.started()])


def _read(item: _Item) -> Sequence[Translation]:
    """The campaign of a message that was read is known to whoever sent it."""
    payload = known(reads=reference(item.body, "mid")) | item.own()
    return drafts(item.told(text(item.body, "mid"), "read"), Fact("instagram.read", payload), [])


def _edit(item: _Item) -> Sequence[Translation]:
    """``num_edit`` 0, sometimes without a sender, is Instagram's odd way to tell of a new message: kept, not guessed at."""
    number = code(item.body, "num_edit")
    payload = known(edits=reference(item.body, "mid"), numEdit=number, text=text(item.body, "text")) | item.own()
    told = item.told(text(item.body, "mid"), "edit", str(number) if number is not None else None)
    return drafts(told, Fact("instagram.message_edit", payload), [])


def _unknown(item: _Item) -> Sequence[Translation]:
    name = word({"key": item.key}, "key") or "unknown"
    return drafts(item.told(None), Fact(f"instagram.{name}", item.own()), [])


_KINDS: Final[dict[str, Callable[[_Item], Sequence[Translation]]]] = {
    "message": _message,
    "reaction": _reaction,
    "postback": _postback,
    "referral": _referral,
    "read": _read,
    "message_edit": _edit,
}
"""What may have happened, by the field that says so."""


def _comment(entry: Entry, path: str, field: str, comment: dict[str, Json], raw: str) -> Sequence[Translation]:
    """A comment on a post. What the business comments itself is about no lead."""
    comment_id, author = text(comment, "id"), reference(comment, "from", "id")
    if comment_id is None:
        raise InvalidError.of(f"{path}.value.id", "must be the comment's id")
    own = author is not None and author == entry.id
    payload = known(
        channel="instagram",
        signal="comment",
        text=text(comment, "text"),
        mediaId=reference(comment, "media", "id"),
        mediaType=word(comment, "media", "media_product_type"),
        adId=reference(comment, "media", "ad_id"),
        parentId=reference(comment, "parent_id"),
        accountId=entry.id,
        test=entry.test,
    )
    told = Told(
        entry=entry,
        id=event_id(comment_id),
        occurred_at=_changed_at(entry, path, comment),
        raw=raw,
        identities=() if own else customer(Source.INSTAGRAM, author),
        tracking={"ad_id": ad} if (ad := reference(comment, "media", "ad_id")) else {},
        object_id_ref=reference(comment_id),
    )
    as_told = Fact(f"instagram.{field}", payload | known(own=own or None))
    return drafts(told, as_told, [] if own else [Fact("interest_detected", payload)])


def _content(message: Json) -> dict[str, Json]:
    kinds = [kind for each in items(message, "attachments") if (kind := word(each, "type"))]
    answer = text(message, "quick_reply", "payload")
    came_from = _came_from(at(message, "referral"))
    return known(
        text=text(message, "text"),
        mediaType=kinds[0] if kinds else "text",
        mediaTypes=list(kinds) if len(kinds) > 1 else None,
        reply=known(kind="quick_reply", id=answer) if answer else None,
        productId=came_from.get("productId"),
        repliesTo=reference(message, "reply_to", "mid"),
        storyId=reference(message, "reply_to", "story", "id"),
        referral=came_from or None,
    )


def _without_text(said: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in said.items() if name != "text"}


def _came_from(referral: Json) -> dict[str, Json]:
    return known(
        ref=text(referral, "ref"),
        adId=reference(referral, "ad_id"),
        source=text(referral, "source"),
        adTitle=text(referral, "ads_context_data", "ad_title"),
        productId=reference(referral, "product", "id"),
    )


def _tracking(referral: Json) -> dict[str, str]:
    """A referral as attribution reads it, in Instagram's names."""
    found = {name: value for name in ("ref", "ad_id", "source") if (value := text(referral, name))}
    title = text(referral, "ads_context_data", "ad_title")
    return found | ({"ad_title": title} if title else {})


def _by(item: _Item) -> str:
    """Who and when, for what has no id of its own. The person is hashed."""
    return f"{digest(item.person or '')}:{to_microseconds(item.occurred_at) // 1000}"


def _changed_at(entry: Entry, path: str, value: dict[str, Json]) -> datetime:
    told = value.get("timestamp")
    return from_unix_seconds(told, f"{path}.value.timestamp") if isinstance(told, str) else _sent(entry)


def _sent(entry: Entry) -> datetime:
    """When Instagram sent an entry of ``changes``, else when it came.

    Meta documents this one place both ways, in seconds and in milliseconds. No instant of Instagram's lifetime is a valid one
    in both: what is no date as seconds, is milliseconds.
    """
    for read in (from_unix_seconds, from_unix_milliseconds):
        try:
            return read(entry.value.get("time"), f"{entry.path}.time")
        except InvalidError:
            continue
    return entry.delivery.received_at
