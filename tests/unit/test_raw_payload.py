"""A raw payload is kept as the exact text, in the cheapest form."""

from __future__ import annotations

import hashlib
import json
import random

from hypothesis import given
from hypothesis import strategies as st

from lead_events import raw_payload
from lead_events.limits import MAX_BODY_BYTES, MAX_ITEM_BYTES, size_of
from lead_events.raw_payload import MAX_INLINE_BYTES, UNIT, RawReference, choose, compress, decompress, object_key
from lead_events.store.items import item_of, raw_form
from tests.samples import load, names
from tests.support.builders import stored_event

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=400).flatmap(
    lambda each: st.integers(1, 60).map(lambda n: each * n)
)


def units(size: int) -> int:
    return -(-size // UNIT)


def noise(length: int) -> str:
    """Text that hardly compresses."""
    return random.Random(length).randbytes(length).hex()[:length]


def text_of(form: str | bytes | RawReference) -> str:
    assert not isinstance(form, RawReference)
    return form if isinstance(form, str) else decompress(form)


@given(TEXTS)
def test_any_text_is_decompressed_to_the_byte(text: str) -> None:
    assert decompress(compress(text.encode())) == text


@given(TEXTS, st.integers(0, 3000))
def test_any_text_is_read_back_exactly_from_the_form_chosen_and_never_costs_more_than_plain(
    text: str, others: int
) -> None:
    form = choose(text, others, key="k")
    if isinstance(form, RawReference):
        assert form == RawReference("k", len(text.encode()))
        return
    assert text_of(form) == text
    size = len(form.encode() if isinstance(form, str) else form)
    assert units(others + size) <= units(others + len(text.encode()))


def test_a_small_text_stays_readable_where_compressing_saves_no_unit() -> None:
    assert choose('{"a":1}', 300, key="k") == '{"a":1}'


def test_a_text_is_compressed_exactly_where_that_saves_a_unit() -> None:
    text = json.dumps([{"name": "Ana", "number": number} for number in range(40)])
    compressed = len(compress(text.encode()))
    for others in range(0, 2048, 16):
        saves = units(others + compressed) < units(others + len(text))
        assert isinstance(choose(text, others, key="k"), bytes) == saves


def test_the_dictionary_saves_a_unit_for_most_provider_samples() -> None:
    saved = [
        units(700 + len(load("stripe", each))) - units(700 + len(compress(load("stripe", each))))
        for each in names("stripe")
    ]
    assert sum(each > 0 for each in saved) > len(saved) * 0.8


def test_what_stays_large_goes_to_the_object_store() -> None:
    assert isinstance(choose(noise(MAX_INLINE_BYTES * 3), 300, key="k"), RawReference)
    assert isinstance(choose("a" * MAX_BODY_BYTES, 300, key="k"), bytes)
    assert text_of(choose(noise(MAX_INLINE_BYTES), 300, key="k")) == noise(MAX_INLINE_BYTES)


def test_an_objects_key_is_its_tenant_its_lead_and_its_content() -> None:
    key = object_key("org_A", "lead_1", b"text")
    assert key.startswith("organizations/org_A/leads/lead_1/")
    assert key == object_key("org_A", "lead_1", b"text") != object_key("org_A", "lead_1", b"Text")


def test_a_raw_text_that_no_longer_fits_beside_its_payload_goes_to_the_object_store() -> None:
    for length in range(0, 12_000, 500):
        raw = "😀é" + noise(length)
        event = stored_event(event_type="x", payload={"note": "a" * 399_900}, raw_payload=raw)
        item, reference = item_of(event, ttl=None)
        assert sum(len(name) + len(_bytes(value)) for name, value in item.items()) <= MAX_ITEM_BYTES
        form = raw_form(item)
        assert form == raw if reference is None else form == reference


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else b"0" * size_of(value)  # type: ignore[arg-type]


def test_a_released_dictionary_never_changes() -> None:
    digest = hashlib.sha256(raw_payload.dictionary(1)).hexdigest()
    assert digest == "854eb757b287e7993882a3479b83617301492a2d5a9758e9f088fd0380e71288"
