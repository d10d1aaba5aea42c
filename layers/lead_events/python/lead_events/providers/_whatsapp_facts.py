"""What WhatsApp's messages and statuses mean: from their fields to our event types.

A message is one event: of the type that says all of it, else ``message.received`` with its text. An advertisement that it
answers tells of an interest too: a second event. What has no type of ours is ``whatsapp.{their name}``. An *order* is a cart
that the lead sent and has not paid: ``purchase_abandoned``, the only type with a cart's products and value, at stage ``cart``;
the payment, if it comes, is told by whoever takes it.

Codes of ours that WhatsApp hands back:

* ``biz_opaque_callback_data`` of a status: ``campaignId=…&leadId=…`` (or that as a JSON object; ``campaignName`` and
  ``productId`` too), or the campaign's id alone.
* payload or id of a button or list row: ``campaignId=…&…``. Anything else there is an answer, not a campaign.
* ``flow_token`` of a form: ``formId=…&leadId=…``, or the form's id alone, up to a first ``:``.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Final

from lead_events.errors import UnreadableError
from lead_events.providers._meta import Fact, campaign_of, code, storable, word, words_for_us
from lead_events.providers._reading import at, items, known, reference, text
from lead_events.strict_json import Json, loads

MEDIA: Final = ("image", "video", "audio", "document", "sticker")
SPOKEN: Final = frozenset({"text", *MEDIA, "location", "contacts", "interactive", "button", "order", "unsupported"})
"""Types by which the lead says something, so that a conversation may start: not reactions, edits and the system's own."""

_UNUSED: Final = "unused"
"""What Meta writes where a flow was sent without a token."""
_EXACT: Final = Context(prec=60, traps=[Inexact, InvalidOperation, Overflow])
_NUMBER: Final = re.compile(r"\d{1,30}(\.\d{1,20})?", re.ASCII)


def kind_of(message: Json) -> str:
    """The message's type; of an interactive one, what it is."""
    kind = word(message, "type") or "unknown"
    return (word(message, "interactive", "type") or kind) if kind == "interactive" else kind


def content(message: Json) -> dict[str, Json]:
    """What a message says, without names and phones of anybody."""
    kind = word(message, "type") or "unknown"
    body = at(message, kind)
    answer = at(message, "interactive", kind_of(message)) if kind == "interactive" else body
    return known(
        text=text(body, "body") if kind == "text" else _words(kind, body, answer),
        mediaType=kind if kind in SPOKEN else None,
        media=(_media(body) or None) if kind in MEDIA else None,
        reply=_reply(kind, message, answer),
        location=(_location(body) or None) if kind == "location" else None,
        contactCount=len(items(message, "contacts")) or None,
        errorCode=code(message, "errors", 0, "code"),
        productId=text(message, "context", "referred_product", "product_retailer_id"),
        catalogId=text(message, "context", "referred_product", "catalog_id"),
        repliesTo=reference(message, "context", "id"),
        forwarded=True if True in (at(message, "context", "forwarded"), at(message, "context", "frequently_forwarded"))
        else None,
        groupId=reference(message, "group_id"),
        referral=referral(message) or None,
    )  # fmt: skip


def told_as_it_is(message: Json, said: dict[str, Json]) -> Fact:
    """A message under WhatsApp's own name."""
    extra = known(
        reactsTo=reference(message, "reaction", "message_id"),
        emoji=text(message, "reaction", "emoji"),
        removed=True if at(message, "type") == "reaction" and not text(message, "reaction", "emoji") else None,
        form=word(message, "interactive", "nfm_reply", "name"),
        responses=_responses(_form(message)),
        system=word(message, "system", "type"),
    )
    kind = kind_of(message)
    if kind == "system":
        return Fact(f"whatsapp.system.{word(message, 'system', 'type') or 'unknown'}", said | extra)
    return Fact(f"whatsapp.message.{kind}", said | extra)


def facts_of(message: Json, said: dict[str, Json]) -> list[Fact]:
    """The event that a message is; none where it has no type of ours."""
    kind = kind_of(message)
    if kind == "order":
        return [Fact("purchase_abandoned", said | _cart(at(message, "order")) | {"stageAbandoned": "cart"})]
    if kind == "nfm_reply":
        return _form_submitted(message, said)
    if kind in ("button", "button_reply", "list_reply"):
        ours = text(message, "button", "payload") or text(message, "interactive", kind, "id")
        campaign = campaign_of(ours, bare=False)
        if campaign:
            return [Fact("campaign_engaged", known(campaignId=campaign, engagementType="click") | said)]
    if "productId" in said and "text" in said:
        rest = {name: value for name, value in said.items() if name != "text"}
        return [Fact("product_asked", known(question=said["text"], channel="whatsapp") | rest)]
    known_kinds = {"text", *MEDIA, "location", "contacts", "button", "button_reply", "list_reply"}
    return [Fact("message.received", said)] if kind in known_kinds else []


def interest(message: Json, business: dict[str, Json]) -> Fact | None:
    """What a message says besides its words: the advertisement or post that it answers. It needs an id of its own."""
    came_from = referral(message)
    if not {"sourceId", "ctwaClid"} & set(came_from):
        return None
    product = text(message, "context", "referred_product", "product_retailer_id")
    payload = known(productId=product, signal="ad", channel="whatsapp", referral=came_from, **business)
    return Fact("interest_detected", payload)


def status_facts(status: Json, business: dict[str, Json]) -> tuple[Fact, list[Fact]]:
    """A status under WhatsApp's own name, and what it means where its campaign is known."""
    ours = text(status, "biz_opaque_callback_data")
    campaign = campaign_of(ours, bare=True)
    name = word(status, "status") or "unknown"
    as_told = known(
        status=name,
        campaignId=campaign,
        category=word(status, "pricing", "category"),
        errorCode=code(status, "errors", 0, "code"),
        errorTitle=text(status, "errors", 0, "title"),
        **business,
    )
    unknown = Fact(f"whatsapp.status.{name}", as_told)
    if campaign is None or name not in ("delivered", "read"):
        return unknown, []
    written = words_for_us(ours) or {}
    payload = known(
        campaignId=campaign,
        campaignName=text(written, "campaignName"),
        productId=text(written, "productId"),
        channel="whatsapp",
        **business,
    )
    if name == "delivered":
        return unknown, [Fact("campaign_delivered", payload)]
    return unknown, [Fact("campaign_engaged", payload | {"engagementType": "read"})]


def referral(message: Json) -> dict[str, Json]:
    """The advertisement or post that a message came from."""
    told = at(message, "referral")
    return known(
        sourceType=text(told, "source_type"),
        sourceId=text(told, "source_id"),
        sourceUrl=text(told, "source_url"),
        headline=text(told, "headline"),
        body=text(told, "body"),
        mediaType=text(told, "media_type"),
        ctwaClid=text(told, "ctwa_clid"),
    )


def tracking(message: Json) -> dict[str, str]:
    """A referral as attribution reads it, in WhatsApp's names; ``ad_id`` is the ``source_id`` of an advertisement."""
    told = at(message, "referral")
    names = ("source_url", "source_id", "source_type", "headline", "ctwa_clid")
    found = {name: value for name in names if (value := text(told, name))}
    if found.get("source_type") == "ad" and "source_id" in found:
        found["ad_id"] = found["source_id"]
    return found


def context_of(came_from: dict[str, Json]) -> dict[str, Json]:
    """What led to a conversation: the advertisement's headline, or else what kind of thing it was."""
    context = came_from.get("headline") or came_from.get("body") or came_from.get("sourceType")
    return known(context=context or ("referral" if came_from else None), referral=came_from or None)


def own_phones(message: Json) -> list[Json]:
    """The phone of the lead, where they gave it on our request. A contact shared otherwise may be anybody's."""
    origin = text(message, "origin") or ""
    phones = items(message, "contacts", 0, "phones")
    if not origin.startswith("contact_request") or len(items(message, "contacts")) != 1 or len(phones) != 1:
        return []
    return [at(phones[0], "wa_id") or at(phones[0], "phone")]


def planted_leads(message: Json) -> list[Json]:
    """Lead ids in the token that we gave a form."""
    return lead_ids(text(_form(message), "flow_token"))


def lead_ids(ours: str | None) -> list[Json]:
    """Lead ids in a text of ours."""
    written = words_for_us(ours) or {}
    return [at(written, "leadId"), at(written, "lead_id")]


def _words(kind: str, body: Json, answer: Json) -> str | None:
    """The words of a message that is no plain text."""
    if kind == "interactive":
        return text(answer, "title")
    return text(body, "caption") or text(body, "text")  # of media; of a template's button or an order


def _media(body: Json) -> dict[str, Json]:
    return known(
        id=text(body, "id"),
        mimeType=text(body, "mime_type"),
        filename=text(body, "filename"),
        voice=True if at(body, "voice") is True else None,
    )


def _reply(kind: str, message: Json, answer: Json) -> dict[str, Json] | None:
    if kind == "button":
        return known(kind="button", id=text(answer, "payload"), title=text(answer, "text"))
    if kind_of(message) in ("button_reply", "list_reply"):
        described = text(answer, "description")
        return known(kind=kind_of(message), id=text(answer, "id"), title=text(answer, "title"), description=described)
    return None


def _location(body: Json) -> dict[str, Json]:
    numbers: dict[str, Json] = {}
    for name in ("latitude", "longitude"):
        found = at(body, name)
        if isinstance(found, int | Decimal) and not isinstance(found, bool) and storable(found):
            numbers[name] = found
    return known(**numbers, name=text(body, "name"), address=text(body, "address"), url=text(body, "url"))


def _cart(order: Json) -> dict[str, Json]:
    lines = items(order, "product_items")
    ids = [text(line, "product_retailer_id") for line in lines]
    currency = text(lines, 0, "currency") or ""
    priced = re.fullmatch(r"[A-Z]{3}", currency, re.ASCII) and all(at(line, "currency") == currency for line in lines)
    value = _total(lines) if priced else None
    return known(
        productIds=list(dict.fromkeys(each for each in ids if each)),
        cartValue=value,
        currency=currency if value is not None else None,
        items=[
            known(productId=text(line, "product_retailer_id"), quantity=_number(at(line, "quantity")),
                  itemPrice=_number(at(line, "item_price")))
            for line in lines
        ],
        catalogId=text(order, "catalog_id"),
    )  # fmt: skip


def _total(lines: list[Json]) -> Decimal | None:
    """The sum in major units, exact; ``None`` where a line is not understood: half a sum would be a wrong one."""
    total = Decimal(0)
    for line in lines:
        quantity, price = _number(at(line, "quantity")), _number(at(line, "item_price"))
        if quantity is None or price is None:
            return None
        try:
            total = _EXACT.add(total, _EXACT.multiply(quantity, price))
        except ArithmeticError:
            return None
    return total if lines and storable(total) else None


def _number(value: Json) -> Decimal | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or value < 0 or not storable(value):
        return None
    return Decimal(value)


def _form(message: Json) -> dict[str, Json]:
    """The answers of a form, which come as JSON in a string, with our token among them."""
    answers = text(message, "interactive", "nfm_reply", "response_json")
    try:
        found = loads(answers) if answers else None
    except UnreadableError:
        return {}
    return found if isinstance(found, dict) else {}


def _responses(answers: dict[str, Json]) -> list[Json]:
    """The answers one by one; one that cannot be stored is left to the raw payload."""
    pairs: list[Json] = [{"field": name, "answer": answer} for name, answer in answers.items()
                         if name and name != "flow_token"]  # fmt: skip
    return [pair for pair in pairs if storable({"responses": [pair]})]


def _form_submitted(message: Json, said: dict[str, Json]) -> list[Fact]:
    answers = _form(message)
    token = text(answers, "flow_token")
    written = words_for_us(token)
    bare = token.partition(":")[0].strip() if token and written is None and token != _UNUSED else None
    form = text(written, "formId") or text(written, "form_id") or bare
    payload = known(formId=form, responses=_responses(answers))
    return [Fact("form_submitted", said | payload)] if form else []
