"""The sources of the seeds have the types of the seeds; a new source must say its type."""

from __future__ import annotations

from typing import Final

import pytest

from lead_events.errors import InvalidError
from lead_events.names import Source
from lead_events.sources import SOURCE_TYPES, source_of_domain, source_type_of

SEEDS: Final = {
    "EXTERNAL": ["stripe", "hotmart", "shopify", "typeform"],
    "INTERNAL": ["messaging_service", "dispatch_service", "ai_agents_service", "billing_service", "ticketing_service"],
    "DIRECT": ["whatsapp", "web", "instagram"],
}


def test_sources_and_their_types_are_exactly_those_of_the_seeds() -> None:
    expected = {source: source_type for source_type, sources in SEEDS.items() for source in sources}
    assert {str(source): str(kind) for source, kind in SOURCE_TYPES.items()} == expected
    assert {each.value for each in Source} == set(expected)


@pytest.mark.parametrize("claimed", [None, "external", "EXTERNAL"])
def test_a_known_source_needs_no_type_and_may_say_it(claimed: str | None) -> None:
    assert source_type_of("stripe", claimed, "sourceType") == "EXTERNAL"


@pytest.mark.parametrize(
    ("source", "claimed"), [("stripe", "DIRECT"), ("crm", None), ("crm", "OTHER"), ("crm", 1), ("crm", "")]
)
def test_a_type_that_contradicts_the_seeds_or_is_missing_is_invalid(source: str, claimed: object) -> None:
    with pytest.raises(InvalidError) as caught:
        source_type_of(source, claimed, "sourceType")
    assert caught.value.errors[0].field == "sourceType"


def test_a_new_source_says_its_type() -> None:
    assert source_type_of("crm", "internal", "sourceType") == "INTERNAL"


@pytest.mark.parametrize(
    ("domain", "source"),
    [("billing", "billing_service"), ("ai-agents", "ai_agents_service"), ("Ticketing", "ticketing_service"), ("crm", "crm"),
     ("whatsapp", "whatsapp")],
)  # fmt: skip
def test_the_domain_of_a_type_leads_to_its_source(domain: str, source: str) -> None:
    assert source_of_domain(domain) == source
