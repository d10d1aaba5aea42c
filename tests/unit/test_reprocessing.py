"""The work of a reprocessing: whatever happens to its messages, each lead is worked on and counted once."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_events.errors import InvalidError, UnavailableError
from lead_events.jobs import MAX_FAILURES, Kind, LeadKey, LeadResult, Status
from lead_events.reprocessing import ATTEMPTS, CHUNK, Message
from tests.support.fakes import Killed
from tests.support.reprocessing import Reprocessing, SilentScan

LEADS = st.dictionaries(
    st.tuples(st.sampled_from(["org_A", "org_B"]), st.integers(0, 30).map(lambda number: f"lead_{number}")),
    st.integers(1, 3),
    max_size=25,
)


def started(world: Reprocessing, organization_id: str | None = None, body: bytes = b"") -> str:
    job_id: str = world.api.start(organization_id, body)["reprocessingId"]
    return job_id


def of(leads: dict[LeadKey, int], organization_id: str | None) -> dict[LeadKey, int]:
    return {lead: count for lead, count in leads.items() if organization_id in (None, lead[0])}


@given(LEADS, st.sampled_from([None, "org_A"]), st.integers(1, 5))
def test_every_lead_of_the_scope_is_worked_on_once_and_nothing_else(
    leads: dict[LeadKey, int], organization_id: str | None, segments: int
) -> None:
    world = Reprocessing(segments=segments)
    world.store(leads)
    job_id = started(world, organization_id)
    world.drain()
    wanted = of(leads, organization_id)
    assert world.leads.done == Counter(dict.fromkeys(wanted, 1))
    shown = world.api.one(organization_id, job_id)
    assert (shown["status"], shown["progress"]["percent"]) == ("done", 100)
    assert shown["progress"]["segments"] == {"done": segments, "total": segments}
    assert (shown["progress"]["leads"], shown["progress"]["events"]) == (len(wanted), sum(wanted.values()))


@given(st.data())
def test_whatever_is_delivered_twice_lost_killed_paused_and_resumed_every_lead_is_worked_on_and_the_count_is_exact(
    data: st.DataObject,
) -> None:
    """Each step is one of what a queue, Lambda and an operator may do, in any order."""
    leads = data.draw(LEADS)
    organization_id = data.draw(st.sampled_from([None, "org_A"]))
    world = Reprocessing(
        segments=data.draw(st.integers(1, 4)), step=timedelta(seconds=data.draw(st.sampled_from([0, 2, 6])))
    )
    world.store(leads)
    job_id = started(world, organization_id)
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    received: list[tuple[str, int]] = []  # taken from the queue before, and how often
    for _ in range(data.draw(st.integers(0, 60))):
        world.points.steps = {world.points.count + chance.randint(1, 12)} if chance.random() < 0.4 else set()
        event = chance.choice(["deliver"] * 6 + ["again", "lose", "pause", "resume", "duplicate"])
        if event in ("pause", "resume") and world.api.one(organization_id, job_id)["status"] != "done":
            attempt(lambda event=event: world.api.act(organization_id, job_id, event))
        elif event == "lose" and world.queue.sent:
            world.queue.sent.pop(chance.randrange(len(world.queue.sent)))
        elif event == "duplicate" and world.queue.sent:
            world.queue.sent.append(chance.choice(world.queue.sent))
        elif event == "again" and received:
            message, times = received.pop(chance.randrange(len(received)))
            receive(world, message, times, received)
        elif event == "deliver" and world.queue.sent:
            receive(world, world.queue.sent.pop(chance.randrange(len(world.queue.sent))), 0, received)
    world.points.steps = set()
    # What is lost for good is taken up by a resume; one is enough.
    if world.api.one(organization_id, job_id)["status"] != "done":
        world.api.act(organization_id, job_id, "resume")
    world.drain()
    for message, _ in received:  # and what comes very late changes nothing
        world.deliver(message, redelivered=True)
        world.deliver(message)
    world.drain()
    wanted = of(leads, organization_id)
    assert set(world.leads.done) == set(wanted)
    progress = world.api.one(organization_id, job_id)["progress"]
    assert world.api.one(organization_id, job_id)["status"] == "done"
    assert (progress["leads"], progress["events"], progress["changed"], progress["failed"]) == (
        len(wanted), sum(wanted.values()), len(wanted), 0,
    )  # fmt: skip


@given(st.lists(st.integers(0, 200), max_size=12, unique=True), st.integers(0, 2**32))
def test_without_a_lost_message_no_resume_is_needed_however_often_workers_die(crash_at: list[int], seed: int) -> None:
    """A message that was not finished is delivered again, as SQS does; nobody has to look after the job."""
    world = Reprocessing(segments=3, step=timedelta(seconds=2))
    leads = {("org_A", f"lead_{number}"): 1 + number % 3 for number in range(20)}
    world.store(leads)
    job_id = started(world)
    world.points.steps = {world.points.count + each for each in crash_at}
    chance = random.Random(seed)
    waiting = [(message, 0) for message in world.queue.sent]
    while waiting:
        message, times = waiting.pop(chance.randrange(len(waiting)))
        world.queue.sent.clear()
        if not receive(world, message, times, []):
            waiting.append((message, times + 1))
        waiting += [(each, 0) for each in world.queue.sent]
    shown = world.api.one(None, job_id)
    assert shown["status"] == "done"
    assert (shown["progress"]["leads"], shown["progress"]["events"]) == (20, sum(leads.values()))
    assert set(world.leads.done) == set(leads)


def receive(world: Reprocessing, message: str, times: int, received: list[tuple[str, int]]) -> bool:
    """Let a worker have a message that was received ``times`` times before; whether it came to its end."""
    received.append((message, times + 1))
    return attempt(lambda: world.deliver(message, redelivered=times > 0))


def attempt(action: Any) -> bool:
    try:
        action()
    except Killed:
        return False
    return True


def test_a_message_that_is_behind_is_dropped_the_first_time_and_revives_its_segment_the_second() -> None:
    world = Reprocessing(segments=1, step=timedelta(seconds=6))
    world.store({("org_A", f"lead_{number}"): 1 for number in range(CHUNK + 5)})
    started(world)
    [first] = world.queue.sent
    world.deliver(first)
    [_, second] = world.queue.sent
    world.queue.sent.clear()
    world.deliver(first)
    assert world.queue.sent == []
    world.deliver(first, redelivered=True)
    assert world.queue.sent == [second]


def test_messages_of_a_paused_job_are_parked_and_a_resume_goes_on_where_it_stood() -> None:
    world = Reprocessing(segments=1, step=timedelta(seconds=6))
    world.store({("org_A", f"lead_{number}"): 1 for number in range(CHUNK * 2)})
    job_id = started(world)
    world.deliver(world.queue.sent.pop())
    before = world.leads.done.total()
    assert before < CHUNK * 2
    assert world.api.act(None, job_id, "pause")["status"] == "paused"
    world.drain()
    assert world.leads.done.total() == before
    assert world.api.act(None, job_id, "resume")["status"] == "running"
    world.drain()
    assert world.leads.done.total() == CHUNK * 2
    assert world.api.one(None, job_id)["status"] == "done"


def test_nothing_is_worked_on_for_a_cancelled_job() -> None:
    world = Reprocessing()
    world.store({("org_A", "lead_1"): 1})
    job_id = started(world)
    world.api.act(None, job_id, "cancel")
    world.drain()
    assert world.leads.done.total() == 0
    assert world.api.one(None, job_id)["status"] == "cancelled"


def test_a_lead_that_fails_is_named_and_the_others_are_done() -> None:
    world = Reprocessing(segments=1)
    world.store({("org_A", f"lead_{number}"): 1 for number in range(MAX_FAILURES + 15)})
    for number in range(MAX_FAILURES + 5):
        world.leads.broken[f"lead_{number}"] = ValueError
    world.leads.broken["lead_0"] = lambda: InvalidError("no", code="too_deep")
    job_id = started(world)
    world.drain()
    shown = world.api.one(None, job_id)
    assert (shown["status"], shown["progress"]["failed"]) == ("done", MAX_FAILURES + 5)
    assert shown["progress"]["leads"] == MAX_FAILURES + 15
    assert len(shown["failures"]) == MAX_FAILURES
    assert {each["code"] for each in shown["failures"]} <= {"too_deep", "internal_error"}
    assert world.leads.done.total() == 10


def test_where_a_service_does_not_answer_the_slice_is_tried_again_later_and_at_last_the_lead_is_passed_over() -> None:
    world = Reprocessing(segments=1)
    world.store({("org_A", "lead_1"): 1, ("org_A", "lead_2"): 1})
    world.leads.broken["lead_1"] = lambda: UnavailableError("DynamoDB answered ThrottlingException.")
    job_id = started(world)
    world.drain()
    shown = world.api.one(None, job_id)
    assert (shown["status"], shown["progress"]["leads"]) == ("done", 2)
    assert shown["failures"] == [{"organizationId": "org_A", "leadId": "lead_1", "code": "unavailable"}]
    assert [each for each in world.queue.delays if each] == [2**attempt for attempt in range(1, ATTEMPTS + 1)]


def test_a_slice_keeps_what_it_has_done_where_the_scan_stops_answering() -> None:
    world = Reprocessing(segments=1, step=timedelta())
    world.store({("org_A", f"lead_{number}"): 1 for number in range(40)})
    scan = SilentScan(world.scan, 8)
    world.worker._scan = scan
    job_id = started(world)
    [message] = world.queue.sent
    world.queue.sent.clear()
    world.deliver(message)
    done = world.api.one(None, job_id)["progress"]["leads"]
    assert done == world.leads.done.total() > 0
    [following] = world.queue.sent
    with pytest.raises(UnavailableError):
        world.deliver(following)
    scan.pages = -1
    world.drain()
    assert world.api.one(None, job_id)["progress"]["leads"] == 40
    assert world.leads.done.total() == 40


def test_leads_of_other_organisations_are_passed_by_and_do_not_hold_up_a_slice() -> None:
    world = Reprocessing(segments=1, step=timedelta(seconds=3))
    world.store({("org_B", f"lead_{number}"): 1 for number in range(60)} | {("org_A", "lead_1"): 2})
    job_id = started(world, "org_A")
    world.drain()
    assert list(world.leads.done) == [("org_A", "lead_1")]
    [segment] = world.jobs.segments(world.jobs.get("ORG#org_A", job_id))  # type: ignore[arg-type]
    assert segment.slices > 5


def test_a_lead_alone_is_one_segment_and_is_not_searched_for() -> None:
    world = Reprocessing()
    world.worker._scan = SilentScan(world.scan, 0)
    world.store({("org_A", "lead_1"): 2, ("org_A", "lead_2"): 1})
    job_id = started(world, "org_A", b'{"leadId": "lead_1"}')
    world.drain()
    assert list(world.leads.done) == [("org_A", "lead_1")]
    assert world.api.one("org_A", job_id)["progress"]["segments"] == {"done": 1, "total": 1}


def test_a_job_whose_end_was_not_written_is_ended_by_what_comes_again() -> None:
    world = Reprocessing(segments=1)
    world.store({("org_A", "lead_1"): 1})
    job_id = started(world)
    [message] = world.queue.sent
    world.deliver(message)
    job = world.jobs.get("ALL", job_id)
    assert job is not None
    world.jobs._jobs["ALL", job_id] = world.jobs._jobs["ALL", job_id].__class__(
        **{name: getattr(job, name) for name in job.__slots__} | {"status": Status.RUNNING}
    )
    world.jobs._holders[job.scope] = job_id
    world.deliver(message, redelivered=True)
    assert world.api.one(None, job_id)["status"] == "done"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"segment": 1, "slice": 1}', '{"segment": "1", "slice": 1, "attempt": 1}']
)
def test_what_is_no_slice_stays_on_the_queue(text: str) -> None:
    world = Reprocessing()
    with pytest.raises(Exception, match=r"slice|JSON"):
        world.deliver(text)


def test_a_message_is_read_as_it_was_written_and_one_of_no_job_is_dropped() -> None:
    message = Message("ORG#org_A", "rep_1", 3, 14, 2)
    assert Message.read(message.write()) == message
    world = Reprocessing()
    assert world.deliver(message.write()).leads == 0
    assert world.queue.sent == []


@pytest.mark.parametrize(("redelivered", "sent"), [(False, 1), (True, 2)])
def test_of_two_workers_at_the_same_slice_one_counts_and_goes_on(redelivered: bool, sent: int) -> None:
    """The loser sends the next message too where its own was delivered again: the winner may have died before it did."""
    world = Reprocessing(segments=1, step=timedelta(seconds=6))
    world.store({("org_A", f"lead_{number}"): 1 for number in range(CHUNK + 5)})
    job_id = started(world)
    [message] = world.queue.sent
    world.queue.sent.clear()
    inner, busy = world.leads.__call__, iter([True])

    def interrupted(organization_id: str, lead_id: str) -> LeadResult:
        if next(busy, False):
            world.deliver(message)  # another worker has a copy of the message, and is faster
        return inner(organization_id, lead_id)

    world.worker._tasks = {(Kind.MEMORIES, False): interrupted}
    world.deliver(message, redelivered=redelivered)
    assert set(world.leads.done.values()) == {2}
    assert world.api.one(None, job_id)["progress"]["leads"] == len(world.leads.done) < CHUNK + 5
    assert len(world.queue.sent) == sent
    assert len(set(world.queue.sent)) == 1
    world.drain()
    assert world.api.one(None, job_id)["progress"]["leads"] == CHUNK + 5
