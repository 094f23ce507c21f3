"""Times, ratios and the table.

The machine is never quiet, so two things are compared by doing them in turns, A B A B, and
taking the median of each. A ratio of two such medians says more than either of them.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    target: str
    figure: str
    passed: bool
    note: str = ""


@dataclass(frozen=True)
class Pair:
    """Two medians, in seconds."""

    one: float
    other: float

    @property
    def ratio(self) -> float:
        return self.one / self.other


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def in_turns(one: Callable[[], object], other: Callable[[], object], times: int) -> Pair:
    """Do the two in turns, each first as often as second, and return the median of each."""
    ones: list[float] = []
    others: list[float] = []
    for number in range(times):
        pairs = [(ones, one), (others, other)]
        for kept, act in pairs if number % 2 else reversed(pairs):
            kept.append(timed(act))
    return Pair(statistics.median(ones), statistics.median(others))


def median(act: Callable[[], object], times: int) -> float:
    return statistics.median(timed(act) for _ in range(times))


def ms(seconds: float) -> str:
    return f"{seconds * 1_000:.1f} ms"


def progress(line: str) -> None:
    """Say on stderr what is going on."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()
    else:
        sys.stderr.write(f"{line}\n")


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a markdown table."""
    lines = ["| what | target | measured | | how |", "|---|---|---|---|---|"]
    for row in rows:
        verdict = "pass" if row.passed else "**miss**"
        lines.append(f"| {row.what} | {row.target} | {row.figure} | {verdict} | {row.note} |")
    return "\n".join(lines)


def write_json(where: str, rows: Sequence[Row]) -> None:
    text = json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False)
    if where == "-":
        print(text)
    else:
        Path(where).write_text(text + "\n", encoding="utf-8")
