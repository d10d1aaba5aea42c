"""Phones and e-mails of a payload in their one spelling."""

from __future__ import annotations

from lead_events.enrichment._payload import fields, with_fields
from lead_events.event import EventDraft, Identity, IdentityKind
from lead_events.identity import normalise
from lead_events.strict_json import Json


def normalise_contacts(draft: EventDraft) -> EventDraft:
    """``phone`` in E.164 and ``email`` in lower case, where they can be read; what was written stays in the raw payload."""
    changes: dict[str, Json] = {}
    for name, kind in (("phone", IdentityKind.PHONE), ("email", IdentityKind.EMAIL)):
        written = fields(draft).get(name)
        known = normalise(Identity(kind, written)) if isinstance(written, str) else None
        if known is not None:
            changes[name] = known
    return with_fields(draft, changes)
