"""Python values as DynamoDB's attribute values, and back, with exact numbers.

boto3 has this too (``boto3.dynamodb.types``), but its decimal context takes zeros that say nothing for digits: a ``1`` with
forty zeros, ``0E-400`` and the plain notation in which DynamoDB gives back large numbers all raise there.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

_PLAIN_DIGITS: Final = 38  # beyond, a number is written with an exponent


def item_to_wire(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item, or a key, as attribute values by name."""
    return {str(name): to_wire(value) for name, value in item.items()}


def item_from_wire(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Inverse of ``item_to_wire``."""
    return {name: from_wire(value) for name, value in attributes.items()}


def to_wire(value: Any) -> dict[str, Any]:
    """The attribute value of ``value``: JSON's types, and ``bytes``."""
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, str):
        return {"S": str(value)}
    if isinstance(value, int | Decimal):
        return {"N": _number(Decimal(value))}
    if isinstance(value, dict):
        return {"M": item_to_wire(value)}
    if isinstance(value, list):
        return {"L": [to_wire(child) for child in value]}
    return {"B": value}


def from_wire(attribute: dict[str, Any]) -> Any:
    """Inverse of ``to_wire``; numbers come back as ``Decimal``."""
    [(kind, value)] = attribute.items()
    match kind:
        case "NULL":
            return None
        case "N":
            return Decimal(value)
        case "M":
            return item_from_wire(value)
        case "L":
            return [from_wire(child) for child in value]
    return value


def _number(number: Decimal) -> str:
    sign, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    stripped = text.rstrip("0")
    if not stripped:
        return "0"
    exact = Decimal(f"{'-' * sign}{stripped}E{int(exponent) + len(text) - len(stripped)}")
    return f"{exact:f}" if abs(exact.adjusted()) < _PLAIN_DIGITS else str(exact)
