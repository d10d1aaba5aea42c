"""What the demo sends is what the providers send: each signature is taken, each body becomes what the demo says of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lead_events import providers
from lead_events.event import Delivery, EventDraft, IdentityKind
from lead_events.identity import normalise_phone
from lead_events.providers import find
from tools.local.deliveries import PROVIDERS, deliveries
from tools.local.seed import completed
from tools.local.story import Person, steps

NOW = datetime.now(UTC)
SECRETS = {provider: completed(provider, [])[0] for provider in PROVIDERS}
PERSON = Person.invented()
SENT = {each.provider: each for each in deliveries(PERSON, SECRETS, NOW)}


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_a_delivery_is_signed_and_becomes_what_the_demo_waits_for(provider: str) -> None:
    sent, module = SENT[provider], find(provider)
    module.verify(sent.headers, sent.body, [SECRETS[provider]], NOW)
    delivery = Delivery(
        provider=provider, organization_id="org_demo", body=sent.body.decode(), received_at=NOW, headers=sent.headers
    )
    drafts = [each for each in module.translate(delivery) if isinstance(each, EventDraft)]
    assert sorted(each.event_type for each in drafts) == sorted(sent.becomes)
    for draft in drafts:
        assert draft.lead_id == PERSON.lead or {each.kind for each in draft.identities} & set(IdentityKind)


def test_the_story_has_every_provider_and_every_internal_domain() -> None:
    told = {step.source for step in steps(NOW)}
    domains = {"messaging_service", "dispatch_service", "ai_agents_service", "billing_service", "ticketing_service"}
    assert domains <= told
    assert set(PROVIDERS) <= providers.names()
    assert {"hotmart", "instagram", "shopify", "stripe", "typeform", "web", "whatsapp"} <= set(PROVIDERS)


def test_whatsapps_id_of_anybody_invented_is_the_phone_that_the_crm_knows() -> None:
    for person in (Person.invented() for _ in range(200)):
        assert normalise_phone(f"+{person.phone[1:5]}{person.phone[6:]}") == normalise_phone(person.phone)


def test_the_story_tells_no_type_twice_from_one_source() -> None:
    told = [(step.source, step.event_type) for step in steps(NOW)]
    told += [(each.provider, event_type) for each in SENT.values() for event_type in each.becomes]
    assert len(set(told)) == len(told)


def test_everybody_is_invented_anew() -> None:
    assert len({getattr(Person.invented(), name) for name in ("lead", "email", "phone") for _ in range(3)}) == 9
