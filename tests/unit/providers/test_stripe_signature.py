"""Stripe's signature: whose deliveries pass."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import UnauthenticatedError
from lead_events.providers.stripe import verify
from tests.samples import load
from tests.support.providers import NOW, accepts, check_refused_alike, corpus, shared
from tests.support.signing import stripe_headers

SECRET = "whsec_new"
OLD_SECRET = "whsec_old"


def signed(*parts: str, body: bytes = b"{}") -> bool:
    return accepts(verify, {"stripe-signature": ",".join(parts)}, body, [SECRET, OLD_SECRET])


def parts_of(secret: str = SECRET, at: datetime = NOW, body: bytes = b"{}") -> list[str]:
    return stripe_headers(body, secret, at)["stripe-signature"].split(",")


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
def test_while_a_secret_is_rolled_either_is_accepted(secret: str) -> None:
    assert signed(*parts_of(secret))


def test_one_genuine_signature_among_several_is_enough() -> None:
    time, genuine = parts_of()
    assert signed(time, "v1=" + "0" * 64, genuine)
    assert signed(time, genuine, "v1=" + "0" * 64)


@pytest.mark.parametrize(("seconds", "accepted"), [(-301, False), (-300, True), (0, True), (300, True), (301, False)])
def test_the_signatures_time_may_be_300_seconds_off_either_way(seconds: int, accepted: bool) -> None:
    assert signed(*parts_of(at=NOW + timedelta(seconds=seconds))) is accepted


def test_the_test_scheme_v0_never_counts() -> None:
    time, genuine = parts_of()
    assert not signed(time, genuine.replace("v1=", "v0="))


def test_a_time_given_twice_is_refused() -> None:
    time, genuine = parts_of()
    assert not signed(time, time, genuine)
    assert not signed(time, genuine, "t=1")


@pytest.mark.parametrize("time", ["t=", "t", "t=abc", "t=-1", "t=1e9", "t=١٧٦٧٨٧٧٢٠٠", "t= 1", "t=" + "9" * 400, "x=1"])
def test_a_time_that_is_no_whole_number_is_refused(time: str) -> None:
    assert not signed(time, parts_of()[1])


def test_a_body_changed_by_one_byte_is_refused() -> None:
    body = load("stripe", "invoice.paid.old")
    assert signed(*parts_of(body=body), body=body)
    assert not signed(*parts_of(body=body), body=body.removesuffix(b"\n"))
    assert not signed(*parts_of(body=body), body=json.dumps(json.loads(body)).encode())


@pytest.mark.parametrize("secrets", [[], [""], [" ", "\t\n"]])
def test_without_a_secret_everything_is_refused_even_what_the_empty_key_signed(secrets: list[str]) -> None:
    for key in ["", " ", SECRET]:
        with pytest.raises(UnauthenticatedError):
            verify(stripe_headers(b"{}", key, NOW), b"{}", secrets, NOW)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_header_is_refused_with_the_same_words(header: str) -> None:
    check_refused_alike(verify, {"stripe-signature": header}, b"{}", [SECRET])


def test_a_signature_that_utf_8_cannot_hold_is_refused() -> None:
    assert not signed(parts_of()[0], "v1=\ud83d")


@corpus
def test_every_shared_vector_is_judged_as_marked() -> None:
    vectors = json.loads((Path(shared) / "providers" / "vectors.json").read_text())["vectors"]
    ours = [vector for vector in vectors if vector["scheme"] == "stripe"]
    assert ours
    for vector in ours:
        headers = {name.lower(): value for name, value in vector["header"].items()}
        try:
            verify(headers, vector["body"].encode(), [vector["secret"]], datetime.fromtimestamp(vector["now"], UTC))
            judged = "accept"
        except UnauthenticatedError:
            judged = "reject"
        assert judged == vector["expect"], vector["id"]
