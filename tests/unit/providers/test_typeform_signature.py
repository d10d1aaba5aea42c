"""Typeform's signature: whose deliveries pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.providers.typeform import verify
from tests.samples import load
from tests.support.providers import accepts, check_refused_alike, corpus, shared
from tests.support.signing import typeform_headers
from tests.support.typeform import NOW, SAMPLES, only

SECRET = "new secret ção"
OLD_SECRET = "old"


def genuine(headers: dict[str, str], body: bytes = b"{}", secrets: tuple[str, ...] = (SECRET, OLD_SECRET)) -> bool:
    return accepts(verify, headers, body, secrets, NOW)


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
def test_while_a_secret_is_changed_either_is_accepted(secret: str) -> None:
    assert genuine(typeform_headers(b"{}", secret))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_signature_is_of_the_bytes_as_they_came(name: str) -> None:
    body = load("typeform", name)
    headers = typeform_headers(body, SECRET)
    assert genuine(headers, body)
    assert not genuine(headers, body.removesuffix(b"\n"))
    assert not genuine(headers, json.dumps(json.loads(body)).encode())


def test_a_signature_over_escapes_spaces_and_a_last_newline_is_accepted() -> None:
    body = b'{"note":"R\\u0026D caf\\u00e9 \\ud83d\\ude00","url":"https:\\/\\/example.org","total":10.00 }\n'
    assert genuine(typeform_headers(body, SECRET), body)


@pytest.mark.parametrize("secrets", [(), ("",), (" ", "\t\n")])
def test_without_a_secret_everything_is_refused_even_what_the_empty_key_signed(secrets: tuple[str, ...]) -> None:
    for key in ("", " ", SECRET):
        assert not genuine(typeform_headers(b"{}", key), b"{}", secrets)


def test_hexadecimal_missing_padding_and_other_prefixes_are_refused() -> None:
    header = typeform_headers(b"{}", SECRET)["typeform-signature"]
    for other in (header.rstrip("="), header.removeprefix("sha256="), header.replace("sha256", "sha1"), header + "="):
        assert not genuine({"typeform-signature": other})


@given(st.text(st.characters(exclude_categories=()), max_size=100))
def test_any_header_is_refused_with_the_same_words(header: str) -> None:
    check_refused_alike(verify, {"typeform-signature": header}, b"{}", [SECRET], NOW)


@corpus
def test_every_shared_vector_is_judged_as_marked() -> None:
    vectors = json.loads((Path(shared) / "providers" / "vectors.json").read_text())["vectors"]
    ours = [vector for vector in vectors if vector["scheme"] == "typeform"]
    assert ours
    for vector in ours:
        headers = {name.lower(): value for name, value in vector["header"].items()}
        judged = "accept" if genuine(headers, vector["body"].encode(), (vector["secret"],)) else "reject"
        assert judged == vector["expect"], vector["id"]
        assert only(vector["body"]).event_type == "form_submitted"
