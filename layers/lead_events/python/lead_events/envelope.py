"""CloudEvents 1.0: the three HTTP modes, queue messages, EventBridge events, and the envelope that we send.

Facts: CloudEvents core 1.0.2, JSON event format and HTTP protocol binding (github.com/cloudevents/spec). Leniences, each
because the senders need it: ``source`` may be missing (the envelope of our organisation has none), and ``time`` may be.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from urllib.parse import unquote

from lead_events.errors import InvalidError, UnreadableError, UnsupportedMediaError
from lead_events.instants import format_instant, parse_instant
from lead_events.strict_json import Json, loads, loads_array

JSON_TYPE: Final = "application/json"
STRUCTURED_TYPE: Final = "application/cloudevents+json"
BATCH_TYPE: Final = "application/cloudevents-batch+json"

_ATTRIBUTE_NAME: Final = re.compile(r"[a-z0-9]+", re.ASCII)
_CONTEXT: Final = frozenset({"specversion", "type", "id", "source", "time", "datacontenttype", "dataschema", "subject"})
_DATA: Final = frozenset({"data", "data_base64"})


class Mode(StrEnum):
    """HTTP content modes of CloudEvents."""

    STRUCTURED = "structured"
    BATCH = "batch"
    BINARY = "binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One CloudEvent. ``text`` is what it was read from, byte for byte."""

    type: str
    id: str
    source: str | None
    time: datetime | None
    data: Json
    data_content_type: str
    text: str
    subject: str | None = None
    extensions: Mapping[str, Json] = field(default_factory=dict)
    from_bus: bool = False
    """Whether EventBridge brought it: then anybody who may publish on the bus wrote it."""
    sent_at: datetime | None = None
    """When whoever carries it, EventBridge or SQS, was given it: the same however late and often it is delivered."""

    def happened_at(self, received_at: datetime) -> datetime:
        """When it happened, as far as anybody tells."""
        return self.time or self.sent_at or received_at


def mode_of(headers: Mapping[str, str]) -> Mode:
    """The content mode of a request. ``headers`` has lower-case names. Raises ``UnsupportedMediaError``."""
    media_type, parameters = _media_type(headers.get("content-type", ""))
    if parameters.get("charset", "utf-8").strip('"').lower() not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaError("Only UTF-8 is supported.")
    if media_type == BATCH_TYPE:
        return Mode.BATCH
    if media_type == STRUCTURED_TYPE:
        return Mode.STRUCTURED
    if media_type.startswith("application/cloudevents"):
        raise UnsupportedMediaError("Of the CloudEvents formats only JSON is supported.")
    if any(name.startswith("ce-") for name in headers):
        return Mode.BINARY
    if media_type in ("", JSON_TYPE):
        return Mode.STRUCTURED
    raise UnsupportedMediaError(f"Send {STRUCTURED_TYPE}, {BATCH_TYPE}, {JSON_TYPE} or a binary-mode CloudEvent.")


def read_structured(text: str) -> Envelope:
    """Read one event in the JSON format."""
    return _from_json(loads(text), text)


def read_batch(text: str) -> list[Envelope | InvalidError]:
    """Read a batch; an event that breaks a rule becomes its error, in its place."""
    return [_or_error(value, own_text) for value, own_text in loads_array(text)]


def read_binary(headers: Mapping[str, str], body: bytes) -> Envelope:
    """Read an event whose attributes are ``ce-`` headers (lower-case names) and whose data is the body."""
    attributes: dict[str, Json] = {
        name.removeprefix("ce-"): unquote(value, errors="replace")
        for name, value in headers.items()
        if name.startswith("ce-")
    }
    content_type = headers.get("content-type") or JSON_TYPE
    attributes["datacontenttype"] = content_type
    if not is_json(content_type):
        encoded = base64.b64encode(body).decode()
        return _from_json(attributes | {"data_base64": encoded}, encoded)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise UnreadableError("The body is not valid UTF-8.") from None
    attributes["data"] = loads(text) if text.strip() else None
    return _from_json(attributes, text)


def read_message(text: str, sent_at: datetime | None = None) -> Envelope:
    """Read a queue message: an envelope, or an EventBridge event that holds one or is one in EventBridge's own terms.

    ``sent_at`` is when it was put on the queue.
    """
    message = loads(text)
    if not isinstance(message, dict) or "detail-type" not in message:
        return replace(_from_json(message, text), sent_at=sent_at)
    detail = message.get("detail")
    if isinstance(detail, dict) and "specversion" in detail:
        inherited = {"source": message.get("source")} if detail.get("source") is None else {}
        # A replay is put on the queue later; EventBridge's own time is that of the first time.
        published_at = parse_instant(message["time"], "time") if "time" in message else sent_at
        return replace(_from_json({**detail, **inherited}, text), from_bus=True, sent_at=published_at)
    plain = _from_json(
        {
            "specversion": "1.0",
            "type": message.get("detail-type"),
            "id": message.get("id"),
            "source": message.get("source"),
            "time": message.get("time"),
            "data": detail,
        },
        text,
    )
    return replace(plain, from_bus=True)


def write(*, type: str, id: str, source: str, time: datetime, data: Any, subject: str | None = None) -> dict[str, Any]:
    """An envelope that is valid both as CloudEvents 1.0 and by our organisation's contract."""
    envelope: dict[str, Any] = {
        "specversion": "1.0",
        "type": type,
        "id": id,
        "source": source,
        "time": format_instant(time),
        "datacontenttype": JSON_TYPE,
        "data": data,
    }
    return envelope | ({"subject": subject} if subject else {})


def is_json(content_type: str) -> bool:
    """Whether a media type says JSON: ``application/json`` or any ``+json``, whatever its parameters."""
    media_type, _ = _media_type(content_type)
    return media_type == JSON_TYPE or media_type.endswith("+json")


def _media_type(content_type: str) -> tuple[str, dict[str, str]]:
    media_type, *parameters = (part.strip() for part in content_type.split(";"))
    pairs = (parameter.partition("=") for parameter in parameters)
    return media_type.lower(), {name.strip().lower(): value.strip() for name, _, value in pairs}


def _or_error(value: Json, text: str) -> Envelope | InvalidError:
    try:
        return _from_json(value, text)
    except InvalidError as error:
        return error
    except UnreadableError as error:
        return InvalidError(error.detail, code=error.code)


def _from_json(value: Json, text: str) -> Envelope:
    if not isinstance(value, dict):
        raise UnreadableError("A CloudEvent must be a JSON object; a batch needs its own media type.")
    if value.get("specversion") != "1.0":
        raise InvalidError.of("specversion", 'must be "1.0"')
    extensions = {name: each for name, each in value.items() if name not in _CONTEXT | _DATA}
    for name, each in extensions.items():
        if not _ATTRIBUTE_NAME.fullmatch(name):
            raise InvalidError(
                "Attribute names have lower-case letters and digits only.", code="invalid_attribute_name"
            )
        if isinstance(each, dict | list):
            raise InvalidError.of(name, "must be a string, number or boolean")
    time = value.get("time")
    return Envelope(
        type=_text(value, "type"),
        id=_text(value, "id", longest=255),
        source=None if value.get("source") is None else _text(value, "source"),
        time=None if time is None else parse_instant(time, "time"),
        data=_data(value),
        data_content_type=_optional_text(value, "datacontenttype") or JSON_TYPE,
        subject=_optional_text(value, "subject"),
        extensions={name: each for name, each in extensions.items() if each is not None},
        text=text,
    )


def _data(value: dict[str, Json]) -> Json:
    encoded = value.get("data_base64")
    if encoded is None:
        return value.get("data")
    if "data" in value:
        raise InvalidError.of("data_base64", "must not stand beside data")
    try:
        if not isinstance(encoded, str):
            raise ValueError
        base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        raise InvalidError.of("data_base64", "must be a Base64 string") from None
    return {"data_base64": encoded}


def _optional_text(value: dict[str, Json], name: str) -> str | None:
    return None if value.get(name) is None else _text(value, name)


def _text(value: dict[str, Json], name: str, *, longest: int = 1024) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not 0 < len(text) <= longest or any(ord(each) < 32 for each in text):
        raise InvalidError.of(name, f"must be a string of 1 to {longest} characters without control characters")
    return text
