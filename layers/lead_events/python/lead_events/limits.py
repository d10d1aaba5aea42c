"""What a payload may be, checked before AWS is asked: depth, numbers, keys and size.

The facts are DynamoDB's ("Constraints in Amazon DynamoDB", developer guide): attribute values nest at most 32 levels deep,
numbers have at most 38 significant digits and a magnitude between 1E-130 and 9.9999999999999999999999999999999999999E+125,
an item is at most 400 KB with its attribute names.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from lead_events.errors import InvalidError, TooLargeError
from lead_events.strict_json import Json

MAX_BODY_BYTES: Final = 1_048_576
"""Largest request body, message or raw payload: 1 MiB. Even fully escaped it fits Lambda's 6 MB response."""
MAX_WEBHOOK_BYTES: Final = 3 * 1_048_576
"""Largest webhook delivery: Meta's batches have up to 3 MB."""
MAX_ITEM_BYTES: Final = 400 * 1024
MAX_PAYLOAD_BYTES: Final = 400_000
"""Bytes of a payload as DynamoDB counts them: beside it every other attribute at its longest fits the item. So it is known
before anything is written, the claim included, that the event can be stored."""
MAX_BUS_ENTRY_BYTES: Final = 250_000
"""UTF-8 bytes of an entry for the bus with its source and type: EventBridge takes 256 KB, of all entries of a call."""
MAX_DEPTH: Final = 31
"""Maps or lists around a scalar in one attribute; DynamoDB refuses the 32nd."""
MAX_DIGITS: Final = 38
MIN_MAGNITUDE: Final = Decimal("1E-130")
MAX_MAGNITUDE: Final = Decimal("9.9999999999999999999999999999999999999E+125")
MAX_KEY_BYTES: Final = 1024
"""UTF-8 bytes of one key of a payload (DynamoDB takes 65,535; nobody names a field so)."""

_FIELD_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def check_payload(value: Json, field: str = "payload") -> None:
    """Raise ``InvalidError`` or ``TooLargeError`` where ``value`` could not be stored exactly.

    The texts name the path, never the value; nor a key that is no name of a field, as it may be somebody's e-mail.
    """
    pending: list[tuple[Json, str, int]] = [(value, field, 0)]
    while pending:
        each, path, depth = pending.pop()
        if isinstance(each, dict | list):
            if depth == MAX_DEPTH:
                raise InvalidError.of(field, f"nests deeper than {MAX_DEPTH} levels", code="too_deep")
            if isinstance(each, dict):
                for key, child in each.items():
                    _check_key(key, path)
                    pending.append((child, f"{path}.{_told(key)}", depth + 1))
            else:
                pending.extend((child, f"{path}[]", depth + 1) for child in each)
        elif isinstance(each, int | Decimal) and not isinstance(each, bool):
            _check_number(each, path)
    if size_of(value) > MAX_PAYLOAD_BYTES:
        raise TooLargeError(f"A payload has at most {MAX_PAYLOAD_BYTES} bytes as it is stored.")


def size_of(value: Json) -> int:
    """Bytes that DynamoDB counts for an attribute value, rounded up where its rule is approximate."""
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, dict):
        return 3 + sum(1 + len(key.encode()) + size_of(child) for key, child in value.items())
    if isinstance(value, list):
        return 3 + sum(1 + size_of(child) for child in value)
    return len(Decimal(value).as_tuple().digits) // 2 + 3


def _told(key: str) -> str:
    return key if _FIELD_NAME.fullmatch(key) else "*"


def _check_key(key: str, path: str) -> None:
    if not key or len(key.encode()) > MAX_KEY_BYTES:
        raise InvalidError.of(path, f"keys must have 1 to {MAX_KEY_BYTES} bytes", code="invalid_key")


def _check_number(number: int | Decimal, path: str) -> None:
    exact = Decimal(number)
    digits = exact.as_tuple().digits
    significant = len("".join(map(str, digits)).strip("0"))
    if significant > MAX_DIGITS or (exact and not MIN_MAGNITUDE <= abs(exact) <= MAX_MAGNITUDE):
        raise InvalidError.of(
            path, f"numbers have at most {MAX_DIGITS} digits and a magnitude of 1E-130 to 1E+126", code="invalid_number"
        )
