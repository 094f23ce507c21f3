"""Memories in words: one line each, in columns, with their age."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from madeleine.cli.say import Say, clean

Json = Mapping[str, Any]

TITLE_COLUMNS = 60  # a longer title is cut; `show` has it whole
LEAST_TITLE_COLUMNS = 16
HEADLINE_CHARS = 1_000  # what is shown of a title that stands in a file beyond all bounds
_UNITS = (  # a unit's seconds, and up to how many seconds it is counted in
    ("minute", 60, 90 * 60),
    ("hour", 3_600, 48 * 3_600),
    ("day", 86_400, 60 * 86_400),
    ("month", 30.44 * 86_400, 24 * 30.44 * 86_400),
    ("year", 365.25 * 86_400, float("inf")),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a listing."""

    id: str
    type: str
    title: str
    score: str = ""
    age: str = ""


def age(moment: str, now: float, at_once: str = "just now") -> str:
    """Return how long ago an instant was, such as `12 days ago`; `at_once` for less than a
    minute."""
    seconds = now - datetime.fromisoformat(moment).timestamp()
    if abs(seconds) < 60:
        return at_once
    for unit, length, up_to in _UNITS:
        if abs(seconds) < up_to:
            return _counted(max(1, int(abs(seconds) / length)), unit, seconds > 0)
    raise AssertionError("the last unit has no end")


def _counted(count: int, unit: str, past: bool) -> str:
    words = plural(count, unit)
    return f"{words} ago" if past else f"in {words}"


def plural(count: int, word: str, many: str = "") -> str:
    """Return `1 file`, `1,204 files`."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"


def space_name(memory: Json) -> str:
    return str(memory.get("space") or "global")


def headline(memory: Json) -> str:
    """Return a memory's title on one line; a file may have one that no screen can hold."""
    title = str(memory["headline"])
    shown = title if len(title) <= HEADLINE_CHARS else f"{title[:HEADLINE_CHARS]}…"
    return clean(shown).replace("\n", " ")


def named(memory: Json) -> str:
    """Return a memory's short id and title, as they stand in sentences."""
    return f"{memory['short_id']}  {headline(memory)}"


def memory_row(memory: Json, say: Say, space: str | None = None, score: float | None = None) -> Row:
    """Return a memory's line; its space is named where it is not the one asked for."""
    where = space_name(memory)
    when = age(memory["created"], say.now)
    return Row(
        id=memory["short_id"],
        type=memory["type"],
        title=headline(memory),
        score="" if score is None else f"{score:.2f}",
        age=when if where == space else f"{when}, {clean(where)}",
    )


def table(rows: Iterable[Row], say: Say) -> list[str]:
    """Return rows in columns, titles cut so that a line fits."""
    rows = list(rows)
    types = max((len(row.type) for row in rows), default=0)
    scores = max((len(row.score) for row in rows), default=0)
    ages = max((len(row.age) for row in rows), default=0)
    room = say.width - (2 + 8 + 2 + types + 2) - (scores + 2 if scores else 0) - ages - 3
    room = max(LEAST_TITLE_COLUMNS, min(TITLE_COLUMNS, room))
    titles = min(room, max((columns(row.title) for row in rows), default=0))
    return [_line(row, types, titles, scores, say) for row in rows]


def _line(row: Row, types: int, titles: int, scores: int, say: Say) -> str:
    score = f"  {row.score:>{scores}}" if scores else ""
    title = fitted(row.title, titles)
    return f"  {row.id}  {row.type:<{types}}  {title}{score}   {say.dim(row.age)}"


def columns(text: str) -> int:
    """Return how many terminal columns a text takes; East Asian letters take two."""
    return sum(_char_columns(char) for char in text)


def _char_columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fitted(text: str, room: int) -> str:
    """Return the text cut or padded to exactly `room` columns."""
    if (width := columns(text)) <= room:
        return text + " " * (room - width)
    cut, width = 0, 0
    while width + _char_columns(text[cut]) <= room - 1:
        width += _char_columns(text[cut])
        cut += 1
    return text[:cut] + "…" + " " * (room - 1 - width)
