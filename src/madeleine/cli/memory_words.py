"""Memories in words: one line each, in columns, with their age."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from madeleine.cli.output import CommandOutput, escape_controls

Json = Mapping[str, Any]

MAX_TITLE_COLUMNS = 60  # a longer title is cut; `show` has it whole
MIN_TITLE_COLUMNS = 16
MAX_HEADLINE_CHARS = 1_000  # what is shown of a title that stands in a file beyond all bounds
_TIME_UNITS = (  # a unit's seconds, and up to how many seconds it is counted in
    ("minute", 60, 90 * 60),
    ("hour", 3_600, 48 * 3_600),
    ("day", 86_400, 60 * 86_400),
    ("month", 30.44 * 86_400, 24 * 30.44 * 86_400),
    ("year", 365.25 * 86_400, float("inf")),
)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One line of a listing."""

    id: str
    type: str
    title: str
    score: str = ""
    age: str = ""


def render_age(moment: str, now: float, at_once: str = "just now") -> str:
    """Return how long ago an instant was, such as `12 days ago`; `at_once` for less than a
    minute."""
    seconds = now - datetime.fromisoformat(moment).timestamp()
    if abs(seconds) < 60:
        return at_once
    for unit, length, up_to in _TIME_UNITS:
        if abs(seconds) < up_to:
            return _render_span(max(1, int(abs(seconds) / length)), unit, seconds > 0)
    raise AssertionError("the last unit has no end")


def _render_span(count: int, unit: str, past: bool) -> str:
    words = render_count(count, unit)
    return f"{words} ago" if past else f"in {words}"


def render_count(count: int, word: str, many: str = "") -> str:
    """Return `1 file`, `1,204 files`."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"


def render_space(memory: Json) -> str:
    return str(memory.get("space") or "global")


def render_headline(memory: Json) -> str:
    """Return a memory's title on one line; a file may have one that no screen can hold."""
    title = str(memory["headline"])
    shown = title if len(title) <= MAX_HEADLINE_CHARS else f"{title[:MAX_HEADLINE_CHARS]}…"
    return escape_controls(shown).replace("\n", " ")


def render_memory_name(memory: Json) -> str:
    """Return a memory's short id and title, as they stand in sentences."""
    return f"{memory['short_id']}  {render_headline(memory)}"


def build_memory_row(
    memory: Json, say: CommandOutput, space: str | None = None, score: float | None = None
) -> MemoryRow:
    """Return a memory's line; its space is named where it is not the one asked for."""
    where = render_space(memory)
    when = render_age(memory["created"], say.now)
    return MemoryRow(
        id=memory["short_id"],
        type=memory["type"],
        title=render_headline(memory),
        score="" if score is None else f"{score:.2f}",
        age=when if where == space else f"{when}, {escape_controls(where)}",
    )


def render_table(rows: Iterable[MemoryRow], say: CommandOutput) -> list[str]:
    """Return rows in columns, titles cut so that a line fits."""
    rows = list(rows)
    types = max((len(row.type) for row in rows), default=0)
    scores = max((len(row.score) for row in rows), default=0)
    ages = max((len(row.age) for row in rows), default=0)
    room = say.width - (2 + 8 + 2 + types + 2) - (scores + 2 if scores else 0) - ages - 3
    room = max(MIN_TITLE_COLUMNS, min(MAX_TITLE_COLUMNS, room))
    titles = min(room, max((count_columns(row.title) for row in rows), default=0))
    return [_render_row(row, types, titles, scores, say) for row in rows]


def _render_row(row: MemoryRow, types: int, titles: int, scores: int, say: CommandOutput) -> str:
    score = f"  {row.score:>{scores}}" if scores else ""
    title = fit_to_columns(row.title, titles)
    return f"  {row.id}  {row.type:<{types}}  {title}{score}   {say.dim(row.age)}"


def count_columns(text: str) -> int:
    """Return how many terminal columns a text takes; East Asian letters take two."""
    return sum(_count_char_columns(char) for char in text)


def _count_char_columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fit_to_columns(text: str, room: int) -> str:
    """Return the text cut or padded to exactly `room` columns."""
    if (width := count_columns(text)) <= room:
        return text + " " * (room - width)
    cut, width = 0, 0
    while width + _count_char_columns(text[cut]) <= room - 1:
        width += _count_char_columns(text[cut])
        cut += 1
    return text[:cut] + "…" + " " * (room - 1 - width)
