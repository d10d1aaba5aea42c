"""Where events come from: the sources of the seeds and their types."""

from __future__ import annotations

from typing import Final

from lead_events import internal_domains
from lead_events.errors import InvalidError
from lead_events.event import SourceType
from lead_events.names import Source

SOURCE_TYPES: Final[dict[str, SourceType]] = {
    Source.STRIPE: SourceType.EXTERNAL,
    Source.HOTMART: SourceType.EXTERNAL,
    Source.SHOPIFY: SourceType.EXTERNAL,
    Source.TYPEFORM: SourceType.EXTERNAL,
    Source.MESSAGING_SERVICE: SourceType.INTERNAL,
    Source.DISPATCH_SERVICE: SourceType.INTERNAL,
    Source.AI_AGENTS_SERVICE: SourceType.INTERNAL,
    Source.BILLING_SERVICE: SourceType.INTERNAL,
    Source.TICKETING_SERVICE: SourceType.INTERNAL,
    Source.WHATSAPP: SourceType.DIRECT,
    Source.WEB: SourceType.DIRECT,
    Source.INSTAGRAM: SourceType.DIRECT,
}


def source_type_of(source: str, claimed: object, field: str) -> SourceType:
    """The type of ``source``: known from the seeds, or claimed by its sender where the source is new."""
    known = SOURCE_TYPES.get(source)
    if claimed is None:
        if known is None:
            raise InvalidError.of(field, "a source that is not of the catalogue must say its type")
        return known
    if not isinstance(claimed, str) or claimed.upper() not in SourceType.__members__:
        raise InvalidError.of(field, "must be EXTERNAL, INTERNAL or DIRECT")
    if known not in (None, claimed.upper()):
        raise InvalidError.of(field, f"is {known} for this source")
    return SourceType(claimed.upper())


def source_of_domain(domain: str) -> str:
    """The source behind the ``domain`` of a CloudEvents type ``domain.event-name``: ``billing`` is ``billing_service``."""
    return internal_domains.source_of(domain) or domain.lower().replace("-", "_")
