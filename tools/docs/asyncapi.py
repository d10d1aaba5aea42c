"""The AsyncAPI 3.0 document: what other domains may send on the event bus and on the ingest queue, and what they hear."""

from __future__ import annotations

from typing import Any, Final

import yaml

from lead_events import catalogue, openapi_schemas
from lead_events.names import EVENT_BUS_NAME, OWN_EVENT_SOURCE, OrganizationCategory
from lead_events.openapi import VERSION
from lead_events.openapi_schemas import Schema
from tools.docs import organizations, published

OTHER: Final = "OtherEvent"
PLAIN: Final = "PlainDetail"
PUBLISHED: Final = "publishedEvents"
"""Channel of what the service tells."""

_DESCRIPTION: Final = """\
What happens to a lead elsewhere reaches the event store as CloudEvents 1.0, over the event bus or the ingest queue. Delivery
is at least once and in no order: an event is stored once per organization, `source` and `id`, under its own `time`.

A message that breaks a rule stays on the queue until it is moved to the dead-letter queue; it is never dropped.
"""
_BUS: Final = f"""\
Every event on the bus is stored, but those whose EventBridge `source` is `{OWN_EVENT_SOURCE}`. The messages are the `Detail` of
an entry of `PutEvents`. An envelope without `source` takes the entry's `Source`. An entry that is sent again gets another
EventBridge id, so only a detail that is an envelope, with an `id` of the sender's own, is stored once.
"""


def document() -> dict[str, Any]:
    """The whole document."""
    types = [openapi_schemas.schema_name(each) for each in catalogue.EVENT_TYPES]
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Lead Events", "version": VERSION, "description": _DESCRIPTION},
        "defaultContentType": "application/json",
        "servers": {
            "eventBridge": _server("events", "eventbridge", "Amazon EventBridge: `PutEvents`."),
            "sqs": _server("sqs", "sqs", "Amazon SQS: `SendMessage`, `SendMessageBatch`."),
        },
        "channels": {
            "eventBus": {
                "address": EVENT_BUS_NAME,
                "title": "Event bus",
                "description": _BUS,
                "servers": [{"$ref": "#/servers/eventBridge"}],
                "messages": _messages([*types, OTHER, PLAIN, *organizations.messages()]),
            },
            "ingestQueue": {
                "address": None,
                "title": "Ingest queue",
                "description": "The address is the output `IngestQueueUrl` of the services stack. The body of a message is one "
                "envelope.",
                "servers": [{"$ref": "#/servers/sqs"}],
                "messages": _messages([*types, OTHER]),
            },
            **organizations.channels({"$ref": "#/servers/sqs"}),
            PUBLISHED: {
                "address": EVENT_BUS_NAME,
                "title": "Event bus, what the service tells",
                "description": published.DESCRIPTION,
                "servers": [{"$ref": "#/servers/eventBridge"}],
                "messages": _messages(list(published.messages())),
            },
        },
        "operations": {
            "receiveFromEventBus": _receive("eventBus", "Events of other domains, by a rule of the bus."),
            "receiveFromIngestQueue": _receive("ingestQueue", "Events sent to the queue itself."),
            **{
                f"receiveFrom{category.capitalize()}Queue": _receive(
                    f"{category}Queue", f"What {category} tells about organizations, sent to the queue itself."
                )
                for category in OrganizationCategory
            },
            "publishOnEventBus": {
                "action": "send",
                "channel": {"$ref": f"#/channels/{PUBLISHED}"},
                "summary": "Stored events, changed memories and who was erased, to every domain that has a rule for them.",
            },
        },
        "components": {
            "messages": {
                **{openapi_schemas.schema_name(each): _message(each) for each in catalogue.EVENT_TYPES},
                OTHER: _other(),
                PLAIN: _plain(),
                **organizations.messages(),
                **published.messages(),
            },
            "schemas": {
                "CloudEvent": openapi_schemas.cloud_event(),
                **openapi_schemas.payload_schemas(),
                **organizations.schemas(),
                **published.schemas(),
            },
        },
    }


def text() -> str:
    """The document as YAML: in the order written, without anchors."""
    written: str = yaml.dump(document(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return written


def other_sample() -> dict[str, Any]:
    """An event of a type and source outside the catalogue."""
    return {
        "specversion": "1.0",
        "type": "loyalty.points-earned",
        "id": "evt_0195f3a2-8c00-7d4e-b800-000000000000",
        "source": "loyalty_service",
        "sourcetype": "INTERNAL",
        "time": "2026-03-25T14:00:00Z",
        "datacontenttype": "application/json",
        "data": {"organizationId": openapi_schemas.ORGANIZATION, "leadId": openapi_schemas.LEAD, "points": 120},
    }


def plain_sample() -> dict[str, Any]:
    """A detail that is no envelope."""
    return {"organizationId": openapi_schemas.ORGANIZATION, "leadId": openapi_schemas.LEAD, "ticketId": "tkt_7"}


class _Dumper(yaml.SafeDumper):
    """Writes no anchors, indents lists, and keeps the lines of a text."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - PyYAML's signature
        super().increase_indent(flow, indentless=False)


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text_node)


def _server(service: str, protocol: str, description: str) -> Schema:
    return {
        "host": f"{service}.{{region}}.amazonaws.com",
        "protocol": protocol,
        "description": description,
        "variables": {"region": {"description": "Region of the deployment."}},
    }


def _messages(names: list[str]) -> Schema:
    return {name: {"$ref": f"#/components/messages/{name}"} for name in names}


def _receive(channel: str, summary: str) -> Schema:
    return {"action": "receive", "channel": {"$ref": f"#/channels/{channel}"}, "summary": summary}


def _message(event_type: str) -> Schema:
    model = catalogue.EVENT_TYPES[event_type]
    pattern = openapi_schemas.cloud_event_type_pattern(event_type)
    sample = openapi_schemas.cloud_event_sample(event_type)
    return {
        "name": event_type,
        "title": openapi_schemas.schema_name(event_type),
        "summary": model.__doc__,
        "contentType": "application/json",
        "tags": [{"name": str(model.category)}],
        "payload": {
            "allOf": [
                openapi_schemas.ref("CloudEvent"),
                _addressed(),
                {
                    "required": ["data"],
                    "properties": {"type": {"pattern": pattern}, "data": openapi_schemas.ref(model.__name__)},
                },
            ]
        },
        "examples": [{"name": "sample", "payload": sample}],
    }


def _other() -> Schema:
    return {
        "name": "other",
        "title": OTHER,
        "summary": "An event of a type outside the catalogue: stored under its own name with any payload.",
        "contentType": "application/json",
        "payload": {"allOf": [openapi_schemas.ref("CloudEvent"), _addressed()]},
        "examples": [{"name": "sample", "payload": other_sample()}],
    }


def _plain() -> Schema:
    return {
        "name": "plain",
        "title": PLAIN,
        "summary": "Data without an envelope: EventBridge's `detail-type`, `id`, `time` and `source` make it. The source "
        "must be one of the catalogue, as nothing here can say the type of another.",
        "contentType": "application/json",
        "payload": {
            "type": "object",
            "required": ["organizationId", "leadId"],
            "properties": _lead(),
            "not": {"required": ["specversion"]},
        },
        "examples": [{"name": "ticketing.ticket-opened", "payload": plain_sample()}],
    }


def _addressed() -> Schema:
    # Nothing but the data names the organization here: there is no token.
    data = {"type": "object", "required": ["organizationId"], "properties": _lead()}
    return {"required": ["data"], "properties": {"data": data}}


def _lead() -> dict[str, Schema]:
    properties: dict[str, Schema] = openapi_schemas.cloud_event()["properties"]["data"]["properties"]
    return properties
