"""What the tests of Hotmart share: its events and forms, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from lead_events.event import Delivery, EventDraft
from lead_events.providers.hotmart import translate
from tests import samples
from tests.samples import load, names
from tests.support.providers import NOW

FORM = "application/x-www-form-urlencoded"
SAMPLES = names("hotmart")
FORMS = sorted(path.stem for path in (Path(samples.__file__).parent / "hotmart").glob("*.form"))


def drafts_of(event: Any, lead_id: str | None = None, content_type: str | None = None) -> list[EventDraft]:
    body = event if isinstance(event, str) else json.dumps(event)
    headers = {"content-type": content_type} if content_type else {}
    return translate(
        Delivery(
            provider="hotmart", organization_id="org_1", body=body, received_at=NOW, lead_id=lead_id, headers=headers
        )
    )


def sample(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(load("hotmart", name))
    return event


def form(name: str, /, **changes: str) -> str:
    body = (Path(samples.__file__).parent / "hotmart" / f"{name}.form").read_text()
    return urlencode(dict(parse_qsl(body, keep_blank_values=True)) | changes) if changes else body


def approved(**purchase: Any) -> dict[str, Any]:
    """The plain sale with fields of its ``data.purchase`` replaced."""
    event = sample("PURCHASE_APPROVED.pix")
    event["data"]["purchase"] |= purchase
    return event


def only(event: Any, lead_id: str | None = None, content_type: str | None = None) -> EventDraft:
    [draft] = drafts_of(event, lead_id, content_type)
    return draft
