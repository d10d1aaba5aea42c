"""A request's bytes are taken as they were sent; what cannot be is refused before it costs anything."""

from __future__ import annotations

import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import TooLargeError, UnreadableError, UnsupportedMediaError
from lead_events.http import body_bytes, lower_case
from lead_events.limits import MAX_BODY_BYTES


@given(st.binary(min_size=1, max_size=300))
def test_base64_bodies_are_the_bytes_that_were_sent(body: bytes) -> None:
    assert body_bytes({}, base64.b64encode(body).decode(), is_base64=True) == body


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_plain_bodies_are_their_utf_8(body: str) -> None:
    assert body_bytes({}, body, is_base64=False) == body.encode()


@pytest.mark.parametrize(("body", "is_base64"), [(None, False), ("", False), (None, True), ("", True)])
def test_no_body_is_unreadable(body: str | None, is_base64: bool) -> None:
    with pytest.raises(UnreadableError):
        body_bytes({}, body, is_base64=is_base64)


@pytest.mark.parametrize("body", ["%%%%", "abc", "é", "YQ==\n", "Y Q=="])
def test_what_is_no_base64_is_unreadable(body: str) -> None:
    with pytest.raises(UnreadableError):
        body_bytes({}, body, is_base64=True)


def test_a_plain_body_with_half_a_surrogate_pair_is_unreadable() -> None:
    with pytest.raises(UnreadableError):
        body_bytes({}, '"\ud83d"', is_base64=False)


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "deflate", "identity, gzip", "zstd"])
def test_compressed_bodies_are_never_expanded(encoding: str) -> None:
    bomb = base64.b64encode(gzip.compress(b"\0" * 10_000_000)).decode()
    with pytest.raises(UnsupportedMediaError) as caught:
        body_bytes({"content-encoding": encoding}, bomb, is_base64=True)
    assert caught.value.code == "unsupported_encoding"


@pytest.mark.parametrize("encoding", ["", "identity", " Identity "])
def test_identity_is_no_compression(encoding: str) -> None:
    assert body_bytes({"content-encoding": encoding}, "a", is_base64=False) == b"a"


@pytest.mark.parametrize(
    ("body", "is_base64"),
    [("a" * (MAX_BODY_BYTES + 1), False), ("é" * (MAX_BODY_BYTES // 2 + 1), False), ("A" * (MAX_BODY_BYTES * 3), True),
     (base64.b64encode(b"a" * (MAX_BODY_BYTES + 1)).decode(), True)],
)  # fmt: skip
def test_a_body_above_one_mebibyte_is_too_large_counted_in_bytes(body: str, is_base64: bool) -> None:
    with pytest.raises(TooLargeError):
        body_bytes({}, body, is_base64=is_base64)


def test_a_body_of_one_mebibyte_is_taken() -> None:
    assert len(body_bytes({}, "a" * MAX_BODY_BYTES, is_base64=False)) == MAX_BODY_BYTES
    assert len(body_bytes({}, base64.b64encode(b"a" * MAX_BODY_BYTES).decode(), is_base64=True)) == MAX_BODY_BYTES


def test_header_names_are_lower_case() -> None:
    assert lower_case({"content-TYPE": "A", "Ce-Id": "B"}) == {"content-type": "A", "ce-id": "B"}
    assert lower_case(None) == {}
