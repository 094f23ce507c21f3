"""Instructions for agents: CLAUDE.md, AGENTS.md and their like. One section is one memory.

A section is known by its file and its headings, so that one which is rewritten is revised, and one
that is moved within the file stays what it is. What Madeleine itself wrote there, between its
marks, is left out, and so are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from madeleine.errors import NoFile
from madeleine.ingest.importing.sources import SourceFile, refuse_other, source_on_disk
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportProblem,
    ImportTotal,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    stable_id,
)
from madeleine.language.late_pattern import compile_late
from madeleine.model.times import format_time
from madeleine.write.projects import space_of

FORM = "agents-md"
NAMES = (
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
)
RULES = (".claude/rules/**/*.md", ".cursor/rules/**/*.mdc")
_OURS = compile_late(r"<!-- madeleine:start.*?(?:<!-- madeleine:end[^>]*-->|\Z)", re.DOTALL)
_COMMENT = compile_late(r"<!--.*?-->", re.DOTALL)
_HEADING = compile_late(r"(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCE = compile_late(r"[ \t]*(```|~~~)")
_FRONT = compile_late(r"\A---[ \t]*\n.*?\n---[ \t]*\n", re.DOTALL)


class InstructionSection(NamedTuple):
    """One section: its headings from the top down, the line it begins on, and its text."""

    headings: tuple[str, ...]
    line: int
    text: str


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give the sections of one file, or of those in a project's folder."""
    if not path.exists():
        raise NoFile(path)
    if path.is_file():
        refuse_other(path)
    files = [path] if path.is_file() else _find_files(path)
    if not files:
        raise NotThatFormat(path, f"holds none of {', '.join(NAMES)}")
    yield ImportTotal(len(files))
    top = path.parent if path.is_file() else path
    for each in files:
        source = source_on_disk(each, each.relative_to(top).as_posix())
        try:
            yield from _read_sections(source, each.resolve().parent)
        except NotThatFormat as error:
            yield ImportProblem(source.name, error.message.removeprefix(f"{source.name}: "))


def _find_files(folder: Path) -> list[Path]:
    named = [folder / name for name in NAMES]
    rules = [each for pattern in RULES for each in sorted(folder.glob(pattern))]
    return [each for each in (*named, *rules) if each.is_file() and not each.is_symlink()]


def _read_sections(source: SourceFile, folder: Path) -> Iterator[ReaderOutput]:
    text = _COMMENT.sub(_blank_out, _OURS.sub(_blank_out, source.text()))
    seen: dict[tuple[str, ...], int] = {}
    for section in split_sections(_FRONT.sub(_blank_out, text)):
        number = seen[section.headings] = seen.get(section.headings, 0) + 1
        yield ImportItem(
            _memory_values(source, section, folder, number), f"{source.name}:{section.line}"
        )


def _blank_out(found: re.Match[str]) -> str:
    """Keep the lines' numbers right."""
    return "\n" * found[0].count("\n")


def _memory_values(
    source: SourceFile, section: InstructionSection, folder: Path, number: int
) -> Json:
    space = space_of(str(folder))
    again = () if number == 1 else (str(number),)
    # In no project, only the folder tells one CLAUDE.md from another.
    memory_id = stable_id(FORM, space or str(folder), source.name, *section.headings, *again)
    return drop_empty(
        id=memory_id,
        content=section.text,
        title=" › ".join(section.headings) or source.name,
        type="preference",
        tags=["instructions"],
        space=space,
        created=format_time(source.modified),
        source=f"import:{FORM}",
        origin={"uri": f"{FORM}:{source.name}#L{section.line}"},
        plain=True,
    )


def split_sections(text: str) -> Iterator[InstructionSection]:
    """Cut a text at its headings; a section without a text of its own is none."""
    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    began, fenced = 1, False
    for number, line in enumerate(text.splitlines(), start=1):
        fenced = fenced != bool(_FENCE.match(line))
        heading = None if fenced else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        yield from _build_section(headings, began, lines)
        depth = len(heading[1])
        headings = [each for each in headings if each[0] < depth] + [(depth, heading[2])]
        lines, began = [], number
    yield from _build_section(headings, began, lines)


def _build_section(
    headings: list[tuple[int, str]], line: int, lines: list[str]
) -> Iterator[InstructionSection]:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield InstructionSection(tuple(name for _, name in headings), line, text)
