"""The tenant's own site: whose deliveries pass, its backend's and its visitors' browsers'."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import TooLargeError, UnauthenticatedError
from lead_events.providers.web import HEADERS, response_headers, verify
from tests.samples import load
from tests.support.providers import NOW
from tests.support.signing import web_headers

SECRET = "whsec_" + base64.b64encode(b"the new key of the backend").decode()
OLD_SECRET = "whsec_" + base64.b64encode(b"the old key, 24 bytes...").decode()
KEY = "pk_escola_lima_1"
ORIGIN = "https://escola-lima.example"
SITE = "browser:" + json.dumps({"key": KEY, "origins": [ORIGIN, "https://www.escola-lima.example:8443/"]})
SECRETS = [SECRET, OLD_SECRET, SITE]


def accepted(headers: dict[str, str], body: bytes = b"{}", secrets: Sequence[str] = SECRETS) -> bool:
    try:
        verify(headers, body, secrets, NOW)
    except UnauthenticatedError as error:
        words = str(error)
    else:
        return True
    assert words == "The signature is missing, wrong or too old."
    return False


# What the backend signs


@pytest.mark.parametrize("scheme", ["webhook", "svix"])
@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
def test_while_a_secret_is_rotated_either_is_accepted_under_either_name(secret: str, scheme: str) -> None:
    assert accepted(web_headers(b"{}", secret, NOW, "msg_1", scheme))


def test_the_published_example_of_standard_webhooks_is_accepted() -> None:
    # From the documentation of Svix, whose scheme it is.
    headers = {
        "svix-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "svix-timestamp": "1614265330",
        "svix-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    secret, at = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", datetime.fromtimestamp(1614265330, UTC)
    verify(headers, b'{"test": 2432232314}', [secret], at)


def test_one_genuine_signature_among_several_is_enough() -> None:
    headers = web_headers(b"{}", SECRET, NOW, "msg_1")
    genuine = headers["webhook-signature"]
    wrong = "v1," + base64.b64encode(b"\0" * 32).decode()
    assert accepted(headers | {"webhook-signature": f"{wrong} v2,x {genuine}"})
    assert not accepted(headers | {"webhook-signature": wrong})
    assert not accepted(headers | {"webhook-signature": genuine.replace("v1,", "v1a,")})
    assert not accepted(headers | {"webhook-signature": genuine.removeprefix("v1,")})


@pytest.mark.parametrize(("seconds", "fine"), [(-301, False), (-300, True), (0, True), (300, True), (301, False)])
def test_the_signatures_time_may_be_300_seconds_off_either_way(seconds: int, fine: bool) -> None:
    assert accepted(web_headers(b"{}", SECRET, NOW + timedelta(seconds=seconds), "msg_1")) is fine


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
@pytest.mark.parametrize("value", [None, "", " ", "x", "1", "-1", "1e9", "9" * 400, "\ud83d", "v1,"])
def test_a_header_that_is_missing_or_other_than_signed_is_refused(name: str, value: str | None) -> None:
    headers = web_headers(b"{}", SECRET, NOW, "msg_1") | {name: value or ""}
    if value is None:
        del headers[name]
    assert not accepted(headers)


def test_the_headers_of_the_two_names_do_not_mix() -> None:
    one, other = web_headers(b"{}", SECRET, NOW, "msg_1"), web_headers(b"{}", SECRET, NOW, "msg_1", "svix")
    assert not accepted({"webhook-id": "msg_1"} | {name: other[name] for name in ("svix-timestamp", "svix-signature")})
    assert accepted(one | other)


def test_a_body_changed_by_one_byte_is_refused() -> None:
    body = load("web", "backend.array")
    assert accepted(web_headers(body, SECRET, NOW, "msg_1"), body)
    assert not accepted(web_headers(body, SECRET, NOW, "msg_1"), body.removesuffix(b"\n"))


def test_the_secret_is_decoded_never_used_as_text() -> None:
    as_text = "whsec_" + base64.b64encode(SECRET.encode()).decode()
    assert not accepted(web_headers(b"{}", as_text, NOW, "msg_1"))


@pytest.mark.parametrize("secrets", [[], [""], [" ", "\t"], ["whsec_"], ["whsec_ "], ["whsec_===="], ["whsec_%%%%"]])
def test_without_a_secret_everything_is_refused_even_what_the_empty_key_signed(secrets: list[str]) -> None:
    for key in ["whsec_", SECRET]:
        assert not accepted(web_headers(b"{}", key, NOW, "msg_1"), secrets=secrets)
    assert not accepted({"origin": ORIGIN, "x-lead-events-key": KEY}, secrets=secrets)


def test_what_is_published_never_signs() -> None:
    for public in (KEY, SITE, SITE.removeprefix("browser:")):
        forged = "whsec_" + base64.b64encode(public.encode()).decode()
        assert not accepted(web_headers(b"{}", forged, NOW, "msg_1"), secrets=[SITE, KEY])


# What a browser may do


def test_a_sites_key_from_one_of_its_origins_is_accepted_in_the_header_or_in_the_body() -> None:
    assert accepted({"origin": ORIGIN, "x-lead-events-key": KEY})
    assert accepted({"origin": ORIGIN, "x-lead-events-key": KEY}, b"[{}]")
    assert accepted({"origin": ORIGIN, "content-type": "text/plain"}, load("web", "browser.batch"))
    assert accepted({"origin": "https://WWW.escola-lima.example:8443", "x-lead-events-key": KEY})


@pytest.mark.parametrize(
    ("origin", "key"),
    [
        (None, KEY),
        ("", KEY),
        ("null", KEY),
        ("https://other.example", KEY),
        ("http://escola-lima.example", KEY),
        ("https://escola-lima.example.other.example", KEY),
        ("https://www.escola-lima.example", KEY),
        (ORIGIN, None),
        (ORIGIN, ""),
        (ORIGIN, "pk_other"),
        (ORIGIN, SECRET),
        (ORIGIN, "\ud83d"),
    ],
)
def test_another_origin_or_key_is_refused(origin: str | None, key: str | None) -> None:
    given_ = {"origin": origin, "x-lead-events-key": key}
    assert not accepted({name: value for name, value in given_.items() if value is not None})


def test_each_key_is_good_for_its_own_origins_alone() -> None:
    other = 'browser:{"key": "pk_other", "origins": ["https://other.example"]}'
    assert accepted({"origin": "https://other.example", "x-lead-events-key": "pk_other"}, secrets=[SITE, other])
    assert not accepted({"origin": ORIGIN, "x-lead-events-key": "pk_other"}, secrets=[SITE, other])


@pytest.mark.parametrize(
    "entry",
    [
        "browser:",
        "browser:{",
        "browser:[]",
        "browser:null",
        '{"key": "pk_1", "origins": ["https://escola-lima.example"]}',
        'browser:{"key": "", "origins": ["https://escola-lima.example"]}',
        'browser:{"key": "pk_", "origins": ["https://escola-lima.example"]}',
        'browser:{"key": "secret", "origins": ["https://escola-lima.example"]}',
        'browser:{"key": "pk_1"}',
        'browser:{"key": "pk_1", "origins": []}',
        'browser:{"key": "pk_1", "origins": "https://escola-lima.example"}',
        'browser:{"key": "pk_1", "origins": ["*", "null", "", "escola-lima.example", "https://*.example"]}',
    ],
)
@pytest.mark.parametrize("origin", [ORIGIN, "*", "null", "", "https://*.example"])
def test_a_site_that_cannot_be_read_or_names_no_origin_lets_nobody_in(entry: str, origin: str) -> None:
    for key in ("pk_1", "pk_", "", "secret"):
        assert not accepted({"origin": origin, "x-lead-events-key": key}, secrets=[entry])


def test_with_a_message_id_a_signature_is_asked_for_whatever_else_there_is() -> None:
    assert not accepted({"origin": ORIGIN, "x-lead-events-key": KEY, "webhook-id": "msg_1"})
    assert not accepted({"origin": ORIGIN, "x-lead-events-key": KEY, "svix-id": "msg_1"})


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"a":1,"a":2}', b"[" * 100_000, b"null"])
def test_a_browsers_body_that_cannot_be_read_is_refused(body: bytes) -> None:
    assert not accepted({"origin": ORIGIN}, body)


def test_a_browser_sends_32_kib_and_50_events_at_most() -> None:
    headers = {"origin": ORIGIN, "x-lead-events-key": KEY}
    full = b'"' + b"x" * (32 * 1024 - 2) + b'"'
    assert accepted(headers, full)
    for body in (full[:-1] + b'x"', b"[" + b"1," * 50 + b"1]", b'{"events":[' + b"1," * 50 + b"1]}"):
        with pytest.raises(TooLargeError):
            verify(headers, body, SECRETS, NOW)
        assert not accepted(headers | {"origin": "https://other.example"}, body)
    assert accepted(headers, b"[" + b"1," * 49 + b"1]")


def test_a_page_of_a_known_origin_may_read_the_answer() -> None:
    assert response_headers({"origin": ORIGIN}, SECRETS) == {"access-control-allow-origin": ORIGIN, "vary": "Origin"}
    for origin in ("https://other.example", "null", "", "*"):
        assert response_headers({"origin": origin}, SECRETS) == {}
    assert response_headers({}, SECRETS) == response_headers({"origin": ORIGIN}, [SECRET, ""]) == {}


@given(
    st.dictionaries(st.sampled_from(["origin", "x-lead-events-key", *HEADERS]), st.text(st.characters(), max_size=60))
)
def test_any_headers_are_refused_with_the_same_words(headers: dict[str, str]) -> None:
    assert not accepted(headers)
