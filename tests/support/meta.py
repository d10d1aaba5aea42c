"""What the tests of WhatsApp and Instagram share: deliveries, and samples with damage done to them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.errors import RejectedError
from lead_events.event import Delivery, EventDraft, OrganizationEvent, SourceType, Translation
from lead_events.limits import check_payload
from lead_events.providers import find
from tests.samples import load, names
from tests.support import providers
from tests.support.damage import JUNK, damaged

NOW = datetime(2026, 1, 8, 13, 0, 5, tzinfo=UTC)


def translated(provider: str, body: Any, lead_id: str | None = None) -> list[Translation]:
    """What a provider makes of a body: its text, or JSON to be written as Meta does."""
    text = body if isinstance(body, str) else json.dumps(body)
    delivery = Delivery(provider=provider, organization_id="org_1", body=text, received_at=NOW, lead_id=lead_id)
    return list(find(provider).translate(delivery))


def drafts_of(provider: str, body: Any, lead_id: str | None = None) -> list[EventDraft]:
    """The drafts among them."""
    return [each for each in translated(provider, body, lead_id) if isinstance(each, EventDraft)]


def main(provider: str, body: Any, lead_id: str | None = None) -> EventDraft:
    """The event that the first item is."""
    return drafts_of(provider, body, lead_id)[0]


def payload_of(provider: str, body: Any) -> dict[str, Any]:
    return providers.payload_of(main(provider, body))


def identities(provider: str, body: Any) -> list[str]:
    return [identity.value for identity in main(provider, body).identities]


def sample(provider: str, name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(load(provider, name))
    return value


def shape(translations: list[Translation]) -> list[str]:
    """Their types; an organisation's event in brackets, an error by its class."""
    return [
        each.event_type if isinstance(each, EventDraft)
        else f"[{each.type}]" if isinstance(each, OrganizationEvent)
        else type(each).__name__
        for each in translations
    ]  # fmt: skip


def check(drafts: list[EventDraft], provider: str) -> None:
    """What holds for every draft."""
    for draft in drafts:
        catalogue.check(draft.event_type, draft.payload)
        check_payload(draft.payload)
        assert (draft.source, draft.source_type) == (provider, SourceType.DIRECT)
        assert draft.external_event_id
        assert len(draft.external_event_id) <= 255
        assert draft.received_at == NOW
    ids = [draft.external_event_id for draft in drafts if draft.event_type != "conversation_started"]
    assert len(set(ids)) == len(ids)


def without_raw(draft: EventDraft) -> dict[str, Any]:
    """Everything that a draft says, but for its raw payload."""
    return {name: getattr(draft, name) for name in EventDraft.__dataclass_fields__ if name != "raw_payload"}


def damaged_bodies(provider: str) -> st.SearchStrategy[Any]:
    """A provider's samples with damage done to them."""
    return damaged(lambda name: sample(provider, name), names(provider)) | JUNK


def check_damaged(provider: str, account: str, body: Any) -> None:
    """A delivery that is damaged becomes events or a clean refusal; ``account`` is what a sound one calls its object."""
    try:
        found = translated(provider, body)
    except RejectedError:
        # What an entry holds is never a reason to refuse the whole.
        ours = isinstance(body, dict) and body.get("object") == account
        assert not ours or not isinstance(body.get("entry"), list) or not body["entry"]
        return
    assert found
    for draft in (each for each in found if isinstance(each, EventDraft)):
        check([draft], provider)
        assert without_raw(draft) in [without_raw(each) for each in drafts_of(provider, draft.raw_payload)]
