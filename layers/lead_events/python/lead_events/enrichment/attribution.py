"""Where a lead came from: one shape for UTM parameters, Hotmart's ``src``/``sck``/``xcod`` and ad referrals."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, urlsplit

from lead_events.enrichment._payload import fields, with_fields
from lead_events.event import EventDraft
from lead_events.strict_json import Json

_NAMES: Final = {
    "utm_source": "source",
    "utm_medium": "medium",
    "utm_campaign": "campaign",
    "utm_id": "campaignId",
    "utm_term": "term",
    "utm_content": "content",
    "src": "src",
    "sck": "sck",
    "xcod": "xcod",
    "ref": "ref",
    "ad_id": "adId",
    "ctwa_clid": "clickId",
    "gclid": "clickId",
    "fbclid": "clickId",
    "referrer": "referrer",
    "source_url": "sourceUrl",
    "headline": "headline",
}
"""Parameters as senders name them → fields of ``attribution``; of two that mean the same the first wins."""
_LONGEST: Final = 500


def attribute(draft: EventDraft) -> EventDraft:
    """Add ``attribution`` from the tracking of the provider and the query of the page on which the lead landed."""
    if fields(draft).get("attribution") is not None:
        return draft
    parameters = [*_of_url(draft.tracking.get("landing_url", "")).items(), *draft.tracking.items()]
    said = {name.lower().replace(".", "_"): value.strip() for name, value in parameters if value.strip()}
    found: dict[str, Json] = {}
    for name, field in _NAMES.items():
        if name in said:
            found.setdefault(field, said[name][:_LONGEST])
    return with_fields(draft, {"attribution": found}) if found else draft


def _of_url(url: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(urlsplit(url).query, max_num_fields=100))
    except ValueError:
        return {}
