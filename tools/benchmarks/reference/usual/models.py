"""The wire formats as pydantic models, as a user of Powertools Parser declares them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from aws_lambda_powertools.utilities.parser import BaseModel, Field
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel


class NewEvent(BaseModel):
    """Body of ``POST …/leads/{leadId}/events``."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    source: str = Field(min_length=1, max_length=100)
    source_type: Literal["EXTERNAL", "INTERNAL", "DIRECT"] = "EXTERNAL"
    event_type: str = Field(min_length=1, max_length=100)
    occurred_at: datetime
    payload: dict[str, Any]
    external_event_id: str | None = Field(default=None, max_length=255)
    object_id: str | None = Field(default=None, max_length=255)
    object_id_ref: str | None = Field(default=None, max_length=255)
    raw_payload: dict[str, Any] | None = None


class CloudEvent(BaseModel):
    """A message of the ingest queue."""

    specversion: Literal["1.0"]
    type: str = Field(min_length=1, max_length=100)
    id: str = Field(min_length=1, max_length=255)
    source: str = Field(min_length=1, max_length=100)
    time: datetime
    data: dict[str, Any]


class StripeEvent(BaseModel):
    """The part of a Stripe event that the webhook needs."""

    id: str
    type: str
    created: int
    data: dict[str, Any]
