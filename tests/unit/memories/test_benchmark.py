"""The benchmark of folds measures what it says."""

from __future__ import annotations

from itertools import islice

from lead_events import catalogue, memories
from tools.benchmarks import folds
from tools.benchmarks.lab import Lab


def test_its_events_are_of_every_type_and_keep_their_contracts() -> None:
    made = list(islice(folds.mixed(), 100))
    assert {each.event_type for each in made} == set(catalogue.EVENT_TYPES)
    for each in (*made, *islice(folds.custom_fields(), 3)):
        catalogue.check(each.event_type, each.payload)
        assert memories.category_of(each) is not None


def test_it_tells_speed_flatness_and_size() -> None:
    said: list[str] = []
    with Lab(quick=True, say=said.append) as lab:
        speed, flat, size = folds.measure(lab)
    assert speed.value > 0
    assert flat.ratio is not None
    assert size.holds
    assert said
