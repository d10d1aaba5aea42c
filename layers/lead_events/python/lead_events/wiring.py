"""The composition root: builds adapters and services from settings, lazily, once per process.

Nothing is built at import, so that a function pays for what its first event needs and no more. ``reset`` forgets it all.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from lead_events import settings
from lead_events.instants import now

if TYPE_CHECKING:
    from lead_events.admission import Admission
    from lead_events.cursors import Cursors
    from lead_events.erasing import Eraser
    from lead_events.erasures import Erasures
    from lead_events.identity import Resolver
    from lead_events.lead_identities import LeadIdentities
    from lead_events.lifecycles import Lifecycles
    from lead_events.memory_queries import MemoryQueries
    from lead_events.organization_queries import OrganizationQueries
    from lead_events.pipeline import Pipeline
    from lead_events.ports import (
        Bus,
        ClaimStore,
        DeadLetters,
        ErasureStore,
        EventStore,
        IdentityStore,
        MemoryStore,
        ObjectStore,
        OrganizationStore,
        RejectionStore,
        ReprocessingStore,
        WorkQueue,
    )
    from lead_events.presence import Presence
    from lead_events.projecting import Projector
    from lead_events.publishing import Publisher
    from lead_events.queries import Queries
    from lead_events.receiving import Reception
    from lead_events.rejected_events import RejectedEvents
    from lead_events.reprocessing import Reprocessor, Tasks
    from lead_events.reprocessings import Reprocessings
    from lead_events.webhooks import Webhooks

CONNECTIONS: Final = 50
"""Writes under way at once in one function: a batch of 100 messages takes a few round trips instead of 200."""


@cache
def executor() -> ThreadPoolExecutor:
    """Threads in which writes overlap."""
    return ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="lead-events")


@cache
def client(service: str) -> Any:
    """The boto3 client of a service; clients are safe to share between threads."""
    import boto3

    from lead_events.aws_errors import client_config

    make: Any = boto3.client  # its overloads want a literal name
    return make(service, config=client_config(CONNECTIONS))


@cache
def objects() -> ObjectStore:
    from lead_events.store.s3 import S3Objects

    # The client is made when an object is large enough to need it, which is seldom.
    return S3Objects(lambda: client("s3"), settings.raw_bucket())


@cache
def events() -> EventStore:
    from lead_events.store.dynamodb import DynamoDbEvents

    configured = settings.StoreSettings.read()
    return DynamoDbEvents(client("dynamodb"), configured.events_table, objects(), configured.retention)


@cache
def claims() -> ClaimStore:
    from lead_events.store.dynamodb import DynamoDbClaims

    return DynamoDbClaims(client("dynamodb"), settings.StoreSettings.read().claims_table)


@cache
def pipeline() -> Pipeline:
    from lead_events.pipeline import Pipeline

    return Pipeline(
        events=events(),
        claims=claims(),
        objects=objects(),
        resolver=resolver(),
        rejections=rejections(),
        bus=bus(),
        admission=admission(),
        leftovers=_erasure_queue(),
        clock=now,
    )


@cache
def reception() -> Reception:
    from lead_events.receiving import Reception
    from lead_events.reconciling import Reconciler

    reconciler = Reconciler(organizations=organizations(), claims=claims(), presence=presence(), clock=now)
    return Reception(pipeline(), reconciler, erasures())


@cache
def admission() -> Admission:
    from lead_events.admission import Admission

    return Admission(lifecycles(), presence(), resolver())


@cache
def presence() -> Presence:
    from lead_events.presence import Presence

    return Presence(lifecycles(), _erasure_store())


@cache
def erasures() -> Erasures:
    from lead_events.erasures import Erasures

    return Erasures(erasures=_erasure_store(), queue=_erasure_queue(), cursors=cursors(), clock=now)


@cache
def eraser() -> Eraser:
    from lead_events import wiring_eraser

    return wiring_eraser.build(
        client,
        erasures=_erasure_store(),
        identities=_identity_store(),
        resolver=resolver(),
        queue=_erasure_queue(),
        bus=bus(),
    )


@cache
def _erasure_store() -> ErasureStore:
    from lead_events.store.erasures import DynamoDbErasures

    return DynamoDbErasures(client("dynamodb"), settings.erasures_table(), settings.organizations_table())


@cache
def _erasure_queue() -> WorkQueue:
    from lead_events.messaging.sqs import SqsQueue

    # The client is made when there is something to send, which is seldom.
    return SqsQueue(lambda: client("sqs"), settings.erasure_queue_url())


@cache
def organizations() -> OrganizationStore:
    from lead_events.store.organizations import DynamoDbOrganizations

    claims_table = settings.StoreSettings.read().claims_table
    return DynamoDbOrganizations(client("dynamodb"), settings.organizations_table(), claims_table)


@cache
def lifecycles() -> Lifecycles:
    from lead_events.lifecycles import Lifecycles

    return Lifecycles(_known_organizations(), now)


@cache
def organization_queries() -> OrganizationQueries:
    from lead_events.organization_queries import OrganizationQueries

    return OrganizationQueries(_known_organizations())


@cache
def _known_organizations() -> OrganizationStore:
    """For those who only read them, and know of no claims."""
    from lead_events.store.organizations import DynamoDbOrganizations

    return DynamoDbOrganizations(client("dynamodb"), settings.organizations_table())


@cache
def resolver() -> Resolver:
    from lead_events.identity import Resolver

    return Resolver(_identity_store(), lambda: _secret(settings.identity_secret_name()))


@cache
def _identity_store() -> IdentityStore:
    from lead_events.store.identities import DynamoDbIdentities

    return DynamoDbIdentities(client("dynamodb"), settings.StoreSettings.read().identities_table)


@cache
def rejections() -> RejectionStore:
    from lead_events.store.rejections import DynamoDbRejections

    table = settings.StoreSettings.read().rejected_events_table
    return DynamoDbRejections(client("dynamodb"), table, objects())


@cache
def bus() -> Bus:
    from lead_events.messaging.bus import EventBridgeBus

    # The client is made when there is something to publish, which is seldom.
    return EventBridgeBus(lambda: client("events"), settings.event_bus())


@cache
def history() -> EventStore:
    """The events for those who only read them, and no raw payloads."""
    from lead_events.store.dynamodb import DynamoDbEvents
    from lead_events.store.s3 import NoObjects

    return DynamoDbEvents(client("dynamodb"), settings.events_table(), NoObjects())


@cache
def memory_store() -> MemoryStore:
    from lead_events.store.memories import DynamoDbMemories

    return DynamoDbMemories(client("dynamodb"), settings.memories_table())


@cache
def projector() -> Projector:
    from lead_events.projecting import Projector

    return Projector(history(), memory_store(), stream_dead_letters(), executor(), now, presence=presence())


@cache
def publisher() -> Publisher:
    from lead_events.publishing import Publisher

    return Publisher(bus(), stream_dead_letters(), presence())


@cache
def stream_dead_letters() -> DeadLetters:
    from lead_events.messaging.sqs import SqsQueue

    return SqsQueue(lambda: client("sqs"), settings.stream_dead_letters_url())


@cache
def memory_queries() -> MemoryQueries:
    from lead_events.memory_queries import MemoryQueries

    return MemoryQueries(history(), memory_store())


@cache
def reprocessings() -> Reprocessings:
    from lead_events.reprocessings import Reprocessings
    from lead_events.store.scanning import DynamoDbLeads

    scan = DynamoDbLeads(client("dynamodb"), settings.events_table())
    return Reprocessings(jobs=_jobs(), queue=_work_queue(), scan=scan, cursors=cursors(), clock=now)


@cache
def reprocessor() -> Reprocessor:
    from lead_events.reprocessing import Reprocessor
    from lead_events.store.scanning import DynamoDbLeads

    scan = DynamoDbLeads(client("dynamodb"), settings.events_table())
    return Reprocessor(jobs=_jobs(), queue=_work_queue(), scan=scan, tasks=_tasks(), clock=now, executor=executor())


@cache
def _tasks() -> Tasks:
    from lead_events.jobs import Kind
    from lead_events.messaging.sqs import NoDeadLetters
    from lead_events.projecting import Projector
    from lead_events.rebuilding import Rebuilding
    from lead_events.retranslating import Retranslation
    from lead_events.store.dynamodb import DynamoDbEvents

    # It only rebuilds: it has no stream, so nothing of a stream can fail.
    rebuilding = Rebuilding(Projector(history(), memory_store(), NoDeadLetters(), executor(), now, presence=None))
    return {
        (Kind.MEMORIES, False): rebuilding.rebuild,
        (Kind.MEMORIES, True): rebuilding.preview,
        (Kind.RETRANSLATION, True): Retranslation(
            DynamoDbEvents(client("dynamodb"), settings.events_table(), objects())
        ),
    }


@cache
def _jobs() -> ReprocessingStore:
    from lead_events.store.reprocessings import DynamoDbReprocessings

    return DynamoDbReprocessings(client("dynamodb"), settings.reprocessings_table())


@cache
def _work_queue() -> WorkQueue:
    from lead_events.messaging.sqs import SqsQueue

    return SqsQueue(lambda: client("sqs"), settings.reprocessing_queue_url())


@cache
def cursors() -> Cursors:
    from lead_events.cursors import Cursors

    return Cursors(lambda: _secret(settings.cursor_secret_name()))


@cache
def queries() -> Queries:
    from lead_events.queries import Queries

    return Queries(events(), claims(), cursors())


@cache
def rejected_events() -> RejectedEvents:
    from lead_events.rejected_events import RejectedEvents

    return RejectedEvents(rejections(), cursors())


@cache
def lead_identities() -> LeadIdentities:
    from lead_events.lead_identities import LeadIdentities

    return LeadIdentities(resolver())


@cache
def webhooks() -> Webhooks:
    from lead_events.messaging.sqs import SqsQueue
    from lead_events.store.secrets import SecretsManagerWebhookSecrets
    from lead_events.webhooks import Webhooks

    configured = settings.WebhookSettings.read()
    secrets = SecretsManagerWebhookSecrets(_secrets_provider(), configured.secret_prefix)
    return Webhooks(secrets, SqsQueue(lambda: client("sqs"), configured.ingest_queue_url), objects(), now)


@cache
def _secrets_provider() -> Any:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    return SecretsProvider(boto3_client=client("secretsmanager"))


def _secret(name: str) -> str:
    from lead_events.aws_errors import translated
    from lead_events.errors import UnavailableError

    try:
        with translated("Secrets Manager"):
            return str(_secrets_provider().get(name, max_age=3600))
    except UnavailableError:
        raise
    except Exception as error:  # Parameters wraps every cause in its own error
        raise UnavailableError("Secrets Manager did not give a secret.") from error


def reset() -> None:
    """Forget everything built, so that the next call reads the settings again."""
    for part in list(globals().values()):
        if hasattr(part, "cache_clear"):
            part.cache_clear()
