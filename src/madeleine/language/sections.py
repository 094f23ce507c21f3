"""A written text in sections: what belongs under one heading, and is understood with it.

A short text is one section. A longer one is cut at its headings, outside of code; what stands
under a heading goes on to the next one of any level. A section that is too long is cut between
paragraphs. Every section has a name that stays the same when other parts of the text change, so
that what came of it can be found again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from madeleine.language.late_pattern import compile_late

WHOLE_CHARS = 1_200  # a text no longer than this is understood as one
SECTION_CHARS = 6_000
DEEPEST = 4  # headings below that are part of a section

_HEADING = compile_late(rf"^(#{{1,{DEEPEST}}})[ \t]+(\S.*?)[ \t]*#*[ \t]*$")
_FENCE = compile_late(r"^\s{0,3}(```|~~~)")
_PARAGRAPH = compile_late(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class TextSection:
    """Some of a text, and the headings above it from the outermost on."""

    headings: tuple[str, ...]
    text: str
    part: int = 1
    """1 for the first of its name."""

    @property
    def name(self) -> str:
        """What tells it from the others: its headings, and which of that name it is."""
        named = " › ".join(self.headings)
        return named if self.part == 1 else f"{named} ({self.part})"


def split_sections(text: str) -> list[TextSection]:
    """Return the sections of a text that say something, in order."""
    if len(text) <= WHOLE_CHARS:
        headings = _find_first_heading(text)
        return [TextSection(headings, text.strip())] if text.strip() else []
    return list(_number_sections(_split_at_headings(text)))


def _find_first_heading(text: str) -> tuple[str, ...]:
    """Return the heading that a short text begins with."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    found = _HEADING.match(first)
    return (found[2],) if found else ()


def _number_sections(found: Iterator[tuple[tuple[str, ...], str]]) -> Iterator[TextSection]:
    seen: dict[tuple[str, ...], int] = {}
    for headings, text in found:
        for piece in _split_pieces(text):
            seen[headings] = seen.get(headings, 0) + 1
            yield TextSection(headings, piece, seen[headings])


def _split_at_headings(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Give what stands under each heading."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= _FENCE.match(line) is not None
        heading = None if fenced else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        yield _heading_names(path), "\n".join(lines)
        level, lines = len(heading[1]), []
        path = [*(each for each in path if each[0] < level), (level, heading[2])]
    yield _heading_names(path), "\n".join(lines)


def _heading_names(path: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(name for _, name in path)


def _split_pieces(text: str) -> Iterator[str]:
    """Give a section in pieces that are not too long, cut between paragraphs if they can be."""
    left = text.strip()
    while len(left) > SECTION_CHARS:
        breaks = [each.start() for each in _PARAGRAPH.finditer(left, 0, SECTION_CHARS)]
        at = breaks[-1] if breaks and breaks[-1] > 0 else SECTION_CHARS
        yield left[:at].strip()
        left = left[at:].strip()
    if left:
        yield left
