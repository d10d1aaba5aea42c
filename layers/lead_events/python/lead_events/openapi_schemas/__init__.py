"""Schemas and samples of the OpenAPI document, from the catalogue and the error tree; AsyncAPI's page takes them too."""

from __future__ import annotations

from lead_events.openapi_schemas import (
    erasures,
    events,
    identities,
    memories,
    organizations,
    problems,
    rejections,
    reprocessings,
)
from lead_events.openapi_schemas._parts import EVENT_TYPE_PATTERN, SOURCE_PATTERN, Schema, obj, ref
from lead_events.openapi_schemas.erasures import ERASURE_ID_PATTERN, erasure_page_sample, erasure_sample
from lead_events.openapi_schemas.events import cloud_event, cloud_event_type_pattern, payload_schemas, schema_name
from lead_events.openapi_schemas.memories import memories_sample, memory_sample, memory_text_sample
from lead_events.openapi_schemas.organizations import (
    organization_event_sample,
    organization_payload_schema,
    organization_sample,
    sample_fact,
)
from lead_events.openapi_schemas.problems import PROBLEM_CODES
from lead_events.openapi_schemas.rejections import REJECTED_EVENT_ID_PATTERN
from lead_events.openapi_schemas.reprocessings import REPROCESSING_ID_PATTERN, job_sample, progress_sample
from lead_events.openapi_schemas.samples import (
    LEAD,
    ORGANIZATION,
    SAMPLE_TYPE,
    cloud_event_sample,
    direct_sample,
    event_sample,
    identities_sample,
    new_identities_sample,
    payload_sample,
    rejected_envelope_sample,
    rejected_event_sample,
)

__all__ = [
    "ERASURE_ID_PATTERN",
    "EVENT_TYPE_PATTERN",
    "LEAD",
    "ORGANIZATION",
    "PROBLEM_CODES",
    "REJECTED_EVENT_ID_PATTERN",
    "REPROCESSING_ID_PATTERN",
    "SAMPLE_TYPE",
    "SOURCE_PATTERN",
    "Schema",
    "cloud_event",
    "cloud_event_sample",
    "cloud_event_type_pattern",
    "direct_sample",
    "erasure_page_sample",
    "erasure_sample",
    "event_sample",
    "identities_sample",
    "job_sample",
    "memories_sample",
    "memory_sample",
    "memory_text_sample",
    "new_identities_sample",
    "organization_event_sample",
    "organization_payload_schema",
    "organization_sample",
    "payload_sample",
    "payload_schemas",
    "progress_sample",
    "ref",
    "rejected_envelope_sample",
    "rejected_event_sample",
    "sample_fact",
    "schema_name",
    "schemas",
]


def schemas() -> dict[str, Schema]:
    """All schemas of the API."""
    return {
        **events.schemas(),
        **memories.schemas(),
        **identities.schemas(),
        **rejections.schemas(),
        **reprocessings.schemas(),
        **erasures.schemas(),
        **organizations.schemas(),
        **problems.schemas(),
        "Accepted": obj("The delivery is kept and will be processed.", {"accepted": {"const": True}}),
        "Health": obj("The function runs.", {"status": {"const": "ok"}}),
    }
