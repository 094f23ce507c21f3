"""Claude Code's own memory: `~/.claude/projects/<project>/memory/`.

    ---
    name: short-kebab-case-slug
    description: one line used to judge relevance
    metadata:
      type: user | feedback | project | reference
    modified: 2026-11-01T10:00:00Z
    ---
    the fact. Links: [[other-name]]

`type` may also stand at the top. `MEMORY.md` is the index, a line for each file; what else stands
in it is kept too. The path may be that folder, a project's, `projects/` or `~/.claude` itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from madeleine.errors import NoFile
from madeleine.ingest.importing.linked_notes import LinkedNotes
from madeleine.ingest.importing.notes import MarkdownNote as Written
from madeleine.ingest.importing.sources import SourceFile, files_of
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportNote,
    ImportTotal,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    stable_id,
)
from madeleine.ingest.importing.words import map_type
from madeleine.language.late_pattern import compile_late
from madeleine.model.times import format_time
from madeleine.write.projects import space_of

FORM = "claude-code"
INDEX = "MEMORY.md"
TRANSCRIPTS = 5  # newest sessions that are asked where they run
TRANSCRIPT_BYTES = 1 << 20  # within which a session says where it runs
_INDEX_LINE = compile_late(
    r"^[ \t]*[-*][ \t]+\[(?P<title>[^\]\n]+)\]\((?P<file>[^)\n]+\.md)\)[^\n]*$", re.MULTILINE
)


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every memory file of one project, or of all."""
    if not path.exists():
        raise NoFile(path)
    folders = _memory_folders(path)
    if not folders and not (_is_claude_home(path) or _has_sessions(path)):
        raise NotThatFormat(path, "holds no memory folder of Claude Code")
    if not folders:
        yield ImportNote(f"Claude Code has noted nothing in {path} yet")
    for folder in folders:
        with files_of(folder, ".md") as sources:
            yield ImportTotal(len(sources))
            yield from _MemoryFolder(folder, sources).found()


def _memory_folders(path: Path) -> list[Path]:
    if path.is_file():
        return [path.parent] if path.name == INDEX else []
    for pattern in ("memory", "*/memory", "projects/*/memory"):
        found = sorted(each for each in path.glob(pattern) if each.is_dir())
        if found:
            return found
    return [path] if any(path.glob("*.md")) and not _is_claude_home(path) else []


def _is_claude_home(path: Path) -> bool:
    """Whether this is all that Claude Code keeps. A CLAUDE.md in it is no memory of its own."""
    names = ("projects", "settings.json", "history.jsonl")
    return path.is_dir() and (
        path.name == ".claude" or any((path / name).exists() for name in names)
    )


def _has_sessions(path: Path) -> bool:
    """Whether this is a project's folder, or the folder of all projects."""
    return any(path.glob("*/*.jsonl" if path.name == "projects" else "*.jsonl"))


class _MemoryFolder(LinkedNotes):
    """One project's memory folder."""

    worded = False

    def __init__(self, folder: Path, sources: list[SourceFile]) -> None:
        super().__init__([each for each in sources if each.name != INDEX])
        self._index = next((each for each in sources if each.name == INDEX), None)
        self._project = folder.parent.name if folder.name == "memory" else folder.name
        # Claude Code names a project's folder by its whole path; another name says too little.
        named = self._project.startswith("-")
        self._identity = self._project if named else str(folder.resolve())
        self._space = _find_space(folder)
        self._titles: dict[str, str] = {}

    def found(self) -> Iterator[ReaderOutput]:
        if self._space is None:
            said = "what is about it becomes global; `--space` says another"
            yield ImportNote(f"the project of {self._project} is not known: {said}")
        rest = self._read_index()
        yield from super().found()
        if rest:
            yield ImportItem(self._index_values(rest), INDEX)

    def _read_index(self) -> str:
        """Take the titles from the index; return what else stands there."""
        if self._index is None:
            return ""
        text = self._index.text()
        for found in _INDEX_LINE.finditer(text):
            self._titles[found["file"]] = found["title"].strip()
        rest = _INDEX_LINE.sub("", text)
        said = [line for line in rest.splitlines() if line.strip() and not line.startswith("#")]
        return rest.strip() if said else ""

    def _stable_id(self, name: str) -> str:
        return stable_id(FORM, self._identity, name)

    def id_of(self, note: Written) -> str:
        return self._stable_id(note.name)

    def text_of(self, note: Written) -> str:
        """Return what a file says. Its description is part of that, if the text does not say it."""
        description, body = note.text("description"), note.body.strip("\n")
        if not description or description in body:
            return body
        return f"{description}\n\n{body}" if body.strip() else description

    def add_names(self, note: Written) -> None:
        self.places.add(self.id_of(note), note.name, note.stem)

    def values_of(self, note: Written) -> Json:
        kind = _note_kind(note)
        about = kind == "user"
        return drop_empty(
            id=self.id_of(note),
            content=self.text_of(note),
            title=self._titles.get(note.name) or note.text("name") or note.stem,
            type=map_type(kind),
            tags=["about_self"] if about else [],
            space=None if about else self._space,
            created=note.time("modified") or note.created(),
            updated=note.updated(),
            source=f"import:{FORM}",
            origin={"uri": f"{FORM}:{self._project}/{note.name}"},
            connections=list(self.connections_of(note)),
        )

    def _index_values(self, text: str) -> Json:
        assert self._index is not None
        return drop_empty(
            id=self._stable_id(INDEX),
            content=text,
            title=f"Notes on {self._space or self._project}",
            space=self._space,
            created=format_time(self._index.modified),
            source=f"import:{FORM}",
            origin={"uri": f"{FORM}:{self._project}/{INDEX}"},
        )


def _note_kind(note: Written) -> str:
    metadata = note.properties.get("metadata")
    nested = metadata.get("type") if isinstance(metadata, dict) else None
    return str(nested or note.text("type")).strip().lower()


def _find_space(folder: Path) -> str | None:
    """Return the project's space. The folder's name has lost where it was; a session knows."""
    found = sorted(folder.parent.glob("*.jsonl"), key=lambda each: each.stat().st_mtime)
    for transcript in found[-TRANSCRIPTS:]:
        with transcript.open("rb") as file:
            lines = file.read(TRANSCRIPT_BYTES).splitlines()
        for line in lines:
            where = _read_cwd(line)
            if where is not None:
                return space_of(where) or Path(where).name
    return None


def _read_cwd(line: bytes) -> str | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    where = said.get("cwd") if isinstance(said, dict) else None
    return where if isinstance(where, str) and where else None
