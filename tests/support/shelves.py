"""A whole house of stores on moto, filled with two leads and two organisations whose names begin alike, and all its shelves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any, Final

from lead_events.categories import Category
from lead_events.erasure import Erasure, Store, lead_hash_of
from lead_events.event import Identity, IdentityKind, SharedFact, StoredEvent
from lead_events.idempotency import Claim
from lead_events.identity import Resolver
from lead_events.instants import Clock, now
from lead_events.jobs import Difference, Failure, Job, Kind, Scope, Segment, Status, Tally
from lead_events.memory import Memory, Window
from lead_events.mentions import Mentions
from lead_events.ports import Rejection, Shelf
from lead_events.store.dynamodb import DynamoDbClaims, DynamoDbEvents
from lead_events.store.erasures import DynamoDbErasures
from lead_events.store.identities import DynamoDbIdentities
from lead_events.store.memories import DynamoDbMemories
from lead_events.store.rejections import DynamoDbRejections
from lead_events.store.reprocessings import DynamoDbReprocessings
from lead_events.store.s3 import S3Objects
from lead_events.store.shelves.dead_letters import DeadLetters
from lead_events.store.shelves.events import Claims, Events
from lead_events.store.shelves.identities import Identities
from lead_events.store.shelves.memories import Memories
from lead_events.store.shelves.objects import Objects, RawObjects
from lead_events.store.shelves.organization import OrganizationState
from lead_events.store.shelves.rejected import Rejected
from lead_events.store.shelves.rejected_texts import RejectedTexts
from lead_events.store.shelves.reprocessings import Reprocessings
from lead_events.store.wire import item_from_wire, item_to_wire
from tests.support import aws as tables
from tests.support.builders import stored_event
from tests.support.clock import START
from tests.support.fakes import Killed

OWNER, NEIGHBOUR = "acme", "acme2"
LEAD, OTHER = "lead_1", "lead_10"
LEADS: Final = ((OWNER, LEAD), (OWNER, OTHER), (NEIGHBOUR, LEAD))
UNTIL: Final = START + timedelta(hours=1)

_BUCKETS = count()
_EMAIL: Final = IdentityKind.EMAIL


def email_of(organization_id: str, lead_id: str) -> str:
    return f"{lead_id}.{organization_id}@example.org"


@dataclass
class House:
    """Tables, a bucket and two queues of a test of its own."""

    dynamodb: Any
    s3: Any
    sqs: Any
    name: str
    queues: list[str] = field(default_factory=list)
    bucket: str = ""
    clock: Clock = now
    seconds: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    """Of who looks through the dead letters."""

    def __post_init__(self) -> None:
        kinds = ("events", "claims", "identities", "rejected", "memories", "reprocessings", "organizations", "erasures")
        for kind in kinds:
            getattr(tables, f"create_{kind}")(self.dynamodb, self.table(kind))
        self.bucket = f"bucket-{next(_BUCKETS)}"
        self.s3.create_bucket(Bucket=self.bucket)
        self.queues = [
            self.sqs.create_queue(QueueName=f"{self.name}-{kind}")["QueueUrl"] for kind in ("ingest", "stream")
        ]
        self.objects = S3Objects(lambda: self.s3, self.bucket)
        self.events = DynamoDbEvents(self.dynamodb, self.table("events"), self.objects)
        self.claims = DynamoDbClaims(self.dynamodb, self.table("claims"))
        self.identities = DynamoDbIdentities(self.dynamodb, self.table("identities"))
        self.memories = DynamoDbMemories(self.dynamodb, self.table("memories"))
        self.jobs = DynamoDbReprocessings(self.dynamodb, self.table("reprocessings"))
        self.rejections = DynamoDbRejections(self.dynamodb, self.table("rejected"), self.objects)
        self.erasures = DynamoDbErasures(self.dynamodb, self.table("erasures"), self.table("organizations"))
        self.resolver = Resolver(self.identities, lambda: "secret")
        self.mentions = Mentions(self.resolver, self.identities)
        self.raw_objects = RawObjects(self.s3, self.bucket, self.erasures)

    def table(self, kind: str) -> str:
        return f"{self.name}-{kind}"

    @property
    def rejected(self) -> Rejected:
        """The shelf of rejected events."""
        name, erasures = self.table("rejected"), self.table("erasures")
        return Rejected(self.dynamodb, name, erasures, objects=self.raw_objects, mentions=self.mentions)

    def shelf(self, kind: str) -> Shelf:
        """A shelf by its name, with what it needs."""
        client, erasures = self.dynamodb, self.table("erasures")
        match kind:
            case "events":
                return Events(client, self.table("events"), self.table("claims"), erasures)
            case "claims":
                return Claims(client, self.table("claims"), erasures)
            case "memories":
                return Memories(client, self.table("memories"), erasures)
            case "identities":
                return Identities(client, self.table("identities"), erasures)
            case "objects":
                return Objects(self.raw_objects)
            case "rejected":
                return self.rejected
            case "rejected texts":
                return RejectedTexts(self.raw_objects, self.mentions, self.rejected)
            case "reprocessings":
                return Reprocessings(client, self.table("reprocessings"), erasures, mentions=self.mentions)
            case "organization":
                return OrganizationState(client, self.table("organizations"), erasures)
        assert kind == "dead letters"
        return DeadLetters(
            self.sqs,
            self.queues,
            objects=self.raw_objects,
            erasures=self.erasures,
            mentions=self.mentions,
            wait_seconds=0,
            clock=self.clock,
            seconds=self.seconds,
            sleep=self.sleep,
        )

    def erase(self, lead_id: str | None = LEAD, owner: str = OWNER) -> Erasure:
        """Begin an erasure; it is handed to shelves with its end, as the one of identities wants it."""
        erasure = Erasure(
            organization_id=owner,
            erasure_id=f"era_{lead_id}",
            lead_id=lead_id,
            lead_hash=None if lead_id is None else lead_hash_of(owner, lead_id),
            requested_at=START,
            requested_by="test",
        )
        return replace(self.erasures.start(erasure), until=UNTIL)

    def clear(self, kind: str, erasure: Erasure, calls: int = 200) -> dict[Store, int]:
        """Clear a shelf to its end; what is counted then."""
        shelf, position = self.shelf(kind), None
        for _ in range(calls):
            position = shelf.clear(erasure, position)
            if position is None:
                return self.counts(erasure)
        raise AssertionError("It does not come to an end.")

    def counts(self, erasure: Erasure) -> dict[Store, int]:
        """What is counted, without zeros."""
        stored = self.erasures.get(erasure.organization_id, erasure.erasure_id)
        assert stored is not None
        assert stored.found is any(stored.counts.values())
        return {store: number for store, number in stored.counts.items() if number}

    def items(self, kind: str) -> list[dict[str, Any]]:
        """What a table holds, by its keys; when something was erased is said by a word."""
        found = [item_from_wire(each) for each in self.dynamodb.scan(TableName=self.table(kind))["Items"]]
        told = [each | ({"erasedAt": "then"} if "erasedAt" in each else {}) for each in found]
        return sorted(told, key=str)

    def put(self, kind: str, item: Mapping[str, Any]) -> None:
        self.dynamodb.put_item(TableName=self.table(kind), Item=item_to_wire(item))

    def stored_keys(self) -> list[str]:
        """Keys of all objects."""
        return [each["Key"] for each in self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])]

    def send(self, *bodies: str, queue: int = 0) -> None:
        for body in bodies:
            self.sqs.send_message(QueueUrl=self.queues[queue], MessageBody=body)

    def letters(self, queue: int = 0) -> list[str]:
        """Bodies of the messages that anybody can see now; they stay so."""
        url, found = self.queues[queue], {}
        while messages := self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            found.update({each["ReceiptHandle"]: each["Body"] for each in messages})
        for handle in found:
            self.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
        return sorted(found.values())

    # ------------------------------------------------------------------------------------------------ what there is

    def store_events(self, number: int = 3, leads: Iterable[tuple[str, str]] = LEADS, *, retold: bool = True) -> None:
        """So many events of each lead, with and without external ids; one of them told a fact first."""
        for organization_id, lead_id in leads:
            own = {"organization_id": organization_id, "lead_id": lead_id}
            for index in range(number):
                external_id = None if index % 3 == 1 else f"{lead_id}-{index}"
                self.store_event(stored_event(**own, external_event_id=external_id))
            if retold:
                fact = SharedFact(f"sale-{lead_id}", "stripe.charge", {})
                told = stored_event(**own, source="stripe", external_event_id=f"x-{lead_id}", shared_fact=fact)
                self.store_event(told)

    def store_event(self, event: StoredEvent) -> None:
        if (claim := Claim.of(event)) is not None:
            assert self.claims.claim(claim) is None
        assert self.events.append(event) is None

    def store_memories(self) -> None:
        for organization_id, lead_id in LEADS:
            for category in (Category.PURCHASE, Category.FORM, Category.SUPPORT):
                memory = Memory(organization_id=organization_id, lead_id=lead_id, category=category)
                assert self.memories.put(memory.changed({}, Window()))

    def store_identities(self, extra: int = 0) -> None:
        """An e-mail and a phone of each lead, and so many customers' ids."""
        for index, (organization_id, lead_id) in enumerate(LEADS):
            known = [
                Identity(_EMAIL, email_of(organization_id, lead_id)),
                Identity(IdentityKind.PHONE, f"+55 82 9 0000-000{index}"),
                *(Identity(IdentityKind.CUSTOMER, f"stripe:cus_{lead_id}_{number}") for number in range(extra)),
            ]
            assert self.resolver.assign(organization_id, lead_id, known) == []

    def store_rejections(self, *, large: bool = False) -> None:
        """One of each lead that names it by id, one by its e-mail."""
        for organization_id, lead_id in LEADS:
            filling = "".join(f"{number:x}" for number in range(20_000)) if large else ""
            for text in (f'{{"leadId": "{lead_id}"', f'{{"to": "{email_of(organization_id, lead_id)}"'):
                self.keep(organization_id, f'{text}, "filling": "{filling}"}}')

    def keep(self, organization_id: str, text: str, **changes: Any) -> str:
        rejection: dict[str, Any] = {
            "organization_id": organization_id,
            "code": "invalid",
            "detail": "Broken.",
            "source": "crm",
            "raw_payload": text,
            "seen_at": START,
        }
        return self.rejections.keep(Rejection(**rejection | changes))

    def orphan_texts(self) -> None:
        """Rejected texts of each lead of which the item was never written: it is named by id, e-mail, and as a customer."""
        for organization_id, lead_id in LEADS:
            email, customer = email_of(organization_id, lead_id), f"cus_{lead_id}_0"
            told = (f'{{"leadId": "{lead_id}"}}', f'"to": "{email}"', f'{{"data": {{"customer": "{customer}"}}}}')
            for number, text in enumerate(told):
                self.objects.put(f"organizations/{organization_id}/rejected/{lead_id}-{number}", text)

    def store_objects(self, number: int = 2) -> None:
        for organization_id, lead_id in LEADS:
            for index in range(number):
                self.objects.put(f"organizations/{organization_id}/leads/{lead_id}/{index}", "text")
            self.objects.put(f"inbox/{organization_id}/evt_1", "text")
            self.objects.put(f"organizations/{organization_id}/rejected/1", "text")

    def store_job(self, number: int, scope: Scope, *segments: Segment, status: Status = Status.RUNNING) -> Job:
        """A job and its segments as workers have left them."""
        job = Job(
            job_id=f"rep_019d254b-8700-7000-8000-{number:012d}",
            scope=scope,
            kind=Kind.RETRANSLATION,
            segments=len(segments),
            started_at=START,
            changed_at=START,
        )
        assert self.jobs.start(job, [Segment(number=each.number) for each in segments]) is None
        for each in segments:
            assert each.slices == 0 or self.jobs.advance(job, each)
        if not status.open:
            assert self.jobs.change(replace(job, status=status), Status.RUNNING)
        return job

    def store_jobs(self) -> None:
        """Jobs of each organisation and of everything, which have noted all leads; and of each lead alone."""
        for number, scope in enumerate((Scope(), Scope(OWNER), Scope(NEIGHBOUR))):
            leads = [lead for lead in LEADS if scope.organization_id in (None, lead[0])]
            self.store_job(number, scope, noting(leads), noting(leads[:1], number=1), status=Status.DONE)
        for number, lead in enumerate(LEADS, 10):
            self.store_job(number, Scope(*lead), noting([lead]))

    def dump(self) -> dict[str, Any]:
        """Everything there is but the erasures themselves."""
        kinds = ("events", "claims", "identities", "rejected", "memories", "reprocessings", "organizations")
        state = [{"state": each.get("state"), "id": each["organizationId"]} for each in self.items("organizations")]
        letters = [self.letters(queue) for queue in range(len(self.queues))]
        return {kind: self.items(kind) for kind in kinds[:-1]} | {
            "organizations": state,
            "keys": self.stored_keys(),
            "letters": letters,
        }


def noting(leads: Iterable[tuple[str, str]], *, number: int = 0, **changes: Any) -> Segment:
    """A segment that has noted a sample and a failure of each lead, and stands at the first."""
    noted = list(leads)
    tally = Tally(
        failures=tuple(Failure(*lead, "unavailable") for lead in noted),
        samples=tuple(Difference(*lead, "form", {"a": {"is": 1, "wouldBe": "2"}}) for lead in noted),
    )
    values: dict[str, Any] = {"slices": 1, "position": noted[0], "tally": tally, "done": True, "moved_at": START}
    return Segment(number=number, **values | changes)


@contextmanager
def killed(clients: Iterable[Any], at: int, *, before: bool) -> Iterator[None]:
    """Whoever makes the call of this number, from 0, dies right before or right after it took effect."""
    numbers = count()
    event = "before-call" if before else "after-call"

    def die(**_: Any) -> None:
        if next(numbers) == at:
            raise Killed

    for client in clients:
        client.meta.events.register(event, die)
    try:
        yield
    finally:
        for client in clients:
            client.meta.events.unregister(event, die)
