"""Which format a path looks like: a guess for the hint when it was named as another one.

Only names and the beginning of one file are looked at, and nothing depends on the answer.
"""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from madeleine.errors import MadeleineError
from madeleine.ingest.importing.sources import SourceFile, files_of
from madeleine.language.late_pattern import compile_late

HEAD_BYTES = 1 << 16
NAMES_AT_MOST = 2_000  # of files that are looked at in a folder
_BY_TEXT = (
    ("madeleine", compile_late(r'"format":\s*"madeleine-export"')),
    ("chatgpt", compile_late(r'"mapping":\s*\{')),
    ("claude-ai", compile_late(r'"chat_messages":\s*\[')),
    ("claude-mem", compile_late(r'"memory_session_id":')),
    ("mempalace", compile_late(r'"metadata":\s*\{[^}]*"wing":')),
    ("automem", compile_late(r'"(?:nodes|labels)":\s*\[')),
    ("mcp-memory", compile_late(r'"type":\s*"(?:entity|relation)"')),
    ("mem0", compile_late(r'"memory":\s*"')),
)
_BY_NAME = (
    ("automem", compile_late(r"(?:.*/)?falkordb_[^/]*\.json(?:\.gz)?")),
    ("claude-mem", compile_late(r"(?:.*/)?claude-mem\.db")),
    ("mempalace", compile_late(r"(?:.*/)?(?:chroma|sqlite_exact|knowledge_graph)\.sqlite3")),
    ("mempalace", compile_late(r"export-manifest\.json")),
    ("ormah", compile_late(r"nodes/[^/]+\.md")),
    ("claude-code", compile_late(r"(?:.*/)?memory/MEMORY\.md|MEMORY\.md")),
    ("agents-md", compile_late(r"(?:CLAUDE|AGENTS|GEMINI)\.md")),
    ("obsidian", compile_late(r".*\.md")),
)


def hint_for(form: str, path: Path) -> str:
    """Return what to type instead, if the path looks like another format; else nothing."""
    named = shlex.quote(str(path))
    if _is_backup(path):
        return f"it looks like a backup: `madeleine restore-backup {named}`"
    other = guess_format(path)
    if other in ("", form):
        return ""
    return f"it looks like {other}: `madeleine import {other} {named}`"


def guess_format(path: Path) -> str:
    """Return the format that a path looks like; the empty text if none."""
    try:
        with files_of(path, "") as sources:
            files = list(islice(sources, NAMES_AT_MOST))
            found = (*_guess_by_text(files), *_guess_by_name(files))
    except (MadeleineError, OSError):
        return ""
    return next(iter(found), "")


def _guess_by_text(files: list[SourceFile]) -> Iterator[str]:
    for source in files:
        name = PurePosixPath(source.name)
        if name.suffix in (".json", ".jsonl") and (len(files) == 1 or _is_main(name)):
            with source.opened() as stream:
                head = stream.read(HEAD_BYTES).decode("utf-8", "replace")
            yield from (form for form, pattern in _BY_TEXT if pattern.search(head))


def _is_main(name: PurePosixPath) -> bool:
    """Whether a file among others is the one that says what they are."""
    return name.name.startswith(("conversations", "memory."))


def _guess_by_name(files: list[SourceFile]) -> Iterator[str]:
    for form, pattern in _BY_NAME:
        if any(pattern.fullmatch(source.name) for source in files):
            yield form


def _is_backup(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive, archive.open("manifest.json") as file:
            return b'"madeleine-backup"' in file.read(HEAD_BYTES)
    except (OSError, zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError):
        return False
