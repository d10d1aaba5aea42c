"""CloudEvents are read in all three HTTP modes, from queues and from the bus, and refused where they break the rules."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lead_events.envelope import Mode, is_json, mode_of, read_batch, read_binary, read_message, read_structured, write
from lead_events.errors import InvalidError, RejectedError, UnreadableError, UnsupportedMediaError
from lead_events.instants import format_instant, parse_instant
from tests.support.builders import ENVELOPE_ID, PLAN, bus_event, envelope, envelope_text

BINARY = {"ce-specversion": "1.0", "ce-id": "b-1", "ce-source": "/s", "ce-type": "lead.created"}


def refused(text: str) -> RejectedError:
    with pytest.raises(RejectedError) as caught:
        read_structured(text)
    return caught.value


def fields_of(error: RejectedError) -> list[str]:
    return [each.field for each in error.errors]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/cloudevents+json", "application/cloudevents+json; charset=UTF-8", "application/json", "",
        "Application/CloudEvents+JSON;charset=utf-8", 'application/json; charset="utf-8"', "application/json;charset=us-ascii",
    ],
)  # fmt: skip
def test_one_structured_event_may_come_as_any_of_these_media_types(content_type: str) -> None:
    assert mode_of({"content-type": content_type} if content_type else {}) is Mode.STRUCTURED


def test_batch_and_binary_mode_are_told_by_media_type_and_headers() -> None:
    assert mode_of({"content-type": "application/cloudevents-batch+json; charset=utf-8"}) is Mode.BATCH
    assert mode_of({"content-type": "application/json", "ce-id": "1"}) is Mode.BINARY
    assert mode_of({"content-type": "image/png", "ce-id": "1"}) is Mode.BINARY
    assert mode_of({"content-type": "application/cloudevents+json", "ce-id": "1"}) is Mode.STRUCTURED


@pytest.mark.parametrize(
    "content_type",
    ["text/xml", "text/plain", "application/cloudevents+xml", "application/cloudevents+avro",
    "application/x-www-form-urlencoded",
     "application/json; charset=iso-8859-1", "application/vnd.acme+json"],
)  # fmt: skip
def test_other_media_types_are_unsupported(content_type: str) -> None:
    with pytest.raises(UnsupportedMediaError):
        mode_of({"content-type": content_type})


def test_the_envelope_of_the_organisation_is_read_though_it_has_no_source() -> None:
    text = envelope_text()
    read = read_structured(text)
    assert (read.type, read.id, read.source) == ("billing.subscription-created", ENVELOPE_ID, None)
    assert read.time == parse_instant("2026-03-25T14:00:00Z", "time")
    assert read.text == text
    assert isinstance(read.data, dict)
    assert read.data["planId"] == "plan_pro"


def test_attributes_beside_the_known_ones_are_extensions() -> None:
    read = read_structured(
        envelope_text(subject="lead-1", dataschema="https://example.org/s", sourcetype="INTERNAL", n=1)
    )
    assert (read.subject, read.extensions) == ("lead-1", {"sourcetype": "INTERNAL", "n": 1})


@pytest.mark.parametrize(
    ("content_type", "data"),
    [
        ("application/json; charset=utf-8", {"a": 1}),
        ("application/vnd.acme+json", [1]),
        ("application/json", '{"a":1}'),
        ("text/plain", "hello"),
    ],
)
def test_data_stays_the_json_value_it_was_and_its_content_type_as_sent(content_type: str, data: object) -> None:
    read = read_structured(envelope_text(datacontenttype=content_type, data=data))
    assert (read.data, read.data_content_type) == (data, content_type)


def test_data_may_be_null_or_absent_and_is_json_where_nothing_is_said() -> None:
    for made in ({**envelope(datacontenttype=None), "data": None}, envelope(datacontenttype=None, data=None)):
        read = read_structured(json.dumps(made))
        assert (read.data, read.data_content_type) == (None, "application/json")


def test_base64_data_is_kept_as_it_was_sent_escaped_or_not() -> None:
    text = (
        envelope_text(datacontenttype="application/octet-stream", data=None)[:-1]
        + r', "data_base64":"\u002B\u002B\u002B\u002B"}'
    )
    read = read_structured(text)
    assert read.data == {"data_base64": "++++"}
    assert base64.b64decode("++++") == bytes.fromhex("fbefbe")


@pytest.mark.parametrize(
    "changes",
    [
        {"data_base64": "++++"},
        {"data": None, "data_base64": "@@@"},
        {"data": None, "data_base64": "abc"},
        {"data": None, "data_base64": 123},
        {"data": None, "data_base64": "ção="},
    ],
)
def test_base64_data_beside_data_or_of_other_characters_is_invalid(changes: dict[str, Any]) -> None:
    assert fields_of(refused(envelope_text(**changes))) == ["data_base64"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"specversion": None}, "specversion"), ({"specversion": "0.3"}, "specversion"), ({"specversion": 1.0}, "specversion"),
        ({"type": None}, "type"), ({"type": ""}, "type"), ({"type": 1}, "type"),
        ({"id": None}, "id"), ({"id": ""}, "id"), ({"id": 5}, "id"), ({"id": "a" * 256}, "id"), ({"id": "a\x00b"}, "id"),
        ({"source": ""}, "source"), ({"source": []}, "source"), ({"subject": ""}, "subject"), ({"subject": "a\x00"}, "subject"),
        ({"time": 1714557600}, "time"), ({"time": "1714557600"}, "time"), ({"time": "2024-05-01"}, "time"),
        ({"time": ""}, "time"),
        ({"datacontenttype": ""}, "datacontenttype"), ({"ext": {"a": 1}}, "ext"), ({"ext": []}, "ext"),
    ],
)  # fmt: skip
def test_an_attribute_that_breaks_a_rule_is_invalid_and_named(changes: dict[str, Any], field: str) -> None:
    error = refused(envelope_text(**changes))
    assert (error.status, fields_of(error)) == (422, [field])


@pytest.mark.parametrize("name", ["leadScore", "lead-score", "lead_score", "é", "", "a b"])
def test_extension_names_have_lower_case_letters_and_digits_only(name: str) -> None:
    assert refused(envelope_text(**{name: "x"})).code == "invalid_attribute_name"


@pytest.mark.parametrize("text", ["[]", f"[{envelope_text()}]", '"a"', "1", "null", "{", ""])
def test_what_is_no_single_json_object_is_unreadable(text: str) -> None:
    assert refused(text).status == 400


def test_a_batch_gives_each_event_or_its_error_in_place_and_keeps_each_events_own_text() -> None:
    first, bad, third = envelope_text(id="e-1"), envelope_text(id="e-2", type=None), envelope_text(id="e-3")
    read = read_batch(f"[ {first}, {bad},\n{third}, 5]")
    assert [type(each).__name__ for each in read] == ["Envelope", "InvalidError", "Envelope", "InvalidError"]
    assert [each.text for each in read if not isinstance(each, InvalidError)] == [first, third]


def test_an_empty_batch_is_one_and_a_single_event_is_none() -> None:
    assert read_batch("[]") == []
    with pytest.raises(UnreadableError):
        read_batch(envelope_text())


def test_binary_mode_takes_attributes_from_headers_and_data_from_the_body() -> None:
    headers = {
        **BINARY,
        "ce-subject": "Jo%C3%A3o",
        "ce-time": "2024-05-01T10:00:00Z",
        "content-type": "application/json",
    }
    read = read_binary(headers, b"123")
    assert (read.id, read.source, read.subject, read.data, read.text) == ("b-1", "/s", "João", 123, "123")
    assert format_instant(read.time or pytest.fail("no time")) == "2024-05-01T10:00:00.000000Z"


@pytest.mark.parametrize("body", [b'{"a":1}', b"[1]", b'"text"', b"123", b"null"])
def test_binary_mode_takes_any_json_value(body: bytes) -> None:
    assert read_binary(BINARY, body).data == json.loads(body)


def test_binary_mode_without_content_type_or_body_is_json_null() -> None:
    read = read_binary(BINARY, b" ")
    assert (read.data, read.data_content_type) == (None, "application/json")


def test_binary_mode_keeps_other_data_as_base64_under_its_own_content_type() -> None:
    read = read_binary({**BINARY, "content-type": "image/png"}, b"\xfb\xef\xbe")
    assert (read.data, read.data_content_type, read.text) == ({"data_base64": "++++"}, "image/png", "++++")


def test_binary_mode_names_the_attribute_that_is_missing() -> None:
    with pytest.raises(InvalidError) as caught:
        read_binary({name: value for name, value in BINARY.items() if name != "ce-specversion"}, b"123")
    assert fields_of(caught.value) == ["specversion"]


def test_binary_mode_refuses_illegal_extension_names_and_data_in_headers() -> None:
    with pytest.raises(InvalidError) as caught:
        read_binary({**BINARY, "ce-example-ext": "x"}, b"123")
    assert caught.value.code == "invalid_attribute_name"
    with pytest.raises(InvalidError):
        read_binary({**BINARY, "ce-data_base64": "++++"}, b"123")


@pytest.mark.parametrize("body", [b"{", b"\xe9", b'{"a":1,"a":2}', b"[" * 20_000])
def test_binary_mode_refuses_unreadable_bodies(body: bytes) -> None:
    with pytest.raises(UnreadableError):
        read_binary(BINARY, body)


def test_a_queue_message_is_an_envelope() -> None:
    read = read_message(envelope_text())
    assert (read.id, read.source, read.from_bus) == (ENVELOPE_ID, None, False)


def test_a_bus_event_may_hold_an_envelope_which_takes_over_only_the_source_that_it_lacks() -> None:
    text = json.dumps(bus_event(envelope()))
    read = read_message(text)
    assert (read.id, read.source, read.from_bus, read.text) == (ENVELOPE_ID, "billing_service", True, text)
    assert read.time == parse_instant("2026-03-25T14:00:00Z", "time")
    own = read_message(json.dumps(bus_event(envelope(source="dispatch_service"))))
    assert own.source == "dispatch_service"


def test_a_bus_event_of_plain_data_is_an_envelope_in_eventbridges_own_terms() -> None:
    read = read_message(json.dumps(bus_event(PLAN)))
    assert (read.type, read.id) == ("billing.subscription-created", "7bf73129-1428-4cd3-a780-95db273d1602")
    assert (read.source, read.data, read.from_bus) == ("billing_service", PLAN, True)
    assert read.time == parse_instant("2026-03-25T14:00:05Z", "time")


@pytest.mark.parametrize(
    "text", ["not json", "[]", "5", '{"detail-type":"x"}', "{}", '{"detail-type":"x","detail":{"specversion":"1.0"}}']
)
def test_a_message_that_is_neither_is_rejected(text: str) -> None:
    with pytest.raises(RejectedError):
        read_message(text)


def test_what_we_send_is_valid_as_a_cloudevent_and_by_the_organisations_contract() -> None:
    sent = write(type="lead.event-recorded", id=ENVELOPE_ID, source="lead_events",
    time=parse_instant("2026-03-25T14:00:00Z", "t"),
                 data={"a": 1}, subject="lead-1")  # fmt: skip
    read = read_structured(json.dumps(sent))
    assert (read.type, read.id, read.source, read.subject) == (
        "lead.event-recorded",
        ENVELOPE_ID,
        "lead_events",
        "lead-1",
    )
    assert sent["datacontenttype"] == "application/json"
    assert "subject" not in write(
        type="a.b", id="1", source="s", time=parse_instant("2026-03-25T14:00:00Z", "t"), data=None
    )


def test_any_media_type_that_ends_in_json_is_json() -> None:
    assert is_json("application/vnd.acme+json; charset=utf-8")
    assert is_json("Application/JSON")
    assert not is_json("text/json+xml")
