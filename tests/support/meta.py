"""What the tests of WhatsApp and Instagram share: deliveries, and samples with damage done to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from lead_events import catalogue
from lead_events.event import Delivery, EventDraft, OrganizationEvent, SourceType, Translation
from lead_events.limits import check_payload
from lead_events.providers import find
from tests.samples import load, names

NOW = datetime(2026, 1, 8, 13, 0, 5, tzinfo=UTC)

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**30, 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=300),
    st.lists(st.integers() | st.text(), max_size=3),
    st.dictionaries(st.text(), st.text(), max_size=3),
    st.sampled_from(["", "text", "delivered", "0", "5511900000011", "x" * 256, "\x00", "{", "a=b", "{}"]),
    st.sampled_from([{"id": "1"}, [{}], [None]]),
)  # fmt: skip


def translated(provider: str, body: Any, lead_id: str | None = None) -> list[Translation]:
    """What a provider makes of a body: its text, or JSON to be written as Meta does."""
    text = body if isinstance(body, str) else json.dumps(body)
    delivery = Delivery(provider=provider, organization_id="org_1", body=text, received_at=NOW, lead_id=lead_id)
    return list(find(provider).translate(delivery))


def drafts_of(provider: str, body: Any, lead_id: str | None = None) -> list[EventDraft]:
    """The drafts among them."""
    return [each for each in translated(provider, body, lead_id) if isinstance(each, EventDraft)]


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


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, child in children for found in [(*path, key), *paths(child, (*path, key))]]


def damaged(provider: str) -> st.SearchStrategy[Any]:
    """Samples with keys dropped and values replaced."""

    @st.composite
    def damage(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
        body = deepcopy(sample(provider, draw(st.sampled_from(names(provider)))))
        for _ in range(draw(st.integers(1, 6))):
            if not (places := paths(body)):
                break
            *parents, key = draw(st.sampled_from(places))
            place: Any = body
            for each in parents:
                place = place[each]
            if draw(st.booleans()):
                del place[key]
            else:
                place[key] = draw(JUNK)
        return body

    return damage()
