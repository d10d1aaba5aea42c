"""Names that the functions and the infrastructure share, each spelled once.

This is the only module of the library that CDK code imports: it depends on the standard library alone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Attribute(StrEnum):
    """Attribute names of an event item: those of the seeds to the letter, from ``occurredAt`` on ours."""

    LEAD_ORGANIZATION_ID = "leadOrganizationId"
    OCCURRED_AT_ID = "occurredAtId"
    SOURCE_TYPE = "sourceType"
    SOURCE = "source"
    EVENT_TYPE = "eventType"
    OBJECT_ID = "objectId"
    OBJECT_ID_REF = "objectIdRef"
    PAYLOAD = "payload"
    RAW_PAYLOAD = "rawPayload"
    EXTERNAL_EVENT_ID = "externalEventId"
    RECEIVED_AT = "receivedAt"
    OCCURRED_AT = "occurredAt"
    EVENT_ID = "eventId"
    EVENT_TYPE_OCCURRED_AT = "eventType#occurredAt"
    SCHEMA_VERSION = "schemaVersion"
    DATA_CONTENT_TYPE = "dataContentType"
    STORED_AT = "storedAt"
    TTL = "ttl"
    SHARED_FACT_ID = "sharedFactId"
    """Of an event that told a fact first: what its claim is about, for whoever has to find that claim."""


class Index(StrEnum):
    """Global secondary indexes of the events table."""

    IDEMPOTENCY = "idempotency-index"
    EVENT_TYPE = "event-type-index"
    LEAD = "lead-index"
    """Of the identities table."""
    LAST_SEEN = "last-seen-index"
    """Of the rejected events table."""


EVENT_TYPE_INDEX_PROJECTION: Final = (
    Attribute.SOURCE_TYPE,
    Attribute.SOURCE,
    Attribute.EVENT_TYPE,
    Attribute.OBJECT_ID,
    Attribute.OBJECT_ID_REF,
    Attribute.PAYLOAD,
    Attribute.EXTERNAL_EVENT_ID,
    Attribute.RECEIVED_AT,
    Attribute.OCCURRED_AT,
    Attribute.EVENT_ID,
    Attribute.SCHEMA_VERSION,
    Attribute.DATA_CONTENT_TYPE,
    Attribute.TTL,
)
"""Non-key attributes of ``event-type-index``: everything that a timeline shows but ``rawPayload``."""


class ClaimAttribute(StrEnum):
    """Attributes of a claim; ``claimId`` is the partition key of the claims table."""

    CLAIM_ID = "claimId"
    LEAD_ORGANIZATION_ID = "leadOrganizationId"
    OCCURRED_AT_ID = "occurredAtId"
    FINGERPRINT = "fingerprint"
    ERASED_AT = "erasedAt"
    """Of the claim of an erased event, which has nothing else but its id."""


class IdentityAttribute(StrEnum):
    """Attributes of an identity; ``identityId`` is the partition key of the identities table."""

    IDENTITY_ID = "identityId"
    LEAD_ORGANIZATION_ID = "leadOrganizationId"
    KIND = "kind"
    SINCE = "since"
    ERASED_UNTIL = "erasedUntil"
    """The person was erased: what happened until then is not theirs any more."""


class RejectionAttribute(StrEnum):
    """Attributes of a rejected event; the first two are the key of the rejected events table."""

    ORGANIZATION_ID = "organizationId"
    REJECTED_EVENT_ID = "rejectedEventId"
    CODE = "code"
    DETAIL = "detail"
    ERRORS = "errors"
    SOURCE = "source"
    EVENT_TYPE = "eventType"
    EXTERNAL_EVENT_ID = "externalEventId"
    RAW_PAYLOAD = "rawPayload"
    FIRST_SEEN_AT = "firstSeenAt"
    LAST_SEEN_AT = "lastSeenAt"
    DELIVERIES = "deliveries"
    ERASED_AT = "erasedAt"
    """Of an erased one, which has nothing else but its key."""


LAST_SEEN_INDEX_PROJECTION: Final = (
    RejectionAttribute.CODE,
    RejectionAttribute.DETAIL,
    RejectionAttribute.ERRORS,
    RejectionAttribute.SOURCE,
    RejectionAttribute.EVENT_TYPE,
    RejectionAttribute.EXTERNAL_EVENT_ID,
    RejectionAttribute.FIRST_SEEN_AT,
    RejectionAttribute.DELIVERIES,
)
"""Non-key attributes of ``last-seen-index``: everything but ``rawPayload``."""


class MemoryAttribute(StrEnum):
    """Attributes of a lead memory; the first two are the key of the memories table."""

    LEAD_ORGANIZATION_ID = "leadOrganizationId"
    CATEGORY = "category"
    STATE = "state"
    WINDOW = "window"
    VERSION = "version"
    REBUILT = "rebuilt"


class ReprocessingAttribute(StrEnum):
    """Attributes of a reprocessing that the infrastructure knows: the key of the reprocessings table."""

    SCOPE = "scope"
    JOB_ID = "jobId"


class OrganizationAttribute(StrEnum):
    """Attributes of an organisation's state; ``organizationId`` is the partition key of the organizations table."""

    ORGANIZATION_ID = "organizationId"
    STATE = "state"
    VERSION = "version"
    ERASED = "erased"
    """Whether everything of the organisation is erased or being erased; it never is taken back."""
    ERASING = "erasing"
    """Ids of the erasures of single leads that are under way: a string set, absent for none."""
    ERASED_UNTIL = "erasedUntil"
    """Up to when what happened may belong to a lead that was erased."""


class ErasureAttribute(StrEnum):
    """Attributes of an erasure that the infrastructure knows: the key of the erasures table."""

    ORGANIZATION_ID = "organizationId"
    ERASURE_ID = "erasureId"


class OrganizationCategory(StrEnum):
    """Categories of events about organisations: the domain of their CloudEvents types. Each has a rule and a queue."""

    BILLING = "billing"
    OFFBOARDING = "offboarding"


class Env(StrEnum):
    """Environment variables that the stacks set and ``settings`` reads."""

    STAGE = "LEAD_EVENTS_STAGE"
    EVENTS_TABLE = "EVENTS_TABLE_NAME"
    CLAIMS_TABLE = "CLAIMS_TABLE_NAME"
    IDENTITIES_TABLE = "IDENTITIES_TABLE_NAME"
    REJECTED_EVENTS_TABLE = "REJECTED_EVENTS_TABLE_NAME"
    MEMORIES_TABLE = "MEMORIES_TABLE_NAME"
    REPROCESSINGS_TABLE = "REPROCESSINGS_TABLE_NAME"
    ORGANIZATIONS_TABLE = "ORGANIZATIONS_TABLE_NAME"
    ERASURES_TABLE = "ERASURES_TABLE_NAME"
    RAW_BUCKET = "RAW_BUCKET_NAME"
    EVENT_BUS = "EVENT_BUS_NAME"
    INGEST_QUEUE_URL = "INGEST_QUEUE_URL"
    REPROCESSING_QUEUE_URL = "REPROCESSING_QUEUE_URL"
    ERASURE_QUEUE_URL = "ERASURE_QUEUE_URL"
    ERASURE_QUIET_SECONDS = "ERASURE_QUIET_SECONDS"
    """How long after its beginning an erasure looks for what was still under way."""
    DEAD_LETTER_URLS = "DEAD_LETTER_URLS"
    """Every dead-letter queue, separated by blanks: what waits there is erased too."""
    STREAM_DEAD_LETTERS_URL = "STREAM_DEAD_LETTERS_URL"
    WEBHOOK_SECRET_PREFIX = "WEBHOOK_SECRET_PREFIX"
    CURSOR_SECRET = "CURSOR_SECRET_NAME"
    IDENTITY_SECRET = "IDENTITY_SECRET_NAME"
    RETENTION_DAYS = "RETENTION_DAYS"
    TOKEN_ORGANIZATIONS_PREFIX = "TOKEN_ORGANIZATIONS_PREFIX"


class Scope(StrEnum):
    """OAuth scopes of the API."""

    READ = "lead-events/read"
    WRITE = "lead-events/write"
    ADMIN = "lead-events/admin"
    ALL_ORGANIZATIONS = "lead-events/all-organizations"


class Route(NamedTuple):
    """A route of the HTTP API: what the stacks build, the functions answer and the OpenAPI document describes."""

    method: str
    path: str
    scope: Scope | None
    """Needed of the token; ``None`` where none is asked for."""
    function: str
    """Folder of the function that answers."""


_LEAD: Final = "/v1/organizations/{organizationId}/leads/{leadId}"
_EXTERNAL_EVENT: Final = "/v1/organizations/{organizationId}/external-events/{source}/{externalEventId}"
_REJECTED: Final = "/v1/organizations/{organizationId}/rejected-events"
_REPROCESSINGS: Final = "/v1/organizations/{organizationId}/reprocessings"
_ALL_REPROCESSINGS: Final = "/v1/reprocessings"
_ERASURES: Final = "/v1/organizations/{organizationId}/erasures"
_WEBHOOK: Final = "/v1/webhooks/{provider}/{organizationId}"

ROUTES: Final = (
    Route("POST", f"{_LEAD}/events", Scope.WRITE, "api"),
    Route("GET", f"{_LEAD}/events", Scope.READ, "api"),
    Route("GET", f"{_LEAD}/events/{{eventId}}", Scope.READ, "api"),
    Route("GET", f"{_LEAD}/memories", Scope.READ, "api"),
    Route("GET", f"{_LEAD}/memories/{{category}}", Scope.READ, "api"),
    Route("GET", _EXTERNAL_EVENT, Scope.READ, "api"),
    Route("PUT", f"{_LEAD}/identities", Scope.WRITE, "api"),
    Route("GET", f"{_LEAD}/identities", Scope.READ, "api"),
    Route("DELETE", _LEAD, Scope.ADMIN, "api"),
    Route("GET", _ERASURES, Scope.ADMIN, "api"),
    Route("GET", f"{_ERASURES}/{{erasureId}}", Scope.ADMIN, "api"),
    Route("GET", _REJECTED, Scope.READ, "api"),
    Route("GET", f"{_REJECTED}/{{rejectedEventId}}", Scope.READ, "api"),
    Route("GET", "/v1/organizations/{organizationId}", Scope.READ, "api"),
    Route("POST", _REPROCESSINGS, Scope.ADMIN, "api"),
    Route("GET", _REPROCESSINGS, Scope.ADMIN, "api"),
    Route("GET", f"{_REPROCESSINGS}/{{reprocessingId}}", Scope.ADMIN, "api"),
    # The action is pause, resume or cancel.
    Route("POST", f"{_REPROCESSINGS}/{{reprocessingId}}/{{action}}", Scope.ADMIN, "api"),
    # Of everything: for a token that is bound to no organisation.
    Route("POST", _ALL_REPROCESSINGS, Scope.ADMIN, "api"),
    Route("GET", _ALL_REPROCESSINGS, Scope.ADMIN, "api"),
    Route("GET", f"{_ALL_REPROCESSINGS}/{{reprocessingId}}", Scope.ADMIN, "api"),
    Route("POST", f"{_ALL_REPROCESSINGS}/{{reprocessingId}}/{{action}}", Scope.ADMIN, "api"),
    Route("POST", "/v1/events", Scope.WRITE, "api"),
    Route("GET", "/v1/event-types", None, "api"),
    Route("GET", "/openapi.json", None, "api"),
    Route("GET", "/docs", None, "api"),
    Route("GET", "/health", None, "api"),
    Route("POST", _WEBHOOK, None, "webhooks"),
    Route("GET", _WEBHOOK, None, "webhooks"),
    # A browser asks first. The function answers: each organisation has origins of its own.
    Route("OPTIONS", _WEBHOOK, None, "webhooks"),
)
"""Every route there is."""

ORGANIZATION_CLAIM: Final = "organization_id"
"""Claim of an access token that binds its bearer to one organisation."""

EVENT_BUS_NAME: Final = "lead-events"
"""The event bus that other domains publish on and listen to."""

OWN_EVENT_SOURCE: Final = "lead_events"
"""EventBridge ``source`` of what we publish; the ingest rules exclude it."""

SERVICE: Final = "lead-events"
"""Service name in logs, traces and metrics."""

METRICS_NAMESPACE: Final = "LeadEvents"
"""CloudWatch namespace of the metrics."""

INBOX_PREFIX: Final = "inbox/"
"""Objects of the raw bucket that wait behind a queue message; they expire."""

ORGANIZATIONS_PREFIX: Final = "organizations/"
"""Objects of the raw bucket that belong to a stored event; they stay as long as the event."""

ID_PATTERN: Final = r"[A-Za-z0-9_-]{1,64}"
"""Organisation and lead ids: no ``#`` can be smuggled into a key."""


class Source(StrEnum):
    """The sources that the seeds name."""

    STRIPE = "stripe"
    HOTMART = "hotmart"
    SHOPIFY = "shopify"
    TYPEFORM = "typeform"
    MESSAGING_SERVICE = "messaging_service"
    DISPATCH_SERVICE = "dispatch_service"
    AI_AGENTS_SERVICE = "ai_agents_service"
    BILLING_SERVICE = "billing_service"
    TICKETING_SERVICE = "ticketing_service"
    WHATSAPP = "whatsapp"
    WEB = "web"
    INSTAGRAM = "instagram"


def lead_key(organization_id: str, lead_id: str) -> str:
    """Partition key of a lead's events: ``ORG#{organizationId}#LEAD#{leadId}``."""
    return f"ORG#{organization_id}#LEAD#{lead_id}"


def organization_key(organization_id: str) -> str:
    """What every key of an organisation begins with."""
    return f"ORG#{organization_id}"


def rejected_texts_prefix(organization_id: str) -> str:
    """What the keys of an organisation's large rejected texts begin with; not among its leads: one may be called "rejected"."""
    return f"{ORGANIZATIONS_PREFIX}{organization_id}/rejected/"


def webhook_secret_name(prefix: str, provider: str, organization_id: str) -> str:
    """Secrets Manager name of the secrets with which a provider signs for an organisation."""
    return f"{prefix}/{provider}/{organization_id}"


def ids_of(lead_organization_id: str) -> tuple[str, str]:
    """Organisation and lead of a partition key; inverse of ``lead_key``."""
    _, organization_id, _, lead_id = lead_organization_id.split("#")
    return organization_id, lead_id
