"""JSON without surprises: what two parsers could read differently is refused.

Reading refuses duplicate keys, ``NaN``/``Infinity``, lone surrogates, invalid UTF-8 and absurd nesting, and keeps numbers
exact (``int`` or ``Decimal``). Writing keeps numbers exact too: ``Decimal`` goes out as the JSON number it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeVar

from lead_events.errors import UnreadableError

Json = dict[str, "Json"] | list["Json"] | str | int | Decimal | bool | None
"""A JSON value as this package holds it."""

T = TypeVar("T")

_BOM: Final = "\ufeff"


def decode_text(body: bytes) -> str:
    """Decode UTF-8 strictly."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableError("The body is not valid UTF-8.") from None


def loads(text: str) -> Json:
    """Read one JSON document. Raises ``UnreadableError`` whose code says which rule it breaks."""
    document = text.removeprefix(_BOM)
    value: Json = _guarded(lambda: _DECODER.decode(document), text)
    return value


def loads_array(text: str) -> list[tuple[Json, str]]:
    """Read a JSON array and keep each element's own text, byte for byte, beside its value."""
    return _guarded(lambda: _elements(text.removeprefix(_BOM)), text)


def dumps(value: Any) -> str:
    """Write compact JSON with exact numbers; text outside ASCII stays as it is."""
    import simplejson  # only responses and messages need it: not on the path of a duplicate

    text: str = simplejson.dumps(value, use_decimal=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text


def _guarded(read: Callable[[], T], text: str) -> T:
    try:
        value = read()
    except RecursionError:
        raise UnreadableError("The JSON is nested too deeply.", code="malformed_body") from None
    except UnreadableError:
        raise
    except (ValueError, ArithmeticError):  # JSONDecodeError, integers beyond the digit limit, absurd exponents
        raise UnreadableError("The body is not valid JSON.") from None
    if "\\u" in text or "\\U" in text:  # only an escape can smuggle in a surrogate: the text itself is valid UTF-8
        _refuse_lone_surrogates(value)
    return value


def _elements(text: str) -> list[tuple[Json, str]]:
    space = json.decoder.WHITESPACE.match  # type: ignore[attr-defined]  # what json itself skips
    position = space(text, 0).end()
    if text[position : position + 1] != "[":
        raise UnreadableError("The body must be a JSON array.")
    position = space(text, position + 1).end()
    found: list[tuple[Json, str]] = []
    while text[position : position + 1] != "]" or found:
        value, end = _DECODER.raw_decode(text, position)
        found.append((value, text[position:end]))
        position = space(text, end).end()
        if text[position : position + 1] == "]":
            break
        if text[position : position + 1] != ",":
            raise ValueError("expected ',' or ']'")
        position = space(text, position + 1).end()
    if space(text, position + 1).end() != len(text):
        raise ValueError("extra data")
    return found


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnreadableError("An object has the same key twice.", code="duplicate_key")
    return found


def _constant(_: str) -> NoReturn:
    raise UnreadableError("NaN and Infinity are not JSON.")


def _number(text: str) -> Decimal:
    if len(text) > 1_000:  # 38 digits are the most that is stored; this only bounds the work spent on nonsense
        raise UnreadableError("A number has too many digits.")
    return Decimal(text)


def _refuse_lone_surrogates(value: object) -> None:
    pending: list[object] = [value]
    try:
        while pending:
            each = pending.pop()
            if isinstance(each, str):
                each.encode()
            elif isinstance(each, list | tuple):
                pending.extend(each)
            elif isinstance(each, dict):
                pending.extend(each)
                pending.extend(each.values())
    except UnicodeEncodeError:
        raise UnreadableError("A string holds half of a surrogate pair.", code="lone_surrogate") from None


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_float=_number, parse_constant=_constant)
