"""Payloads of providers that have no module yet: what one would roughly store, for the sake of sizes.

The leaf fields that the providers' fact tables name, under their own names, beside the raw text. The event type is
``{provider}.{their name}``, as the pipeline stores a type that it does not translate. Not a translation: delete an entry here
when its provider has its module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from lead_events.providers._reading import at, items
from lead_events.strict_json import Json

Path = tuple[str | int, ...]
Fields = Mapping[str, Path]

_META: Final[Path] = ("entry", 0)
_WHATSAPP: Final[Path] = (*_META, "changes", 0, "value")
_MESSAGE: Final[Path] = (*_WHATSAPP, "messages", 0)
_STATUS: Final[Path] = (*_WHATSAPP, "statuses", 0)
_PREFERENCE: Final[Path] = (*_WHATSAPP, "user_preferences", 0)
_DIRECT: Final[Path] = (*_META, "messaging", 0)

EVENT_NAME: Final[Mapping[str, tuple[Path, ...]]] = {
    "hotmart": (("event",),),
    "typeform": (("event_type",),),
    "whatsapp": ((*_MESSAGE, "type"), (*_STATUS, "status"), (*_PREFERENCE, "value"), (*_META, "changes", 0, "field")),
}

EXTERNAL_ID: Final[Mapping[str, tuple[Path, ...]]] = {
    "hotmart": (("id",),),
    "typeform": (("event_id",),),
    "whatsapp": ((*_MESSAGE, "id"), (*_STATUS, "id")),
    "instagram": ((*_DIRECT, "message", "mid"), (*_DIRECT, "postback", "mid"), (*_DIRECT, "reaction", "mid")),
    "shopify": (("admin_graphql_api_id",), ("token",)),
}

FIELDS: Final[Mapping[str, Fields]] = {
    "hotmart": {
        "productId": ("data", "product", "id"),
        "productName": ("data", "product", "name"),
        "amount": ("data", "purchase", "price", "value"),
        "currency": ("data", "purchase", "price", "currency_value"),
        "paymentMethod": ("data", "purchase", "payment", "type"),
        "installments": ("data", "purchase", "payment", "installments_number"),
        "transaction": ("data", "purchase", "transaction"),
        "status": ("data", "purchase", "status"),
        "couponCode": ("data", "purchase", "offer", "coupon_code"),
        "offerCode": ("data", "offer", "code"),
        "planId": ("data", "subscription", "plan", "id"),
        "planName": ("data", "subscription", "plan", "name"),
        "subscriberCode": ("data", "subscription", "subscriber", "code"),
        "source": ("data", "purchase", "origin", "sck"),
    },
    "typeform": {
        "formId": ("form_response", "form_id"),
        "formName": ("form_response", "definition", "title"),
        "score": ("form_response", "calculated", "score"),
        "hidden": ("form_response", "hidden"),
    },
    "whatsapp": {
        "messageId": (*_MESSAGE, "id"),
        "text": (*_MESSAGE, "text", "body"),
        "buttonReply": (*_MESSAGE, "interactive", "button_reply"),
        "listReply": (*_MESSAGE, "interactive", "list_reply"),
        "responses": (*_MESSAGE, "interactive", "nfm_reply", "response_json"),
        "button": (*_MESSAGE, "button"),
        "productIds": (*_MESSAGE, "order", "product_items"),
        "reaction": (*_MESSAGE, "reaction"),
        "replyTo": (*_MESSAGE, "context", "id"),
        "referralHeadline": (*_MESSAGE, "referral", "headline"),
        "referralId": (*_MESSAGE, "referral", "source_id"),
        "status": (*_STATUS, "status"),
        "campaignId": (*_STATUS, "biz_opaque_callback_data"),
        "errorCode": (*_STATUS, "errors", 0, "code"),
        "preference": (*_PREFERENCE, "value"),
        "newNumber": (*_MESSAGE, "system", "wa_id"),
    },
    "instagram": {
        "messageId": (*_DIRECT, "message", "mid"),
        "text": (*_DIRECT, "message", "text"),
        "productId": (*_DIRECT, "message", "referral", "product", "id"),
        "adId": (*_DIRECT, "message", "referral", "ad_id"),
        "adTitle": (*_DIRECT, "message", "referral", "ads_context_data", "ad_title"),
        "replyTo": (*_DIRECT, "message", "reply_to", "mid"),
        "storyId": (*_DIRECT, "message", "reply_to", "story", "id"),
        "reaction": (*_DIRECT, "reaction"),
        "postback": (*_DIRECT, "postback"),
        "ref": (*_DIRECT, "referral", "ref"),
        "seen": (*_DIRECT, "read", "mid"),
    },
    "shopify": {
        "orderId": ("admin_graphql_api_id",),
        "amount": ("total_price",),
        "currency": ("currency",),
        "paymentMethods": ("payment_gateway_names",),
        "financialStatus": ("financial_status",),
        "cancelReason": ("cancel_reason",),
        "discounts": ("discount_codes",),
        "landingSite": ("landing_site",),
        "refundedOrder": ("order_id",),
        "status": ("status",),
        "customerId": ("customer_id",),
    },
}


def approximate(provider: str, name: str, body: Json) -> tuple[str, str | None, dict[str, Json]]:
    """Event type, external id and payload of a sample; ``name`` is its file's."""
    told = next(_texts(body, EVENT_NAME.get(provider, ())), name.partition("_")[0] if provider == "whatsapp" else name)
    payload: dict[str, Json] = {field: at(body, *path) for field, path in FIELDS.get(provider, {}).items()}
    if provider not in FIELDS and isinstance(body, dict):
        payload = {field: value for field, value in body.items() if not isinstance(value, dict | list)}
    if provider == "shopify":
        payload |= {
            "productIds": _columns(body, "line_items", "product_id"),
            "titles": _columns(body, "line_items", "title"),
        }
    if provider == "typeform":
        payload["responses"] = [_answer(each) for each in items(body, "form_response", "answers")]
    known: dict[str, Json] = {field: value for field, value in payload.items() if value not in (None, "", [], {})}
    external_id = next(_texts(body, EXTERNAL_ID.get(provider, ())), None)
    return f"{provider}.{told}"[:100], external_id, known


def _answer(answer: Json) -> Json:
    kind = at(answer, "type")
    value = at(answer, str(kind))
    return {"fieldRef": at(answer, "field", "ref") or at(answer, "field", "id"), "type": kind, "value": value}


def _columns(body: Json, rows: str, column: str) -> Json:
    return [value for value in (at(row, column) for row in items(body, rows)) if value is not None]


def _texts(body: Json, paths: tuple[Path, ...]) -> Iterator[str]:
    for path in paths:
        value = at(body, *path)
        if isinstance(value, str | int) and value != "":
            yield str(value)
