"""Figures, the bars they are held to, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Bar:
    """The most that the design (§14) allows: of the ratio to the reference, or of the value itself."""

    limit: float
    of: Literal["ratio", "value"] = "ratio"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value beside the same of the reference, measured in the same run."""

    benchmark: str
    name: str
    unit: str
    value: float
    reference: float | None = None
    bar: Bar | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Value over reference; ``None`` where there is no reference."""
        return self.value / self.reference if self.reference else None

    @property
    def holds(self) -> bool | None:
        """Whether the bar holds; ``None`` where there is none."""
        if self.bar is None:
            return None
        measured = self.ratio if self.bar.of == "ratio" else self.value
        return measured is not None and measured <= self.bar.limit

    def as_json(self) -> dict[str, Any]:
        """All of it, what follows from it included."""
        return {**asdict(self), "ratio": self.ratio, "holds": self.holds}


def show(figures: Sequence[Figure], console: Console) -> None:
    """Print the table."""
    table = Table(title="Lead Events against the literal design and the usual handler", title_justify="left")
    table.add_column("figure")
    for heading in ("measured", "reference", "ratio", "bar"):
        table.add_column(heading, justify="right")
    table.add_column("holds")
    section = ""
    for each in figures:
        if section and each.benchmark != section:
            table.add_section()
        section = each.benchmark
        table.add_row(
            f"{each.benchmark}: {each.name}",
            f"{_number(each.value)} {each.unit}",
            "–" if each.reference is None else _number(each.reference),
            "–" if each.ratio is None else f"{each.ratio:.2f}",
            _bar(each.bar),
            {None: "", True: "[green]yes[/green]", False: "[red]NO[/red]"}[each.holds],
        )
    console.print(table)
    for each in figures:
        if each.note:
            console.print(f"  {each.benchmark}: {each.name} — {each.note}", highlight=False, soft_wrap=True)


def _number(value: float) -> str:
    return (
        f"{value:.0f}" if value == int(value) and abs(value) < 1e6 else f"{value:.3g}" if value < 1 else f"{value:.1f}"
    )


def _bar(bar: Bar | None) -> str:
    if bar is None:
        return "–"
    return f"≤ {bar.limit:g} ×" if bar.of == "ratio" else f"≤ {bar.limit:g}"
