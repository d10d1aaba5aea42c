"""Whether what a provider told can be stored as an event of the catalogue."""

from __future__ import annotations

from lead_events.errors import RejectedError
from lead_events.limits import check_payload
from lead_events.strict_json import Json


def keeps_contract(event_type: str, payload: Json) -> bool:
    """Whether ``payload`` can be stored, and is what its type, if it is one of the catalogue, says it is."""
    from lead_events import catalogue  # pydantic: not for a delivery that is verified and handed on

    try:
        check_payload(payload)
        catalogue.check(event_type, payload)
    except RejectedError:
        return False
    return True


def is_of_catalogue(event_type: str) -> bool:
    """Whether the catalogue has this type."""
    from lead_events import catalogue

    return event_type in catalogue.EVENT_TYPES
