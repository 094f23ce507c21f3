"""Figures with their targets, as a table and as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from _recall_metrics import Mean


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should come to: at least this, or at most."""

    bound: float
    at_most: bool = False

    def met(self, value: float) -> bool:
        return value <= self.bound if self.at_most else value >= self.bound


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. Without a target it is there to be read."""

    part: str
    what: str
    value: float
    n: int
    target: Target | None = None
    unit: str = ""
    """Empty for a share between 0 and 1, printed with three places."""
    spread: float | None = None
    note: str = ""

    @property
    def passed(self) -> bool | None:
        return None if self.target is None else self.target.met(self.value)


def share(part: str, what: str, of: Mean, target: Target | None = None, note: str = "") -> Figure:
    """Return the line of a mean over questions."""
    return Figure(part, what, of.value, of.n, target, spread=of.spread, note=note)


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a markdown table."""
    lines = ["| part | what | target | measured | n | | note |", "|---|---|---|---|--:|---|---|"]
    return "\n".join([*lines, *map(_line, figures)])


def document(figures: Sequence[Figure], left_out: Iterable[str]) -> str:
    """Return everything as one JSON document."""
    rows = [{**asdict(each), "passed": each.passed} for each in figures]
    whole = {"benchmark": "recall", "figures": rows, "left_out": list(left_out)}
    return json.dumps(whole, indent=2, ensure_ascii=False)


def write_document(where: str, text: str) -> None:
    """Print the document, or write it to the file that `where` names."""
    if where == "-":
        print(text)
    else:
        Path(where).write_text(text + "\n", encoding="utf-8")


def verdict(figure: Figure) -> str:
    match figure.passed:
        case None:
            return ""
        case True:
            return "pass"
        case False:
            return "**miss**"


def measured(figure: Figure) -> str:
    """Return the value as it is read, with its interval if it is a mean."""
    if figure.spread is None:
        return shown(figure.value, figure.unit)
    return f"{shown(figure.value, figure.unit)} ± {shown(figure.spread, figure.unit)}"


def shown(value: float, unit: str) -> str:
    """Return a number with its unit; shares as `.871`."""
    match unit:
        case "":
            return f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.2f}"
        case "x":
            return f"{value:.2f} x"
        case "ms":
            return f"{value:.1f} ms"
        case "s":
            return f"{value:.2f} s"
        case _:
            return f"{value:,.0f} {unit}"


def _line(figure: Figure) -> str:
    wanted = ""
    if figure.target is not None:
        sign = "≤" if figure.target.at_most else "≥"
        wanted = f"{sign} {shown(figure.target.bound, figure.unit)}"
    cells = (figure.part, figure.what, wanted, measured(figure), f"{figure.n:,}", verdict(figure))
    return f"| {' | '.join(cells)} | {figure.note} |"
