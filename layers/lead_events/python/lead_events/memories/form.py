"""Forms that the lead answered: the latest answer to each question."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from lead_events.memories._fact import LABEL, PROSE, Fact, cut, exact, words
from lead_events.memories._shapes import (
    Map,
    cite,
    count,
    counted,
    digest,
    entries,
    keep,
    kept,
    latest,
    tallied,
    tally,
)
from lead_events.memories._showing import day, label, quoted, said, seen, sentence
from lead_events.strict_json import Json

TITLE: Final = "Forms"
FIELDS: Final = {
    "submissionCount": "integer: Times that the lead answered a form.",
    "answers": "list: The latest answer to each field of each form, latest first; the 80 fields answered last. "
    "Of one submission with more fields, its first 80.",
    "answers[].formId": "string?: The form.",
    "answers[].field": "string?: Name of the field, at most 80 bytes; however it is spelled, it is a value here.",
    "answers[].question": "string?: The question, at most 80 bytes.",
    "answers[].answer": "answer: Text of at most 240 bytes, true or false; a list as its texts, separated by commas; "
    'anything else as "(an object)".',
    "answers[].occurredAt": "instant?: When it was given.",
    "answers[].eventIds": "ids: The event.",
    "omitted": "boolean: Whether fields beyond the 80 were, or may have been, left out.",
    "forms": "list: By form, the most often answered first; at most 20 forms.",
    "forms[].formId": "string: The form.",
    "forms[].formName": "string?: Its title, as the latest event has it.",
    "forms[].count": "integer: How often it was answered.",
    "forms[].lastSeen": "instant?: When last.",
    "forms[].eventIds": "ids: The latest submissions.",
}

ANSWERS: Final = 80
FORMS: Final = 20


def _submitted(state: Map, fact: Fact) -> None:
    count(state, "submitted")
    form = fact.whole("formId")
    if form and (row := tally(state, "forms", digest(form), FORMS)) is not None:
        row["key"] = cut(form, LABEL)
        count(row, "n")
        keep(row, "name", fact.id, fact.text("formName"))
        cite(row, fact.id)
    found: dict[str, Map] = {}
    for key, entry in _answers(form, fact.payload.get("responses")):
        if len(found) == ANSWERS and key not in found:
            state["omitted"] = True
            break
        found.setdefault(key, entry)
    for place, (key, entry) in enumerate(found.items()):
        latest(state, "answers", key, f"{fact.id}/{ANSWERS - place:03d}", entry, ANSWERS)


def _answers(form: str | None, responses: Json) -> Iterator[tuple[str, Map]]:
    """Each answer with the key of its field: by its form and its name, or else its question."""
    for each in responses if isinstance(responses, list) else ():
        if not isinstance(each, dict):
            continue
        field, question = words(each.get("field")), words(each.get("question"))
        answer = _answer(each.get("answer"))
        if answer is None or (field or question) is None:
            continue
        yield (
            digest(form or "", field or question or ""),
            {
                "form": form and cut(form, LABEL),
                "field": field and cut(field, LABEL),
                "question": question and cut(question, LABEL),
                "answer": answer,
            },
        )


def _answer(value: Json) -> str | int | Decimal | bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        told = [str(found) for each in value[:20] if (found := _answer(each)) is not None]
        return cut(", ".join(told), PROSE) if told else None
    if isinstance(value, dict):
        return "(an object)"
    return exact(value) if not isinstance(value, str) else (found := words(value)) and cut(found, PROSE)


FOLDS: Final = {"form_submitted": _submitted}


def view(state: Map) -> Map:
    """See ``FIELDS``."""
    return {
        "submissionCount": counted(state, "submitted"),
        "answers": [
            {"formId": row["form"], "field": row["field"], "question": row["question"], "answer": row["answer"]}
            | said(row)
            for row in entries(state, "answers")
        ],
        "omitted": bool(state.get("omitted")) or len(entries(state, "answers")) == ANSWERS,
        "forms": [
            {"formId": row["key"], "formName": kept(row, "name"), "count": counted(row, "n")} | seen(row)
            for row in tallied(state, "forms")
        ],
    }


def lines(shown: Map) -> list[str]:
    """The view in sentences, the most important first."""
    found = [
        sentence(f"{label(each, 'question', 'field')}:", quoted(str(each["answer"])), ids=each["eventIds"])
        for each in shown["answers"]
    ]
    for each in shown["forms"]:
        often = f"answered {each['count']} ×, last {day(each['lastSeen'])}"
        found.append(sentence(label(each, "formName", "formId"), often, ids=each["eventIds"]))
    return found
