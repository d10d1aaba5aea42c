"""Shopify's signature: whose deliveries pass."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.providers.shopify import verify
from tests.support.providers import accepts, check_refused_alike, corpus, shared
from tests.support.signing import shopify_headers

SECRET = "shpss_new"
OLD_SECRET = "shpss_old"


def accepted(headers: dict[str, str], body: bytes = b"{}", secrets: tuple[str, ...] = (SECRET, OLD_SECRET)) -> bool:
    return accepts(verify, headers, body, secrets)


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
def test_while_the_secret_is_rotated_either_is_accepted(secret: str) -> None:
    assert accepted(shopify_headers(b"{}", secret))


def test_the_header_without_its_prefix_is_read_too() -> None:
    [signature] = shopify_headers(b"{}", SECRET).values()
    assert accepted({"shopify-hmac-sha256": signature})
    assert not accepted({"shopify-hmac-sha256": "x" + signature})


def test_a_body_changed_by_one_byte_or_written_anew_is_refused() -> None:
    body = b'{"note":"R\\u0026D caf\\u00e9 \\ud83d\\ude00","url":"https:\\/\\/example.org","total":10.00 }\n'
    assert accepted(shopify_headers(body, SECRET), body)
    assert not accepted(shopify_headers(body, SECRET), body.removesuffix(b"\n"))
    assert not accepted(shopify_headers(body, SECRET), json.dumps(json.loads(body)).encode())


def test_a_signature_in_hex_is_refused() -> None:
    assert not accepted({"x-shopify-hmac-sha256": hmac.new(SECRET.encode(), b"{}", hashlib.sha256).hexdigest()})


@pytest.mark.parametrize("secrets", [(), ("",), (" ", "\t\n")])
def test_without_a_secret_everything_is_refused_even_what_the_empty_key_signed(secrets: tuple[str, ...]) -> None:
    for key in ["", " ", SECRET]:
        assert not accepted(shopify_headers(b"{}", key), secrets=secrets)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_header_is_refused_with_the_same_words(header: str) -> None:
    check_refused_alike(verify, {"x-shopify-hmac-sha256": header}, b"{}", [SECRET])


@corpus
def test_every_shared_vector_is_judged_as_marked() -> None:
    vectors = json.loads((Path(shared) / "providers" / "vectors.json").read_text())["vectors"]
    ours = [vector for vector in vectors if vector["scheme"] == "shopify"]
    assert ours
    for vector in ours:
        headers = {name.lower(): value for name, value in vector["header"].items()}
        judged = "accept" if accepted(headers, vector["body"].encode(), (vector["secret"],)) else "reject"
        assert judged == vector["expect"], vector["id"]
        assert (
            base64.b64encode(hmac.new(vector["secret"].encode(), vector["body"].encode(), "sha256").digest()).decode()
            == vector["header"]["X-Shopify-Hmac-Sha256"]
        ) is (vector["expect"] == "accept")
