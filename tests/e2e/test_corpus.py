"""Every delivery of the corpus, signed as its provider signs, becomes exactly the events that its fact sheet says.

Where LEAD_EVENTS_SHARED names a folder with ``providers/samples``. Each file is sent for an organisation of its own: vendors'
examples share their ids. What became of them is written to ``.local/corpus.md``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from tests.e2e.client import Client, at_once, eventually
from tests.e2e.conftest import ROOT
from tests.e2e.tenants import Tenant, drain, events_of, rejected_of, types_of

SHARED = os.environ.get("LEAD_EVENTS_SHARED")
SAMPLES: Final = (ROOT / (SHARED or "") / "providers/samples").resolve()
TABLE: Final = ROOT / ".local" / "corpus.md"
LEAD: Final = "lead_corpus"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SHARED, reason="LEAD_EVENTS_SHARED names no folder of shared samples"),
]

STARTED: Final = "conversation_started"
SAID: Final = ["message.received", STARTED]

EXPECTED: Final[dict[str, list[str]]] = {
    "hotmart/CLUB_FIRST_ACCESS.test_button": ["hotmart.CLUB_FIRST_ACCESS"],
    "hotmart/CLUB_MODULE_COMPLETED.test_button": ["hotmart.CLUB_MODULE_COMPLETED"],
    # A first recurrence with a coupon; the offer's price is in another currency, so the discount has no percent.
    "hotmart/PURCHASE_APPROVED.docs_all_fields": ["purchase_completed", "subscription_created", "discount_accepted"],
    "hotmart/PURCHASE_APPROVED.real_pix_subscription": ["purchase_completed", "subscription_created"],
    "hotmart/PURCHASE_APPROVED.test_button": ["purchase_completed", "discount_accepted"],  # no recurrence number
    "hotmart/PURCHASE_CANCELED.test_button": ["purchase_abandoned"],
    "hotmart/PURCHASE_CHARGEBACK.test_button": ["hotmart.PURCHASE_CHARGEBACK"],
    "hotmart/PURCHASE_EXPIRED.test_button": ["purchase_abandoned"],
    "hotmart/PURCHASE_OUT_OF_SHOPPING_CART.test_button": ["purchase_abandoned"],
    "hotmart/PURCHASE_PROTEST.test_button": ["hotmart.PURCHASE_PROTEST"],
    "hotmart/SUBSCRIPTION_CANCELLATION.test_button": ["subscription_cancelled"],
    "hotmart/SWITCH_PLAN.docs": ["hotmart.SWITCH_PLAN"],
    "hotmart/v1_form_urlencoded.approved.as_json": ["purchase_completed"],
    "instagram/message.ad_referral": ["message.received", "interest_detected", STARTED],
    "instagram/message.echo": ["instagram.message_echo"],
    "instagram/message.ephemeral": SAID,
    "instagram/message.shop_product_referral": ["product_asked", STARTED],
    "instagram/message.story_reply": ["message.received", "interest_detected", STARTED],
    "instagram/message.text": SAID,
    "instagram/message_edit.num_edit_0_no_sender": ["instagram.message_edit"],
    "instagram/message_reaction": ["instagram.reaction"],  # its message is no campaign's that we know
    "instagram/messaging_postback": ["instagram.postback", STARTED],  # likewise its payload
    "instagram/messaging_referral": ["campaign_engaged", STARTED],
    "instagram/messaging_seen": ["instagram.read"],
    "shopify/carts.create": ["interest_detected"],
    "shopify/checkouts.create": ["shopify.checkouts/create"],  # abandoned only after a time: no topic says so
    "shopify/customers.create": ["shopify.customers/create"],
    "shopify/orders.cancelled": ["shopify.orders/cancelled"],
    "shopify/orders.paid": ["purchase_completed"],
    "shopify/refunds.create": ["shopify.refunds/create"],
    "shopify/subscription_contracts.create": ["subscription_created"],
    "stripe/charge.refunded": ["stripe.charge.refunded"],
    "stripe/checkout.session.completed": ["purchase_completed"],
    "stripe/customer.subscription.created": ["subscription_created"],
    "stripe/customer.subscription.deleted": ["subscription_cancelled"],
    "stripe/invoice.paid": ["purchase_completed"],
    # Its object says requires_payment_method and that nothing was received: no sale, whatever the name says.
    "stripe/payment_intent.succeeded": ["stripe.payment_intent.succeeded"],
    "typeform/form_response": ["form_submitted"],
    "typeform/form_response.current_docs": ["form_submitted"],
    "typeform/form_response.real_minimal": ["form_submitted"],
    "whatsapp/message.contacts_bsuid_only": SAID,
    "whatsapp/message.flow_nfm_reply": ["form_submitted", STARTED],
    "whatsapp/message.interactive_button_reply": SAID,  # of no campaign
    "whatsapp/message.interactive_list_reply": SAID,
    "whatsapp/message.order": ["purchase_abandoned", STARTED],
    "whatsapp/message.reaction": ["whatsapp.message.reaction"],
    "whatsapp/message.referral": ["message.received", "interest_detected", STARTED],
    "whatsapp/message.reply_context": SAID,
    "whatsapp/message.template_quick_reply": SAID,
    "whatsapp/message.text": SAID,
    "whatsapp/message.text_br_bsuid_8digit": SAID,
    "whatsapp/message.unsupported": ["whatsapp.message.unsupported", STARTED],
    "whatsapp/status.delivered": ["whatsapp.status.delivered"],  # of no campaign
    "whatsapp/status.failed": ["whatsapp.status.failed"],
    "whatsapp/status.read": ["whatsapp.status.read"],
    "whatsapp/status.sent_pmp_2026": ["whatsapp.status.sent"],
    "whatsapp/status.sent_with_tracker": ["whatsapp.status.sent"],
    "whatsapp/system.user_changed_number": ["whatsapp.system.user_changed_number"],
    "whatsapp/system.user_changed_number_bsuid": ["whatsapp.system.user_changed_number"],
    "whatsapp/user_preferences.marketing_resume": ["whatsapp.user_preferences.resume"],
}
"""File → events, in the words of the catalogue or else under the provider's own name."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A file of the corpus as its provider would send it to an organisation of its own."""

    name: str
    tenant: Tenant
    body: bytes
    headers: dict[str, str]

    @classmethod
    def read(cls, client: Client, path: Path) -> Sample:
        name, provider = f"{path.parent.name}/{path.stem}", path.parent.name
        tenant, body = Tenant.of(client, provider), path.read_bytes()
        if "form_urlencoded" not in name:
            return cls(name, tenant, body, tenant.headers(body, path.stem))
        fields: dict[str, Any] = json.loads(body) | {"hottok": tenant.secrets[0]}
        headers = {"content-type": "application/x-www-form-urlencoded"}  # its token is in the form alone
        return cls(name, tenant, urlencode(fields).encode(), headers)

    def deliver(self) -> int:
        # The URL's lead, for some of these name nobody: what they are is judged here, not whose.
        return self.tenant.post(self.body, self.headers, LEAD).status


@pytest.fixture(scope="module")
def corpus(client: Client) -> dict[str, Sample]:
    """Every file, sent and processed once."""
    paths = sorted(SAMPLES.glob("*/*.json"))
    samples = [Sample.read(client, path) for path in paths]
    statuses = at_once(len(samples), lambda index: samples[index].deliver(), threads=3)
    assert {sample.name: status for sample, status in zip(samples, statuses, strict=True)} == dict.fromkeys(
        EXPECTED, 202
    )
    organizations = [sample.tenant.organization for sample in samples]
    expected = sum(map(len, EXPECTED.values()))
    eventually(lambda: sum(map(len, events_of(client, organizations).values())) >= expected)
    drain(client)
    return {sample.name: sample for sample in samples}


@pytest.fixture(scope="module")
def stored(client: Client, corpus: dict[str, Sample]) -> dict[str, list[dict[str, Any]]]:
    """The items of every file after its first delivery, and the table of them in ``.local/corpus.md``."""
    found = events_of(client, [sample.tenant.organization for sample in corpus.values()])
    items = {name: found[sample.tenant.organization] for name, sample in corpus.items()}
    rows = [f"| {name} | {', '.join(types_of(each)) or 'none'} |" for name, each in items.items()]
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text("\n".join(["| file | events |", "|---|---|", *rows, ""]), encoding="utf-8")
    return items


def test_every_file_becomes_exactly_the_events_of_its_fact_sheet(stored: dict[str, list[dict[str, Any]]]) -> None:
    assert {name: types_of(items) for name, items in stored.items()} == {
        name: sorted(types) for name, types in EXPECTED.items()
    }


def test_nothing_of_the_corpus_is_rejected(client: Client, corpus: dict[str, Sample]) -> None:
    assert not [name for name, sample in corpus.items() if rejected_of(client, sample.tenant.organization)]


def test_the_same_bytes_again_add_nothing(
    client: Client, corpus: dict[str, Sample], stored: dict[str, list[dict[str, Any]]]
) -> None:
    samples = list(corpus.values())
    assert set(at_once(len(samples), lambda index: samples[index].deliver(), threads=3)) == {202}
    drain(client)
    again = events_of(client, [sample.tenant.organization for sample in samples])
    for name, sample in corpus.items():
        before = {item["eventId"]["S"]: item for item in stored[name]}
        assert {item["eventId"]["S"]: item for item in again[sample.tenant.organization]} == before, name
        assert rejected_of(client, sample.tenant.organization) == [], name


def test_a_token_in_a_body_is_not_kept(client: Client, corpus: dict[str, Sample]) -> None:
    sample = corpus["hotmart/v1_form_urlencoded.approved.as_json"]
    path = f"/v1/organizations/{sample.tenant.organization}/leads/{LEAD}/events?include=rawPayload"
    [event] = client.call("GET", path).json["items"]
    token = sample.tenant.secrets[0]
    assert event["rawPayload"] == sample.body.decode().replace(token, "*" * len(token))
