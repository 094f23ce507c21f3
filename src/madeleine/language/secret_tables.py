"""Secrets in tables: in a column whose heading names them, or in the cell next to their name.

Tables are those of markdown (a heading, a line of dashes, rows) and lines of fields with commas,
semicolons or tabs between them, whose first line names the fields.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from madeleine.language.late_pattern import compile_late
from madeleine.language.secret_values import (
    SecretCandidate,
    SecretNotation,
    SecretSpan,
    is_mixed,
    is_secret,
)

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


class TableLine(NamedTuple):
    """A line of a text, and where it begins."""

    text: str
    start: int


class TableCell(NamedTuple):
    """A cell of a row without the blanks around it, and where it begins."""

    text: str
    start: int


def find_in_tables(text: str, low: str) -> Iterator[SecretSpan]:
    """Yield the secrets in the tables of a text."""
    if not _NAMES_ONE.search(low):
        return
    lines = _split_lines(text)
    yield from _find_in_markdown(lines)
    for mark in (",", ";", "\t"):
        yield from _find_in_fields(lines, mark)


def _split_lines(text: str) -> list[TableLine]:
    lines, start = [], 0
    for line in text.split("\n"):
        lines.append(TableLine(line, start))
        start += len(line) + 1
    return lines


def _split_cells(line: TableLine, mark: str) -> list[TableCell]:
    cells, start = [], line.start
    for piece in line.text[:LINE_CHARS].split(mark):
        blank = len(piece) - len(piece.lstrip())
        cells.append(TableCell(piece.strip(), start + blank))
        start += len(piece) + len(mark)
    return cells


def _read_cell_name(cell: TableCell) -> bool | None:
    """Return whether a cell names a password, or else a token; None if it names neither."""
    name = cell.text.strip("*_`\"' ").casefold()
    if len(name) > 60 or not _NAMES_ONE.search(name):
        return None
    return True if _CHOSEN.fullmatch(name) else False if _DRAWN.fullmatch(name) else None


# -- markdown ------------------------------------------------------------------------------


def _find_in_markdown(lines: Sequence[TableLine]) -> Iterator[SecretSpan]:
    columns: dict[int, bool] = {}
    for place, line in enumerate(lines):
        if "|" not in line.text:
            columns = {}
        elif place + 1 < len(lines) and _is_ruled(lines[place + 1]):
            columns = _find_secret_columns(_split_cells(line, "|"))
        elif not _is_ruled(line):
            yield from _find_in_row(_split_cells(line, "|"), columns)


def _is_ruled(line: TableLine) -> bool:
    return "|" in line.text and "-" in line.text and _DASHES.fullmatch(line.text) is not None


def _find_secret_columns(heading: list[TableCell]) -> dict[int, bool]:
    named = ((place, _read_cell_name(cell)) for place, cell in enumerate(heading))
    return {place: by_hand for place, by_hand in named if by_hand is not None}


def _find_in_row(cells: list[TableCell], columns: dict[int, bool]) -> Iterator[SecretSpan]:
    """Yield what stands in a column of secrets, or, in a row that begins and ends with a bar,
    beside the name of one."""
    for place, by_hand in columns.items():
        if place < len(cells):
            yield from _find_in_cell(cells[place], by_hand)
    if len(cells) > LEAST_CELLS and not cells[0].text.strip(" \t>"):
        for name, cell in itertools.pairwise(cells):
            by_hand_here = _read_cell_name(name)
            if by_hand_here is not None and is_mixed(cell.text.strip("`*")):
                yield from _find_in_cell(cell, by_hand_here)


def _find_in_cell(cell: TableCell, by_hand: bool) -> Iterator[SecretSpan]:
    """Yield the first word of a cell if it is a secret; of more words it must show that."""
    if not (word := _WORD.match(cell.text)):
        return
    value, rest = word["value"].rstrip("*_~,;"), cell.text[word.end() :].strip("`*_~\"' ")
    if rest and not (word["code"] or is_mixed(value)):
        return
    told = SecretCandidate(
        value, value, "", SecretNotation.ASSIGNED, by_hand, quoted=False, is_secret_by_name=False
    )
    if is_secret(told):
        start = cell.start + word.start("value")
        yield SecretSpan(start, start + len(value), "password" if by_hand else "token")


# -- lines of fields -----------------------------------------------------------------------


def _find_in_fields(lines: Sequence[TableLine], mark: str) -> Iterator[SecretSpan]:
    columns: dict[int, bool] = {}
    width = 0
    for line in lines:
        cells = _split_cells(line, mark) if mark in line.text else []
        if columns and len(cells) == width:
            yield from _find_in_record(cells, columns)
        else:
            columns, width = _read_field_names(cells), len(cells)


def _read_field_names(cells: list[TableCell]) -> dict[int, bool]:
    """Return which fields are secret, if this is a line that names fields."""
    columns = _find_secret_columns(cells)
    if not columns or not all(_HEADING.fullmatch(each.text) for each in cells):
        return {}
    return columns


def _find_in_record(cells: list[TableCell], columns: dict[int, bool]) -> Iterator[SecretSpan]:
    for place, by_hand in columns.items():
        if " " not in cells[place].text:
            yield from _find_in_cell(cells[place], by_hand)
