"""Write units per event: over the provider samples, for a small event, and for its duplicate, on an emulator of DynamoDB.

What it costs to learn a lead's identities is not in these figures: the literal design does not know them, and every
event here names its lead. The bar is for the shared samples, whole deliveries as providers send them: the repository's are
cut down to what a test needs, and the less raw payload there is, the nearer the literal design's cost is to the floor of
four units.
"""

from __future__ import annotations

from typing import Any

from lead_events.event import EventDraft, OutcomeKind, SourceType
from tools.benchmarks import tables, units
from tools.benchmarks.corpus import LEAD, RECEIVED_AT, SHARED_NAME, Corpus, all_corpora
from tools.benchmarks.figures import Bar, Figure
from tools.benchmarks.lab import Lab, endpoint, session
from tools.benchmarks.sides import Literal, Ours


def measure(lab: Lab) -> list[Figure]:
    """All figures come from answers of the emulator, which is first shown to count as AWS does."""
    port = lab.ministack
    checked = check_emulator(port)
    figures: list[Figure] = []
    for corpus in all_corpora():
        lab.say(f"write units of {len(corpus.drafts)} events of the {corpus.name} samples")
        figures += _corpus(corpus, port, checked)
    return figures + _small_event(port)


def small_event(external_id: str, text: str = "Oi, quero saber mais sobre o plano enterprise") -> EventDraft:
    """An event of the seeds' example, raw payload included; its item stays under 1 KB."""
    return EventDraft(
        organization_id="org_01HX",
        lead_id=LEAD,
        source_type=SourceType.DIRECT,
        source="whatsapp",
        event_type="message.received",
        payload={"text": text, "mediaType": "text"},
        occurred_at=RECEIVED_AT,
        received_at=RECEIVED_AT,
        external_event_id=external_id,
        raw_payload='{"messages":[{"id":"wamid.1","type":"text","text":{"body":"' + text + '"}}]}',
    )


def check_emulator(port: int) -> str:
    """Hold the emulator's figures against AWS's rule for known items; raises ``ValueError`` where they differ."""
    client = session().client("dynamodb", **endpoint(port))
    definition = tables.ours()[0]
    for name, item in known_items().items():
        answer = client.put_item(TableName=tables.EVENTS, Item=item, ReturnConsumedCapacity="INDEXES")
        told = answer["ConsumedCapacity"]
        index_units = {index: each["CapacityUnits"] for index, each in told.get("GlobalSecondaryIndexes", {}).items()}
        found = (told["Table"]["CapacityUnits"], index_units)
        if found != units.put_units(item, definition):
            raise ValueError(f"the emulator counts {found} for {name}, AWS {units.put_units(item, definition)}")
    return f"emulator checked against AWS's rule with {len(known_items())} known items"


def known_items() -> dict[str, dict[str, Any]]:
    """Items around the edges of a unit, with and without index keys."""
    keys = {"leadOrganizationId": {"S": "ORG#check#LEAD#l"}, "eventType#occurredAt": {"S": "t#2026"}}
    bound = {"source": {"S": "web"}, "externalEventId": {"S": "e"}}

    def item(name: str, padding: int, **more: Any) -> dict[str, Any]:
        plain = {**keys, "occurredAtId": {"S": name}, **more}
        return {**plain, "rawPayload": {"S": "x" * (padding - units.size({**plain, "rawPayload": {"S": ""}}))}}

    return {
        "1024 bytes": item("a", 1024, **bound),
        "1025 bytes": item("b", 1025, **bound),
        "no external id": item("c", 3000),
        "payload of 2 KB beside the raw one": item("d", 6000, **bound, payload={"M": {"text": {"S": "y" * 2000}}}),
        "numbers, lists, binary": item(
            "e", 2048, **bound, payload={"L": [{"N": "12345.67"}, {"N": "-1"}, {"BOOL": True}, {"B": b"z" * 700}]}
        ),
    }


def _corpus(corpus: Corpus, port: int, checked: str) -> list[Figure]:
    ours, literal = Ours(port), Literal(port)
    stored = 0
    for draft in corpus.drafts:
        outcome = ours.append(draft)
        if outcome.kind is OutcomeKind.REJECTED:
            continue  # not an event for either side
        if outcome.kind is not OutcomeKind.STORED:
            raise ValueError(f"a {draft.event_type} of {draft.source} was not stored: {outcome}")
        literal.append(draft)
        stored += 1
    reference, puts = literal.meter.total_units, ours.objects.puts
    with_s3 = ours.meter.total_units + units.S3_PUT * puts
    approximated = corpus.files - corpus.translated
    note = "; ".join(
        (
            f"{corpus.files} files, {corpus.translated} translated by a provider module, {approximated} approximated",
            f"{stored} events, {len(corpus.drafts) - stored} rejected",
            f"exactly {ours.meter.total_units / reference:.3f} ×, the floor of four units is {4 * stored / reference:.3f} ×",
            f"{puts} raw payloads in S3, a PUT costing as much as {units.S3_PUT} units: {with_s3 / reference:.3f} ×",
            f"by AWS's rule {ours.meter.by_rule} against {literal.meter.by_rule}",
            checked,
        )
    )
    return [
        Figure(
            "writes",
            f"{corpus.name} samples, total",
            "units",
            ours.meter.total_units,
            reference,
            Bar(0.52) if corpus.name == SHARED_NAME else None,
            note,
        ),
        Figure(
            "writes",
            f"{corpus.name} samples, per event",
            "units",
            ours.meter.total_units / stored,
            reference / stored,
            Bar(5, "value"),
        ),
    ]


def _small_event(port: int) -> list[Figure]:
    ours, literal = Ours(port), Literal(port)
    figures = []
    for name, bar in (("new event under 1 KB", Bar(4, "value")), ("its duplicate", None)):
        for side in (ours, literal):
            side.meter.reset()
            side.append(small_event("wamid.small"))
        figures.append(Figure("writes", name, "units", ours.meter.total_units, literal.meter.total_units, bar))
    return figures
