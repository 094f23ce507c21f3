"""Secrets in tables: in a column whose heading names them, or in the cell next to their name.

Tables are those of markdown (a heading, a line of dashes, rows) and lines of fields with commas,
semicolons or tabs between them, whose first line names the fields.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from madeleine.language.late_pattern import compile_late
from madeleine.language.secret_values import How, Span, Told, is_mixed, is_told

LEAST_CELLS = 3  # `| password | … |` has four, with what stands before and behind it
LINE_CHARS = 4_000  # of a row; what is longer is no table that somebody reads

_NAMES_ONE = compile_late(
    r"pass|pwd|pw|psk|secret|token|key|cred|kennwort|contrase|senha|wachtw|парол|密|パスワ"
)
_CHOSEN = compile_late(
    r"(?:[\w .-]{0,30}[_ -])?(?:\w{0,20}pass(?:words?|wd|wort|phrase|code)|pass|pwd|pw|psk|kennwort"
    r"|contraseña|senha|mot de passe|wachtwoord|пароль|密码|密碼|パスワード)(?: \([^)]{1,20}\))?"
)
_DRAWN = compile_late(
    r"(?:[\w .-]{0,30}[_ -])?(?:tokens?|secrets?|api[ _-]?keys?|credentials?"
    r"|(?:access|secret|private|account|license)[ _-]?keys?)(?: \([^)]{1,20}\))?"
)
_DASHES = compile_late(r"[ \t>]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t\r]*+")
_HEADING = compile_late(r"[\"']?[\w().-]{1,30}(?: [\w().-]{1,30}){0,2}[\"']?\r?")
_WORD = compile_late(r"[*_~\"']{0,3}(?P<code>`?)(?P<value>[^\s`\"']{3,400})")


class Line(NamedTuple):
    """A line of a text, and where it begins."""

    text: str
    start: int


class Cell(NamedTuple):
    """A cell of a row without the blanks around it, and where it begins."""

    text: str
    start: int


def by_table(text: str, low: str) -> Iterator[Span]:
    """Yield the secrets in the tables of a text."""
    if not _NAMES_ONE.search(low):
        return
    lines = _lines(text)
    yield from _in_markdown(lines)
    for mark in (",", ";", "\t"):
        yield from _in_fields(lines, mark)


def _lines(text: str) -> list[Line]:
    lines, start = [], 0
    for line in text.split("\n"):
        lines.append(Line(line, start))
        start += len(line) + 1
    return lines


def _cells(line: Line, mark: str) -> list[Cell]:
    cells, start = [], line.start
    for piece in line.text[:LINE_CHARS].split(mark):
        blank = len(piece) - len(piece.lstrip())
        cells.append(Cell(piece.strip(), start + blank))
        start += len(piece) + len(mark)
    return cells


def _names(cell: Cell) -> bool | None:
    """Return whether a cell names a password, or else a token; None if it names neither."""
    name = cell.text.strip("*_`\"' ").casefold()
    if len(name) > 60 or not _NAMES_ONE.search(name):
        return None
    return True if _CHOSEN.fullmatch(name) else False if _DRAWN.fullmatch(name) else None


# -- markdown ------------------------------------------------------------------------------


def _in_markdown(lines: Sequence[Line]) -> Iterator[Span]:
    columns: dict[int, bool] = {}
    for place, line in enumerate(lines):
        if "|" not in line.text:
            columns = {}
        elif place + 1 < len(lines) and _is_ruled(lines[place + 1]):
            columns = _columns(_cells(line, "|"))
        elif not _is_ruled(line):
            yield from _in_row(_cells(line, "|"), columns)


def _is_ruled(line: Line) -> bool:
    return "|" in line.text and "-" in line.text and _DASHES.fullmatch(line.text) is not None


def _columns(heading: list[Cell]) -> dict[int, bool]:
    named = ((place, _names(cell)) for place, cell in enumerate(heading))
    return {place: by_hand for place, by_hand in named if by_hand is not None}


def _in_row(cells: list[Cell], columns: dict[int, bool]) -> Iterator[Span]:
    """Yield what stands in a column of secrets, or, in a row that begins and ends with a bar,
    beside the name of one."""
    for place, by_hand in columns.items():
        if place < len(cells):
            yield from _in_cell(cells[place], by_hand)
    if len(cells) > LEAST_CELLS and not cells[0].text.strip(" \t>"):
        for name, cell in itertools.pairwise(cells):
            by_hand_here = _names(name)
            if by_hand_here is not None and is_mixed(cell.text.strip("`*")):
                yield from _in_cell(cell, by_hand_here)


def _in_cell(cell: Cell, by_hand: bool) -> Iterator[Span]:
    """Yield the first word of a cell if it is a secret; of more words it must show that."""
    if not (word := _WORD.match(cell.text)):
        return
    value, rest = word["value"].rstrip("*_~,;"), cell.text[word.end() :].strip("`*_~\"' ")
    if rest and not (word["code"] or is_mixed(value)):
        return
    told = Told(value, value, "", How.ASSIGNED, by_hand, quoted=False, is_secret_by_name=False)
    if is_told(told):
        start = cell.start + word.start("value")
        yield Span(start, start + len(value), "password" if by_hand else "token")


# -- lines of fields -----------------------------------------------------------------------


def _in_fields(lines: Sequence[Line], mark: str) -> Iterator[Span]:
    columns: dict[int, bool] = {}
    width = 0
    for line in lines:
        cells = _cells(line, mark) if mark in line.text else []
        if columns and len(cells) == width:
            yield from _in_record(cells, columns)
        else:
            columns, width = _fields(cells), len(cells)


def _fields(cells: list[Cell]) -> dict[int, bool]:
    """Return which fields are secret, if this is a line that names fields."""
    columns = _columns(cells)
    if not columns or not all(_HEADING.fullmatch(each.text) for each in cells):
        return {}
    return columns


def _in_record(cells: list[Cell], columns: dict[int, bool]) -> Iterator[Span]:
    for place, by_hand in columns.items():
        if " " not in cells[place].text:
            yield from _in_cell(cells[place], by_hand)
