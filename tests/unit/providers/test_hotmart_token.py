"""Hotmart's token: who may pass with it, and that it is never kept."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import RejectedError
from lead_events.providers.hotmart import redact, verify
from tests.samples import load
from tests.support.hotmart import FORM, drafts_of, form
from tests.support.providers import accepts, check_refused_alike, corpus, shared
from tests.support.signing import hotmart_headers

SECRET = "INVENTED-HOTTOK-0000000000000000"
OLD_SECRET = "INVENTED-HOTTOK-OLD"


def genuine(headers: dict[str, str], body: bytes = b"{}", secrets: tuple[str, ...] = (SECRET, OLD_SECRET)) -> bool:
    return accepts(verify, headers, body, secrets)


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
def test_while_a_token_is_changed_either_is_accepted(secret: str) -> None:
    assert genuine(hotmart_headers(secret))


@pytest.mark.parametrize("token", ["", " ", SECRET[:-1], SECRET + " ", SECRET.lower(), "\ud83d", "é"])
def test_another_token_is_refused(token: str) -> None:
    assert not genuine(hotmart_headers(token))


@pytest.mark.parametrize("secrets", [(), ("",), (" ", "\t\n")])
def test_without_a_secret_everything_is_refused(secrets: tuple[str, ...]) -> None:
    for token in ("", " ", SECRET):
        assert not genuine(hotmart_headers(token), secrets=secrets)
        assert not genuine({"content-type": FORM}, urlencode({"hottok": token}).encode(), secrets)


def test_a_form_of_webhook_1_carries_its_token_inside() -> None:
    assert genuine({"content-type": FORM}, form("v1.approved").encode())
    assert genuine({"content-type": f"{FORM}; charset=UTF-8"}, form("v1.approved").encode())
    assert not genuine({"content-type": FORM}, form("v1.approved", hottok="other").encode())
    assert not genuine({"content-type": FORM}, form("v1.approved").encode() + b"&hottok=" + SECRET.encode())
    assert not genuine({"content-type": "application/json"}, form("v1.approved").encode())


def test_where_there_is_a_header_it_alone_counts() -> None:
    assert not genuine(hotmart_headers("wrong") | {"content-type": FORM}, form("v1.approved").encode())
    assert genuine(hotmart_headers(SECRET) | {"content-type": FORM}, form("v1.approved", hottok="wrong").encode())


def test_a_token_inside_of_json_opens_nothing() -> None:
    assert not genuine({"content-type": "application/json"}, json.dumps({"hottok": SECRET}).encode())
    assert not genuine({"content-type": FORM}, json.dumps({"hottok": SECRET}).encode())


@given(st.dictionaries(st.sampled_from(["x-hotmart-hottok", "content-type"]), st.text()), st.binary())
def test_anything_else_is_refused_with_the_same_words(headers: dict[str, str], body: bytes) -> None:
    for given_headers in (headers, headers | {"content-type": FORM}):
        check_refused_alike(verify, given_headers, body, [SECRET])


def test_a_form_of_too_many_fields_is_refused() -> None:
    body = b"&".join([b"a=1"] * 5_000) + b"&hottok=" + SECRET.encode()
    assert not genuine({"content-type": FORM}, body)
    with pytest.raises(RejectedError):
        drafts_of(body.decode(), content_type=FORM)


# The token is never kept


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ('{"hottok":"s3cret","id":"1"}', '{"hottok":"******","id":"1"}'),
        ('{ "data":{"a":"}\\"hottok"},\n "hottok" :\t"çé" }', '{ "data":{"a":"}\\"hottok"},\n "hottok" :\t"****" }'),
        ('{"hott\\u006fk":"a\\"b\\u0041"}', '{"hott\\u006fk":"**********"}'),
        ('{"a":["hottok","b"],"c":"hottok"}', '{"a":["hottok","b"],"c":"hottok"}'),
        ('{"a":"\\"hottok\\": \\"x\\""}', '{"a":"\\"hottok\\": \\"x\\""}'),
        ('{"hottok":null}', '{"hottok":null}'),
        ('{"price": 10.00, "u":"\\u00e7\\/"}', '{"price": 10.00, "u":"\\u00e7\\/"}'),
    ],
)
def test_only_the_tokens_value_is_masked_at_its_length(body: str, kept: str) -> None:
    assert redact(body) == kept
    assert redact(kept) == kept
    assert len(redact(body).encode()) == len(body.encode())


def test_a_forms_token_is_masked_however_its_name_is_written() -> None:
    assert redact("a=1&hottok=x%20y&b=%26hottok%3D", FORM) == "a=1&hottok=*****&b=%26hottok%3D"
    assert redact("h%6Fttok=x&hottok=&my_hottok=y", FORM) == "h%6Fttok=*&hottok=&my_hottok=y"


def test_masking_takes_linear_time_whatever_comes() -> None:
    start = process_time()
    for body in ('{"hottok":"' + '\\"' * 500_000, '{"hottok' + '"' * 1_000_000, '{"hottok":' + " " * 1_000_000):
        redact(body)
    assert process_time() - start < 5


@pytest.mark.parametrize(("body", "content_type"), [(form("v1.approved"), FORM), (None, "application/json")])
def test_raw_payloads_hold_every_byte_but_the_token(body: str | None, content_type: str) -> None:
    body = body or load("hotmart", "PURCHASE_APPROVED.first_recurrence").decode()
    token = SECRET if content_type == FORM else "INVENTED-HOTTOK-çé-0001"
    for draft in drafts_of(body, content_type=content_type):
        assert draft.raw_payload == body.replace(token, "*" * len(token.encode()))
        assert token not in repr(draft)
        # What was kept can be translated again, even without its headers.
        assert [each.payload for each in drafts_of(draft.raw_payload)] == [each.payload for each in drafts_of(body)]


@corpus
def test_every_shared_vector_is_judged_as_marked() -> None:
    vectors = json.loads((Path(shared) / "providers" / "vectors.json").read_text())["vectors"]
    ours = [vector for vector in vectors if vector["scheme"] == "hotmart"]
    assert ours
    for vector in ours:
        headers = {name.lower(): value for name, value in vector["header"].items()}
        judged = "accept" if genuine(headers, vector["body"].encode(), (vector["secret"],)) else "reject"
        assert judged == vector["expect"], vector["id"]
        assert drafts_of(vector["body"])
